"""The platform seam: a folder whose files are opened, flushed and replaced as this platform allows.

Everything that differs between POSIX and Windows stands here, so that the rest of the package reads the same
everywhere. On POSIX each operation is relative to an open folder: a folder that is swapped for a link after it
was checked changes nothing. Windows has neither folder handles for this nor a folder flush; there, paths are
used, and a sharing violation from a scanner or an indexer is retried for a bounded time.
"""

from __future__ import annotations

import errno
import functools
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol, TypeVar

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700

SHARING_VIOLATIONS = frozenset({5, 32, 33})
"""Windows errors that another program's short-lived handle causes: access denied, sharing and lock violation."""

_RETRY_SECONDS = 2.0

T = TypeVar("T")


class Folder(Protocol):
    """An open folder; every name is one component inside it."""

    path: Path

    def create(self, name: str) -> int:
        """Open a new private file for writing; never follows a link, never opens an existing file."""
        ...

    def open(self, name: str) -> int:
        """Open an existing file for reading; never follows a link, never waits for a pipe's writer."""
        ...

    def open_lock(self, name: str) -> int:
        """Open a private file to be locked, made when it is missing; never follows a link."""
        ...

    def replace(self, source: str, target: str) -> None:
        """Put ``source`` in the place of ``target`` in one step."""
        ...

    def unlink(self, name: str) -> None:
        """Remove one file or link."""
        ...

    def names(self) -> list[str]:
        """Return the names in this folder, sorted."""
        ...

    def status(self, name: str) -> os.stat_result:
        """Return the status of ``name`` itself, not of what a link points to."""
        ...

    def flush(self) -> None:
        """Make the folder's own entries durable, where the platform can."""
        ...


def flush_file(descriptor: int) -> None:
    """Make a file's content durable; on macOS down to the disk's own cache (``F_FULLFSYNC``)."""
    if sys.platform == "darwin":
        import fcntl

        try:
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        except OSError as error:
            if error.errno != errno.ENOTSUP:
                raise
            os.fsync(descriptor)  # all that a network file system offers
    else:
        os.fsync(descriptor)


