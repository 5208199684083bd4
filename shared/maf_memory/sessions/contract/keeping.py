"""What is created or saved is what is loaded, whole; and nothing else changes it."""

# ruff: noqa: D102, S101 - tests: the name is the sentence, and they assert

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta, timezone

from maf_memory.authorship import INSTRUCTIONS, mark
from maf_memory.errors import UnknownSession
from maf_memory.sessions.contract.base import (
    MORNING,
    EngineUnderTest,
    journal_of,
    message,
    raises,
    record_of,
    said,
    texts,
    turn,
)
from maf_memory.sessions.record import SessionRecord

NEW_YORK_WINTER = timezone(timedelta(hours=-5))
HARD_TEXTS = {
    "NUL": "a\0b",
    "line separators": "a\u2028b\u2029c\x85d\r\ne",
    "right to left": "\u202eשלום\u202c مرحبا",  # noqa: RUF001 - a letter that looks like another is the point
    "emoji sequences": "👩\u200d👩\u200d👧\u200d👦 🏳️\u200d🌈 👋🏽",
    "looks like the file": '"messages": [\n{"role":"user"}\n],\n"errors": []',
    "empty": "",
    "blank": " \n\t ",
    "escapes": '\\" \\u0041 \\n',
    "combining": "e\u0301 ﬁ ß İ",
}


class KeepingContract(EngineUnderTest):
    """Create, load, save, delete by one process, read by another."""

    async def test_what_is_created_is_loaded_by_another_process_with_all_that_it_says(self) -> None:
        record = full_record()
        stamp = await (await self.open()).create(record)
        assert record.stamp == stamp
        assert stamp.is_one
        assert stamp.revision == 1
        loaded = await (await self.open()).load(record.id)
        assert said(loaded) == said(record)
        assert loaded.stamp == stamp

    async def test_a_save_says_exactly_what_memory_says_also_where_that_is_less(self) -> None:
        record = record_of(*turn("one"), *turn("two"), *turn("three"))
        storage = await self.open()
        first = await storage.create(record)
        record.messages = [message("user", "[summary]", additional_properties=mark("mm", "summary")), *turn("four")]
        record.state = {"app": {"counter": 2}}
        record.updated = MORNING + timedelta(minutes=5)
        record.provider, record.model, record.continued_in = "openai", "qwen3.5-4b", None
        second = await storage.save(record)
        assert second == first.next() == record.stamp
        loaded = await (await self.open()).load(record.id)
        assert said(loaded) == said(record)
        assert loaded.stamp == second

    async def test_every_text_comes_back_unchanged(self) -> None:
        record = record_of(*(message("user", text) for text in [*HARD_TEXTS.values(), "long " * 200_000]))
        await (await self.open()).create(record)
        loaded = await (await self.open()).load(record.id)
        assert texts(loaded) == texts(record)

    async def test_a_lone_surrogate_becomes_the_replacement_character_in_what_is_kept_and_in_memory(self) -> None:
        storage = await self.open()
        record = record_of(message("user", "half \ud83d emoji"), cwd="/home/\udcff", key="\ud800", model="m\ude00")
        await storage.create(record)
        kept = [record, await (await self.open()).load(record.id)]
        record.messages = [*record.messages, message("assistant", "\udc00", additional_properties={"\ud800": "\ud800"})]
        record.title = "\ud83d"
        await storage.save(record)
        kept += [record, await (await self.open()).load(record.id)]
        for one in kept:
            assert (texts(one)[0], one.cwd, one.key, one.model) == (
                "half \ufffd emoji",
                "/home/\ufffd",
                "\ufffd",
                "m\ufffd",
            )
        for one in kept[2:]:
            assert (texts(one)[1], one.title) == ("\ufffd", "\ufffd")
            assert one.messages[1].additional_properties == {"\ufffd": "\ufffd"}

    async def test_dates_keep_their_offsets(self) -> None:
        winter = datetime(2026, 11, 1, 1, 30, tzinfo=NEW_YORK_WINTER)
        record = record_of(*turn("x"), at=winter, updated=MORNING)
        await (await self.open()).create(record)
        loaded = await (await self.open()).load(record.id)
        assert [loaded.created.isoformat(), loaded.updated.isoformat()] == [winter.isoformat(), MORNING.isoformat()]

    async def test_an_empty_session_is_kept_and_loaded(self) -> None:
        record = record_of()
        await (await self.open()).create(record)
        loaded = await (await self.open()).load(record.id)
        assert said(loaded) == said(record)
        loaded.messages = turn("first")
        await (await self.open()).save(loaded)
        assert texts(await (await self.open()).load(record.id)) == ["first", "Noted."]

    async def test_loading_and_listing_change_nothing(self) -> None:
        record = full_record()
        stamp = await (await self.open()).create(record)
        reader = await self.open()
        for _ in range(2):
            await reader.page()
            loaded = await reader.load(record.id)
            assert (said(loaded), loaded.stamp) == (said(record), stamp)
        assert await (await self.open()).save(record) == stamp.next(), "no reader stood in the way"

    async def test_what_was_loaded_or_created_shares_nothing_with_what_is_kept(self) -> None:
        storage = await self.open()
        record = full_record()
        await storage.create(record)
        kept = said(await storage.load(record.id))
        for changed in (record, await storage.load(record.id)):
            changed.messages.pop()
            changed.state["app"]["list"].append("changed")
            changed.title = "changed"
        assert said(await storage.load(record.id)) == kept

    async def test_what_is_saved_is_what_the_record_said_when_it_was_asked_for(self) -> None:
        storage = await self.open()
        record = record_of(*turn("one"), state={"app": {"list": []}})
        await storage.create(record)
        asked = said(record)
        saving = asyncio.create_task(storage.save(record))
        await asyncio.sleep(0)
        record.messages += turn("two")
        record.state["app"]["list"].append("later")
        await saving
        assert said(await storage.load(record.id)) == asked
        await storage.save(record)
        assert said(await storage.load(record.id)) == said(record)

    async def test_saves_of_one_record_at_once_end_on_what_was_asked_last(self) -> None:
        storage = await self.open()
        record = record_of(*turn("question 0"))
        await storage.create(record)

        async def one_more(number: int) -> None:
            record.messages = [*record.messages, *turn(f"question {number}")]
            await storage.save(record)

        await asyncio.gather(*(one_more(number) for number in range(1, 9)))
        loaded = await (await self.open()).load(record.id)
        assert texts(loaded)[::2] == [f"question {number}" for number in range(9)]
        assert loaded.stamp == record.stamp
        await storage.save(record)

    async def test_loads_during_saves_see_a_whole_state(self) -> None:
        storage, reader = await self.open(), await self.open()
        record = record_of(*turn("question 0"))
        await storage.create(record)
        seen: list[SessionRecord] = []

        async def save() -> None:
            for number in range(1, 9):
                record.messages = [*record.messages, *turn(f"question {number}")]
                await storage.save(record)

        async def load() -> None:
            seen.extend([await reader.load(record.id) for _ in range(16)])

        await asyncio.gather(save(), load())
        for loaded in seen:
            assert loaded.stamp is not None
            assert texts(loaded)[::2] == [f"question {number}" for number in range(loaded.stamp.revision)]

    async def test_a_cancelled_save_leaves_a_whole_state_that_can_be_saved_on(self) -> None:
        storage = await self.open()
        record = record_of(*turn("one"))
        await storage.create(record)
        record.messages = [*record.messages, *turn("two")]
        saving = asyncio.create_task(storage.save(record))
        await asyncio.sleep(0)
        saving.cancel()
        await asyncio.gather(saving, return_exceptions=True)
        assert texts(await (await self.open()).load(record.id))[::2] in (["one"], ["one", "two"])
        record.messages = [*record.messages, *turn("three")]
        await storage.save(record)
        assert texts(await (await self.open()).load(record.id))[::2] == ["one", "two", "three"]

    async def test_what_is_deleted_is_gone_for_every_process(self) -> None:
        storage = await self.open()
        record = record_of(*turn("x"))
        await storage.create(record)
        assert await (await self.open()).delete(record.id) is True
        assert await storage.delete(record.id) is False
        for handle in (storage, await self.open()):
            with raises(UnknownSession):
                await handle.load(record.id)
            assert not (await handle.page()).heads

    async def test_deleting_one_session_touches_no_other(self) -> None:
        storage = await self.open()
        gone, stays = record_of(*turn("gone")), record_of(*turn("stays"))
        await storage.create(gone)
        await storage.create(stays)
        await storage.delete(gone.id)
        assert said(await storage.load(stays.id)) == said(stays)

    async def test_many_sessions_are_created_at_once(self) -> None:
        handles = [await self.open() for _ in range(3)]
        records = [record_of(*turn(f"question {number}")) for number in range(30)]
        await asyncio.gather(*(handles[place % 3].create(record) for place, record in enumerate(records)))
        reader = await self.open()
        for record in records:
            assert said(await reader.load(record.id)) == said(record)


