"""The errors of a session, kept beside its conversation: one record a line that was shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

KINDS = ("generation", "compaction", "resume")
MAXIMUM_RECORDS = 200


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """One error as it was shown. ``raw`` is there only when it says more than ``line``."""

    time: datetime
    kind: str
    turns: int
    question: str
    line: str
    raw: str | None
    model: str | None


class Journal:
    """The errors of one session, oldest first; at most :data:`MAXIMUM_RECORDS`, the oldest go first."""

    def __init__(self) -> None:
        self._records: list[Any] = []

    def __len__(self) -> int:
        return len(self._records)

    def questions(self) -> Iterator[str]:
        """Yield the questions of the records, oldest first."""
        return iter(())
