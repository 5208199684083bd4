"""FileSessions: the sessions of a project as readable files beside it, one a session.

What is compared before a file is replaced is its lineage and revision, under one lock for the folder. A file to which
nothing happened since is not even read; in one that was touched, any other bytes than the known ones are a conflict.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from maf_memory.collecting import collector_at_rest
from maf_memory.errors import NotProvenDurable, SaveFailed, StateConflict, UnknownSession
from maf_memory.files import StoreFile
from maf_memory.payload import refuse_unreadable_state, refused_as_unreadable
from maf_memory.sessions.copies import copied_record
from maf_memory.sessions.decoding import decode, document_of, encode_around, unreadable
from maf_memory.sessions.folder import SessionFolder
from maf_memory.sessions.layout import Around
from maf_memory.sessions.record import Damaged, Head, SessionRecord
from maf_memory.sessions.soundness import is_for_a_surrogate, make_sound
from maf_memory.sessions.storage import Cursor, Page, place_in_listing
from maf_memory.sessions.written import Known, Written
from maf_memory.stamp import Stamp, first_stamp
from maf_memory.threads import finished_in_thread

if TYPE_CHECKING:
    from agent_framework import Message

    from maf_memory.sessions.found import Found


Progress = Callable[[int, int], None]


class FileSessions:
    """Keeps sessions as files in one folder; every other program that keeps them there is reckoned with."""

    def __init__(self, folder: str | os.PathLike[str], *, root: Path | None = None, ignore: bool = False) -> None:
        """Name the folder; nothing is read or written yet.

        Below ``root``, which is the folder above unless given, no link is followed. With ``ignore``, that folder gets
        a ``.gitignore`` when the first session is created, so that no conversation is committed by accident.
        """
        path = Path(folder).absolute()
        self._folder = SessionFolder(path, path.parent if root is None else root.absolute())
        self._ignore = ignore
        self._swept = False
        self._written: weakref.WeakKeyDictionary[SessionRecord, Written] = weakref.WeakKeyDictionary()

    @classmethod
    def of_project(cls, project: str | os.PathLike[str]) -> FileSessions:
        """Return the sessions that are kept beside a project, in ``.mm/sessions``; nothing is searched upward."""
        home = Path(project).absolute()
        return cls(home / ".mm" / "sessions", root=home, ignore=True)

    @property
    def folder(self) -> Path:
        """The folder that holds the files."""
        return self._folder.path

    def path_of(self, session_id: str) -> Path:
        """Return the file of a session, whether it is there or not.

        Raises:
            UnknownSession: no session can have this id.
        """
        return self._folder.path_of(session_id)

    async def create(self, record: SessionRecord) -> Stamp:
        """Keep a new session, as :meth:`SessionStorage.create` promises."""
        return await self._keep(record, create=True)

    async def save(self, record: SessionRecord) -> Stamp:
        """Replace a session, as :meth:`SessionStorage.save` promises.

        Of two saves of one record under way the one asked for last stays; the other returns what that one wrote.
        """
        return await self._keep(record, create=False)

    async def load(self, session_id: str) -> SessionRecord:
        """Return a session, as :meth:`SessionStorage.load` promises."""
        return await finished_in_thread(self._load, session_id)

    async def delete(self, session_id: str, *, expected: SessionRecord | Stamp | None = None) -> bool:
        """Delete a session, as :meth:`SessionStorage.delete` promises; without ``expected``, a damaged one too."""
        return await finished_in_thread(self._delete, session_id, expected)

    async def page(self, *, limit: int | None = None, after: Cursor | None = None) -> Page:
        """Return heads, as :meth:`SessionStorage.page` promises; no conversation is read."""
        if limit is not None and limit < 1:
            raise ValueError("a page has at least one head")
        return await finished_in_thread(self._page, limit, after)

    async def search(
        self, query: str, *, without: Sequence[Message] = (), limit: int = 10, progress: Progress | None = None
    ) -> Found:
        """Return the messages that hold a word of ``query``, as :meth:`SessionStorage.search` promises.

        ``progress`` is called from the thread that searches, with how many files of how many are done.
        """
        from maf_memory.sessions.query import parse_query
        from maf_memory.sessions.search_files import search_files

        wanted = parse_query(query)

        def work() -> Found:
            ids = self._folder.ids()
            with self._folder.reader() as read:
                return search_files(
                    ids,
                    wanted,
                    path_of=self.path_of,
                    read=read,
                    without=without,
                    limit=limit,
                    progress=progress,
                    decode=document_of,
                )

        return await finished_in_thread(work)

    async def sweep(self) -> list[Path]:
        """Remove the temporary files that killed saves left, and return their paths; call it once at start.

        Raises:
            SaveFailed: one cannot be removed.
        """
        return await finished_in_thread(self._folder.sweep, ignore=self._ignore)

    async def read(self, session_id: str) -> bytes:
        """Return the bytes of a session's file, sound or not.

        Raises:
            UnknownSession: there is none.
            FileRefused: it cannot be read.
        """
        return await finished_in_thread(self._read, session_id)

    def _read(self, session_id: str) -> bytes:
        content = self._folder.file(session_id).read()
        if content is None:
            raise UnknownSession(session_id, str(self.folder))
        return content

    async def _keep(self, record: SessionRecord, *, create: bool) -> Stamp:
        file = self._folder.file(record.id)
        try:
            copy = copied_record(record)
        except (TypeError, ValueError, AttributeError, RecursionError) as error:
            raise unreadable(file.path, str(error)) from error
        written = self._written.get(record) or self._written.setdefault(record, Written())
        written.asked += 1
        saved = (file, record, copy, written, written.asked, create)
        try:
            return await finished_in_thread(self._save, *saved)
        except SaveFailed as error:
            if not is_for_a_surrogate(error):
                raise
        make_sound(record, copy)
        return await finished_in_thread(self._save, *saved)

    def _save(
        self, file: StoreFile, record: SessionRecord, copy: SessionRecord, written: Written, turn: int, create: bool
    ) -> Stamp:
        with written.lock:
            # A save that was under way when this one was asked for has moved the record on: that is no conflict.
            known = None if create else record.stamp
            if known is None and not create:
                raise StateConflict(file.path, "nothing", "a session that was created")
            if known is not None and turn < written.saved:
                return known
            stamp = first_stamp() if known is None else known.next()
            around, lines = _encoded(copy, stamp, written, file.path)
            if self._ignore and create:
                self._folder.keep_out_of_git()
            if not create and file.folder_is_missing:
                raise StateConflict(file.path, "nothing, for its folder is gone", str(known))
            self._sweep_once()
            with file.locked():
                _refuse_other_save(file, known, record.known)
                try:
                    file.replace(around.pieces(lines, written.lines.joined))
                except NotProvenDurable:
                    # It is in place: a record that did not know it would be in conflict with itself.
                    _settle(file, record, copy, written, turn, stamp, around, lines)
                    raise
                _settle(file, record, copy, written, turn, stamp, around, lines)
        return stamp

    def _sweep_once(self) -> None:
        """Remove what killed saves left, before this store's first write: nobody else may ever do it."""
        if not self._swept:
            self._folder.sweep(ignore=self._ignore)
            self._swept = True

    def _load(self, session_id: str) -> SessionRecord:
        file = self._folder.file(session_id)
        found = file.read_with_status()
        if found is None:
            raise UnknownSession(session_id, str(self.folder))
        content, status = found
        with collector_at_rest():
            read = decode(content, file.path)
        if read.around is None:
            read.record.known = Known(read.head.stamp, status, content=content)
        else:
            read.record.known = Known(read.head.stamp, status, parts=(read.around, read.lines))
            written = self._written.setdefault(read.record, Written())
            joined = memoryview(content)[len(read.around.opening) : len(content) - len(read.around.closing)]
            written.lines.prime(read.record.messages, read.lines, read.events, joined)
        return read.record

    def _delete(self, session_id: str, expected: SessionRecord | Stamp | None) -> bool:
        file = self._folder.file(session_id)
        if file.folder_is_missing:
            return False
        with file.locked("deleted"):
            file.sweep_held()
            if expected is not None:
                if file.status_held() is None:
                    return False
                known = expected.known if isinstance(expected, SessionRecord) else None
                _refuse_other_save(file, expected.stamp if isinstance(expected, SessionRecord) else expected, known)
            return file.delete()

    def _page(self, limit: int | None, after: Cursor | None) -> Page:
        heads: list[Head] = []
        damaged: list[Damaged] = []
        for one in self._folder.heads():
            if isinstance(one, Damaged):
                damaged.append(one)
            elif one.title:
                heads.append(one)
        heads.sort(key=_by_id)
        heads.sort(key=_by_activity, reverse=True)  # by the instant, whatever the offset; equal ones stay by id
        if after is not None:
            place = place_in_listing(after)
            heads = [head for head in heads if place_in_listing(head) > place]
        shown = heads if limit is None else heads[:limit]
        if len(shown) < len(heads):
            return Page(shown, (), Cursor(shown[-1].updated, shown[-1].id))
        return Page(shown, damaged, None)


