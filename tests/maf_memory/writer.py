"""A real process that saves, sets or deletes again and again, and says what it was told: one JSON line an attempt.

``python writer.py WORK ROOT NAME COUNT`` imports everything, says "ready", and begins when a line arrives.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from agent_framework import AgentSession, Message

from maf_memory.context import ContextStore
from maf_memory.errors import StateConflict
from maf_memory.snapshot import SnapshotStore

Say = Callable[..., None]


async def saving(root: Path, name: str, count: int, say: Say) -> None:
    """Save one turn more at each attempt; at a conflict, load theirs and go on from there."""
    store = SnapshotStore(root / "demo140" / "session.json", instruction_version="memory-1.1")
    session = AgentSession()
    for number in range(count):
        history = session.state.setdefault("in_memory", {"messages": []})
        turn = f"{name} {number}"
        history["messages"] = [*history["messages"], Message("user", [turn], message_id=turn)]
        try:
            saved = await store.save(session)
        except StateConflict:
            theirs = await store.load()
            session = AgentSession() if theirs is None else theirs
            say(turn=turn, conflict=True, found=theirs is not None)
        else:
            say(turn=turn, lineage=saved.stamp.lineage, revision=saved.stamp.revision)


async def deleting(root: Path, other: str, least: int, say: Say) -> None:
    """Delete the snapshot whenever there is one, for as long as the other process works."""
    store = SnapshotStore(root / "demo140" / "session.json", instruction_version="memory-1.1")
    attempts = 0
    while attempts < least or not is_done(root, other).exists():
        attempts += 1
        if await store.delete():
            say(attempt=attempts)


def is_done(root: Path, name: str) -> Path:
    """The file that tells the other process of the end of this one's work."""
    return root / f"{name} is done"


def value_of(name: str, number: int) -> str:
    """The value that a writer of this name sets at this attempt."""
    return f"{name} {number} " + name[0] * (number * 17 % 3000)


async def setting(root: Path, name: str, count: int, say: Say) -> None:
    """Set one value after the other, of different lengths."""
    store = ContextStore(root / "demo130" / "agent-state.json")
    for number in range(count):
        await store.set(value_of(name, number))
        say(number=number)


WORKS: dict[str, Callable[[Path, str, int, Say], Awaitable[None]]] = {
    "save": saving,
    "delete": deleting,
    "set": setting,
}


def main() -> None:
    """Do the work named on the command line."""
    work, root, name, count = sys.argv[1:]
    print("ready", flush=True)
    sys.stdin.readline()
    lines: list[str] = []
    asyncio.run(WORKS[work](Path(root), name, int(count), lambda **told: lines.append(json.dumps(told))))
    is_done(Path(root), name).touch()
    print("\n".join(lines))


if __name__ == "__main__":
    import portalocker  # noqa: F401 - imported late by the package; the race must not wait for it

    main()
