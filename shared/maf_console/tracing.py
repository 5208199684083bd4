"""The answer to «where does this text still stand?», for a person who wants it gone."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING

from maf_console.places import Places
from maf_memory.checkpoint import history_of
from maf_memory.text import one_line, sound
from maf_memory.trace import BLIND, folded, holds, trace

if TYPE_CHECKING:
    from agent_framework import AgentSession


async def traced(places: Places, text: str, session: AgentSession | None = None) -> str:
    """Return every place that holds ``text``, and what cannot be seen from here; the text itself is not repeated.

    The places are the lines of the files under the root and the messages of ``session``, counted from 1.
    """
    text = sound(text)
    found, unread = await asyncio.to_thread(trace, places.root, text)
    lines = [f"Under {places.root}:"]
    names = {place.path: _name(place.path, places) for place in found}
    width = max((len(f"{names[place.path]}:{place.line}") for place in found), default=0)
    for place in found:
        where = f"{names[place.path]}:{place.line}"
        lines.append(f"  {where:<{width}}  {places.role(place.path)}")
    if not found:
        lines.append("  no file holds it")
    lines += [f"  {_name(entry.path, places)}  not read: {entry.why}" for entry in unread]
    if session is not None:
        lines.append("In this process:")
        lines.append(f"  {_messages_with(session, text)}")
    lines.append("Not seen from here, and not erased by any command:")
    lines += [f"  {blind}" for blind in BLIND]
    return "\n".join(lines)


def _name(path: Path, places: Places) -> str:
    return one_line(path.relative_to(places.root).as_posix())


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
