"""The process that forks one child a crash point, for the works on session files."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from agent_framework import Message

from maf_memory.sessions.files import FileSessions
from maf_memory.sessions.record import SessionRecord
from tests.maf_memory.crash_server import Work, serve

ID = "20260916-101530-4f2a9c1e"
START = datetime(2026, 9, 16, 10, 15, 30, tzinfo=UTC)


def talked(*turns: str) -> list[Message]:
    """A conversation of these questions."""
    return [Message("user", [turn], message_id=turn) for turn in turns]


async def ready(work: str, root: Path) -> Work:
    """Do what comes before the work, and return the work itself."""
    root.mkdir(exist_ok=True)  # noqa: ASYNC240 - nothing else runs here
    sessions = FileSessions.of_project(root)
    record = SessionRecord(ID, START, START, "/home/ada/shop", talked("new"))
    if work == "create in a new project":
        return lambda: sessions.create(record)
    await sessions.delete(ID)
    if work == "create":
        await sessions.create(SessionRecord("20260916-101530-00000001", START, START, "/", talked("other")))
        return lambda: sessions.create(record)
    record.messages = talked("old")
    await sessions.create(record)
    if work == "save":
        record.messages = talked("old", "new")
        return lambda: sessions.save(record)
    return lambda: sessions.delete(ID, expected=record.stamp)


if __name__ == "__main__":
    serve(ready, "save", "delete")
