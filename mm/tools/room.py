"""An open folder: every name is one component inside it, and no name is ever followed as a link.

On POSIX each operation is relative to the folder's descriptor: a folder that is swapped for a link after it was
checked changes nothing. Windows has no such descriptors; there, paths are used.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from maf_memory.disk import PathFolder, flush_file
from mm.tools.refused import Refused, quoted

_HAS_DESCRIPTORS = os.name == "posix"
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_BLOCK = 1024 * 1024

EntryKind = Literal["file", "folder", "link", "other"]


class Entry(NamedTuple):
    """A name in a folder, and what it names; a link is a link, wherever it leads."""

    name: str
    kind: EntryKind


class Room:
    """One open folder."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def opened(cls, path: Path) -> Room:
        """Open a folder by its path; whoever opens it closes it.

        Raises:
            OSError: it is missing, not a folder, or not readable.
        """
        flags = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
        return cls(path, os.open(path, flags) if _HAS_DESCRIPTORS else None)

    def inner(self, name: str, *, make: bool = False) -> Room:
        """Open a folder in this one that is not a link; with ``make``, a missing one is made.

        Raises:
            OSError: it is missing, a link, not a folder, or not readable.
        """
        if make:
            with suppress(FileExistsError):
                os.mkdir(self._named(name), dir_fd=self._descriptor)
        if _HAS_DESCRIPTORS:
            flags = os.O_RDONLY | os.O_DIRECTORY | _NO_FOLLOW
            return Room(self.path / name, os.open(name, flags, dir_fd=self._descriptor))
        if not stat.S_ISDIR(self.status(name).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, "Not a directory")
        return Room(self.path / name, None)

    def close(self) -> None:
        """Give the descriptor back; nothing was written through it, so that this can lose nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)

    def _named(self, name: str) -> str | Path:
        return self.path / name if self._descriptor is None else name

    def status(self, name: str = ".") -> os.stat_result:
        """Return the status of ``name`` itself, not of what a link points to."""
        return os.stat(self._named(name), dir_fd=self._descriptor, follow_symlinks=False)

    def leads_to(self, name: str) -> str:
        """Return what the link ``name`` says."""
        return os.readlink(self._named(name), dir_fd=self._descriptor)

    def entries(self) -> list[Entry]:
        """Return what is in this folder, sorted by name."""
        with os.scandir(self.path if self._descriptor is None else self._descriptor) as entries:
            return sorted(Entry(entry.name, _kind(entry)) for entry in entries)

    def read(self, name: str, limit: int) -> bytes:
        """Return the content of a regular file; never waits for the writer of a pipe.

        Raises:
            Refused: it is no regular file, or has more than ``limit`` bytes.
            OSError: it is missing, a link, or not readable.
        """
        self._refuse_unusual(name, self.status(name), limit)  # before it is opened: opening a device may do something
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _NO_FOLLOW | _BINARY
        descriptor = os.open(self._named(name), flags, dir_fd=self._descriptor)
        try:
            self._refuse_unusual(name, os.fstat(descriptor), limit)
            blocks = []
            left = limit + 1
            while left > 0 and (block := os.read(descriptor, min(left, _BLOCK))):
                blocks.append(block)
                left -= len(block)
        finally:
            os.close(descriptor)
        if left <= 0:
            raise _too_large(name, None, limit)
        return b"".join(blocks)

    @staticmethod
    def _refuse_unusual(name: str, status: os.stat_result, limit: int) -> None:
        if stat.S_ISLNK(status.st_mode):
            raise Refused(f"{quoted(name)} is a link, or became one meanwhile; give the path that it leads to.")
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, "Is a directory")
        if not stat.S_ISREG(status.st_mode):
            raise Refused(f"{quoted(name)} is no regular file (a pipe, socket or device); only files can be used.")
        if status.st_size > limit:
            raise _too_large(name, status.st_size, limit)

    def put(self, name: str, content: bytes, like: os.stat_result | None) -> None:
        """Put a file in place in one step, with the mode and owner of ``like``; a link of that name is replaced.

        Raises:
            OSError: nothing was replaced, and no temporary file remains.
        """
        temporary = f".mm-{secrets.token_hex(8)}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | _BINARY
        descriptor = os.open(self._named(temporary), flags, 0o666, dir_fd=self._descriptor)
        try:
            try:
                if like is not None and _HAS_DESCRIPTORS:
                    _resemble(descriptor, like)
                view = memoryview(content)
                while view:
                    view = view[os.write(descriptor, view) :]
                flush_file(descriptor)  # or a power cut may leave an empty file in the place of the old one
            finally:
                os.close(descriptor)
            if _HAS_DESCRIPTORS:
                os.replace(temporary, name, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)
            else:
                PathFolder(self.path).replace(temporary, name)
        except BaseException:
            with suppress(OSError):  # the error of the work is the one to tell
                os.unlink(self._named(temporary), dir_fd=self._descriptor)
            raise


def _resemble(descriptor: int, like: os.stat_result) -> None:
    mine = os.fstat(descriptor)
    if (mine.st_uid, mine.st_gid) != (like.st_uid, like.st_gid):
        with suppress(PermissionError):  # only an administrator gives files away
            os.fchown(descriptor, like.st_uid, like.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(like.st_mode))


def _kind(entry: os.DirEntry[str]) -> EntryKind:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else "other"


def _too_large(name: str, size: int | None, limit: int) -> Refused:
    held = f"has {size:,} bytes" if size is not None else "grows while it is read"
    return Refused(
        f"{quoted(name)} {held}; the limit is {limit:,}. Use search_text, or run_command with head, tail or grep."
    )
