"""The contract is worth something: an engine with a usual mistake fails the test that is there for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from maf_memory.errors import StateConflict
from maf_memory.sessions.contract import StorageContract
from maf_memory.sessions.ids import is_id
from maf_memory.sessions.memory import Kept, MemorySessions, Place
from maf_memory.sessions.record import SessionRecord
from maf_memory.sessions.storage import Cursor, Page
from maf_memory.stamp import Stamp


class LastWriterWins(MemorySessions):
    async def save(self, record: SessionRecord) -> Stamp:
        record.stamp = (await self.load(record.id)).stamp
        return await super().save(record)


class BringsBackWhatWasDeleted(MemorySessions):
    async def save(self, record: SessionRecord) -> Stamp:
        kept = self.place.sessions.get(record.id)
        return await (self.create(record) if kept is None else super().save(record))


class ComparesRevisionsOnly(MemorySessions):
    async def save(self, record: SessionRecord) -> Stamp:
        kept = self.place.sessions.get(record.id)
        if kept is not None and record.stamp is not None and kept.stamp.revision == record.stamp.revision:
            record.stamp = kept.stamp
        return await super().save(record)


class CreatesOverWhatIsThere(MemorySessions):
    async def create(self, record: SessionRecord) -> Stamp:
        self.place.sessions.pop(record.id, None)
        return await super().create(record)


class HandsOutWhatItKeeps(MemorySessions):
    async def load(self, session_id: str) -> SessionRecord:
        await super().load(session_id)
        return self.place.sessions[session_id].record


class SavesLater(MemorySessions):
    async def save(self, record: SessionRecord) -> Stamp:
        await asyncio.sleep(0)
        return await super().save(record)


class SortsTimesAsText(MemorySessions):
    async def page(self, *, limit: int | None = None, after: Cursor | None = None) -> Page:
        page = await super().page(limit=limit, after=after)
        heads = sorted(page.heads, key=lambda head: head.updated.isoformat(), reverse=True)
        return Page(heads, page.damaged, page.next)


class PagesByTimeAlone(MemorySessions):
    async def page(self, *, limit: int | None = None, after: Cursor | None = None) -> Page:
        last = None if after is None else Cursor(after.updated, "~")
        return await super().page(limit=limit, after=last)


class ListsTheEmpty(MemorySessions):
    async def page(self, *, limit: int | None = None, after: Cursor | None = None) -> Page:
        for session_id, kept in self.place.sessions.items():
            self.place.sessions[session_id] = Kept(kept.stamp, kept.record, kept.title or "(empty)")
        return await super().page(limit=limit, after=after)


class DeletesWhateverIsExpected(MemorySessions):
    async def delete(self, session_id: str, *, expected: Stamp | None = None) -> bool:  # noqa: ARG002
        return await super().delete(session_id)


class SaysOnlyThatNothingIsThere(MemorySessions):
    async def delete(self, session_id: str, *, expected: Stamp | None = None) -> bool:
        return is_id(session_id) and await super().delete(session_id, expected=expected)


class SaysConflictToItself(MemorySessions):
    """As an engine that reads the expected stamp when it is asked, and compares it when its turn comes."""

    async def save(self, record: SessionRecord) -> Stamp:
        expected = record.stamp
        await asyncio.sleep(0)
        if record.stamp != expected:
            raise StateConflict(self._path(record.id), str(record.stamp), str(expected))
        return await super().save(record)


MISTAKES: list[tuple[type[MemorySessions], str]] = [
    (LastWriterWins, "test_a_session_saved_by_another_is_a_conflict"),
    (LastWriterWins, "test_of_processes_that_save_at_once_each_is_saved_or_told"),
    (BringsBackWhatWasDeleted, "test_a_session_deleted_by_another_is_a_conflict_and_does_not_come_back"),
    (ComparesRevisionsOnly, "test_a_session_reborn_by_another_is_a_conflict_at_the_same_revision"),
    (CreatesOverWhatIsThere, "test_an_id_that_is_taken_is_not_created_again"),
    (CreatesOverWhatIsThere, "test_of_processes_that_create_one_id_at_once_one_does"),
    (HandsOutWhatItKeeps, "test_what_was_loaded_or_created_shares_nothing_with_what_is_kept"),
    (SavesLater, "test_what_is_saved_is_what_the_record_said_when_it_was_asked_for"),
    (SortsTimesAsText, "test_newest_first_is_by_the_instant_not_by_its_text"),
    (PagesByTimeAlone, "test_pages_of_any_size_lose_none_and_repeat_none"),
    (ListsTheEmpty, "test_an_empty_conversation_is_left_out_until_something_is_asked"),
    (DeletesWhateverIsExpected, "test_a_deletion_of_an_expected_save_deletes_that_one_only"),
    (SaysOnlyThatNothingIsThere, "test_an_id_of_any_other_shape_is_unknown_to_every_verb"),
    (SaysConflictToItself, "test_saves_of_one_record_at_once_end_on_what_was_asked_last"),
]


def contract_of(engine: Callable[[Place], MemorySessions]) -> StorageContract:
    """The contract as it is run for this engine."""
    place = Place()

    class Contract(StorageContract):
        async def open(self) -> MemorySessions:
            return engine(place)

    return Contract()


@pytest.mark.parametrize(("engine", "test"), MISTAKES, ids=lambda one: getattr(one, "__name__", one))
async def test_an_engine_with_a_mistake_fails(engine: type[MemorySessions], test: str) -> None:
    await getattr(contract_of(MemorySessions), test)()
    with pytest.raises((AssertionError, StateConflict)):
        await getattr(contract_of(engine), test)()
