"""The seam to where sessions are kept: six verbs. Whatever keeps them passes the same contract tests.

The files of a project are one implementation; a shared database is another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from maf_memory.sessions.record import Damaged, Head, SessionRecord
from maf_memory.stamp import Stamp

if TYPE_CHECKING:
    from agent_framework import Message

    from maf_memory.sessions.found import Found


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page ended: the last activity and the id of its last session, so that equal times lose none."""

    updated: datetime
    id: str


def place_in_listing(one: Head | Cursor) -> tuple[timedelta, str]:
    """Return what a listing is ordered by: the instant, newest first, then the id.

    Local times compared as they are written would misorder.
    """
    offset = one.updated.utcoffset() or timedelta()
    return datetime.max - one.updated.replace(tzinfo=None) + offset, one.id  # in UTC some years do not exist


@dataclass(frozen=True, slots=True)
class Page:
    """Heads by last activity, newest first, then by id; ``next`` is where the next page begins, or ``None``.

    ``damaged`` are the sessions that cannot be listed; they stand on the last page.
    """

    heads: Sequence[Head]
    damaged: Sequence[Damaged]
    next: Cursor | None


class SessionStorage(Protocol):
    """Keeps the sessions of one project; another process may keep the same ones."""

    async def create(self, record: SessionRecord) -> Stamp:
        """Keep a session that is not kept yet, durably, and give the record its stamp, of a new lineage.

        A lone surrogate in a text or a message of the record becomes U+FFFD, in the record too.

        Raises:
            StateConflict: the id is taken; nothing was overwritten.
            SaveFailed: the disk refused, or the record holds what could not be read back.
            NotProvenDurable: it is kept, but a power cut may undo it.
        """
        ...

    async def load(self, session_id: str) -> SessionRecord:
        """Return the whole session; nothing is changed, on the disk or elsewhere.

        Raises:
            UnknownSession: no session has this id.
            FileRefused: it is damaged, or of a newer format; it was left as it is.
        """
        ...

    async def save(self, record: SessionRecord) -> Stamp:
        """Put the record in the place of the save that it is a copy of, and give it the stamp of this one.

        Raises:
            StateConflict: another process saved, deleted or re-created it; nothing was overwritten.
            FileRefused, SaveFailed, NotProvenDurable: as :meth:`create`.
        """
        ...

    async def delete(self, session_id: str, *, expected: SessionRecord | Stamp | None = None) -> bool:
        """Delete the session, whatever it holds, and return whether there was one.

        With ``expected``, only when that is the save that is kept; a record is expected with all that it was kept as.

        Raises:
            StateConflict: another save is kept than the expected one.
            SaveFailed, NotProvenDurable: as :meth:`create`.
        """
        ...

    async def page(self, *, limit: int | None = None, after: Cursor | None = None) -> Page:
        """Return heads of the sessions that have something to show; empty conversations are left out.

        Raises:
            FileUnreadable: the place itself cannot be read.
        """
        ...

    async def search(self, query: str, *, without: Sequence[Message] = (), limit: int = 10) -> Found:
        """Return the messages that hold a word of ``query``, best first; ``without`` are the ones already known.

        Raises:
            ValueError: the query holds no word.
        """
        ...
