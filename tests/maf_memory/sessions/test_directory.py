"""What is done with whole sessions, over any storage; a crash at any step leaves the conversation somewhere."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, TypeVar

import pytest

from maf_memory.authorship import INSTRUCTIONS, mark
from maf_memory.errors import (
    AmbiguousSession,
    MafMemoryError,
    NotProvenDurable,
    SaveFailed,
    StateConflict,
    UnknownSession,
)
from maf_memory.sessions.contract.base import MORNING, all_heads, journal_of, message, record_of, said, texts, turn
from maf_memory.sessions.contract.keeping import full_record
from maf_memory.sessions.directory import SessionDirectory, is_empty
from maf_memory.sessions.files import FileSessions
from maf_memory.sessions.ids import is_id
from maf_memory.sessions.memory import MemorySessions
from maf_memory.sessions.record import SessionRecord
from maf_memory.sessions.storage import SessionStorage
from maf_memory.stamp import Stamp
from tests.maf_memory.sessions.storages import ENGINES, Opened

T = TypeVar("T")
LATER = MORNING + timedelta(hours=3)


@pytest.fixture(params=ENGINES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    return Opened(request.param, tmp_path / "sessions")


def directory_on(place: Opened, **options: Any) -> SessionDirectory:
    """The directory of one process."""
    return SessionDirectory(place.storage(), cwd="/home/ada/shop", **{"now": lambda: LATER} | options)


@pytest.fixture
def directory(place: Opened) -> SessionDirectory:
    return directory_on(place)


def draws(*ids: str) -> Callable[[datetime], str]:
    """Draw these ids, one after the other, whatever the time."""
    left = iter(ids)
    return lambda _: next(left)


def numbered(count: int) -> Iterator[str]:
    return (f"20260916-101530-{number:08x}" for number in range(count))


async def everything(place: Opened) -> dict[str, list[str]]:
    """The texts of every session, by id, empty ones included."""
    storage = place.storage()
    return {session_id: texts(await storage.load(session_id)) for session_id in place.ids()}


class TestNewSessions:
    async def test_a_new_session_is_kept_nowhere_until_it_is_kept(
        self, directory: SessionDirectory, place: Opened
    ) -> None:
        record = directory.new(provider="openai", model="qwen3.5-4b")
        assert is_id(record.id)
        assert record.id.startswith("20260916-131530-")
        assert (record.created, record.updated, record.cwd) == (LATER, LATER, "/home/ada/shop")
        assert (record.provider, record.model, record.stamp) == ("openai", "qwen3.5-4b", None)
        assert place.ids() == set()
        stamp = await directory.keep(record)
        assert stamp == record.stamp
        assert await everything(place) == {record.id: []}

    async def test_keeping_again_saves_and_is_the_last_activity(self, place: Opened) -> None:
        times = iter([MORNING, MORNING, LATER])
        directory = directory_on(place, now=lambda: next(times))
        record = directory.new()
        first = await directory.keep(record)
        record.messages += turn("one")
        assert await directory.keep(record) == first.next()
        loaded = await place.storage().load(record.id)
        assert (loaded.created, loaded.updated, texts(loaded)) == (MORNING, LATER, ["one", "Noted."])

    def test_the_folder_of_the_process_is_recorded_unless_another_is_given(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        assert SessionDirectory(MemorySessions()).new().cwd == str(tmp_path)
        assert SessionDirectory(MemorySessions(), cwd="relative/as given").new().cwd == "relative/as given"

    async def test_an_id_that_another_process_took_within_the_second_is_drawn_again(self, place: Opened) -> None:
        first, second, third = numbered(3)
        await place.storage().create(record_of(*turn("theirs"), id=first))
        await place.storage().create(record_of(*turn("theirs too"), id=second))
        directory = directory_on(place, draw_id=draws(first, second, third))
        record = directory.new()
        record.messages += turn("mine")
        await directory.keep(record)
        assert record.id == third
        assert await everything(place) == {
            first: ["theirs", "Noted."],
            second: ["theirs too", "Noted."],
            third: ["mine", "Noted."],
        }

    async def test_where_every_draw_is_taken_it_says_so(self, place: Opened) -> None:
        (taken,) = numbered(1)
        await place.storage().create(record_of(id=taken))
        directory = directory_on(place, draw_id=lambda _: taken)
        with pytest.raises(SaveFailed, match=taken):
            await directory.keep(directory.new())

    async def test_ids_are_unique_across_a_change_of_summer_time_and_a_clock_set_back(self, place: Opened) -> None:
        summer, winter = timezone(timedelta(hours=2)), timezone(timedelta(hours=1))
        times = [datetime(2026, 10, 25, 2, 30, tzinfo=offset) for offset in (summer, winter, summer)]
        clock = iter([time for time in times for _ in range(2)])
        directory = directory_on(place, now=lambda: next(clock))
        records = []
        for _ in times:
            record = directory.new()
            record.messages += turn("x")
            await directory.keep(record)
            records.append(record)
        assert len({record.id for record in records}) == 3
        assert {record.id[:15] for record in records} == {"20261025-023000"}
        assert next(head.id for head in await all_heads(directory.storage)) == records[1].id, "the instant decides"

    async def test_a_conflict_is_the_callers(self, directory: SessionDirectory, place: Opened) -> None:
        record = directory.new()
        await directory.keep(record)
        await directory_on(place).keep(await place.storage().load(record.id))
        with pytest.raises(StateConflict):
            await directory.keep(record)
        await place.storage().delete(record.id)
        with pytest.raises(StateConflict):
            await directory.keep(record)
        assert place.ids() == set()


class TestFinding:
    @pytest.fixture
    async def ids(self, place: Opened) -> list[str]:
        ids = ["20260916-101530-4f2a9c1e", "20260916-101530-4f2b0000", "20260917-090000-00000000"]
        for session_id in ids:
            await place.storage().create(record_of(*turn("x"), id=session_id))
        return ids

    async def test_a_unique_beginning_is_enough(self, directory: SessionDirectory, ids: list[str]) -> None:
        assert await directory.find("20260917") == ids[2]
        assert await directory.find("20260916-101530-4f2b") == ids[1]
        assert await directory.find(f"  {ids[0]}\n") == ids[0]

    async def test_several_are_named_and_none_is_chosen(self, directory: SessionDirectory, ids: list[str]) -> None:
        with pytest.raises(AmbiguousSession) as caught:
            await directory.find("20260916-1015")
        assert caught.value.candidates == (ids[0], ids[1])
        assert str(caught.value) == (f"2 sessions begin with 20260916-1015: {ids[0]}, {ids[1]}. Give more of the id.")

    @pytest.mark.parametrize("prefix", ["", " ", "2025", "0916", "4f2a9c1e", "../..", "*", "20260916-101530-4f2a9c1f"])
    async def test_what_no_session_begins_with_is_unknown(
        self, directory: SessionDirectory, ids: list[str], prefix: str
    ) -> None:
        assert len(ids) == 3
        with pytest.raises(UnknownSession):
            await directory.find(prefix)

    async def test_a_whole_id_wins_over_what_begins_like_it(self, directory: SessionDirectory, place: Opened) -> None:
        host = record_of(*turn("x"), id=f"key-{'0' * 32}")
        await place.storage().create(host)
        assert await directory.find(host.id) == host.id

    async def test_an_empty_session_is_found_by_its_whole_id_only(
        self, directory: SessionDirectory, place: Opened
    ) -> None:
        await place.storage().create(record_of(id="20260916-101530-4f2a9c1e"))
        assert await directory.find("20260916-101530-4f2a9c1e") == "20260916-101530-4f2a9c1e"
        with pytest.raises(UnknownSession):
            await directory.find("20260916-101530-4f2a")


class TestDamaged:
    async def test_a_damaged_session_is_found_and_deleted_and_stands_in_nobodys_way(self, tmp_path: Path) -> None:
        storage = FileSessions(tmp_path / "sessions")
        directory = SessionDirectory(storage, now=lambda: LATER)
        damaged, sound = record_of(*turn("damaged"), id="20260916-101530-4f2a9c1e"), record_of(*turn("sound"))
        for record in (damaged, sound):
            await storage.create(record)
        storage.path_of(damaged.id).write_bytes(b"\0" * 64)
        assert await directory.find("20260916-101530-4f2a") == damaged.id
        assert await directory.find(damaged.id) == damaged.id
        await directory.renew(sound)
        assert storage.path_of(damaged.id).read_bytes() == b"\0" * 64
        assert await directory.delete(damaged.id) == (damaged.id,)
        assert not storage.path_of(damaged.id).exists()


class TestArchiving:
    async def test_everything_follows_under_a_new_id_and_the_old_one_is_free(
        self, directory: SessionDirectory, place: Opened
    ) -> None:
        record = full_record()
        await directory.storage.create(record)
        before, title = said(record), record.title
        moved = await directory.archive(record)
        assert moved.id != record.id
        assert place.ids() == {moved.id}
        loaded = await place.storage().load(moved.id)
        assert said(loaded) == before | {"id": moved.id, "key": None, "session_id": None}
        assert (loaded.title, loaded.stamp) == (title, moved.stamp)
        assert moved.stamp is not None
        assert record.stamp is not None
        assert moved.stamp.lineage != record.stamp.lineage

    async def test_what_memory_says_and_nobody_saved_yet_is_archived_too(
        self, directory: SessionDirectory, place: Opened
    ) -> None:
        record = record_of(*turn("one"))
        await directory.storage.create(record)
        record.messages = [*record.messages, *turn("two")]
        moved = await directory.archive(record)
        assert await everything(place) == {moved.id: ["one", "Noted.", "two", "Noted."]}

    async def test_a_session_that_was_never_kept_is_created_in_its_new_place(
        self, directory: SessionDirectory, place: Opened
    ) -> None:
        moved = await directory.archive(record_of(*turn("one")))
        assert await everything(place) == {moved.id: ["one", "Noted."]}

    async def test_the_originals_that_it_continues_stay_with_it(
        self, directory: SessionDirectory, place: Opened
    ) -> None:
        record = record_of(*turn("one"))
        original = record_of(*turn("zero"), continued_in=record.id)
        for one in (record, original):
            await directory.storage.create(one)
        moved = await directory.archive(record)
        assert (await place.storage().load(original.id)).continued_in == moved.id
        assert await directory.delete(moved.id) == (original.id, moved.id)

    @pytest.mark.parametrize("theirs", ["saved", "deleted", "reborn"])
    @pytest.mark.parametrize("way", ["archive", "renew"])
    async def test_what_somebody_else_did_meanwhile_stays_and_nothing_is_moved(
        self, directory: SessionDirectory, place: Opened, theirs: str, way: str
    ) -> None:
        record = record_of(*turn("mine"))
        await directory.storage.create(record)
        other = place.storage()
        if theirs == "saved":
            loaded = await other.load(record.id)
            loaded.messages += turn("theirs")
            await other.save(loaded)
        else:
            await other.delete(record.id)
        if theirs == "reborn":
            await other.create(record_of(*turn("reborn"), id=record.id))
        before, kept = said(record), await everything(place)
        with pytest.raises(StateConflict):
            await getattr(directory, way)(record)
        assert await everything(place) == kept
        assert said(record) == before
        copy = await directory.keep_copy(record)
        assert await everything(place) == kept | {copy.id: ["mine", "Noted."]}


class TestRenewing:
    async def test_the_id_stays_for_a_fresh_conversation_of_a_new_lineage(
        self, directory: SessionDirectory, place: Opened
    ) -> None:
        record = full_record()
        first = await directory.storage.create(record)
        before, session_id, title = said(record), record.id, record.title
        past = await directory.renew(record)
        assert past is not None
        assert (record.id, record.messages, record.state, len(record.errors)) == (session_id, [], {}, 0)
        assert (record.created, record.updated, record.title) == (LATER, LATER, "")
        assert (record.key, record.provider, record.model) == (before["key"], "openai", "qwen3.5-4b")
        assert (record.service_session_id, record.continued_in) == (None, None)
        assert record.stamp is not None
        assert record.stamp.revision == 1
        assert record.stamp.lineage != first.lineage
        assert said(await place.storage().load(session_id)) == said(record)
        archived = await place.storage().load(past.id)
        assert said(archived) == before | {"id": past.id, "key": None, "session_id": None}
        assert archived.title == title
        assert [head.id for head in await all_heads(directory.storage)] == [past.id], "the fresh one is empty"
        record.messages += turn("again")
        await directory.keep(record)
        assert (await place.storage().load(session_id)).title == "again"

    async def test_an_empty_conversation_is_not_archived(self, directory: SessionDirectory, place: Opened) -> None:
        instructions = message("system", "Be brief.", additional_properties=mark("mm", INSTRUCTIONS))
        for record in (record_of(), record_of(instructions, state={"allowed": ["rm"]})):
            await directory.storage.create(record)
            kept = await everything(place)
            assert is_empty(record)
            assert await directory.renew(record) is None
            assert await everything(place) == kept
            assert record.state == {}, "what was allowed in the old conversation is not allowed in the new one"
            await directory.keep(record)

    async def test_a_conversation_of_which_only_an_error_is_left_is_archived(
        self, directory: SessionDirectory, place: Opened
    ) -> None:
        record = record_of(errors=journal_of("Is the port 8080?"))
        await directory.storage.create(record)
        past = await directory.renew(record)
        assert past is not None
        (head,) = await all_heads(place.storage())
        assert (head.id, head.title) == (past.id, "Is the port 8080?")

    async def test_an_id_that_was_given_out_is_not_drawn_again(self, place: Opened) -> None:
        storage = Failing(place.storage(), "create", 2)
        directory = SessionDirectory(storage, now=lambda: LATER)
        record = record_of(*turn("one"))
        await place.storage().create(record)
        with pytest.raises(SaveFailed):
            await directory.renew(record)
        await place.storage().create(record_of(*turn("theirs"), id=record.id))
        with pytest.raises(StateConflict):
            await directory.keep(record)


class Failing:
    """A storage whose n-th call of a verb fails: before its work, or after it where that is not proven durable."""

    def __init__(self, storage: SessionStorage, verb: str, number: int, *, error: type[Exception] = SaveFailed) -> None:
        self._storage = storage
        self._verb = verb
        self._left = number
        self._error = error
        self.load, self.page, self.search = storage.load, storage.page, storage.search

    async def create(self, record: SessionRecord) -> Stamp:
        return await self._failing("create", self._storage.create, record)

    async def save(self, record: SessionRecord) -> Stamp:
        return await self._failing("save", self._storage.save, record)

    async def delete(self, session_id: str, *, expected: Stamp | None = None) -> bool:
        return await self._failing("delete", self._storage.delete, session_id, expected=expected)

    async def _failing(self, verb: str, work: Callable[..., Awaitable[T]], *arguments: Any, **options: Any) -> T:
        self._left -= verb == self._verb
        fails = verb == self._verb and self._left == 0
        if fails and self._error is not NotProvenDurable:
            raise self._error("The disk refused.")
        result = await work(*arguments, **options)
        if fails:
            raise self._error("It is there, perhaps not durably.")
        return result


class Crash(Exception):
    """The process ends here."""


STEPS = [("create", 1), ("delete", 1), ("create", 2)]


class TestCrashes:
    @pytest.mark.parametrize("error", [Crash, SaveFailed, NotProvenDurable])
    @pytest.mark.parametrize(("verb", "number"), STEPS)
    @pytest.mark.parametrize("way", ["archive", "renew"])
    async def test_at_every_step_the_conversation_is_in_one_place_or_both(
        self, place: Opened, way: str, verb: str, number: int, error: type[Exception]
    ) -> None:
        record = record_of(*turn("precious"))
        await place.storage().create(record)
        directory = SessionDirectory(Failing(place.storage(), verb, number, error=error), now=lambda: LATER)
        if (way, verb, number) == ("archive", "create", 2):
            await directory.archive(record)  # it has no such step
            return
        with pytest.raises(error) as caught:
            await getattr(directory, way)(record)
        kept = await everything(place)
        places = [session_id for session_id, said in kept.items() if said == ["precious", "Noted."]]
        assert places
        if isinstance(caught.value, MafMemoryError) and places != [record.id]:
            assert any(f"is kept as {one}." in str(caught.value) for one in places) or (verb, number) == ("create", 1)

    async def test_where_the_fresh_conversation_could_not_be_kept_the_next_keep_creates_it(self, place: Opened) -> None:
        record = record_of(*turn("precious"))
        await place.storage().create(record)
        directory = SessionDirectory(Failing(place.storage(), "create", 2), now=lambda: LATER)
        with pytest.raises(SaveFailed, match=r"The disk refused\. The conversation is kept as 2026"):
            await directory.renew(record)
        assert (record.messages, record.stamp) == ([], None)
        assert record.id not in place.ids()
        record.messages += turn("fresh")
        await directory.keep(record)
        assert (await everything(place)).keys() == place.ids()
        assert (await everything(place))[record.id] == ["fresh", "Noted."]


class TestDeleting:
    async def test_a_session_goes_with_all_that_it_continues_and_nothing_else(
        self, directory: SessionDirectory, place: Opened
    ) -> None:
        newest, other = record_of(*turn("newest")), record_of(*turn("other"))
        older = record_of(*turn("older"), continued_in=newest.id)
        oldest = record_of(*turn("oldest"), continued_in=older.id)
        branch = record_of(*turn("branch"), continued_in=newest.id)
        foreign = record_of(*turn("foreign"), continued_in=other.id)
        for record in (newest, other, older, oldest, branch, foreign):
            await directory.storage.create(record)
        deleted = await directory.delete(newest.id)
        assert deleted[-1] == newest.id
        assert set(deleted) == {newest.id, older.id, oldest.id, branch.id}
        assert place.ids() == {other.id, foreign.id}

    async def test_a_copy_is_kept_as_the_original_of_another_in_one_step(
        self, directory: SessionDirectory, place: Opened
    ) -> None:
        record = record_of(*turn("long"))
        await directory.storage.create(record)
        original = await directory.keep_copy(record, continued_in=record.id)
        loaded = await place.storage().load(original.id)
        assert (loaded.continued_in, record.continued_in) == (record.id, None)
        assert set(await directory.delete(record.id)) == {record.id, original.id}

    async def test_an_original_is_deleted_alone(self, directory: SessionDirectory, place: Opened) -> None:
        newest = record_of(*turn("newest"))
        older = record_of(*turn("older"), continued_in=newest.id)
        for record in (newest, older):
            await directory.storage.create(record)
        assert await directory.delete(older.id) == (older.id,)
        assert place.ids() == {newest.id}

    async def test_a_ring_of_originals_ends(self, directory: SessionDirectory, place: Opened) -> None:
        one, other = record_of(*turn("one")), record_of(*turn("other"))
        one.continued_in, other.continued_in = other.id, one.id
        for record in (one, other):
            await directory.storage.create(record)
        assert set(await directory.delete(one.id)) == {one.id, other.id}
        assert place.ids() == set()

    async def test_an_interrupted_deletion_is_finished_by_the_next(self, place: Opened) -> None:
        newest = record_of(*turn("newest"))
        older = record_of(*turn("older"), continued_in=newest.id)
        for record in (newest, older):
            await place.storage().create(record)
        with pytest.raises(Crash):
            await SessionDirectory(Failing(place.storage(), "delete", 2, error=Crash)).delete(newest.id)
        assert place.ids() == {newest.id}
        assert await directory_on(place).delete(newest.id) == (newest.id,)

    @pytest.mark.parametrize("session_id", ["20260916-101530-00000000", "../x", "", "20260916"])
    async def test_what_is_not_there_is_unknown(self, directory: SessionDirectory, session_id: str) -> None:
        await directory.storage.create(record_of(*turn("x")))
        with pytest.raises(UnknownSession):
            await directory.delete(session_id)
