"""``maf-memory sessions list``: the conversations of a project, the one that was last active first."""

from __future__ import annotations

import asyncio
import shutil
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maf_command.ending import end_with
from maf_command.sessions.place import AsJson, Folder, Place, Project, json_text

if TYPE_CHECKING:
    from maf_console.screen import Screen
    from maf_memory.sessions.files import FileSessions
    from maf_memory.sessions.record import Damaged, Head

LIST_HELP = """Example: maf-memory sessions list

List the conversations of the project in the current folder, the one that was last active first: id, title, turns, age,
and how many errors were recorded. No folder above is looked at, and no conversation is read.

A file that is damaged is listed as damaged, with the reason. Conversations without a question are left out.
"""

_GAP = "  "
_LEAST_TITLE = 24


def list_sessions(
    limit: Annotated[int, typer.Option(min=0, metavar="N", help="How many at most; 0 for all.")] = 50,
    after: Annotated[
        str | None, typer.Option(metavar="ID", help="Go on after this one, where the list before it ended.")
    ] = None,
    project: Project = None,
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """List the conversations of a project."""
    end_with(lambda screen: asyncio.run(_list(screen, Place(project, folder), limit, after, as_json=as_json)))


async def _list(screen: Screen, place: Place, limit: int, after: str | None, *, as_json: bool) -> int:
    storage = place.storage
    page = await storage.page()
    heads, damaged = list(page.heads), page.damaged
    total = len(heads)
    if after is not None:
        heads, damaged = _rest(heads, await place.find(after)), ()
    shown = heads[:limit] if limit else heads
    left = len(heads) - len(shown)
    if as_json:
        screen.document(json_text(_report(storage, shown, damaged, total, left)))
        return 0
    if not heads and not damaged:
        screen.notice(f"No sessions{' after this one' if after else ''} in {storage.folder}.")
        return 0
    from maf_memory.sessions.record import local_now

    now = local_now()
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for head in shown:
        screen.result(_line(head, now, width))
    for one in damaged:
        screen.result(_damaged_line(one))
    if damaged:
        screen.notice(f"{place.command('repair', 'ID')} writes what is whole in a damaged one to a new session.")
    if left:
        screen.notice(f"{left:,} more of {total:,}: {place.command('list', '--after', shown[-1].id)}, or --limit 0.")
    return 0


def _rest(heads: list[Head], session_id: str) -> list[Head]:
    """Return the heads after this one; all of them when it is not listed, so that none is lost."""
    places = [number for number, head in enumerate(heads, start=1) if head.id == session_id]
    return heads[places[0] :] if places else heads


def _line(head: Head, now: datetime, width: int | None) -> str:
    """Return the session's line; on a terminal, of ``width`` columns, its title gives way, and nothing else.

    Where even a short title does not fit beside the rest, the rest stands on a second line.
    """
    from maf_memory.sessions.listing import describe
    from maf_memory.text import one_line

    start, told = f"{head.id}{_GAP}", describe(head, now)
    if width is None or _cells(start + told) <= width:
        return start + told
    title = told[: len(one_line(head.title, 200))]  # the list has no session without a title
    rest = told.removeprefix(title)
    room = width - _cells(start)
    if room - _cells(rest) >= _LEAST_TITLE:
        return start + _cut(title, room - _cells(rest)) + rest
    return f"{start}{_cut(title, room)}\n{_GAP}{rest.removeprefix(' · ')}"


def _damaged_line(damaged: Damaged) -> str:
    from maf_console.kept_sessions import problem_of

    return f"{damaged.id}{_GAP}damaged: {problem_of(damaged)}"


def _cells(text: str) -> int:
    """How many columns a terminal takes for ``text``."""
    from rich.cells import cell_len  # imported late: only a terminal has columns

    return cell_len(text)


def _cut(title: str, room: int) -> str:
    from rich.cells import set_cell_size

    return title if _cells(title) <= room else f"{set_cell_size(title, max(room - 1, 1)).rstrip()}…"


def head_report(head: Head, storage: FileSessions) -> dict[str, Any]:
    """Return what a program is told of a session."""
    return {
        "id": head.id,
        "title": head.title,
        "turns": head.turns,
        "errors": head.error_count,
        "created": head.created.isoformat(),
        "updated": head.updated.isoformat(),
        "cwd": head.cwd,
        "key": head.key,
        "provider": head.provider,
        "model": head.model,
        "continued_in": head.continued_in,
        "revision": head.stamp.revision,
        "path": str(storage.path_of(head.id)),
    }


def _report(storage: FileSessions, shown: list[Head], damaged: Any, total: int, left: int) -> dict[str, Any]:
    return {
        "folder": str(storage.folder),
        "total": total,
        "sessions": [head_report(head, storage) for head in shown],
        "damaged": [damaged_report(one) for one in damaged],
        "next": shown[-1].id if left and shown else None,
    }


def damaged_report(damaged: Damaged) -> dict[str, str]:
    """Return what a program is told of a session that cannot be read."""
    return {"id": damaged.id, "path": str(damaged.path), "problem": damaged.problem}
