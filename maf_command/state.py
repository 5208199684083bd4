"""``maf-memory where`` and ``maf-memory trace``: what the state root keeps, and where a text still stands in it.

Both only read: they neither create the root nor sweep it.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from maf_command.ending import end_with

if TYPE_CHECKING:
    from maf_console.screen import Screen

WHERE_HELP = """Example: maf-memory where

Show what the two demos keep under the state root: files, sizes, versions, revisions, times, and what else lies there.
"""

TRACE_HELP = """Example: maf-memory trace module=Reporting

Show every line under the state root that still holds a text, whatever its case and JSON escaping: in the context
store, the snapshot, what a killed save left, and the files of other programs.

With - in place of the text, one line of standard input is the text: a secret then stands in no shell history and in
no list of processes.
"""

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object in place of the text.")]


def where(as_json: AsJson = False) -> None:
    """Show what is kept, and in which file."""
    end_with(lambda screen: asyncio.run(_where(screen, as_json=as_json)))


def trace(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The text to look for, or - to read it.")],
    as_json: AsJson = False,
) -> None:
    """Show every place that still holds a text."""
    end_with(lambda screen: asyncio.run(_trace(screen, text, as_json=as_json)))


async def _where(screen: Screen, *, as_json: bool) -> int:
    from maf_console.ledger import whereabouts
    from maf_console.places import Places
    from maf_console.supports import context, snapshot
    from maf_memory.root import VARIABLE, state_root

    places = Places(state_root(), is_default=VARIABLE not in os.environ)
    kept = {"snapshot": await snapshot(places), "context": await context(places)}
    if not as_json:
        screen.result(whereabouts(kept, places))
        return 0
    report = {
        "state_root": str(places.root),
        **{
            row: {"path": str(support.path), "holds": support.holds, "facts": list(support.facts)}
            for row, support in kept.items()
        },
        "others": [path.relative_to(places.root).as_posix() for path in places.foreign()],
    }
    screen.result(json.dumps(report, indent=2))
    return 0


async def _trace(screen: Screen, text: str, *, as_json: bool) -> int:
    from maf_console.places import Places
    from maf_console.tracing import traced
    from maf_memory.root import state_root
    from maf_memory.text import sound
    from maf_memory.trace import BLIND
    from maf_memory.trace import trace as find

    wanted = sys.stdin.readline().rstrip("\r\n") if text == "-" else text
    if not wanted.strip():
        raise typer.BadParameter("a text to look for is needed", param_hint="TEXT")
    places = Places(state_root())
    if not as_json:
        screen.result(await traced(places, wanted))
        return 0
    found, unread = await asyncio.to_thread(find, places.root, sound(wanted))
    report = {
        "state_root": str(places.root),
        "places": [
            {
                "path": place.path.relative_to(places.root).as_posix(),
                "line": place.line,
                "role": places.role(place.path),
            }
            for place in found
        ],
        "unread": [{"path": entry.path.relative_to(places.root).as_posix(), "why": entry.why} for entry in unread],
        "not_seen": list(BLIND),
    }
    screen.result(json.dumps(report, indent=2))
    return 0
