"""What is refused, before it is kept: content that would not come back, and ids that are none."""

# ruff: noqa: D102, S101 - tests: the name is the sentence, and they assert

from __future__ import annotations

from typing import Any

from maf_memory.errors import SaveFailed, UnknownSession
from maf_memory.sessions.contract.base import EngineUnderTest, message, raises, record_of, said, turn
from maf_memory.sessions.record import SessionRecord

HOSTILE_IDS = (
    "",
    ".",
    "..",
    "/etc/passwd",
    "../../etc/passwd",
    "..\\..\\windows\\system32",
    "20260916-101530-4f2a9c1e/../../x",
    "20260916-101530-4f2a9c1e\0",
    "20260916-101530-4f2a9c1e\n",
    " 20260916-101530-4f2a9c1e",
    "20260916-101530-4F2A9C1E",
    "20260916-101530-4f2a9c1e.json",
    "२०२६०९१६-101530-4f2a9c1e",
    "CON",
    "nul.json",
    "C:x",
    "\\\\server\\share",
    "~root",
    "$HOME",
    "%2e%2e%2f",
    "x'; DROP TABLE sessions; --",
    "%",
    "*",
    "\ud800",
    "a" * 5000,
)


class RefusingContract(EngineUnderTest):
    """Nothing is kept that could not be read back, and no id is more than an id."""

    async def test_an_id_that_never_was_is_unknown_and_nothing_is_created(self) -> None:
        storage = await self.open()
        with raises(UnknownSession):
            await storage.load("20260916-101530-00000000")
        assert await storage.delete("20260916-101530-00000000") is False
        page = await storage.page()
        assert (list(page.heads), list(page.damaged), page.next) == ([], [], None)

    async def test_an_id_of_any_other_shape_is_unknown_to_every_verb(self) -> None:
        storage = await self.open()
        for hostile in HOSTILE_IDS:
            with raises(UnknownSession, hostile):
                await storage.load(hostile)
            with raises(UnknownSession, hostile):
                await storage.delete(hostile)
            with raises(UnknownSession, hostile):
                await storage.create(record_of(*turn("x"), id=hostile))
            record = record_of(*turn("x"))
            await storage.create(record)
            kept, record.id = record.id, hostile
            with raises(UnknownSession, hostile):
                await storage.save(record)
            assert await storage.delete(kept)
        page = await storage.page()
        assert (list(page.heads), list(page.damaged)) == ([], [])

    async def test_what_could_not_be_read_back_is_neither_created_nor_saved(self) -> None:
        storage = await self.open()
        for name, spoil in SPOILED.items():
            new = record_of(*turn("new"))
            spoil(new)
            with raises(SaveFailed, name):
                await storage.create(new)
            assert new.stamp is None, name
            with raises(UnknownSession, name):
                await storage.load(new.id)
            kept = record_of(*turn("kept"))
            stamp = await storage.create(kept)
            before = said(kept)
            spoil(kept)
            with raises(SaveFailed, name):
                await storage.save(kept)
            assert kept.stamp == stamp, name
            assert said(await (await self.open()).load(kept.id)) == before, name

    async def test_a_refused_save_can_be_mended_and_saved(self) -> None:
        storage = await self.open()
        record = record_of(*turn("x"))
        await storage.create(record)
        record.state = {"number": float("nan")}
        with raises(SaveFailed):
            await storage.save(record)
        record.state = {"number": 1}
        await storage.save(record)
        assert (await (await self.open()).load(record.id)).state == {"number": 1}

    async def test_however_deep_a_state_is_it_is_refused_or_comes_back(self) -> None:
        storage = await self.open()
        for depth in (10, 100, 400, 480, 495, 499, 500, 501, 600, 900):
            record = record_of(*turn("x"), state={"app": _nested(depth)})
            try:
                await storage.create(record)
            except SaveFailed:
                assert depth > 100
                continue
            assert said(await (await self.open()).load(record.id)) == said(record), depth


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def _with_state(state: dict[Any, Any]) -> Any:
    def spoil(record: SessionRecord) -> None:
        record.state = state

    return spoil


def _a_call_without_its_result(record: SessionRecord) -> None:
    from agent_framework import Content

    record.messages += [message("assistant", Content.from_function_call("call-1", "look", arguments="{}"))]


def _a_message_with_an_attribute_of_its_own(record: SessionRecord) -> None:
    own = message("user", "x")
    own.mine = 1  # type: ignore[attr-defined]
    record.messages += [own]


def _a_property_that_is_no_json(record: SessionRecord) -> None:
    record.messages += [message("user", "x", additional_properties={"number": float("nan")})]


def _what_is_no_message(record: SessionRecord) -> None:
    record.messages += ["text"]  # type: ignore[list-item]


SPOILED = {
    "NaN": _with_state({"number": float("nan")}),
    "an infinity": _with_state({"number": float("inf")}),
    "bytes": _with_state({"app": {"raw": b"x"}}),
    "a set": _with_state({"app": {"set": {1}}}),
    "a key that is not a text": _with_state({"app": {1: "x"}}),
    "a lone surrogate in the state": _with_state({"app": "\ud83d"}),
    "a call without its result": _a_call_without_its_result,
    "a message with an attribute of its own": _a_message_with_an_attribute_of_its_own,
    "a property that is no JSON": _a_property_that_is_no_json,
    "what is no message": _what_is_no_message,
}
"""By name, what makes a record one that could not be read back."""
