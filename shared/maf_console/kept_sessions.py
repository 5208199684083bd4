"""Folders of session files, described from the heads of the files: no conversation is read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from maf_console.places import SESSIONS_LOCK, session_role
from maf_console.supports import NONE, Support, counted
from maf_memory.errors import FileRefused
from maf_memory.text import one_line

if TYPE_CHECKING:
    from maf_memory.sessions.files import FileSessions
    from maf_memory.sessions.record import Damaged
    from maf_memory.sessions.storage import Page

_NAMED = 5
"""How many damaged or other files are named one by one."""


async def kept_sessions(storage: FileSessions, *, owner: str, when_none: str) -> Support:
    """Describe the sessions in the folder of ``storage``; a folder that is refused is described as refused."""
    folder = storage.folder
    try:
        page = await storage.page()
    except FileRefused as error:
        return Support("refused", [f"refused: {error.found}"], folder)
    names, size = _files(folder)
    if not names:
        return Support(NONE, [when_none], folder)
    holds = _holds(page)
    return Support(holds, [f"{holds}, {size:,} bytes, of {owner}", *_facts(page), *_besides(folder, names)], folder)


def _holds(page: Page) -> str:
    turns = sum(head.turns for head in page.heads)
    errors = sum(head.error_count for head in page.heads)
    parts = [counted(len(page.heads), "session"), counted(turns, "turn")]
    if errors:
        parts.append(f"⚠️ {errors:,} error(s)")
    if page.damaged:
        parts.append(f"{len(page.damaged):,} damaged")
    return ", ".join(parts)


def _facts(page: Page) -> Iterator[str]:
    if page.heads:
        yield f"last activity {page.heads[0].updated.isoformat()}"
    for one in page.damaged[:_NAMED]:
        yield f"damaged: {one.id}: {problem_of(one)}"
    if len(page.damaged) > _NAMED:
        yield f"and {len(page.damaged) - _NAMED:,} more damaged ones; maf-memory sessions list names them"


def problem_of(damaged: Damaged) -> str:
    """Return what is wrong with a file that is named beside it, in one line."""
    return one_line(damaged.problem, 400)


def _besides(folder: Path, names: list[str]) -> Iterator[str]:
    """Yield what else lies there: the rest of killed saves, and files that are no session."""
    others: list[str] = []
    for name in names:
        role = session_role(folder / name, folder, "")
        if role is None and name != SESSIONS_LOCK:
            others.append(name)
        elif role is not None and name.startswith("."):
            yield f"{role}: {name}"
    for name in others[:_NAMED]:
        yield f"no session, left alone: {one_line(name)}"
    if len(others) > _NAMED:
        yield f"and {len(others) - _NAMED:,} more files that are no session"


def _files(folder: Path) -> tuple[list[str], int]:
    """Return the names in the folder, and the size of its files; what is gone or closed by now counts nothing."""
    names: list[str] = []
    size = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                names.append(entry.name)
                size += entry.stat(follow_symlinks=False).st_size if entry.is_file(follow_symlinks=False) else 0
    except OSError:
        return sorted(names), size
    return sorted(names), size
