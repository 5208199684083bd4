"""SnapshotStore: one session of the Agent Framework in one file, saved whole and never lost to another process."""

from __future__ import annotations

import hashlib
import itertools
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from maf_memory.checkpoint import history_of
from maf_memory.collecting import collector_at_rest
from maf_memory.envelope import Envelope, Header, decode, encode
from maf_memory.errors import NotProvenDurable, SaveFailed, StateConflict
from maf_memory.files import StoreFile
from maf_memory.lines import MessageLines
from maf_memory.payload import framework_version, frozen, restored, serialised
from maf_memory.stamp import Stamp, first_stamp
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

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        instruction_version: str,
        root: Path | None = None,
        now: Callable[[], datetime] = _now,
    ) -> None:
        """Name the file and the version of the instructions; nothing is read or written yet.

        ``root``: a folder above the file, below which no link is followed. ``now``: the clock of ``saved_at``.
        """
        self._file = StoreFile(path, root=root)
        self._instruction_version = instruction_version
        self._now = now
        self._known: Stamp | None = None
        self._known_content: bytes | None = None  # the digest of the known file
        self._lines = MessageLines()
        self._turns = itertools.count(1)
        self._last: tuple[int, Saved] | None = None  # the newest save that is on the disk, by the order of asking
        self._departures = 0  # how often this store turned to another state than its own saves make
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

        Of two saves under way the one asked for last stays; the other returns what that one wrote. As JSON has it, a
        tuple in the session's state comes back as a list.

        Raises:
            StateConflict: the disk holds another save, or nothing where something was seen; nothing was overwritten.
            FileRefused: the file on the disk was damaged since; it was left as it is.
            SaveFailed: the disk refused, or the session holds something that could not be read back.
            NotProvenDurable: the snapshot is in place, but a power cut may bring the old one back.
        """
        copy = frozen(session, self.path)
        return await finished_in_thread(self._save, copy, next(self._turns), self._departures)

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
        with self._alone():
            content = self._file.read()
            if content is None:
                self._depart(None, None)
                return None
            with collector_at_rest():
                envelope = self._decode(content)
                session = restored(envelope.session, envelope.framework, self.path)
            self._depart(envelope.stamp, content)
            if envelope.lines:
                self._lines.prime(history_of(session), envelope.lines, envelope.events)
            return session

    def _save(self, session: AgentSession, turn: int, departures: int) -> Saved:
        with self._alone():
            if departures != self._departures:
                raise StateConflict(self.path, "another state: it was deleted or loaded while this save waited", "it")
            if self._last is not None and turn < self._last[0]:
                return self._last[1]
            payload = serialised(session, self.path, self._lines)
            stamp = first_stamp() if self._known is None else self._known.next()
            saved_at = self._now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            header = Header(self._instruction_version, stamp, saved_at, framework_version())
            content = encode(header, payload, self.path)
            saved = Saved(stamp, len(payload.lines), len(content))
            with self._file.locked():
                self._refuse_other_save(self._stamp_on_disk())
                try:
                    self._file.replace(content)
                except NotProvenDurable:
                    # It is in place: a store that did not know it would be in conflict with itself. Under the lock,
                    # because after it the file may be another process's, and no longer ours to replace.
                    self._settle(content, turn, saved)
                    raise
                self._settle(content, turn, saved)
            return saved

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Admit one work on this store at a time; what waits longer than for the lock of the file is told so."""
        if not self._one_at_a_time.acquire(timeout=self._file.lock_seconds):
            raise SaveFailed(
                f"{self.path} was left as it is: this program has been waiting for the file for "
                f"{self._file.lock_seconds:g} seconds. Try again."
            )
        try:
            yield
        finally:
            self._one_at_a_time.release()

    def _settle(self, content: bytes, turn: int, saved: Saved) -> None:
        self._known = saved.stamp
        self._known_content = _digest(content)
        self._last = (turn, saved)

    def _refuse_other_save(self, found: Stamp | None) -> None:
        if found == self._known:
            return
        if found is not None and self._known is not None and found.lineage == self._known.lineage:
            raise StateConflict(self.path, f"revision {found.revision}", f"revision {self._known.revision}")
        raise StateConflict(
            self.path,
            "nothing, for it was deleted" if found is None else str(found),
            "no file" if self._known is None else str(self._known),
        )

    def _stamp_on_disk(self) -> Stamp | None:
        """Return the stamp of the file as it is now; only what is not to the byte the known file is decoded again.

        The whole file is compared, not its time and size: damage within one tick of the clock must be seen too, or the
        save would replace a file that it should refuse.
        """
        content = self._file.read()
        if content is None:
            return None
        if self._known is not None and _digest(content) == self._known_content:
            return self._known
        envelope = self._decode(content)
        if envelope.stamp == self._known:
            # A backup was put back, or somebody edited the file: the stamp is the known one and the content is not.
            raise StateConflict(self.path, f"revision {envelope.stamp.revision} with other bytes", "its own")
        return envelope.stamp

    def _delete(self) -> bool:
        with self._alone():
            deleted = False
            try:
                if not self._file.folder_is_missing:
                    with self._file.locked("deleted"):
                        self._file.sweep_held()
                        deleted = self._file.delete()
            except NotProvenDurable:
                self._depart(None, None)
                raise
            self._depart(None, None)
            return deleted

    def _depart(self, stamp: Stamp | None, content: bytes | None) -> None:
        """Turn to what was loaded, or to nothing: a save that was asked for before belongs to another state."""
        self._departures += 1
        self._known = stamp
        self._known_content = None if content is None else _digest(content)
        self._lines = MessageLines()
        self._last = None


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()  # processors have instructions for it
