"""A real process that creates, saves, deletes, lists and searches sessions, and says what it was told.

``python session_worker.py FOLDER NAME ROUNDS SECONDS`` imports everything, says "ready", and begins when a line
arrives; it ends after so many rounds or seconds, whatever comes last. It fails on what no process may ever see: a
session that is listed as damaged, a search that leaves one out, an own save that is not found.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agent_framework import Message

from maf_memory.errors import StateConflict, UnknownSession
from maf_memory.sessions.files import FileSessions
from maf_memory.sessions.ids import new_id
from maf_memory.sessions.record import SessionRecord

START = datetime(2026, 9, 16, 10, 15, 30, tzinfo=UTC)
SHARED = ["20260916-101530-0000000a", "20260916-101530-0000000b", "20260916-101530-0000000c"]


class Worker:
    """One process; ``told`` is what it was told of each attempt."""

    def __init__(self, folder: Path, name: str) -> None:
        self.sessions = FileSessions(folder)
        self.name = name
        self.chance = random.Random(name)
        self.told: list[dict[str, Any]] = []
        self.held: dict[str, SessionRecord] = {}
        self.own: dict[str, set[str]] = {}
        self.number = 0

    async def round(self) -> None:
        """Do one work of some kind."""
        share = self.chance.random()
        if share < 0.45:
            await self.save(self.chance.choice(SHARED))
        elif share < 0.65:
            await self.save(self.chance.choice([*self.own, ""]))
        elif share < 0.72:
            await self.delete()
        elif share < 0.86:
            await self.list()
        else:
            await self.search()

    async def save(self, session_id: str) -> None:
        """Add a turn to a session, or create one of one's own; at a conflict, load theirs for the next attempt."""
        self.number += 1
        turn = f"{self.name}turn{self.number}end"
        message = Message("user", [turn], message_id=turn)
        record = self.held.get(session_id)
        if record is None:
            record = SessionRecord(session_id or new_id(START), START, START, "/home/ada/shop")
        before = record.messages
        record.messages = [*before, message]
        record.updated = START + timedelta(seconds=self.number)
        try:
            stamp = await (self.sessions.create if record.stamp is None else self.sessions.save)(record)
        except StateConflict:
            self.told.append({"turn": turn, "conflict": record.id})
            try:
                self.held[record.id] = await self.sessions.load(record.id)
            except UnknownSession:
                self.held.pop(record.id, None)
            return
        self.held[record.id] = record
        if record.id not in SHARED:
            self.own.setdefault(record.id, set()).add(turn)
        self.told.append({"turn": turn, "saved": record.id, "lineage": stamp.lineage, "revision": stamp.revision})

    async def delete(self) -> None:
        """Delete a session of one's own, which nobody else can have touched."""
        if len(self.own) < 2:
            return
        session_id = self.chance.choice(list(self.own))
        assert await self.sessions.delete(session_id, expected=self.held.pop(session_id).stamp)
        del self.own[session_id]
        self.told.append({"deleted": session_id})

    async def list(self) -> None:
        """See every session of one's own as it was saved last, and none that is damaged."""
        page = await self.sessions.page()
        assert not page.damaged, page.damaged
        heads = {head.id: head for head in page.heads}
        assert len(heads) == len(page.heads)
        for session_id, turns in self.own.items():
            assert heads[session_id].turns == len(turns)
            assert heads[session_id].stamp == self.held[session_id].stamp

    async def search(self) -> None:
        """Find a turn of one's own exactly once, and leave no session out."""
        turn, where = next(((turn, one) for one, turns in self.own.items() for turn in turns), ("nowhere", ""))
        found = await self.sessions.search(turn)
        assert not found.unread, found.unread
        assert [hit.session_id for hit in found.hits] == ([where] if where else [])


async def work(folder: Path, name: str, rounds: int, seconds: float) -> list[dict[str, Any]]:
    """Work until both are over, and return what was told."""
    worker = Worker(folder, name)
    until = time.monotonic() + seconds
    done = 0
    while done < rounds or time.monotonic() < until:
        await worker.round()
        done += 1
    return worker.told


def main() -> None:
    """Do what the command line says."""
    folder, name, rounds, seconds = sys.argv[1:]
    print("ready", flush=True)
    sys.stdin.readline()
    for told in asyncio.run(work(Path(folder), name, int(rounds), float(seconds))):
        print(json.dumps(told))


if __name__ == "__main__":
    main()
