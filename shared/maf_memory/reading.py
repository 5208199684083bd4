"""One file of a store as a reader sees it: bounded, regular, and below its root only this user's.

Readers need no lock: they see the old content or the new one, whole.
"""

from __future__ import annotations

import os
import stat
from contextlib import AbstractContextManager
from pathlib import Path

from maf_memory import leftovers
from maf_memory.disk import Folder, folders_below, is_link, open_folder
from maf_memory.errors import FileRefused, FileUnreadable
from maf_memory.ownership import stranger

DEFAULT_LIMIT = 64 * 1024 * 1024
"""The largest file that is read or written, in bytes."""

_BLOCK = 1024 * 1024


def reason(error: OSError) -> str:
    """Return what the system said, without the path that the caller names anyway."""
    return error.strerror or str(error)


class ReadFile:
    """A file that is read whole or refused."""

    def __init__(self, path: str | os.PathLike[str], *, root: Path | None = None, limit: int = DEFAULT_LIMIT) -> None:
        """Name the file; ``root`` is the folder that it must not leave: below it no link is followed.

        Without one, the file's folder may be a link, as any folder of one's own may; it is resolved now, once.
        """
        given = Path(path).absolute()
        self.path = given if root is not None else given.parent.resolve() / given.name
        self.limit = limit
        self._root = root

    def read(self) -> bytes | None:
        """Return the whole content, or ``None`` when there is no file.

        Raises:
            FileRefused: it is a link, not a regular file, larger than the limit, or not readable.
        """
        found = self.read_with_status()
        return None if found is None else found[0]

    def read_with_status(self) -> tuple[bytes, os.stat_result] | None:
        """Return the whole content and the file's status before it was read, or ``None`` when there is no file.

        Raises:
            FileRefused: as :meth:`read`.
        """
        try:
            with self._opened_folder() as folder:
                self._refuse_strangers("its folder", folder.status("."))
                descriptor = folder.open(self.path.name)
                try:
                    status = os.fstat(descriptor)
                    return self._read_open(descriptor, status), status
                finally:
                    os.close(descriptor)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unreadable(error) from error

    def _opened_folder(self) -> AbstractContextManager[Folder]:
        return open_folder(self.path.parent, below=self._root)

    def _read_open(self, descriptor: int, status: os.stat_result) -> bytes:
        if not stat.S_ISREG(status.st_mode):
            raise FileRefused(self.path, "it is not a regular file", "a regular file")
        self._refuse_strangers("it", status)
        if status.st_size > self.limit:
            raise FileRefused(self.path, f"it has {status.st_size:,} bytes", f"at most {self.limit:,} bytes")
        blocks: list[bytes] = []
        left = self.limit + 1
        first = status.st_size + 1  # all of it at once, unless it grows meanwhile
        while left > 0 and (block := os.read(descriptor, min(left, _BLOCK if blocks else first))):
            blocks.append(block)
            left -= len(block)
        content = b"".join(blocks)
        if len(content) > self.limit:
            raise FileRefused(self.path, "it grew while it was read", f"at most {self.limit:,} bytes")
        return content

    def _refuse_strangers(self, what: str, status: os.stat_result) -> None:
        """Below a root, refuse what another user can write; elsewhere whoever names the file decides."""
        problem = stranger(status) if self._root is not None else None
        if problem is not None:
            raise FileRefused(self.path, f"{what} {problem}", "one that only this user can write")

    def _unreadable(self, error: OSError) -> FileRefused:
        if is_link(self.path):
            return FileRefused(self.path, "it is a symbolic link", "a regular file")
        if self._folder_is_link():
            return FileRefused(self.path, "its folder is a symbolic link", "a folder that is no link")
        return FileUnreadable(self.path, f"it cannot be read ({reason(error)})", "a file that this user can read")

    def _folder_is_link(self) -> bool:
        return any(is_link(part) for part in folders_below(self.path.parent, self._root))

    @property
    def folder_is_missing(self) -> bool:
        """Whether there is no folder, and so nothing to delete; one that cannot be seen, or a link, is not missing."""
        try:
            self.path.parent.stat()
        except (FileNotFoundError, NotADirectoryError):
            return not self._folder_is_link()
        except OSError:
            return False
        return False

    def temporary_files(self) -> list[Path]:
        """Return the temporary files beside this file: a save under way, or the rest of a killed one."""
        try:
            with self._opened_folder() as folder:
                return [self.path.with_name(name) for name in leftovers.names(folder, self.path.name)]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._unreadable(error) from error
