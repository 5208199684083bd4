"""``maf-memory where`` and ``maf-memory trace``: what is kept, and where a text still stands in it.

Both look under the state root and at the sessions of a project. They only read: nothing is created, nothing swept.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maf_command.ending import end_with
from maf_command.sessions.place import Project, project_folder

if TYPE_CHECKING:
    from maf_console.places import Places
    from maf_console.screen import Screen
    from maf_console.supports import Support

WHERE_HELP = """Example: maf-memory where

Show what the two demos keep under the state root, what a host keeps in its folder sessions/, and the sessions of the
project in the current folder: files, sizes, versions, revisions, times, and what else lies there.
"""

TRACE_HELP = """Example: maf-memory trace module=Reporting

Show every line that still holds a text, whatever its case and JSON escaping: under the state root, in the context
store, the snapshot, a host's sessions, what a killed save left, and the files of other programs; and under the .mm of
the project in the current folder, in its sessions.

With - in place of the text, one line of standard input is the text: a secret then stands in no shell history and in
no list of processes.
"""

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object in place of the text.")]


def where(project: Project = None, as_json: AsJson = False) -> None:
    """Show what is kept, and in which file."""
    end_with(lambda screen: asyncio.run(_where(screen, project, as_json=as_json)))


def trace(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The text to look for, or - to read it.")],
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show every place that still holds a text."""
    end_with(lambda screen: asyncio.run(_trace(screen, text, project, as_json=as_json)))


async def _where(screen: Screen, project: Path | None, *, as_json: bool) -> int:
    from maf_console.ledger import whereabouts
    from maf_console.places import Places
    from maf_console.supports import context, snapshot
    from maf_memory.root import VARIABLE, state_root

    places = Places(state_root(), is_default=VARIABLE not in os.environ)
    kept = {
        "snapshot": await snapshot(places),
        "context": await context(places),
        **await _sessions(places, project_folder(project)),
    }
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


async def _sessions(places: Places, project: Path) -> dict[str, Support]:
    from maf_console.kept_sessions import kept_sessions
    from maf_console.supports import HOST, PROJECT
    from maf_memory.sessions.files import FileSessions

    return {
        PROJECT: await kept_sessions(
            FileSessions.of_project(project),
            owner=f"the project {project.name or project}",
            when_none="none; the project in this folder has no session",
        ),
        HOST: await kept_sessions(
            FileSessions(places.host_sessions, root=places.root),
            owner="a host",
            when_none="none; a host that keeps its sessions under the state root has them here",
        ),
    }


async def _trace(screen: Screen, text: str, project: Path | None, *, as_json: bool) -> int:
    from maf_console.places import Places
    from maf_console.tracing import OTHER_PROJECTS, role_in_project, traced
    from maf_memory.root import state_root
    from maf_memory.text import sound
    from maf_memory.trace import BLIND

    wanted = sys.stdin.readline().rstrip("\r\n") if text == "-" else text
    if not wanted.strip():
        raise typer.BadParameter("a text to look for is needed", param_hint="TEXT")
    places, folder = Places(state_root()), project_folder(project)
    if not as_json:
        screen.result(await traced(places, wanted, project=folder))
        return 0
    report = {
        "state_root": str(places.root),
        **await asyncio.to_thread(_found_under, places.root, sound(wanted), places.role),
        "project": {
            "folder": str(folder / ".mm"),
            **await asyncio.to_thread(
                _found_under, folder / ".mm", sound(wanted), lambda path: role_in_project(path, folder)
            ),
        },
        "not_seen": [*BLIND, OTHER_PROJECTS],
    }
    screen.result(json.dumps(report, indent=2))
    return 0


def _found_under(root: Path, text: str, role: Callable[[Path], str]) -> dict[str, Any]:
    from maf_memory.trace import trace as find

    found, unread = find(root, text)
    return {
        "places": [
            {"path": place.path.relative_to(root).as_posix(), "line": place.line, "role": role(place.path)}
            for place in found
        ],
        "unread": [{"path": entry.path.relative_to(root).as_posix(), "why": entry.why} for entry in unread],
    }
