"""Makes a project folder with four recorded sessions to look at: ``sample_project.py [--turn] FOLDER``.

Everything goes through the package's public names, as a program of one's own would do it; ids and times are fixed, so
that two runs write the same sessions.
"""

import argparse
import asyncio
import importlib.util
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _environment import reexec_inside

if TYPE_CHECKING:
    from agent_framework import Message

    from maf_memory.sessions import SessionDirectory, SessionRecord

ORDERS, ORDERS_CONTINUED, LOGS, SEARCH = (
    "20260911-093000-7be1d0c4",
    "20260912-154210-90aa2b17",
    "20260916-101530-4f2a9c1e",
    "20260921-141005-b03ce8a1",
)
"""The ids of the four sessions, oldest first."""


def main() -> int:
    """Return 0 when the folder was made; 1 where there is one already that holds sessions."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", metavar="FOLDER", type=Path, help="the project to make")
    options.add_argument("--turn", action="store_true", help="add a turn to the session about logs that was made there")
    chosen = options.parse_args()
    folder = chosen.folder
    if importlib.util.find_spec("maf_memory") is None:
        reexec_inside()
    if chosen.turn:
        asyncio.run(add_turn(folder))
        return 0
    if (folder / ".mm").exists():
        print(f"{folder / '.mm'} is there already; nothing was made.", file=sys.stderr)
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(make(folder))
    return 0


async def make(folder: Path) -> None:
    """Record the four sessions beside the project ``folder``."""
    from maf_memory.sessions import FileSessions, SessionDirectory

    ids = iter((ORDERS, ORDERS_CONTINUED, LOGS, SEARCH))
    clock = Clock()
    directory = SessionDirectory(
        FileSessions.of_project(folder), cwd="/home/ada/shop", now=clock, draw_id=lambda _: next(ids)
    )
    for record in (_about_orders, _about_orders_continued, _about_logs, _about_search):
        await record(directory, clock)


async def add_turn(folder: Path) -> None:
    """Go on with the session about logs, as a program that opens it again does."""
    from maf_memory.sessions import FileSessions, SessionDirectory

    clock = Clock()
    clock.set("2026-09-17T08:02:44+02:00")
    storage = FileSessions.of_project(folder)
    record = await storage.load(LOGS)
    record.messages = [
        *record.messages,
        said("user", "Et le niveau ?", "c8"),
        said("assistant", "INFO ; DEBUG avec la variable SHOP_DEBUG.", "c9"),
    ]
    await SessionDirectory(storage, now=clock).keep(record)


class Clock:
    """A clock that shows the time it was set to."""

    def __init__(self) -> None:
        self.set("2026-09-11T09:30:00+02:00")

    def set(self, time: str) -> None:
        """Show this time from now on."""
        self._time = datetime.fromisoformat(time)

    def __call__(self) -> datetime:
        """Return the time."""
        return self._time


async def _about_orders(directory: "SessionDirectory", clock: Clock) -> None:
    clock.set("2026-09-11T09:30:00+02:00")
    record = _new(directory)
    record.messages = [
        said("user", "Where should the shop keep its orders?", "a1"),
        said("assistant", "In PostgreSQL: orders and payments change together, and that needs transactions.", "a2"),
        said("user", "And the backups?", "a3"),
        said("assistant", "Every night with pg_dump, kept for 30 days on another machine.", "a4"),
    ]
    record.continued_in = ORDERS_CONTINUED
    clock.set("2026-09-11T09:48:12+02:00")
    await directory.keep(record)


async def _about_orders_continued(directory: "SessionDirectory", clock: Clock) -> None:
    clock.set("2026-09-12T15:42:10+02:00")
    record = _new(directory)
    record.title = "Where should the shop keep its orders?"
    record.messages = [
        written(
            "user",
            "summary",
            "Summary of the conversation so far:\n\n"
            "- Orders go to PostgreSQL, for its transactions.\n"
            "- Backups: every night with pg_dump, kept for 30 days.",
            "b1",
        ),
        written("assistant", "acknowledgement", "I go on from this summary.", "b2"),
        said("user", "Which schema do we start with?", "b3"),
        said("assistant", "Two tables, orders and order_lines, and one migration file for each change.", "b4"),
    ]
    await directory.keep(record)


async def _about_logs(directory: "SessionDirectory", clock: Clock) -> None:
    from agent_framework import Content, Message

    clock.set("2026-09-16T10:15:30+02:00")
    record = _new(directory)
    record.messages = [
        written("system", "instructions", "You help with the code of this project.", "c1"),
        said("user", "Quel format pour les logs ?", "c2"),
        Message(
            "assistant",
            [Content.from_function_call("call_1", "read_file", arguments='{"path": "cmd/shop/main.go"}')],
            message_id=message_id("c3"),
        ),
        Message(
            "tool",
            [Content.from_function_result("call_1", result='package main\n\nfunc main() {\n\tlog.Println("start")\n}')],
            message_id=message_id("c4"),
        ),
        said("assistant", "log/slog, en JSON : une ligne par événement, que jq sait lire.", "c5"),
    ]
    await directory.keep(record)
    clock.set("2026-09-16T10:18:02+02:00")
    record.errors.add(
        "generation",
        line="The model server does not answer (http://127.0.0.1:8080/v1).",
        raw="ConnectError: [Errno 111] Connection refused; Authorization: Bearer 4f9c2a7be1d04f9c2a7be1d0",
        question="Et en développement ?",
        turns=1,
        model="qwen3.5-4b",
        time=clock(),
    )
    await directory.keep(record)
    clock.set("2026-09-16T10:21:07+02:00")
    record.messages = [
        *record.messages,
        said("user", "Et en développement ?", "c6"),
        said("assistant", "Le même appel, avec slog.NewTextHandler : lisible dans un terminal.", "c7"),
    ]
    await directory.keep(record)


async def _about_search(directory: "SessionDirectory", clock: Clock) -> None:
    clock.set("2026-09-21T14:10:05+02:00")
    record = _new(directory)
    record.errors.add(
        "generation",
        line="No answer within 120 seconds.",
        question="How does the search rank what it finds?",
        turns=0,
        model="qwen3.5-4b",
        time=clock(),
    )
    await directory.keep(record)


def _new(directory: "SessionDirectory") -> "SessionRecord":
    return directory.new(provider="openai", model="qwen3.5-4b")


def said(role: str, text: str, name: str) -> "Message":
    """Return a message of a person or a model."""
    from agent_framework import Message

    return Message(role, [text], message_id=message_id(name))


def written(role: str, kind: str, text: str, name: str) -> "Message":
    """Return a message that mini-me wrote itself."""
    from agent_framework import Message

    from maf_memory.authorship import mark

    properties: dict[str, Any] = mark("mm", kind)
    return Message(role, [text], message_id=message_id(name), additional_properties=properties)


def message_id(name: str) -> str:
    """Return a message id of 32 digits that is the same in every run; programs draw one with ``uuid4().hex``."""
    return name.encode().hex().rjust(32, "0")


if __name__ == "__main__":
    sys.exit(main())
