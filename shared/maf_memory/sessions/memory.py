"""MemorySessions: the sessions of a project in this process's memory; the second engine behind the seam.

It keeps every promise of :class:`~maf_memory.sessions.storage.SessionStorage` but one: what is kept ends with the
process. Several handles on one :class:`Place` are to each other what several processes are to a folder.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from maf_memory.conversation import NotAConversation
from maf_memory.errors import FileRefused, SaveFailed, StateConflict, UnknownSession
from maf_memory.lines import MessageLines, encoded
from maf_memory.sessions.copies import copied_record
from maf_memory.sessions.ids import is_id
from maf_memory.sessions.native import agent_session, take_session
from maf_memory.sessions.query import parse_query
from maf_memory.sessions.record import Head, SessionRecord
from maf_memory.sessions.search import search_records
from maf_memory.sessions.soundness import TEXTS, is_for_a_surrogate, make_sound
from maf_memory.sessions.storage import Cursor, Page, place_in_listing
from maf_memory.sessions.titles import settled_title, title_of, turns_of
from maf_memory.stamp import Stamp, first_stamp
from maf_memory.text import one_line
from maf_memory.threads import finished_in_thread

if TYPE_CHECKING:
    from agent_framework import Message

    from maf_memory.sessions.found import Found


class Kept(NamedTuple):
    """A record as it was saved, and its title in a listing."""

    stamp: Stamp
    record: SessionRecord
    title: str


@dataclass(slots=True)
class Place:
    """What the handles on one place share: the sessions that are kept, and one writer at a time."""

    name: str = "memory"
    sessions: dict[str, Kept] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


class MemorySessions:
    """Keeps sessions in a :class:`Place`; what it returns shares nothing with it but recorded messages."""

    def __init__(self, place: Place | None = None) -> None:
        """Open ``place``, or a new one of its own."""
        self.place = Place() if place is None else place

    async def create(self, record: SessionRecord) -> Stamp:
        """Keep a new session, as :meth:`SessionStorage.create` promises."""
        self._checked_id(record.id)
        copy = _sound_copy(record)
        with self.place.lock:
            taken = self.place.sessions.get(record.id)
            if taken is not None:
                raise StateConflict(self._path(record.id), str(taken.stamp), "no session")
            return self._keep(record, copy, first_stamp())

    async def load(self, session_id: str) -> SessionRecord:
        """Return a session, as :meth:`SessionStorage.load` promises."""
        with self.place.lock:
            kept = self.place.sessions.get(self._checked_id(session_id))
        if kept is None:
            raise UnknownSession(session_id, self.place.name)
        return copied_record(kept.record)

    async def save(self, record: SessionRecord) -> Stamp:
        """Replace a session, as :meth:`SessionStorage.save` promises."""
        self._checked_id(record.id)
        copy = _sound_copy(record)
        with self.place.lock:
            found = self.place.sessions.get(record.id)
            if found is None or found.stamp != record.stamp:
                self._refuse(record.id, found, record.stamp)
            return self._keep(record, copy, found.stamp.next())

    async def delete(self, session_id: str, *, expected: SessionRecord | Stamp | None = None) -> bool:
        """Delete a session, as :meth:`SessionStorage.delete` promises."""
        self._checked_id(session_id)
        if isinstance(expected, SessionRecord):
            expected = expected.stamp
        with self.place.lock:
            found = self.place.sessions.get(session_id)
            if found is not None and expected is not None and found.stamp != expected:
                self._refuse(session_id, found, expected)
            return self.place.sessions.pop(session_id, None) is not None

    async def page(self, *, limit: int | None = None, after: Cursor | None = None) -> Page:
        """Return heads, as :meth:`SessionStorage.page` promises; nothing here is ever damaged."""
        if limit is not None and limit < 1:
            raise ValueError("a page has at least one head")
        with self.place.lock:
            kept = list(self.place.sessions.values())
        heads = sorted((head for head in map(_head, kept) if head.title), key=place_in_listing)
        if after is not None:
            heads = [head for head in heads if place_in_listing(head) > place_in_listing(after)]
        shown = heads if limit is None else heads[:limit]
        more = len(shown) < len(heads)
        return Page(shown, (), Cursor(shown[-1].updated, shown[-1].id) if more else None)

    async def search(self, query: str, *, without: Sequence[Message] = (), limit: int = 10) -> Found:
        """Return the messages that hold a word of ``query``, as :meth:`SessionStorage.search` promises."""
        wanted = parse_query(query)
        with self.place.lock:
            records = [replace(kept.record, title=kept.title) for kept in self.place.sessions.values()]
        return await finished_in_thread(search_records, records, wanted, without=without, limit=limit)

    def _keep(self, record: SessionRecord, copy: SessionRecord, stamp: Stamp) -> Stamp:
        """Put the copy in its place; call it under the lock."""
        copy.stamp = record.stamp = stamp
        title = title_of(copy.title, copy.messages, copy.errors)
        self.place.sessions[record.id] = Kept(stamp, copy, title)
        copy.title = record.title = settled_title(title, copy.messages)
        return stamp

    def _refuse(self, session_id: str, found: Kept | None, expected: Stamp | None) -> NoReturn:
        raise StateConflict(
            self._path(session_id),
            "nothing, for it was deleted" if found is None else str(found.stamp),
            "no session" if expected is None else str(expected),
        )

    def _checked_id(self, session_id: str) -> str:
        if not is_id(session_id):
            raise UnknownSession(session_id, self.place.name)
        return session_id

    def _path(self, session_id: str) -> Path:
        return Path(self.place.name) / session_id


def _sound_copy(record: SessionRecord) -> SessionRecord:
    try:
        return _proven_copy(record)
    except SaveFailed as error:
        if not is_for_a_surrogate(error):
            raise
    make_sound(record)
    return _proven_copy(record)


def _proven_copy(record: SessionRecord) -> SessionRecord:
    """Return a copy of what can be read back: a conversation whose session gives the same record again.

    Raises:
        SaveFailed: the record holds something else.
    """
    try:
        copy, again = copied_record(record), copied_record(record)
        encoded([getattr(copy, name) for name in TEXTS])
        MessageLines().take(copy.messages)
        take_session(again, agent_session(copy))
        if (again.state, again.service_session_id) != (copy.state, copy.service_session_id):
            raise ValueError("state that the framework rebuilds differently")
    except (NotAConversation, FileRefused, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise SaveFailed(
            f"{record.id} was not saved: {one_line(str(error), 240)}. What is kept is as it was."
        ) from error
    return copy


def _head(kept: Kept) -> Head:
    record = kept.record
    return Head(
        record.id,
        kept.stamp,
        record.created,
        record.updated,
        record.cwd,
        kept.title,
        turns_of(record.messages),
        len(record.errors),
        record.key,
        record.provider,
        record.model,
        record.continued_in,
    )