def _refuse_other_save(file: StoreFile, stamp: Stamp | None, known: Known | None) -> None:
    """Refuse to go on when the file is not the save with ``stamp``, or not to the byte what is ``known`` of it."""
    status = file.status_held()
    if status is None:
        if stamp is not None:
            raise StateConflict(file.path, "nothing, for it was deleted", str(stamp))
        return
    is_known = known is not None and known.stamp == stamp
    if known is not None and is_known and known.is_untouched(status):
        return
    content = file.read()
    found = None if content is None else decode(content, file.path).record.stamp
    if found != stamp:
        raise StateConflict(file.path, _told(found, stamp), "no session" if stamp is None else str(stamp))
    if known is not None and is_known and content is not None and not known.is_same(content):
        # A backup was put back, or somebody edited the file: the stamp is the known one and the content is not.
        raise StateConflict(file.path, f"revision {known.stamp.revision} with other bytes", "its own")


def _encoded(copy: SessionRecord, stamp: Stamp, written: Written, path: Path) -> tuple[Around, Sequence[bytes]]:
    """Return the file in its parts, proven to be read back as the same session."""
    with refused_as_unreadable(path):
        lines = written.lines.take(copy.messages)
        if copy.state or copy.service_session_id:
            refuse_unreadable_state(
                {
                    "type": "session",
                    "session_id": copy.id,
                    "service_session_id": copy.service_session_id,
                    "state": copy.state,
                }
            )
    return encode_around(copy, stamp, path, turns=written.lines.questions), lines


def _settle(
    file: StoreFile,
    record: SessionRecord,
    copy: SessionRecord,
    written: Written,
    turn: int,
    stamp: Stamp,
    around: Around,
    lines: Sequence[bytes],
) -> None:
    """Take note of what is on the disk now; under the lock, because after it the file may be another process's."""
    try:
        status = file.status_held()
    except SaveFailed:
        status = None  # the next save reads the file to see that it is the same
    record.known = Known(stamp, status, parts=(around, lines))
    record.stamp = stamp
    written.saved = turn
    record.title = record.title or copy.title  # one that was given meanwhile stays


def _told(found: Stamp | None, known: Stamp | None) -> str:
    if found is None:
        return "nothing, for it was deleted"
    if known is not None and found.lineage == known.lineage:
        return f"revision {found.revision}"
    return str(found)


_by_id = attrgetter("id")
_by_activity = attrgetter("updated")
