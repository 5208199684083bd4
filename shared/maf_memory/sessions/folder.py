"""The folder of session files: which files in it are sessions, their heads, and what killed saves left there."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from maf_memory import leftovers
from maf_memory.disk import Folder, folders_below, is_link, open_folder
from maf_memory.errors import FileRefused, FileUnreadable, NotProvenDurable, SaveFailed, UnknownSession
from maf_memory.files import StoreFile
from maf_memory.ownership import stranger
from maf_memory.reading import DEFAULT_LIMIT, reason
from maf_memory.sessions.heads import read_head
from maf_memory.sessions.ids import is_id
from maf_memory.sessions.record import Damaged, Head

LOCK = ".lock"
"""The one lock of the folder: a lock beside each session would double what a person sees there."""

_SUFFIX = ".json"


class SessionFolder:
    """A folder in which every file named like a session is one; all else in it is somebody else's and left alone."""

    def __init__(self, path: Path, root: Path) -> None:
        """Name the folder; below ``root`` no link is followed."""
        self.path = path
        self._root = root

    def path_of(self, session_id: str) -> Path:
        """Return the file of a session, whether it is there or not.

        Raises:
            UnknownSession: no session can have this id.
        """
        if not is_id(session_id):
            raise UnknownSession(session_id, str(self.path))
        return self.path / f"{session_id}{_SUFFIX}"

    def file(self, session_id: str) -> StoreFile:
        """Return the file of a session as a store uses it."""
        return StoreFile(self.path_of(session_id), root=self._root, lock_name=LOCK)

    def ids(self) -> list[str]:
        """Return the ids of all sessions, sound or not; none where there is no folder.

        Raises:
            FileRefused: the folder is a link, or cannot be read.
        """
        try:
            with self._opened() as folder:
                return [session_id for name in folder.names() if (session_id := _id_of(name)) is not None]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._closed(error) from error

    def heads(self) -> Iterator[Head | Damaged]:
        """Yield the head of each session, or why it has none, without its conversation.

        Raises:
            FileRefused: as :meth:`ids`.
        """
        try:
            with self._opened() as folder:
                for name in folder.names():
                    session_id = _id_of(name)
                    if session_id is None:
                        continue
                    head = read_head(folder, name, session_id, self.file)
                    if head is not None:
                        yield head
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._closed(error) from error

    @contextmanager
    def reader(self) -> Iterator[Callable[[str], bytes | None]]:
        """Open the folder once and give a function that reads the file of a session; ``None`` where there is none.

        The function raises FileRefused as :meth:`StoreFile.read` does.

        Raises:
            FileRefused: as :meth:`ids`.
        """
        with ExitStack() as opened:
            try:
                folder = opened.enter_context(self._opened())
            except FileNotFoundError:
                yield lambda _: None
                return
            except OSError as error:
                raise self._closed(error) from error

            def read(session_id: str) -> bytes | None:
                content = _read_plainly(folder, f"{session_id}{_SUFFIX}")
                return self.file(session_id).read() if content is None else content

            yield read

    def sweep(self, *, ignore: bool) -> list[Path]:
        """Remove what killed saves left beside any session, and return the paths that were removed.

        With ``ignore``, also what :meth:`keep_out_of_git` left.

        Raises:
            SaveFailed: a left-over file cannot be removed.
            FileRefused: as :meth:`ids`.
        """
        try:
            with self._opened() as folder:
                left = sorted({owner for name in folder.names() if (owner := _owner_of_temporary(name)) is not None})
        except FileNotFoundError:
            left = []
        except OSError as error:
            raise self._closed(error) from error
        files = [*map(self.file, left), *([self._ignore()] if ignore else [])]
        return [path for file in files for path in file.sweep()]

    def keep_out_of_git(self) -> None:
        """Say once, in the folder above, that nothing of it is to be committed; what a person wrote there stays.

        Raises:
            SaveFailed, FileRefused: as a save does; no session is to be created then.
        """
        ignore = self._ignore()
        if os.path.lexists(ignore.path):
            return
        try:
            with ignore.locked():
                if ignore.status_held() is None:
                    ignore.replace(b"*\n")
        except NotProvenDurable as error:
            raise SaveFailed(f"No session was created in {self.path}, for the disk did not confirm: {error}") from error

    def _ignore(self) -> StoreFile:
        return StoreFile(self.path.parent / ".gitignore", root=self._root, lock_name=LOCK)

    @contextmanager
    def _opened(self) -> Iterator[Folder]:
        with open_folder(self.path, below=self._root) as folder:
            problem = stranger(folder.status("."))
            if problem is not None:
                raise FileRefused(self.path, f"it {problem}", "a folder that only this user can write")
            yield folder

    def _closed(self, error: OSError) -> FileRefused:
        if any(is_link(part) for part in folders_below(self.path, self._root)):
            return FileRefused(self.path, "it or a folder above it is a symbolic link", "a folder that is no link")
        return FileUnreadable(self.path, f"it cannot be read ({reason(error)})", "a folder that this user can read")


def _read_plainly(folder: Folder, name: str) -> bytes | None:
    """Return the content of a file about which nothing is unusual; ``None`` says that it needs a closer look."""
    try:
        descriptor = folder.open(name)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > DEFAULT_LIMIT or stranger(status) is not None:
            return None
        content = os.read(descriptor, status.st_size + 1)
        return content if len(content) == status.st_size else None
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _id_of(name: str) -> str | None:
    session_id = name.removesuffix(_SUFFIX)
    return session_id if name.endswith(_SUFFIX) and is_id(session_id) else None


def _owner_of_temporary(name: str) -> str | None:
    """Return the session whose save left ``name``, if a save can have left it."""
    session_id = name.removeprefix(".").partition(".")[0]
    target = f"{session_id}{_SUFFIX}"
    return session_id if is_id(session_id) and leftovers.is_one(name, target) else None
