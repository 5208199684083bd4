"""What somebody else did in the meantime is told, and stays as it is; nothing of one's own is lost by being told."""

# ruff: noqa: D102, S101 - tests: the name is the sentence, and they assert

from __future__ import annotations

import asyncio

from maf_memory.errors import StateConflict, UnknownSession
from maf_memory.sessions.contract.base import EngineUnderTest, raises, record_of, said, texts, turn
from maf_memory.sessions.ids import new_id
from maf_memory.sessions.record import SessionRecord
from maf_memory.stamp import Stamp


class ConflictContract(EngineUnderTest):
    """Lineage and revision decide, never a clock, never who came last."""

    async def _created(self, text: str = "mine") -> SessionRecord:
        """Return a record as the process holds it that created the session."""
        record = record_of(*turn(text))
        await (await self.open()).create(record)
        return record

    async def _refuses(self, record: SessionRecord) -> None:
        """Claim that a save is a conflict, changes neither the record nor what is kept, and loses nothing."""
        storage = await self.open()
        mine, stamp = said(record), record.stamp
        kept = await self._kept(record.id)
        with raises(StateConflict):
            await storage.save(record)
        assert (said(record), record.stamp) == (mine, stamp)
        assert await self._kept(record.id) == kept
        record.id, record.stamp = new_id(record.created), None
        await storage.create(record)
        assert said(await (await self.open()).load(record.id)) == mine | {"id": record.id}

    async def _kept(self, session_id: str) -> object:
        """Return what is kept under the id, with its stamp; ``None`` for nothing."""
        try:
            record = await (await self.open()).load(session_id)
        except UnknownSession:
            return None
        return said(record), record.stamp

    async def test_a_session_saved_by_another_is_a_conflict(self) -> None:
        mine = await self._created()
        theirs = await (await self.open()).load(mine.id)
        theirs.messages += turn("theirs")
        await (await self.open()).save(theirs)
        mine.messages = [*mine.messages, *turn("mine, later")]
        await self._refuses(mine)

    async def test_a_session_saved_by_another_with_the_same_content_is_a_conflict_too(self) -> None:
        mine = await self._created()
        await (await self.open()).save(await (await self.open()).load(mine.id))
        await self._refuses(mine)

    async def test_a_session_deleted_by_another_is_a_conflict_and_does_not_come_back(self) -> None:
        mine = await self._created()
        assert await (await self.open()).delete(mine.id)
        await self._refuses(mine)

    async def test_a_session_reborn_by_another_is_a_conflict_at_the_same_revision(self) -> None:
        mine = await self._created()
        await (await self.open()).delete(mine.id)
        reborn = record_of(*turn("another life"), id=mine.id)
        stamp = await (await self.open()).create(reborn)
        assert mine.stamp is not None
        assert stamp.revision == mine.stamp.revision == 1
        assert stamp.lineage != mine.stamp.lineage
        await self._refuses(mine)

    async def test_an_id_that_is_taken_is_not_created_again(self) -> None:
        kept = await self._created("theirs")
        before = await self._kept(kept.id)
        mine = record_of(*turn("mine"), id=kept.id)
        with raises(StateConflict):
            await (await self.open()).create(mine)
        assert mine.stamp is None
        with raises(StateConflict):
            await (await self.open()).create(await (await self.open()).load(kept.id))
        assert await self._kept(kept.id) == before

    async def test_a_record_that_was_never_created_is_not_saved(self) -> None:
        storage = await self.open()
        never = record_of(*turn("x"))
        with raises(StateConflict):
            await storage.save(never)
        assert await self._kept(never.id) is None
        taken = record_of(*turn("x"), id=(await self._created("theirs")).id)
        before = await self._kept(taken.id)
        with raises(StateConflict):
            await storage.save(taken)
        assert await self._kept(taken.id) == before
        await storage.create(never)

    async def test_who_loads_theirs_saves_on(self) -> None:
        mine = await self._created()
        theirs = await (await self.open()).load(mine.id)
        await (await self.open()).save(theirs)
        storage = await self.open()
        with raises(StateConflict):
            await storage.save(mine)
        again = await storage.load(mine.id)
        again.messages += turn("on theirs")
        await storage.save(again)
        assert texts(await (await self.open()).load(mine.id)) == ["mine", "Noted.", "on theirs", "Noted."]

    async def test_a_deletion_of_an_expected_save_deletes_that_one_only(self) -> None:
        mine = await self._created()
        storage = await self.open()
        theirs = await storage.load(mine.id)
        await storage.save(theirs)
        assert mine.stamp is not None
        for other in (mine.stamp, mine.stamp.next().next(), Stamp("00000000", 2)):
            with raises(StateConflict):
                await storage.delete(mine.id, expected=other)
        assert await self._kept(mine.id) == (said(theirs), theirs.stamp)
        assert await storage.delete(mine.id, expected=theirs.stamp) is True
        assert await storage.delete(mine.id, expected=theirs.stamp) is False

    async def test_of_processes_that_save_at_once_each_is_saved_or_told(self) -> None:
        mine = await self._created("start")
        handles = [await self.open() for _ in range(6)]
        copies = [await handle.load(mine.id) for handle in handles]
        for number, record in enumerate(copies):
            record.messages += turn(f"process {number}")
        told = await asyncio.gather(
            *(handle.save(record) for handle, record in zip(handles, copies, strict=True)), return_exceptions=True
        )
        saved = [record for record, result in zip(copies, told, strict=True) if isinstance(result, Stamp)]
        assert len(saved) == 1
        assert sum(isinstance(result, StateConflict) for result in told) == 5
        assert await self._kept(mine.id) == (said(saved[0]), saved[0].stamp)

    async def test_of_processes_that_create_one_id_at_once_one_does(self) -> None:
        records = [record_of(*turn(f"process {number}"), id="20260916-101530-0000000a") for number in range(6)]
        handles = [await self.open() for _ in records]
        told = await asyncio.gather(
            *(handle.create(record) for handle, record in zip(handles, records, strict=True)), return_exceptions=True
        )
        created = [record for record, result in zip(records, told, strict=True) if isinstance(result, Stamp)]
        assert len(created) == 1
        assert sum(isinstance(result, StateConflict) for result in told) == 5
        assert await self._kept(created[0].id) == (said(created[0]), created[0].stamp)

    async def test_of_a_save_and_a_deletion_at_once_no_half_is_left(self) -> None:
        for _ in range(5):
            mine = await self._created()
            one, other = await self.open(), await self.open()
            saved, deleted = await asyncio.gather(one.save(mine), other.delete(mine.id), return_exceptions=True)
            assert deleted is True
            assert isinstance(saved, (Stamp, StateConflict))
            assert await self._kept(mine.id) is None
