"""The names of temporary files: drawn for one save, and recognised when a killed save left one behind.

Only a name that this program can have drawn is recognised, so that nothing of anybody else is ever removed.
"""

from __future__ import annotations

import re
import secrets

from maf_memory.disk import Folder


def new_name(target: str) -> str:
    """Return a name for a temporary file beside ``target``; two writers never share one."""
    return f".{target}.{secrets.token_hex(8)}.tmp"


def is_one(name: str, target: str) -> bool:
    """Whether ``name`` can be a temporary file of ``target``: of a save under way, or the rest of a killed one."""
    return re.fullmatch(re.escape(f".{target}.") + r"[0-9a-f]{16}\.tmp", name) is not None


def names(folder: Folder, target: str) -> list[str]:
    """Return the temporary files of ``target`` in ``folder``."""
    return [name for name in folder.names() if is_one(name, target)]
