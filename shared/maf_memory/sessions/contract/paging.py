"""The listing: by last activity, newest first; what it shows of each session; and pages that lose none."""

# ruff: noqa: D102, S101 - tests: the name is the sentence, and they assert

from __future__ import annotations

from datetime import timedelta, timezone
from itertools import product

from maf_memory.authorship import INSTRUCTIONS, mark
from maf_memory.sessions.contract.base import MORNING, EngineUnderTest, all_heads, journal_of, message, record_of, turn

OFFSETS = [timezone(timedelta(minutes=minutes)) for minutes in (0, 120, -300, 345, 765, -720)]


class PagingContract(EngineUnderTest):
    """Heads only, and every head."""

    async def test_a_head_says_what_its_session_says(self) -> None:
        record = record_of(
            message("system", "Be brief.", additional_properties=mark("mm", INSTRUCTIONS)),
            *turn("Quel format\npour  les logs ?"),
            message("user", "context of a hook", additional_properties=mark("mm", "context")),
            *turn("And the port?"),
            updated=MORNING + timedelta(minutes=9),
            key="telegram:1:2",
            provider="openai",
            model="qwen3.5-4b",
            continued_in="20260916-120000-0000000a",
        )
        stamp = await (await self.open()).create(record)
        page = await (await self.open()).page()
        (head,) = page.heads
        assert (head.id, head.stamp, head.cwd, head.key) == (record.id, stamp, record.cwd, record.key)
        assert (head.title, head.turns, head.error_count) == ("Quel format pour les logs ?", 2, 0)
        assert (head.provider, head.model, head.continued_in) == (record.provider, record.model, record.continued_in)
        assert [head.created.isoformat(), head.updated.isoformat()] == [
            record.created.isoformat(),
            record.updated.isoformat(),
        ]
        assert (list(page.damaged), page.next) == ([], None)

    async def test_a_head_follows_its_session(self) -> None:
        storage = await self.open()
        record = record_of(*turn("one"))
        await storage.create(record)
        record.messages = [*record.messages, *turn("two")]
        record.updated = MORNING + timedelta(days=1)
        record.model = "another"
        stamp = await storage.save(record)
        (head,) = (await (await self.open()).page()).heads
        assert (head.stamp, head.turns, head.updated, head.model) == (stamp, 2, record.updated, "another")

    async def test_newest_first_is_by_the_instant_not_by_its_text(self) -> None:
        storage = await self.open()
        ids = []
        for place, minutes in enumerate([0, 50, 10, 40, 20, 30]):
            at = (MORNING + timedelta(minutes=minutes)).astimezone(OFFSETS[place])
            record = record_of(*turn("x"), updated=at)
            await storage.create(record)
            ids.append((minutes, record.id))
        assert [head.id for head in await all_heads(await self.open())] == [one for _, one in sorted(ids, reverse=True)]

    async def test_equal_instants_stand_in_the_order_of_their_ids(self) -> None:
        storage = await self.open()
        ids = [f"20260916-101530-0000000{number}" for number in (3, 1, 5, 2, 4, 0)]
        for place, session_id in enumerate(ids):
            await storage.create(record_of(*turn("x"), id=session_id, updated=MORNING.astimezone(OFFSETS[place])))
        assert [head.id for head in await all_heads(await self.open())] == sorted(ids)

    async def test_ids_and_creation_never_decide_the_order(self) -> None:
        storage = await self.open()
        old = record_of(*turn("old"), at=MORNING - timedelta(days=400), updated=MORNING + timedelta(days=1))
        new = record_of(*turn("new"), at=MORNING)
        for record in (old, new):
            await storage.create(record)
        assert [head.id for head in await all_heads(storage)] == [old.id, new.id]

    async def test_pages_of_any_size_lose_none_and_repeat_none(self) -> None:
        storage = await self.open()
        for number in range(12):
            at = (MORNING + timedelta(minutes=number // 5)).astimezone(OFFSETS[number % 6])
            await storage.create(record_of(*turn("x"), updated=at))
        whole = [head.id for head in (await storage.page()).heads]
        assert len(set(whole)) == 12
        for limit in (1, 2, 3, 5, 7, 12, 100):
            page = await storage.page(limit=limit)
            assert len(page.heads) == min(limit, 12)
            assert [head.id for head in await all_heads(await self.open(), limit)] == whole, limit

    async def test_what_happens_between_two_pages_loses_none_of_the_rest(self) -> None:
        storage = await self.open()
        records = [record_of(*turn("x"), updated=MORNING - timedelta(minutes=number)) for number in range(6)]
        for record in records:
            await storage.create(record)
        first = await storage.page(limit=3)
        assert [head.id for head in first.heads] == [record.id for record in records[:3]]
        await storage.create(record_of(*turn("new"), updated=MORNING + timedelta(minutes=1)))
        await storage.delete(records[2].id)
        records[1].updated = MORNING + timedelta(minutes=2)
        await storage.save(records[1])
        rest = await (await self.open()).page(limit=100, after=first.next)
        assert [head.id for head in rest.heads] == [record.id for record in records[3:]]

    async def test_an_empty_conversation_is_left_out_until_something_is_asked(self) -> None:
        storage = await self.open()
        instructions = message("system", "Be brief.", additional_properties=mark("mm", INSTRUCTIONS))
        empty, prepared, asked = record_of(), record_of(instructions), record_of(*turn("asked"))
        for record in (empty, prepared, asked):
            await storage.create(record)
        assert [head.id for head in await all_heads(storage)] == [asked.id]
        assert [head.id for head in await all_heads(storage, limit=1)] == [asked.id]
        prepared.messages = [*prepared.messages, *turn("now")]
        await storage.save(prepared)
        assert {head.id for head in await all_heads(await self.open())} == {asked.id, prepared.id}

    async def test_a_session_whose_only_question_failed_has_its_title_from_the_error(self) -> None:
        storage = await self.open()
        record = record_of(errors=journal_of("Is the  port?\nOr not?", "Again?"))
        await storage.create(record)
        (head,) = (await (await self.open()).page()).heads
        assert (head.title, head.turns, head.error_count) == ("Is the port?", 0, 2)

    async def test_a_title_from_an_error_gives_way_to_the_first_question_also_in_the_same_process(self) -> None:
        storage = await self.open()
        instructions = message("system", "Be brief.", additional_properties=mark("mm", INSTRUCTIONS))
        for prepared, reloaded in product(([], [instructions]), (False, True)):
            record = record_of(*prepared, errors=journal_of("This one failed."))
            await storage.create(record)
            if reloaded:
                record = await (await self.open()).load(record.id)
            record.messages = [*prepared, *turn("This one was answered.")]
            await storage.save(record)
            (head,) = (await (await self.open()).page()).heads
            case = f"recorded instructions: {len(prepared)}, loaded again: {reloaded}"
            assert (head.title, head.error_count) == ("This one was answered.", 1), case
            await storage.delete(record.id)

    async def test_a_title_stays_when_its_question_is_compacted_away(self) -> None:
        storage = await self.open()
        record = record_of(*turn("Quel format ?"), *turn("two"))
        await storage.create(record)
        for handle in (storage, await self.open()):
            summary = message("user", "[summary]", additional_properties=mark("mm", "summary"))
            record.messages = [summary, *turn("three")]
            await handle.save(record)
            (head,) = (await handle.page()).heads
            assert (head.title, head.turns) == ("Quel format ?", 1)
            record = await (await self.open()).load(record.id)
