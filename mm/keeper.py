"""The keeper: records a conversation at its saving points, and serves the others: list, resume, new.

It stores; it knows no screen. With sessions disabled it keeps the conversation in memory and nothing on the disk.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from maf_memory.authorship import INSTRUCTIONS, mark, recorded_instructions
from maf_memory.checkpoint import HISTORY_SOURCE_ID, history_of
from maf_memory.sessions.directory import SessionDirectory
from maf_memory.sessions.files import FileSessions
from maf_memory.sessions.journal import ErrorRecord
from maf_memory.sessions.native import agent_session, take_session
from maf_memory.sessions.record import SessionRecord, local_now
from maf_memory.sessions.titles import turns_of
from mm import PROGRAM
from mm.config import Config
from mm.errors import SessionsDisabled, UnknownNumber

if TYPE_CHECKING:
    from agent_framework import Message

    from maf_memory.sessions.found import Found
    from maf_memory.sessions.storage import Page


class Keeper:
    """One conversation of a project, and the way to the others.

    A launch is a new conversation: its file is written at the first saving point, so that a launch without a question
    leaves no trace (the seed's «Pourquoi un lancement est une nouvelle session»).
    """

    def __init__(self, project: Path, config: Config, *, now: Callable[[], datetime] = local_now) -> None:
        self.project = project
        self._config = config
        self._storage = FileSessions.of_project(project)
        self._directory = SessionDirectory(self._storage, cwd=project, now=now)
        self._now = now
        self.record = self._new()
        self.session = agent_session(self.record)

    def _new(self) -> SessionRecord:
        return self._directory.new(provider=self._config.model.provider, model=self._config.model.name)

    @property
    def enabled(self) -> bool:
        """Whether conversations are kept at all (``sessions.enabled``)."""
        return self._config.sessions_enabled

    @property
    def is_kept(self) -> bool:
        """Whether this conversation has a file."""
        return self.record.stamp is not None

    @property
    def path(self) -> Path:
        """The file of this conversation, whether it is there yet or not."""
        return self._storage.path_of(self.record.id)

    @property
    def turns(self) -> int:
        """How many questions of a person this conversation holds."""
        return turns_of(self.record.messages)

    @property
    def messages(self) -> list[Message]:
        """The conversation as the model knows it, oldest first."""
        return history_of(self.session)

    async def sweep(self) -> list[Path]:
        """Remove what killed saves left, and return what was removed; nothing where sessions are disabled.

        Raises:
            SaveFailed, FileRefused: it cannot be removed, or the folder cannot be used.
        """
        return await self._storage.sweep() if self.enabled else []

    async def save(self, under_way: Sequence[Message] = ()) -> None:
        """Record the conversation as it is now, and ``under_way`` after it: what a turn has done until now.

        Raises:
            StateConflict: another program saved, deleted or re-created the session; nothing was overwritten.
            SaveFailed, NotProvenDurable, FileRefused: as the storage's own.
        """
        take_session(self.record, self.session)
        self.record.messages = [*self._instructions(), *self.messages, *under_way]
        self.record.provider, self.record.model = self._config.model.provider, self._config.model.name
        self.record.continued_in = None  # an original in which somebody goes on is a conversation of its own again
        if self.enabled:
            await self._directory.keep(self.record)

    async def save_new(self) -> None:
        """Give an empty conversation its file now, as an editor needs it at ``session/new``.

        Raises:
            StateConflict, SaveFailed, NotProvenDurable, FileRefused: as :meth:`save`.
        """
        if self.enabled and not self.is_kept:
            await self._directory.keep(self.record)

    def add_error(
        self, kind: str, line: str, *, question: str = "", raw: str | None = None, secrets: Sequence[str] = ()
    ) -> ErrorRecord:
        """Record an error beside the conversation and return the record, whose ``line`` is what may be shown.

        It is in memory only, until :meth:`save_errors` or the next :meth:`save`.
        """
        return self.record.errors.add(
            kind,
            line=line,
            turns=self.turns,
            question=question,
            raw=raw,
            model=self._config.model.name,
            time=self._now(),
            secrets=secrets,
        )

    async def save_errors(self, *, begin: bool = False) -> None:
        """Save what was recorded; what failed before any question waits for the first one, unless it is to ``begin``.

        Raises:
            StateConflict, SaveFailed, NotProvenDurable, FileRefused: as :meth:`save`; the records are in memory all
                the same, and are written with the next save.
        """
        if self.is_kept or begin or self.messages:
            await self.save()

    def put(self, messages: Sequence[Message]) -> None:
        """Make ``messages`` the conversation: what a compaction built aside. It is not saved yet."""
        self.session.state.setdefault(HISTORY_SOURCE_ID, {})["messages"] = list(messages)

    async def keep_original(self) -> str:
        """Keep the conversation as it is as a session of its own, marked as continued here, and return its id.

        Raises:
            SaveFailed, NotProvenDurable: as the storage's own.
        """
        return (await self._directory.keep_copy(self.record, continued_in=self.record.id)).id

    async def fork(self) -> str:
        """Go on as a session of its own, kept under a new id, which is returned: the way out of a conflict.

        Raises:
            SaveFailed, NotProvenDurable: as the storage's own.
        """
        self.record = await self._directory.keep_copy(self.record)
        return self.record.id

    async def resume(self, wanted: str, *, listed: Sequence[str] | None = None) -> SessionRecord:
        """Go on in the session that ``wanted`` names: the next turns go to its file, under today's instructions.

        It is an id, the start of one, or a number in ``listed``, where ids were shown as a list.

        Raises:
            SessionsDisabled: nothing is kept here.
            UnknownSession, AmbiguousSession, UnknownNumber, FileRefused: the conversation at hand goes on as it was.
        """
        self._refuse_disabled()
        prefix = wanted if listed is None else _numbered(wanted, listed)
        record = await self._storage.load(await self._directory.find(prefix))
        session = agent_session(record)
        self.record, self.session = record, session
        return record

    async def open(self, session_id: str) -> SessionRecord:
        """Go on in the session with exactly this id; nothing changes on the disk.

        Raises:
            SessionsDisabled, UnknownSession, FileRefused: as :meth:`resume`.
        """
        self.record = await self.load(session_id)
        self.session = agent_session(self.record)
        return self.record

    def begin_anew(self) -> None:
        """Begin a new conversation; the file of the one at hand stays as it is, to the byte."""
        self.record = self._new()
        self.session = agent_session(self.record)

    async def renew(self) -> str | None:
        """Begin a new conversation under the same id, and return the new id of the past one; ``None``: it was empty.

        The way of an editor, which owns the id (the seed's «`/new` dans les deux façades»).

        Raises:
            StateConflict, SaveFailed, NotProvenDurable: as :meth:`SessionDirectory.renew`.
        """
        if not self.enabled:
            self.begin_anew()
            return None
        try:
            moved = await self._directory.renew(self.record)
        finally:
            self.session = agent_session(self.record)
        return None if moved is None else moved.id

    def go_on_from(self, other: Keeper) -> None:
        """Go on in the conversation that ``other`` kept until now."""
        self.record, self.session = other.record, other.session

    async def sessions(self) -> Page:
        """Return the heads of the project's conversations, newest first.

        Raises:
            SessionsDisabled: nothing is kept here.
            FileRefused: the folder cannot be used.
        """
        self._refuse_disabled()
        return await self._storage.page()

    async def load(self, session_id: str) -> SessionRecord:
        """Return another conversation of the project, without going on in it.

        Raises:
            SessionsDisabled, UnknownSession, FileRefused: as :meth:`resume`.
        """
        self._refuse_disabled()
        return await self._storage.load(session_id)

    async def delete(self, session_id: str) -> tuple[str, ...]:
        """Delete a conversation and those that it continues; return their ids.

        Raises:
            SessionsDisabled, UnknownSession, SaveFailed, NotProvenDurable: as :meth:`SessionDirectory.delete`.
        """
        self._refuse_disabled()
        return await self._directory.delete(session_id)

    async def search(self, query: str, *, limit: int = 10) -> Found:
        """Return what the project's conversations say, without what the model has in this one already.

        That is what its file says, too: of a turn under way, the question and the calls that led to this search.

        Raises:
            SessionsDisabled, ValueError: nothing is kept here, or the query holds no word.
        """
        self._refuse_disabled()
        known = {id(message): message for message in (*self.record.messages, *self.messages)}
        return await self._storage.search(query, without=[*known.values()], limit=limit)

    def _instructions(self) -> list[Message]:
        """Return the message that records today's instructions for a reader; the same one while they are the same."""
        from agent_framework import Message

        recorded = recorded_instructions(self.record.messages)
        if recorded and recorded[0].text == self._config.instructions:
            return recorded
        properties = mark(PROGRAM, INSTRUCTIONS)
        return [Message("system", [self._config.instructions], additional_properties=properties)]

    def _refuse_disabled(self) -> None:
        if not self.enabled:
            raise SessionsDisabled()


def _numbered(wanted: str, listed: Sequence[str]) -> str:
    """Return the id that a number stands for; what is no number, and a year, is the start of an id.

    Raises:
        UnknownNumber: there is no such number.
    """
    if not re.fullmatch(r"[0-9]{1,4}", wanted):
        return wanted
    if 1 <= int(wanted) <= len(listed):
        return listed[int(wanted) - 1]
    if len(wanted) < len("2026"):
        raise UnknownNumber(wanted, len(listed))
    return wanted
