"""The answer to «where does this text still stand?», for a person who wants it gone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from maf_console.places import Places, session_role
from maf_memory.checkpoint import history_of
from maf_memory.text import one_line, sound
from maf_memory.trace import BLIND, folded, holds, trace

if TYPE_CHECKING:
    from agent_framework import AgentSession


OTHER_PROJECTS = "the sessions of other projects: --project FOLDER looks into another one"
"""What the trace of one project cannot see, beside :data:`BLIND`."""


async def traced(places: Places, text: str, session: AgentSession | None = None, *, project: Path | None = None) -> str:
    """Return every place that holds ``text``, and what cannot be seen from here; the text itself is not repeated.

    The places are the lines of the files under the root, and under the ``.mm`` of a project, and the messages of
    ``session``, counted from 1.
    """
    text = sound(text)
    lines = await _under(places.root, text, places.role)
    blind = list(BLIND)
    if project is not None:
        lines += await _under(project / ".mm", text, lambda path: role_in_project(path, project))
        blind.append(OTHER_PROJECTS)
    if session is not None:
        lines.append("In this process:")
        lines.append(f"  {_messages_with(session, text)}")
    lines.append("Not seen from here, and not erased by any command:")
    lines += [f"  {what}" for what in blind]
    return "\n".join(lines)


async def _under(root: Path, text: str, role: Callable[[Path], str]) -> list[str]:
    """Return the lines that tell of one root."""
    found, unread = await asyncio.to_thread(trace, root, text)
    lines = [f"Under {root}:"]
    wheres = [f"{_name(place.path, root)}:{place.line}" for place in found]
    width = max(map(len, wheres), default=0)
    lines += [f"  {where:<{width}}  {role(place.path)}" for where, place in zip(wheres, found, strict=True)]
    if not found:
        lines.append("  no file holds it")
    return lines + [f"  {_name(entry.path, root)}  not read: {entry.why}" for entry in unread]


def role_in_project(path: Path, project: Path) -> str:
    """Return what the file at ``path``, under the ``.mm`` of ``project``, is."""
    return session_role(path, project / ".mm" / "sessions", "this project") or "no session"


def _name(path: Path, root: Path) -> str:
    return one_line(path.relative_to(root).as_posix())


def _messages_with(session: AgentSession, text: str) -> str:
    wanted = folded(text)
    numbers = [
        str(number)
        for number, message in enumerate(history_of(session), start=1)
        if holds(json.dumps(message.to_dict(), default=str), wanted)
    ]
    if not numbers:
        return "no message of the conversation holds it"
    return f"the conversation: message{'' if len(numbers) == 1 else 's'} {', '.join(numbers)}"