def full_record() -> SessionRecord:
    """Return a record in which every field says something, and the conversation holds every kind of part."""
    from agent_framework import Content

    call = Content.from_function_call("call-1", "look", arguments='{"path": "é.txt"}')
    waiting = Content.from_function_call("call-2", "remove", arguments={"path": "x"})
    return record_of(
        message("system", "Answer briefly.", additional_properties=mark("mm", INSTRUCTIONS)),
        message("user", "What is in é.txt?", Content.from_uri("file:///home/ada/é.txt", media_type="text/plain")),
        message("assistant", Content.from_text_reasoning(text="I should look."), call),
        message("tool", Content.from_function_result("call-1", result="A line.\nAnother.")),
        message("assistant", Content.from_text("A line, and another."), author_name="mini"),
        message("user", Content.from_data(b"\x89PNG\0", media_type="image/png"), additional_properties={"shown": True}),
        message("assistant", waiting, Content.from_function_approval_request("approval-1", waiting)),
        updated=MORNING + timedelta(hours=1),
        key="telegram:1:2",
        session_id="the framework's own",
        service_session_id={"id": "resp-1"},
        state={"app": {"list": [1, 2.5, None, True, "é"], "empty": {}}, "other provider": {"seen": 3}},
        errors=journal_of("What is in è.txt?"),
        provider="openai",
        model="qwen3.5-4b",
        continued_in="20260916-120000-0000000a",
    )
