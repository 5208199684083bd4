"""``maf-memory sessions delete``: one conversation and those that it continues; and what that leaves elsewhere."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from maf_command.ending import INTERRUPTED, end_with
from maf_command.sessions.place import AsJson, Folder, Place, Project, SessionId, json_text
from maf_memory.errors import MafMemoryError

if TYPE_CHECKING:
    from maf_console.screen import Screen
    from maf_memory.sessions.record import Head

DELETE_HELP = """Example: maf-memory sessions delete 20260916-101530-4f2a9c1e

Delete a conversation, damaged or not, and with it those that were compacted into it (continued in it). It asks first;
where there is no terminal to ask on, --yes is needed. Then it says what was deleted and what was not.

No copy of a deleted conversation is kept: export it first if you may want it again.
"""

NOT_ERASED = (
    "exports, backups and other copies, and the history of git",
    "the errors and questions that other sessions quote, and this terminal's own scrollback",
    "what the provider of a model or a tool logged or kept",
    "the disk's freed pages: a deleted file may still stand there",
)
"""What no deletion of a file reaches (the seed page's «Portée de l'oubli»)."""

_WIDTH = 12


@dataclass(frozen=True, slots=True)
class Doomed:
    """One session to be deleted, as it stands; ``state`` tells two states of it apart."""

    id: str
    title: str
    told: str
    state: object


def delete(
    session_id: SessionId,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    project: Project = None,
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Delete one conversation, and those that it continues."""
    end_with(lambda screen: _delete(screen, Place(project, folder), session_id, yes=yes, as_json=as_json))


def _delete(screen: Screen, place: Place, prefix: str, *, yes: bool, as_json: bool) -> int:
    from maf_memory.sessions.listing import counted

    doomed = asyncio.run(_doomed(place, prefix))
    wanted = doomed[0].id
    if not yes:
        if not sys.stdin.isatty():
            raise MafMemoryError("Nothing was deleted: there is no terminal to ask on. Add --yes to delete it.")
        refusal = _refusal(screen, doomed)
        if refusal is not None:
            screen.notice("Nothing was deleted.")
            return refusal
        if asyncio.run(_doomed(place, wanted)) != doomed:
            raise MafMemoryError(f"{wanted} was changed while you were asked; nothing was deleted. Look at it again.")
    deleted = asyncio.run(place.directory.delete(wanted))
    left = asyncio.run(_left(place))
    if as_json:
        report = {"folder": str(place.storage.folder), "deleted": list(deleted), "left": left}
        screen.document(json_text({**report, "not_erased": list(NOT_ERASED)}))
        return 0
    told = {one.id: one.told for one in doomed}
    rows = [
        _row("session" if one == wanted else "continued", f"{one}: {told.get(one, 'kept')} -> none")
        for one in reversed(deleted)
    ]
    screen.result("\n".join(["Deleted.", *rows, f"  {'others':<{_WIDTH}}  unchanged  {counted(left, 'session')}"]))
    screen.result("\n".join(["Not erased by this:", *(f"  {one}" for one in NOT_ERASED)]))
    return 0


def _refusal(screen: Screen, doomed: Sequence[Doomed]) -> int | None:
    """Ask, and return the exit status of whoever does not want it; ``None`` is a yes."""
    for one in doomed:
        screen.notice(f"{one.id}  {one.title}\n  {one.told}")
    try:
        wanted = typer.confirm(f"Delete {'it' if len(doomed) == 1 else f'these {len(doomed)}'} for good?", err=True)
    except typer.Abort as abort:  # Ctrl-C, or the end of what is typed
        screen.notice("")
        return INTERRUPTED if isinstance(abort.__context__, KeyboardInterrupt) else 1
    return None if wanted else 1


def _row(name: str, change: str) -> str:
    return f"  {name:<{_WIDTH}}  changed    {change}"


async def _doomed(place: Place, prefix: str) -> Sequence[Doomed]:
    """Return what deleting a session deletes, itself first."""
    session_id = await place.find(prefix)
    page = await place.storage.page()
    by_id = {head.id: head for head in page.heads}
    wanted = [session_id]
    for successor in wanted:
        wanted += [head.id for head in page.heads if head.continued_in == successor and head.id not in wanted]
    problems = {one.id: one.problem for one in page.damaged}
    return [_as_it_stands(one, by_id.get(one), problems.get(one)) for one in wanted]


def _as_it_stands(session_id: str, head: Head | None, problem: str | None) -> Doomed:
    from maf_memory.sessions.listing import counted
    from maf_memory.text import one_line

    if head is None:
        told = "empty" if problem is None else "damaged"
        return Doomed(session_id, "(no question)" if problem is None else "(damaged)", told, problem)
    told = f"{counted(head.turns, 'turn')}, revision {head.stamp.revision}"
    return Doomed(session_id, one_line(head.title, 200), told, head.stamp)


async def _left(place: Place) -> int:
    page = await place.storage.page()
    return len(page.heads) + len(page.damaged)
