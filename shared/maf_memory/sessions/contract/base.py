"""What every part of the contract needs: the engine under test, records to put into it, and how they are compared."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from maf_memory.sessions.ids import new_id
from maf_memory.sessions.journal import Journal
from maf_memory.sessions.record import SessionRecord

if TYPE_CHECKING:
    from agent_framework import Message

    from maf_memory.sessions.record import Head
    from maf_memory.sessions.storage import SessionStorage

MORNING = datetime(2026, 9, 16, 10, 15, 30, tzinfo=timezone(timedelta(hours=2)))
_numbers = itertools.count(1)


class EngineUnderTest:
    """The one thing that a subclass gives."""

    async def open(self) -> SessionStorage:
        """Return a new handle on the test's own place: the same place within one test, empty when the test begins.

        Several handles are to each other what several processes are.
        """
        raise NotImplementedError("a subclass opens its engine")


def message(role: str, *contents: Any, **options: Any) -> Message:
    """Return a message with an id of its own."""
    from agent_framework import Message

    return Message(role, list(contents), message_id=f"message-{next(_numbers)}", **options)


def turn(question: str, answer: str = "Noted.") -> list[Message]:
    """Return a question of a person and a model's answer."""
    return [message("user", question), message("assistant", answer)]


def record_of(*messages: Message, at: datetime = MORNING, **fields: Any) -> SessionRecord:
    """Return a record that is kept nowhere yet, last active ``at`` that time."""
    given: dict[str, Any] = {"id": new_id(at), "created": at, "updated": at, "cwd": "/home/ada/shop"}
    given["messages"] = list(messages)
    return SessionRecord(**(given | fields))


def journal_of(*questions: str) -> Journal:
    """Return the errors of questions that got no answer."""
    journal = Journal()
    for question in questions:
        journal.add("generation", line="The model did not answer.", turns=0, question=question, time=MORNING)
    return journal


def said(record: SessionRecord) -> dict[str, Any]:
    """Return all that a record says, as plain values; the stamp says which save it is, not what it says."""
    plain = ("id", "cwd", "state", "key", "session_id", "service_session_id", "provider", "model", "continued_in")
    return {
        **{name: copy.deepcopy(getattr(record, name)) for name in plain},
        "messages": [one.to_dict() for one in record.messages],
        "errors": record.errors.encode(),
        "dates": [record.created.isoformat(), record.updated.isoformat()],
    }


def texts(record: SessionRecord) -> list[str]:
    """Return the texts of the conversation."""
    return [one.text for one in record.messages]


async def all_heads(storage: SessionStorage, limit: int | None = None) -> list[Head]:
    """Return the heads of every page, in the order in which the pages give them."""
    heads: list[Head] = []
    page = await storage.page(limit=limit)
    heads += page.heads
    while page.next is not None:
        page = await storage.page(limit=limit, after=page.next)
        heads += page.heads
    return heads


@contextmanager
def raises(kind: type[BaseException], case: object = "") -> Iterator[None]:
    """Claim that the block raises ``kind``; pytest's own would make pytest a dependency of the package."""
    try:
        yield
    except kind:
        return
    raise AssertionError(f"{kind.__name__} was expected, and nothing was raised: {case!r}")
