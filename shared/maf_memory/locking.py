"""One writer at a time, across threads and processes: a lock that the system gives back when its holder dies."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from maf_memory.disk import PRIVATE_FILE

if TYPE_CHECKING:
    from maf_memory.disk import Folder

_POLL_SECONDS = 0.005


class LockIsHeld(Exception):
    """Another writer held the lock for all the time that was given."""


class LockNotGivenBack(OSError):
    """The lock could not be given back; the work was done."""


@contextmanager
def locked(folder: Folder, name: str, seconds: float) -> Iterator[None]:
    """Hold the lock ``name`` of ``folder``; its file is made when it is missing, and stays, empty.

    It is advisory: it keeps out whoever asks for it. The file is opened inside the folder that is already open, so that
    no link leads elsewhere.

    Raises:
        LockIsHeld: another writer had it for ``seconds``.
        OSError: the lock cannot be used.
        LockNotGivenBack: the work inside was done, but the lock could not be given back.
    """
    descriptor = _taken(folder, name, time.monotonic() + seconds)
    try:
        yield
    except BaseException:
        with suppress(OSError):  # the error of the work is the one to tell
            _give_back(descriptor)
        raise
    try:
        _give_back(descriptor)
    except OSError as error:
        raise LockNotGivenBack(*error.args) from error


def _taken(folder: Folder, name: str, until: float) -> int:
    """Return the descriptor that holds the lock."""
    while True:
        descriptor = folder.open_lock(name)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise OSError("it is not a regular file")
            _make_usable(descriptor, status)
            _wait(descriptor, until)
            if _is_at(folder, name, status):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # somebody removed the file meanwhile: the next writer would lock another one


def _make_usable(descriptor: int, status: os.stat_result) -> None:
    """Give a new lock its mode, which the umask may have cut down to no rights at all for its owner."""
    if os.name == "posix" and stat.S_IMODE(status.st_mode) != PRIVATE_FILE and status.st_uid == os.geteuid():
        os.fchmod(descriptor, PRIVATE_FILE)


def _wait(descriptor: int, until: float) -> None:
    import portalocker  # imported late: a start that only reads does not need it

    while True:
        try:
            portalocker.lock(descriptor, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
        except portalocker.AlreadyLocked:
            if time.monotonic() >= until:
                raise LockIsHeld from None
            time.sleep(_POLL_SECONDS)
        except portalocker.LockException as error:
            raise _cause(error) from error
        else:
            return


def _is_at(folder: Folder, name: str, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(folder.status(name), status)
    except FileNotFoundError:
        return False


def _give_back(descriptor: int) -> None:
    import portalocker

    try:
        # Said, not left to the closing: a child that was forked meanwhile holds the same descriptor.
        portalocker.unlock(descriptor)
    except portalocker.LockException as error:
        raise _cause(error) from error
    finally:
        os.close(descriptor)


def _cause(error: Exception) -> OSError:
    """Return what the system said, which the library hands on inside its own error."""
    cause = error.__cause__
    return cause if isinstance(cause, OSError) else OSError(str(error))
