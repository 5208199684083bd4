"""HostSessionStore: the sessions of a project as the framework's ``SessionStore``, for any host that takes one.

The interface is the framework's (get, set, delete), its behaviour is not: what cannot be read is refused, never taken
for absent; and what somebody else saved is a conflict, never overwritten.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from agent_framework import AgentSession, SessionStore

from maf_memory.authorship import recorded_instructions
from maf_memory.checkpoint import HISTORY_SOURCE_ID, history_of
from maf_memory.errors import FileRefused, SaveFailed, UnknownSession
from maf_memory.sessions.copies import copied_record
from maf_memory.sessions.ids import id_of_key
from maf_memory.sessions.native import agent_session, take_session
from maf_memory.sessions.record import SessionRecord, local_now
from maf_memory.text import one_line, sound
from maf_memory.turn import settled as settled

if TYPE_CHECKING:
    from agent_framework import Message

    from maf_memory.sessions.storage import SessionStorage

_SEEN = "_maf_memory_seen"
"""The attribute of a session that says which saves it is a copy of; the framework serialises no attribute."""


class _Seen(dict[str, SessionRecord]):
    """By id, the record of the save that a session is a copy of.

    It stays with the session: a copy of the session is a copy of the same save, and goes its own way from there.
    """

    def __deepcopy__(self, memo: dict[int, object]) -> _Seen:
        return _Seen({session_id: copied_record(record) for session_id, record in self.items()})


with warnings.catch_warnings():
    # The framework warns where its experimental class is inherited from; that is said here, once, not to every host.
    warnings.filterwarnings("ignore", r"\[SESSION_STORE\] SessionStore is experimental", FutureWarning)

    class HostSessionStore(SessionStore):
        """Keeps the sessions of a host in any storage, each under the hash of the host's own key.

        A key is opaque (``telegram:1:2``) and stands in the session as ``key``. The framework calls it ``session_id``.
        """

        def __init__(
            self,
            storage: SessionStorage,
            *,
            cwd: str | os.PathLike[str] | None = None,
            now: Callable[[], datetime] = local_now,
        ) -> None:
            """Work on ``storage``; ``cwd`` is recorded in new sessions, the process's own unless given."""
            self.storage = storage
            self._cwd = os.fspath(Path.cwd() if cwd is None else cwd)
            self._now = now

        async def get(self, session_id: str) -> AgentSession | None:
            """Return a working copy of the session of this key, or ``None`` only when there is none.

            Raises:
                FileRefused: it is damaged, of a newer format, or another key's; it was left as it is.
                ValueError: the key is empty, or no text.
            """
            place = _place_of(session_id)
            try:
                record = await self.storage.load(place)
            except UnknownSession:
                return None
            if record.key != session_id:
                raise FileRefused(
                    Path(place), f"its key is {one_line(repr(record.key))}", f"the key {one_line(repr(session_id))}"
                )
            session = agent_session(record)
            setattr(session, _SEEN, _Seen({place: record}))
            return session

        async def set(self, session_id: str, session: AgentSession) -> None:
            """Keep the session as it is now, in the place of the save that it is a working copy of.

            A session that was never got or set under this key is created, where the key has none. Messages without an
            id are given one, or the framework would take a turn like the one before it for the same.

            Raises:
                StateConflict: another save is kept than the one that this session was got or set as; nothing was
                    overwritten. Get the session again, or delete it.
                SaveFailed: the disk refused, or the session holds what could not be read back.
                NotProvenDurable: it is kept, but a power cut may undo it.
                FileRefused: what is kept was damaged; it was left as it is.
                ValueError: as :meth:`get`.
            """
            place = _place_of(session_id)
            if type(session) is not AgentSession:
                raise SaveFailed(
                    f"{one_line(session_id)} was not saved: a {type(session).__name__} would come back as a plain "
                    "AgentSession. Keep what it adds in its state."
                )
            now = self._now()
            seen: _Seen = session.__dict__.setdefault(_SEEN, _Seen())
            record = seen.setdefault(place, SessionRecord(place, now, now, self._cwd, key=session_id))
            before = list(record.messages)
            take_session(record, session)
            _settle(session, record, before)
            record.updated = now
            await (self.storage.create(record) if record.stamp is None else self.storage.save(record))

        async def delete(self, session_id: str) -> None:
            """Delete the session of this key, whatever it holds; no working copy brings it back.

            Raises:
                SaveFailed, NotProvenDurable: as :meth:`set`.
                ValueError: as :meth:`get`.
            """
            await self.storage.delete(_place_of(session_id))


def _place_of(session_id: str) -> str:
    SessionStore.validate_session_id(session_id)
    if sound(session_id) != session_id:
        raise ValueError("session_id must be text: it holds a lone surrogate")
    return id_of_key(session_id)


def _settle(session: AgentSession, record: SessionRecord, before: Sequence[Message]) -> None:
    """Give each message that was not recorded ``before`` an id and sound text, in the record and in the session."""
    recorded = {id(message) for message in before}
    try:
        record.messages = [one if id(one) in recorded else settled(one) for one in record.messages]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        why = one_line(str(error), 240)
        raise SaveFailed(f"{record.id} was not saved: a message cannot be serialised ({why}).") from error
    if history_of(session):
        skipped = len(recorded_instructions(record.messages))
        session.state[HISTORY_SOURCE_ID]["messages"] = record.messages[skipped:]
