"""``maf-memory sessions show``: one conversation, readable, with its tool calls and its errors."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maf_command.ending import end_with
from maf_command.sessions.place import AsJson, Folder, Place, Project, SessionId, json_text

if TYPE_CHECKING:
    from maf_console.screen import Screen
    from maf_memory.sessions.items import Item
    from maf_memory.sessions.record import SessionRecord

SHOW_HELP = """Example: maf-memory sessions show 20260916

Show a conversation as it was: questions and answers, each tool call with what the tool was given and what it brought,
what a program wrote into it, and the errors, which stand beside it and which the model never reads.

Questions and answers are whole. All else is shown up to 20 lines or 2,000 characters, and says how much more there is.
"""


def show(
    session_id: SessionId,
    full: Annotated[bool, typer.Option("--full", help="Cut nothing.")] = False,
    project: Project = None,
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Show one conversation."""
    end_with(lambda screen: asyncio.run(_show(screen, Place(project, folder), session_id, full=full, as_json=as_json)))


async def _show(screen: Screen, place: Place, prefix: str, *, full: bool, as_json: bool) -> int:
    record = await place.load(prefix)
    from maf_command.sessions.drawing import drawn
    from maf_memory.sessions.transcript import transcript

    items = transcript(record)
    if as_json:
        screen.document(json_text({**_facts(record), "items": [_item_report(item) for item in items]}))
        return 0
    screen.result(_head(record))
    for block in drawn(items, full=full):
        screen.result(f"\n{block}")
    return 0


def _head(record: SessionRecord) -> str:
    from maf_memory.sessions.journal import errors_suffix
    from maf_memory.sessions.listing import counted
    from maf_memory.text import one_line

    facts = _facts(record)
    model = " ".join(part for part in (record.provider, record.model) if part)
    when = f"{_moment(record.created)} to {_moment(record.updated)}"
    told = [record.id, counted(facts["turns"], "turn"), when, *([one_line(model, 200)] if model else [])]
    lines = [
        one_line(facts["title"], 200) or "(no question)",
        " · ".join(told) + errors_suffix(len(record.errors)),
        f"Recorded in {one_line(record.cwd, 400)}",
    ]
    if record.key is not None:
        lines.append(f"Key {one_line(record.key, 400)}")
    if record.continued_in:
        lines.append(f"Continued in {one_line(record.continued_in)}")
    return "\n".join(lines)


def _facts(record: SessionRecord) -> dict[str, Any]:
    from maf_memory.sessions.titles import title_of, turns_of

    return {
        "id": record.id,
        "title": title_of(record.title, record.messages, record.errors),
        "turns": turns_of(record.messages),
        "errors": len(record.errors),
        "created": record.created.isoformat(),
        "updated": record.updated.isoformat(),
        "cwd": record.cwd,
        "key": record.key,
        "provider": record.provider,
        "model": record.model,
        "continued_in": record.continued_in,
    }


def _item_report(item: Item) -> dict[str, Any]:
    """Return an item for a program, with nothing cut and its kind first."""
    values = {name: _plain(value) for name, value in asdict(item).items()}
    return {"item": type(item).__name__, **values}


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value


def _moment(time: datetime) -> str:
    return time.isoformat(sep=" ", timespec="seconds")
