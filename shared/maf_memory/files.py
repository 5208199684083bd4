"""One file that is replaced whole, durably and privately, by one writer at a time.

Why each step of a replace is there: without the flush of the temporary file some file systems leave an empty
file after a power cut; without the replace a reader could see half a file; without the flush of the folder an
acknowledged save can be gone after a power cut.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from maf_memory import leftovers
from maf_memory.disk import Folder, flush_file, make_private_folder
from maf_memory.errors import FileRefused, NotProvenDurable, SaveFailed
from maf_memory.locking import LockIsHeld, LockNotGivenBack, locked
from maf_memory.reading import DEFAULT_LIMIT, ReadFile, reason

LOCK_SECONDS = 10.0
"""How long a writer waits for another one before it says so."""


class StoreFile(ReadFile):
    """One file of a store.

    Writers hold :meth:`locked` around *compare, then replace*.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        root: Path | None = None,
        limit: int = DEFAULT_LIMIT,
        lock_seconds: float = LOCK_SECONDS,
        lock_name: str | None = None,
    ) -> None:
        """Name the file, as :class:`ReadFile` does; ``lock_seconds`` is how long a writer waits for another.

        ``lock_name`` is the lock's own name where several files of a folder share one.
        """
        super().__init__(path, root=root, limit=limit)
        self._lock_name = lock_name or f".{self.path.name}.lock"
        self.lock_seconds = lock_seconds
        self._folder: Folder | None = None

    @property
    def lock_path(self) -> Path:
        """The file whose lock admits one writer; it stays, empty, beside the file."""
        return self.path.with_name(self._lock_name)

    @contextmanager
    def locked(self, work: str = "saved") -> Iterator[None]:
        """Admit one writer at a time, across processes; creates the private folder when it is missing.

        ``work`` is what the writer does to the file, as a message says it: saved, deleted, swept.

        Raises:
            SaveFailed: the folder or the lock cannot be used, or another writer holds it for too long.
            NotProvenDurable: the work was done, but the lock could not be given back.
        """
        with ExitStack() as held:
            try:
                try:
                    folder = held.enter_context(self._opened_folder())
                except FileNotFoundError:
                    make_private_folder(self.path.parent, below=self._root)
                    folder = held.enter_context(self._opened_folder())
                self._refuse_strangers("its folder", folder.status("."))
            except OSError as error:
                raise self._not_done(work, error) from error
            try:
                held.enter_context(locked(folder, self._lock_name, self.lock_seconds))
            except LockIsHeld as error:
                raise SaveFailed(
                    f"{self.path} was not {work}: another process has been writing it for "
                    f"{self.lock_seconds:g} seconds. Close the other program, or try again."
                ) from error
            except OSError as error:
                raise SaveFailed(
                    f"{self.path} was not {work}: its lock {self._lock_name} cannot be used ({reason(error)}). "
                    "The old file is as it was."
                ) from error
            self._folder = folder
            try:
                yield
            finally:
                self._folder = None
            try:
                held.close()
            except LockNotGivenBack as error:
                raise self._not_durable(work, "the lock could not be given back", error) from error

    def sweep(self) -> list[Path]:
        """Remove what killed writers left beside this file, and return the paths that were removed.

        Only a holder of the lock writes a temporary file, so whatever is there while the lock is held belongs
        to a writer that is gone. No other file is ever touched.

        Raises:
            SaveFailed: the folder or the lock cannot be used, or a left-over file cannot be removed.
        """
        if not self.temporary_files():
            return []
        with self.locked("swept"):
            return self.sweep_held()

    def sweep_held(self) -> list[Path]:
        """Do what :meth:`sweep` does; call it inside :meth:`locked`."""
        folder = self._held()
        try:
            swept = leftovers.names(folder, self.path.name)
        except OSError as error:
            raise self._not_done("swept", error) from error
        for name in swept:
            try:
                folder.unlink(name)
            except OSError as error:
                raise SaveFailed(
                    f"{self.path.with_name(name)} is left over from a killed save and cannot be removed: "
                    f"{reason(error)}. Remove it by hand."
                ) from error
        return [self.path.with_name(name) for name in swept]

    def replace(self, content: bytes | Iterable[bytes | memoryview]) -> None:
        """Put ``content``, whole or in pieces, in the place of the file; call it inside :meth:`locked`.

        Raises:
            SaveFailed: nothing was replaced: the old file is as it was and no temporary file remains.
            NotProvenDurable: the new file is in place, but the folder could not be flushed.
        """
        folder = self._held()
        self._refuse_special_target(folder)
        temporary = leftovers.new_name(self.path.name)
        try:
            self._write(folder, temporary, (content,) if isinstance(content, bytes) else content)
            folder.replace(temporary, self.path.name)
        except BaseException as error:
            self._remove_temporary(folder, temporary, error)
            if isinstance(error, OSError):
                raise self._not_done("saved", error) from error
            raise
        self._flush(folder, "saved")

    def delete(self) -> bool:
        """Remove the file, durably; call it inside :meth:`locked`. Returns whether there was one.

        Raises:
            SaveFailed: it could not be removed and is as it was.
            NotProvenDurable: it is removed, but the folder could not be flushed.
        """
        folder = self._held()
        try:
            folder.unlink(self.path.name)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise SaveFailed(f"{self.path} was not deleted: {reason(error)}. The file is as it was.") from error
        self._flush(folder, "deleted")
        return True

    def status_held(self) -> os.stat_result | None:
        """Return the file's status, or ``None`` when there is no file; call it inside :meth:`locked`."""
        try:
            return self._held().status(self.path.name)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._not_done("saved", error) from error

    def _held(self) -> Folder:
        if self._folder is None:
            raise RuntimeError("a write needs the lock: use it inside `with file.locked():`")
        return self._folder

    def _refuse_special_target(self, folder: Folder) -> None:
        try:
            status = folder.status(self.path.name)
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._not_done("saved", error) from error
        if stat.S_ISLNK(status.st_mode):
            raise FileRefused(self.path, "it is a symbolic link", "a regular file")
        if not stat.S_ISREG(status.st_mode):
            raise FileRefused(self.path, "it is not a regular file", "a regular file")

    def _write(self, folder: Folder, name: str, pieces: Iterable[bytes | memoryview]) -> None:
        left = self.limit
        descriptor = folder.create(name)
        try:
            for piece in pieces:
                left -= len(piece)
                if left < 0:
                    raise SaveFailed(f"{self.path} was not saved: it would have more than {self.limit:,} bytes.")
                view = memoryview(piece)
                while view:
                    view = view[os.write(descriptor, view) :]
            flush_file(descriptor)
        finally:
            os.close(descriptor)

    @staticmethod
    def _remove_temporary(folder: Folder, name: str, cause: BaseException) -> None:
        try:
            folder.unlink(name)
        except FileNotFoundError:
            return
        except OSError as error:
            cause.add_note(f"The temporary file {name} could not be removed ({reason(error)}); the next start does it.")

    def _flush(self, folder: Folder, work: str) -> None:
        try:
            folder.flush()
        except OSError as error:
            raise self._not_durable(work, "its folder could not be flushed", error) from error

    def _not_done(self, work: str, error: OSError) -> SaveFailed | FileRefused:
        if self._folder_is_link():
            return FileRefused(self.path, "its folder is a symbolic link", "a folder that is no link")
        return SaveFailed(f"{self.path} was not {work}: {reason(error)}. The old file is as it was.")

    def _not_durable(self, work: str, what: str, error: OSError) -> NotProvenDurable:
        return NotProvenDurable(
            f"{self.path} is {work}, perhaps not durably: {what} ({reason(error)}). "
            "Do it again when the disk is well; a power cut before that may bring the old state back."
        )
