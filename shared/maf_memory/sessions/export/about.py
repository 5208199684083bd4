"""What stands at the head of every export: the session's facts, and what the export does not hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from maf_memory.sessions.titles import as_title, title_of, turns_of

if TYPE_CHECKING:
    from maf_memory.sessions.items import Failure
    from maf_memory.sessions.record import SessionRecord

NOT_HELD = (
    "Not held here: the framework's own state, token counts, reasoning that only the provider can read, what was "
    "compacted away, and whatever the model's provider or a tool kept elsewhere."
)

_LONGEST = 400
"""How many characters of a fact are shown."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of the head; ``moment`` is there where the value is a time."""

    name: str
    value: str
    moment: datetime | None = None


def title(record: SessionRecord) -> str:
    """Return the title of the session, or a text that says there is none."""
    return as_title(title_of(record.title, record.messages, record.errors)) or "A session without a question"


def facts(record: SessionRecord) -> list[Fact]:
    """Return the facts of the session, those that it has."""
    model = " · ".join(part for part in (record.provider, record.model) if part)
    return _known(
        Fact("Created", moment(record.created), record.created),
        Fact("Last activity", moment(record.updated), record.updated),
        Fact("Model", model),
        Fact("Turns", str(turns_of(record.messages))),
        Fact("Errors", str(len(record.errors)) if len(record.errors) else ""),
        Fact("Folder", record.cwd),
        Fact("Session", record.id),
        Fact("Key", record.key or ""),
        Fact("Continued in", record.continued_in or ""),
    )


def facts_of(failure: Failure) -> list[Fact]:
    """Return what is known of an error, its line and the error itself apart."""
    return _known(
        Fact("Time", "" if failure.time is None else moment(failure.time), failure.time),
        Fact("Turns then", "" if failure.turns is None else str(failure.turns)),
        Fact("Model", failure.model or ""),
        Fact("Question", failure.question),
    )


def moment(time: datetime) -> str:
    """Return a time as every export writes it: ``2026-09-16 10:15:30+02:00``."""
    return time.isoformat(sep=" ", timespec="seconds")


def _known(*facts: Fact) -> list[Fact]:
    return [replace(fact, value=_cut(fact.value)) for fact in facts if fact.value]


def _cut(value: str) -> str:
    return value if len(value) <= _LONGEST else f"{value[: _LONGEST - 1]}…"
