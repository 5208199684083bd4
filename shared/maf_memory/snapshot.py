"""SnapshotStore: one session of the Agent Framework in one file, saved whole and never lost to another process."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from maf_memory.checkpoint import copied_session
from maf_memory.envelope import (
    HEAD_BYTES,
    Envelope,
    Stamp,
    decode,
    encode,
    stamp_of,
)
from maf_memory.errors import NotProvenDurable, StateConflict
from maf_memory.files import StoreFile
from maf_memory.payload import framework_version, restored, serialised
from maf_memory.threads import finished_in_thread

if TYPE_CHECKING:
    from agent_framework import AgentSession


class CreatesSessions(Protocol):
    """What the store needs of an agent: ``agent_framework.Agent`` is one."""

    def create_session(self) -> AgentSession:
        """Return a new, empty session."""
        ...


@dataclass(frozen=True, slots=True)
class Saved:
    """What a save wrote."""

    stamp: Stamp
    messages: int
    size: int


def _now() -> datetime:
    return datetime.now(UTC)


class SnapshotStore:
    """Loads, saves and deletes the snapshot of one session.

    The store remembers which save it last saw (lineage and revision). A save compares that with the disk under a lock
    between processes: whatever somebody else did in between is a :class:`StateConflict` and stays as it is.
    """

    def __init__(self, path: Path, *, instruction_version: str, now: Callable[[], datetime] = _now) -> None:
        self._file = StoreFile(path)
        self._instruction_version = instruction_version
        self._now = now
        self._known: Stamp | None = None
        self._signature: tuple[int, ...] | None = None
        self._deletions = 0
        self._one_at_a_time = threading.Lock()

    @property
    def path(self) -> Path:
        """The snapshot's file."""
        return self._file.path

    @property
    def stamp(self) -> Stamp | None:
        """The save that this store last saw, or ``None`` before the first one."""
        return self._known

    async def load_or_create(self, agent: CreatesSessions) -> AgentSession:
        """Return the stored session, or a new one only when there is no file.

        Raises:
            FileRefused, VersionRefused: there is a file and it is not acceptable; it was left as it is.
            SaveFailed: what a killed save left cannot be removed.
        """
        await self.sweep()
        session = await self.load()
        return agent.create_session() if session is None else session

    async def sweep(self) -> list[Path]:
        """Remove what a killed save left beside the snapshot, and return the paths that were removed.

        Raises:
            SaveFailed: a left-over file cannot be removed.
        """
        return await finished_in_thread(self._file.sweep)

    async def load(self) -> AgentSession | None:
        """Return the stored session, or ``None`` when there is no file.

        Raises:
            FileRefused, VersionRefused: as :meth:`load_or_create`; the store still knows what it knew.
        """
        return await finished_in_thread(self._load)

    async def save(self, session: AgentSession) -> Saved:
        """Write the session as it is now, durably, in the place of the snapshot that this store last saw.

        Raises:
            StateConflict: the disk holds another save, or nothing where something was seen; nothing was overwritten.
            FileRefused: the file on the disk was damaged since; it was left as it is.
            SaveFailed: the disk refused, or the session holds something that could not be read back.
            NotProvenDurable: the snapshot is in place, but a power cut may bring the old one back.
        """
        return await finished_in_thread(self._save, copied_session(session), self._deletions)

    async def delete(self) -> bool:
        """Delete the snapshot, whatever it holds, and return whether there was one.

        A save that was under way is finished before and deleted, or is refused after: it never brings the snapshot
        back.

        Raises:
            SaveFailed: the file could not be removed and is as it was.
            NotProvenDurable: it is removed, but a power cut may bring it back.
        """
        return await finished_in_thread(self._delete)

    async def read(self) -> Envelope | None:
        """Return what the file says now, without making it the loaded one; ``None`` when there is no file.

        Raises:
            FileRefused, VersionRefused: as :meth:`load`.
        """
        return await finished_in_thread(self._read)

    def _read(self) -> Envelope | None:
        content = self._file.read()
        return None if content is None else self._decode(content)

    def _decode(self, content: bytes) -> Envelope:
        return decode(content, self.path, instruction_version=self._instruction_version)

    def _load(self) -> AgentSession | None:
        with self._one_at_a_time:
            signature = self._file_signature()
            envelope = self._read()
            session = None if envelope is None else restored(envelope.session, envelope.framework, self.path)
            self._known = None if envelope is None else envelope.stamp
            self._signature = signature
            return session

    def _save(self, session: AgentSession, deletions: int) -> Saved:
        payload = serialised(session, self.path)
        with self._one_at_a_time:
            stamp = Stamp(secrets.token_hex(4), 1) if self._known is None else self._known.next()
            envelope = Envelope(
                self._instruction_version,
                stamp,
                self._now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                framework_version(),
                payload,
            )
            content = encode(envelope)
            try:
                with self._file.locked():
                    if deletions != self._deletions:
                        raise StateConflict(self.path, "nothing: it was deleted while this save waited", "it")
                    self._refuse_other_save(self._stamp_on_disk())
                    self._file.replace(content)
                    self._signature = self._file_signature()
            except NotProvenDurable:
                self._known = self._stamp_on_disk()
                raise
            self._known = stamp
            return Saved(stamp, len(envelope.messages), len(content))

    def _refuse_other_save(self, found: Stamp | None) -> None:
        if found != self._known:
            raise StateConflict(
                self.path,
                "nothing" if found is None else str(found),
                "no file" if self._known is None else str(self._known),
            )

    def _stamp_on_disk(self) -> Stamp | None:
        """Read the stamp; only the head of a file that nobody touched since, the whole of any other."""
        signature = self._file_signature()
        if signature is not None and signature == self._signature:
            head = self._file.head(HEAD_BYTES)
            stamp = None if head is None else stamp_of(head, self.path)
            if stamp is not None:
                return stamp
        envelope = self._read()
        return None if envelope is None else envelope.stamp

    def _file_signature(self) -> tuple[int, ...] | None:
        """Return what changes when somebody writes the file; it decides how much is read, never who wins."""
        try:
            status = os.lstat(self.path)
        except FileNotFoundError:
            return None
        return (status.st_ino, status.st_size, status.st_mtime_ns)

    def _delete(self) -> bool:
        with self._one_at_a_time:
            deleted = False
            if self.path.parent.is_dir():
                with self._file.locked():
                    try:
                        deleted = self._file.delete()
                    except NotProvenDurable:
                        self._forget()
                        raise
            self._forget()
            return deleted

    def _forget(self) -> None:
        self._deletions += 1
        self._known = None
        self._signature = None
