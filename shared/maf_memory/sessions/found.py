"""What a search in the sessions of a project brings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from maf_memory.sessions.record import Damaged


@dataclass(frozen=True, slots=True)
class Hit:
    """One message that holds a word of the query.

    ``excerpt`` runs from the first found word to the last; ``words`` are the words of the query that it holds.
    ``answer`` is the text on which the turn ended, when the message is a question. The session opens by its id;
    ``number`` counts its messages from 1. ``kind`` is there for what a program wrote: the body of a summary.
    """

    session_id: str
    title: str
    updated: datetime
    number: int
    role: str
    excerpt: str
    words: tuple[str, ...]
    answer: str | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The hits, best first; how many messages matched in all; and the sessions that could not be searched."""

    hits: Sequence[Hit]
    matched: int
    searched: int
    unread: Sequence[Damaged]
