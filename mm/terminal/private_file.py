"""A new file that only its owner can read, whole or not there, and never over another one."""

from __future__ import annotations

import os
from pathlib import Path

from maf_memory.disk import Folder, flush_file, open_folder
from maf_memory.errors import NotProvenDurable, SaveFailed
from maf_memory.reading import reason


def write_private(target: Path, content: bytes) -> None:
    """Write ``content`` to ``target`` with mode 0600, durably.

    Raises:
        SaveFailed: nothing was written; what stands there stays as it is.
        NotProvenDurable: it is written, but a power cut may undo it.
    """
    try:
        with open_folder(target.parent, follow_link=True) as folder:
            _create(folder, target.name, content)
            try:
                folder.flush()
            except OSError as error:
                raise NotProvenDurable(f"{target} is written, perhaps not durably ({reason(error)}).") from error
    except FileExistsError as error:
        raise SaveFailed(f"{target} was not written: it is there already. Give another name.") from error
    except OSError as error:
        raise SaveFailed(f"{target} was not written: {reason(error)}.") from error


def _create(folder: Folder, name: str, content: bytes) -> None:
    descriptor = folder.create(name)  # the system itself refuses one that is there
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