class PosixFolder:
    """A folder reached through its own descriptor."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    def create(self, name: str) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(name, flags, PRIVATE_FILE, dir_fd=self._descriptor)
        try:
            # The mode given to open is cut by the umask, which may take even the owner's own rights.
            os.fchmod(descriptor, PRIVATE_FILE)
        except OSError:
            os.close(descriptor)
            os.unlink(name, dir_fd=self._descriptor)
            raise
        return descriptor

    def open(self, name: str) -> int:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        return os.open(name, flags, dir_fd=self._descriptor)

    def open_lock(self, name: str) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        return os.open(name, flags, PRIVATE_FILE, dir_fd=self._descriptor)

    def replace(self, source: str, target: str) -> None:
        os.replace(source, target, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def unlink(self, name: str) -> None:
        os.unlink(name, dir_fd=self._descriptor)

    def names(self) -> list[str]:
        return sorted(os.listdir(self._descriptor))

    def status(self, name: str) -> os.stat_result:
        return os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)

    def flush(self) -> None:
        try:
            flush_file(self._descriptor)
        except OSError as error:
            # Some network and user-space file systems have no flush for a folder; that is no failing disk.
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise


class PathFolder:
    """A folder reached by its path, for platforms without folder descriptors.

    ``replace`` and ``pause`` can be given, so that the retry is tested where Windows is not at hand.
    """

    def __init__(
        self,
        path: Path,
        *,
        replace: Callable[[Path, Path], None] = os.replace,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.path = path
        self._replace = replace
        self._clock = clock
        self._pause = pause

    def create(self, name: str) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)
        return os.open(self.path / name, flags, PRIVATE_FILE)

    def open(self, name: str) -> int:
        kind = self.status(name).st_mode
        if stat.S_ISLNK(kind):
            raise OSError(f"{name} is a link")
        if not stat.S_ISREG(kind):
            raise OSError(f"{name} is not a regular file")
        flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)
        return os.open(self.path / name, flags)

    def open_lock(self, name: str) -> int:
        if is_link(self.path / name):
            raise OSError(f"{name} is a link")
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)
        return os.open(self.path / name, flags, PRIVATE_FILE)

    def replace(self, source: str, target: str) -> None:
        self._patiently(lambda: self._replace(self.path / source, self.path / target))

    def _patiently(self, work: Callable[[], T]) -> T:
        until = self._clock() + _RETRY_SECONDS
        wait = 0.005
        while True:
            try:
                return work()
            except OSError as error:
                if getattr(error, "winerror", None) not in SHARING_VIOLATIONS or self._clock() >= until:
                    raise
            self._pause(wait)
            wait = min(wait * 2, 0.2)

    def unlink(self, name: str) -> None:
        self._patiently((self.path / name).unlink)

    def names(self) -> list[str]:
        return sorted(entry.name for entry in self.path.iterdir())

    def status(self, name: str) -> os.stat_result:
        return (self.path / name).lstat()

    def flush(self) -> None:
        """Do nothing: this platform has no flush for a folder; the replace itself is journalled."""


def is_link(path: Path) -> bool:
    """Return whether ``path`` is a link, as far as this user can see."""
    try:
        return stat.S_ISLNK(path.lstat().st_mode)
    except OSError:
        return False


@contextmanager
def open_folder(path: Path, *, follow_link: bool = False, below: Path | None = None) -> Iterator[Folder]:
    """Open an existing folder that is not a link, unless the caller says that a link will do.

    With ``below``, a folder above ``path``, no folder between the two may be a link either.

    Raises:
        OSError: it is missing, a link, not a folder, or not readable.
    """
    if os.name != "posix":
        for part in folders_below(path, below):
            if not follow_link and is_link(part):
                raise OSError(f"{part} is a link")
        yield PathFolder(path)
        return
    descriptor = _descend(path, below) if below is not None else _open_at(path, follow_link=follow_link)
    try:
        yield PosixFolder(path, descriptor)
    finally:
        with suppress(OSError):  # nothing was written through it, so closing it can lose nothing
            os.close(descriptor)


@functools.lru_cache(maxsize=1024)
def folders_below(path: Path, below: Path | None) -> tuple[Path, ...]:
    """Return the folders under ``below`` on the way to ``path``, from above; only ``path`` without ``below``."""
    if below is None or path == below:
        return (path,)
    return (*reversed([part for part in path.parents if part != below and below in part.parents]), path)


def _open_at(path: str | Path, *, follow_link: bool = False, parent: int | None = None) -> int:
    nofollow = 0 if follow_link else os.O_NOFOLLOW
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | nofollow | os.O_CLOEXEC, dir_fd=parent)


def _descend(path: Path, below: Path, *, make: bool = False) -> int:
    """Return the descriptor of ``path``, reached from ``below`` folder by folder, so that no swapped link leads away.

    ``below`` itself may be a link, as any folder of one's own may. With ``make``, missing folders are created, private
    and durable.
    """
    descriptor = _open_at(below, follow_link=True)
    try:
        for part in folders_below(path, below) if path != below else ():
            if make:
                _make_at(part.name, descriptor)
            inner = _open_at(part.name, parent=descriptor)
            os.close(descriptor)
            descriptor = inner
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _make_at(name: str, parent: int) -> None:
    try:
        os.mkdir(name, PRIVATE_FOLDER, dir_fd=parent)
    except FileExistsError:
        return
    made = _open_at(name, parent=parent)
    try:
        os.fchmod(made, PRIVATE_FOLDER)  # the mode given to mkdir is cut by the umask
    finally:
        os.close(made)
    PosixFolder(Path(name), parent).flush()


def make_private_folder(path: Path, *, below: Path | None = None) -> None:
    """Create ``path`` and what is missing above it, private and durable; an existing folder stays as it is.

    With ``below``, an existing folder above ``path``, no folder between the two may be a link.

    Raises:
        OSError: a part of the path is not a folder, or cannot be created.
    """
    if below is not None and os.name == "posix" and below.is_dir():
        os.close(_descend(path, below, make=True))
        return
    if path.is_dir():
        return
    make_private_folder(path.parent)
    try:
        path.mkdir(mode=PRIVATE_FOLDER)
    except FileExistsError:
        if not path.is_dir():
            raise
        return
    if os.name == "posix":
        path.chmod(PRIVATE_FOLDER)
        # A link above is followed: the system's own folders are links on some platforms (/tmp on macOS).
        with open_folder(path.parent, follow_link=True) as parent:
            parent.flush()
