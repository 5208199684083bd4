"""A new file that only its owner can read, whole or not there, and never over another one by accident."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from maf_memory import leftovers
from maf_memory.disk import Folder, flush_file, open_folder
from maf_memory.errors import NotProvenDurable, SaveFailed
from maf_memory.reading import reason

_TAKEN = "it is there already; --force writes over it"


def refuse_taken(target: Path, *, force: bool) -> None:
    """Refuse a path that something has; with ``force``, only what is no regular file.

    Raises:
        SaveFailed: nothing may be written there.
    """
    try:
        status = target.lstat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise _not_written(target, reason(error)) from error
    if not force:
        raise _not_written(target, _TAKEN)
    if not stat.S_ISREG(status.st_mode):
        raise _not_written(target, "it is there already and no regular file")


def write_private(target: Path, content: bytes, *, force: bool) -> None:
    """Write ``content`` to ``target`` with mode 0600, durably; a failure leaves what was there, to the byte.

    Raises:
        SaveFailed: nothing was written.
        NotProvenDurable: it is written, but a power cut may undo it.
    """
    try:
        with open_folder(target.parent, follow_link=True) as folder:
            if force:
                _replace(folder, target, content)
            else:
                _create(folder, target.name, content)
            try:
                folder.flush()
            except OSError as error:
                raise NotProvenDurable(
                    f"{target} is written, perhaps not durably: its folder could not be flushed ({reason(error)})."
                ) from error
    except FileExistsError as error:  # somebody was faster than the look before
        raise _not_written(target, _TAKEN) from error
    except OSError as error:
        raise _not_written(target, reason(error)) from error


def _replace(folder: Folder, target: Path, content: bytes) -> None:
    temporary = leftovers.new_name(target.name)
    _create(folder, temporary, content)
    try:
        refuse_taken(target, force=True)
        folder.replace(temporary, target.name)
    except BaseException:
        folder.unlink(temporary)
        raise


def _create(folder: Folder, name: str, content: bytes) -> None:
    """Create a file that was not there, whole; the system itself refuses one that is."""
    descriptor = folder.create(name)
    try:
        try:
            view = memoryview(content)
            while view:
                view = view[os.write(descriptor, view) :]
            flush_file(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        folder.unlink(name)
        raise


def _not_written(target: Path, why: str) -> SaveFailed:
    return SaveFailed(f"{target} was not written: {why}.")
