"""SessionDirectory: what is done with whole sessions, the same over any storage.

A conversation that moves is created durably in its new place before it leaves the old one: a crash in between leaves it
in both, never in none. Whatever somebody else did to a session in the meantime is a conflict and stays as it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from weakref import WeakSet

from maf_memory.authorship import recorded_instructions
from maf_memory.errors import (
    AmbiguousSession,
    FileRefused,
    MafMemoryError,
    NotProvenDurable,
    SaveFailed,
    StateConflict,
    UnknownSession,
)
from maf_memory.sessions.copies import copied_record
from maf_memory.sessions.ids import new_id
from maf_memory.sessions.journal import Journal
from maf_memory.sessions.record import SessionRecord, local_now
from maf_memory.sessions.storage import SessionStorage
from maf_memory.stamp import Stamp

_ATTEMPTS = 20
"""How many suffixes are tried; with 32 random bits the second one is hardly ever needed."""


class SessionDirectory:
    """The sessions of one project: begins, finds, moves and deletes them."""

    def __init__(
        self,
        storage: SessionStorage,
        *,
        cwd: str | os.PathLike[str] | None = None,
        now: Callable[[], datetime] = local_now,
        draw_id: Callable[[datetime], str] = new_id,
    ) -> None:
        """Work on ``storage``.

        ``cwd`` is recorded in new sessions, as it is given; the process's own unless given. ``now`` is the clock, and
        ``draw_id`` gives an id for the time when a session was created.
        """
        self.storage = storage
        self._cwd = os.fspath(Path.cwd() if cwd is None else cwd)
        self._now = now
        self._draw_id = draw_id
        self._drawn: WeakSet[SessionRecord] = WeakSet()  # those whose id nobody else can know yet

    def new(self, *, provider: str | None = None, model: str | None = None) -> SessionRecord:
        """Return a session without a conversation; it is kept nowhere until :meth:`keep`."""
        now = self._now()
        record = SessionRecord(self._draw_id(now), now, now, self._cwd, provider=provider, model=model)
        self._drawn.add(record)
        return record

    async def keep(self, record: SessionRecord) -> Stamp:
        """Keep the record as it is now, which is its last activity: created the first time, saved after that.

        The id of a new session is drawn again where somebody else took it within the same second.

        Raises:
            StateConflict: somebody else saved, deleted or re-created the session; nothing was overwritten.
            FileRefused, SaveFailed, NotProvenDurable: as :meth:`SessionStorage.save`.
        """
        record.updated = self._now()
        return await (self._create(record) if record.stamp is None else self.storage.save(record))

    async def find(self, prefix: str) -> str:
        """Return the id that ``prefix`` is, or that alone begins with it. A damaged session is found, too.

        Raises:
            UnknownSession: no session begins like this.
            AmbiguousSession: several do.
        """
        wanted = prefix.strip()
        page = await self.storage.page()
        ids = [head.id for head in page.heads] + [one.id for one in page.damaged]
        if wanted in ids:
            return wanted
        begun = sorted(one for one in ids if wanted and one.startswith(wanted))
        if len(begun) > 1:
            raise AmbiguousSession(wanted, begun)
        if begun:
            return begun[0]
        with suppress(FileRefused):
            await self.storage.load(wanted)  # an empty conversation is in no listing
        return wanted

    async def archive(self, record: SessionRecord) -> SessionRecord:
        """Move the conversation under a new id and return it there; all that is recorded of it follows.

        The old id is free afterwards. A host's key stays with it: it names the place, not the conversation.

        Raises:
            StateConflict: somebody else saved or deleted the session; nothing is moved.
            SaveFailed, NotProvenDurable: as the storage's own; where it is in both places now, the line says so.
        """
        moved = await self.keep_copy(record)
        await self._leave(record, moved)
        await self._follow(record.id, moved)
        return moved

    async def renew(self, record: SessionRecord) -> SessionRecord | None:
        """Make ``record`` a fresh conversation under the same id; return the past one, archived, or ``None``.

        ``None`` says that there was nothing to archive: no message and no error. Where the last step fails, the past
        conversation is safe under its new id, and ``record`` is fresh and not kept: the next :meth:`keep` creates it.

        Raises:
            StateConflict: somebody else saved or deleted the session, which is as they left it; ``record`` is as it
                was. Or somebody else took the id after it was left.
            SaveFailed, NotProvenDurable: as :meth:`archive`.
        """
        if is_empty(record):
            record.state = {}
            return None
        moved = await self.keep_copy(record)
        try:
            await self._leave(record, moved)
        except NotProvenDurable:
            self._begin_afresh(record)
            raise
        self._begin_afresh(record)
        try:
            await self.storage.create(record)
        except MafMemoryError as error:
            raise _kept_as(moved, error) from error
        await self._follow(record.id, moved)
        return moved

    async def keep_copy(self, record: SessionRecord, *, continued_in: str | None = None) -> SessionRecord:
        """Keep what ``record`` says as a session of its own, under a new id, and return it: the way out of a conflict.

        ``continued_in`` marks the copy as the original of that session, from its first moment on.

        Raises:
            SaveFailed, NotProvenDurable: as :meth:`SessionStorage.create`.
        """
        copy = copied_record(record)
        copy.id = self._draw_id(record.created)
        copy.key = copy.session_id = copy.stamp = None
        copy.continued_in = copy.continued_in if continued_in is None else continued_in
        self._drawn.add(copy)
        await self._create(copy)
        return copy

    async def delete(self, session_id: str) -> tuple[str, ...]:
        """Delete the session and those that it continues, whatever they hold, and return their ids; itself is last.

        A crash in between leaves the session itself, so that deleting it again finishes the work.

        Raises:
            UnknownSession: there is none, and none that it continues.
            SaveFailed, NotProvenDurable: as :meth:`SessionStorage.delete`.
        """
        page = await self.storage.page()
        wanted = [session_id]
        for successor in wanted:  # it grows: what a predecessor continues goes, too
            wanted += [one.id for one in page.heads if one.continued_in == successor and one.id not in wanted]
        deleted = [one for one in reversed(wanted) if await self.storage.delete(one)]
        if not deleted:
            raise UnknownSession(session_id, "this project")
        return tuple(deleted)

    async def _create(self, record: SessionRecord) -> Stamp:
        for _ in range(_ATTEMPTS):
            try:
                stamp = await self.storage.create(record)
            except StateConflict:
                if record not in self._drawn:
                    raise  # the id was given out: an editor or a host knows the session by it
                record.id = self._draw_id(record.created)
            else:
                self._drawn.discard(record)
                return stamp
        raise SaveFailed(f"No session was created: {_ATTEMPTS} ids in a row, the last one {record.id}, are taken.")

    async def _leave(self, record: SessionRecord, moved: SessionRecord) -> None:
        """Delete the session that was copied to ``moved``; take the copy back where the session is another by now."""
        if record.stamp is None:
            return
        try:
            if not await self.storage.delete(record.id, expected=record):
                raise StateConflict(Path(record.id), "nothing, for it was deleted", str(record.stamp))
        except StateConflict as conflict:
            try:
                await self.storage.delete(moved.id, expected=moved.stamp)
            except MafMemoryError:
                raise _kept_as(moved, conflict) from conflict
            raise
        except MafMemoryError as error:
            raise _kept_as(moved, error) from error

    async def _follow(self, left: str, moved: SessionRecord) -> None:
        """Let the sessions that the moved one continues name its new id, so that they are deleted with it."""
        page = await self.storage.page()
        try:
            for head in page.heads:
                if head.continued_in == left:
                    predecessor = await self.storage.load(head.id)
                    predecessor.continued_in = moved.id
                    await self.storage.save(predecessor)
        except MafMemoryError as error:
            raise _kept_as(moved, error) from error

    def _begin_afresh(self, record: SessionRecord) -> None:
        record.created = record.updated = self._now()
        record.messages, record.state, record.errors, record.title = [], {}, Journal(), ""
        record.service_session_id = record.continued_in = record.stamp = None


def is_empty(record: SessionRecord) -> bool:
    """Whether there is nothing to lose in ``record``: no message but recorded instructions, and no error."""
    said = record.messages[len(recorded_instructions(record.messages)) :]
    return not said and not len(record.errors) and record.service_session_id is None


def _kept_as(moved: SessionRecord, error: MafMemoryError) -> MafMemoryError:
    """Return the error of a move that ended in both places, with the line that says where."""
    kind = NotProvenDurable if isinstance(error, NotProvenDurable) else SaveFailed
    return kind(f"{error} The conversation is kept as {moved.id}.")
