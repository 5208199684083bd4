"""Works on sessions that run at once in one process, are cancelled, or meet a record that changes meanwhile."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from maf_memory.authorship import mark
from maf_memory.errors import StateConflict, UnknownSession
from maf_memory.sessions.contract.base import message, record_of, said, texts, turn
from maf_memory.sessions.copies import copied_record
from maf_memory.sessions.files import FileSessions
from maf_memory.sessions.record import Head, SessionRecord
from maf_memory.stamp import Stamp
from tests.maf_memory.sessions.golden_samples import ID
from tests.maf_memory.sessions.session_files import grown, kept, listed, names, other_process, untouched


@pytest.fixture
def sessions(tmp_path: Path) -> FileSessions:
    return FileSessions.of_project(tmp_path)


@pytest.fixture
async def record(sessions: FileSessions) -> SessionRecord:
    return await kept(sessions, "question 0", ID)


@contextmanager
def somebody_holds_the_lock(sessions: FileSessions) -> Iterator[None]:
    """Another writer is at work; it is done when the block is."""
    fcntl = pytest.importorskip("fcntl", reason="another process's lock is taken as POSIX takes it")
    descriptor = os.open(sessions.folder / ".lock", os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


async def passes(number: int) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def agree(sessions: FileSessions, record: SessionRecord) -> None:
    """Claim that the record is a copy of the save that is on the disk, and can be saved on."""
    loaded = await other_process(sessions).load(record.id)
    assert loaded.stamp == record.stamp
    assert texts(loaded) == texts(record)[: len(loaded.messages)]
    await sessions.save(grown(record, "later"))
    assert said(await other_process(sessions).load(record.id)) == said(record)
    assert names(sessions) == [f"{record.id}.json"]


# at once


async def test_of_many_saves_at_once_the_last_one_asked_for_stays(
    sessions: FileSessions, record: SessionRecord
) -> None:
    def asked(number: int) -> asyncio.Task[Stamp]:
        grown(record, f"question {number}")
        return asyncio.create_task(sessions.save(record))

    saves = []
    for number in range(1, 31):
        saves.append(asked(number))
        await asyncio.sleep(0)
    stamps = await asyncio.gather(*saves)
    assert record.stamp == max(stamps, key=lambda stamp: stamp.revision)
    assert {stamp.lineage for stamp in stamps} == {record.stamp.lineage}
    loaded = await other_process(sessions).load(ID)
    assert texts(loaded)[::2] == [f"question {number}" for number in range(31)]
    await agree(sessions, record)


async def test_a_save_that_comes_to_its_turn_after_a_later_one_writes_nothing(
    sessions: FileSessions, record: SessionRecord
) -> None:
    """Threads take no turns: the one that was asked for first may be the second to get there."""
    written, file = sessions._written[record], sessions._folder.file(ID)
    earlier, later = copied_record(grown(record, "question 1")), copied_record(grown(record, "question 2"))
    stamp = sessions._save(file, record, later, written, written.asked + 2, create=False)
    with untouched(sessions.path_of(ID)):
        assert sessions._save(file, record, earlier, written, written.asked + 1, create=False) == stamp
    assert texts(await sessions.load(ID))[::2] == ["question 0", "question 1", "question 2"]
    written.asked += 2
    await agree(sessions, record)


async def test_a_stamp_that_is_not_the_files_is_a_conflict_although_nothing_happened_to_the_file(
    sessions: FileSessions, record: SessionRecord
) -> None:
    assert record.stamp is not None
    for other in (record.stamp.next(), Stamp("0" * 8, record.stamp.revision)):
        record.stamp = other
        with untouched(sessions.path_of(ID)), pytest.raises(StateConflict):
            await sessions.save(record)


async def test_two_records_of_one_session_in_one_process_are_two_copies(
    sessions: FileSessions, record: SessionRecord
) -> None:
    others = [await sessions.load(ID) for _ in range(5)]
    for number, other in enumerate(others):
        grown(other, f"copy {number}")
    told = await asyncio.gather(*map(sessions.save, others), return_exceptions=True)
    (saved,) = [one for one, result in zip(others, told, strict=True) if isinstance(result, Stamp)]
    assert sum(isinstance(result, StateConflict) for result in told) == 4
    with pytest.raises(StateConflict):
        await sessions.save(record)
    assert said(await other_process(sessions).load(ID)) == said(saved)


async def test_many_sessions_are_saved_listed_and_searched_at_once(sessions: FileSessions) -> None:
    records = [record_of(*turn(f"word{number}end")) for number in range(12)]
    await asyncio.gather(*map(sessions.create, records))
    for _ in range(3):
        pages, founds, _ = await asyncio.gather(
            asyncio.gather(*(sessions.page() for _ in range(6))),
            asyncio.gather(*(sessions.search(f"word{number}end") for number in range(12))),
            asyncio.gather(*(sessions.save(grown(one)) for one in records)),
        )
        assert [(len(page.heads), list(page.damaged)) for page in pages] == [(12, [])] * 6
        assert [[hit.session_id for hit in found.hits] for found in founds] == [[one.id] for one in records]
    for one in records:
        assert said(await sessions.load(one.id)) == said(one)


async def test_of_creations_of_one_record_at_once_one_is_done(sessions: FileSessions) -> None:
    record = record_of(*turn("x"), id=ID)
    told = await asyncio.gather(*(sessions.create(record) for _ in range(5)), return_exceptions=True)
    assert sum(isinstance(result, Stamp) for result in told) == 1
    assert sum(isinstance(result, StateConflict) for result in told) == 4
    await agree(sessions, record)


async def test_loads_during_deletions_and_creations_see_a_whole_session_or_none(
    sessions: FileSessions, record: SessionRecord
) -> None:
    async def change() -> None:
        for _ in range(10):
            await sessions.delete(ID)
            await sessions.create(record)

    async def load() -> list[list[str]]:
        seen = []
        for _ in range(20):
            try:
                seen.append(texts(await other_process(sessions).load(ID)))
            except UnknownSession:
                seen.append([])
        return seen

    seen, _ = await asyncio.gather(load(), change())
    assert all(one in ([], ["question 0", "Noted."]) for one in seen)
    await agree(sessions, record)


# cancelled


@pytest.mark.parametrize("after", range(6))
async def test_a_save_that_is_cancelled_leaves_record_and_disk_in_agreement(
    sessions: FileSessions, record: SessionRecord, after: int
) -> None:
    before = record.stamp
    saving = asyncio.create_task(sessions.save(grown(record, "question 1")))
    await passes(after)
    saving.cancel()
    (told,) = await asyncio.gather(saving, return_exceptions=True)
    assert isinstance(told, (asyncio.CancelledError, Stamp))
    assert before is not None
    assert record.stamp == (before if after == 0 else before.next()), "what was begun is finished"
    await agree(sessions, record)


async def test_a_creation_that_is_cancelled_is_finished_before_it_says_so(sessions: FileSessions) -> None:
    record = record_of(*turn("question 0"), id=ID)
    creating = asyncio.create_task(sessions.create(record))
    await passes(1)
    creating.cancel()
    with pytest.raises(asyncio.CancelledError):
        await creating
    assert record.stamp is not None
    await agree(sessions, record)


async def test_a_save_that_is_cancelled_while_another_writer_holds_the_lock_waits_for_it(
    sessions: FileSessions, record: SessionRecord
) -> None:
    with somebody_holds_the_lock(sessions):
        saving = asyncio.create_task(sessions.save(grown(record, "question 1")))
        await passes(3)
        for _ in range(3):
            saving.cancel()
            await passes(3)
        assert not saving.done()
    with pytest.raises(asyncio.CancelledError):
        await saving
    assert record.stamp is not None
    assert record.stamp.revision == 2
    await agree(sessions, record)


async def test_a_cancelled_save_that_would_have_been_a_conflict_changes_nothing(
    sessions: FileSessions, record: SessionRecord
) -> None:
    other = other_process(sessions)
    await other.save(grown(await other.load(ID), "theirs"))
    before, stamp = said(grown(record)), record.stamp
    saving = asyncio.create_task(sessions.save(record))
    await passes(1)
    saving.cancel()
    with untouched(sessions.path_of(ID)), pytest.raises(asyncio.CancelledError) as caught:
        await saving
    assert isinstance(caught.value.__cause__, StateConflict)
    assert (said(record), record.stamp) == (before, stamp)


async def test_of_saves_at_once_a_cancelled_one_takes_none_along(sessions: FileSessions, record: SessionRecord) -> None:
    saves = []
    for number in range(1, 10):
        grown(record, f"question {number}")
        saves.append(asyncio.create_task(sessions.save(record)))
        await asyncio.sleep(0)
    for saving in saves[::2]:
        saving.cancel()
    told = await asyncio.gather(*saves, return_exceptions=True)
    assert all(isinstance(one, Stamp) for one in told[1::2])
    assert texts(await other_process(sessions).load(ID))[::2] == [f"question {number}" for number in range(10)]
    await agree(sessions, record)


# a record that changes meanwhile


async def test_a_title_that_is_given_during_a_save_stays(sessions: FileSessions, record: SessionRecord) -> None:
    record.title = ""
    with somebody_holds_the_lock(sessions):
        saving = asyncio.create_task(sessions.save(record))
        await passes(3)
        record.title = "A better title"
    await saving
    assert record.title == "A better title"
    await sessions.save(record)
    head = await listed(sessions)
    assert isinstance(head, Head)
    assert head.title == "A better title"


@pytest.mark.parametrize("loaded", [False, True])
async def test_a_message_that_was_changed_in_place_is_noticed_within_as_many_saves_as_there_are_messages(
    sessions: FileSessions, record: SessionRecord, loaded: bool
) -> None:
    for number in range(1, 4):
        await sessions.save(grown(record, f"question {number}"))
    if loaded:
        record = await sessions.load(ID)
    record.messages[2].contents[0].text = "changed"
    record.messages[5].contents[0].text = "changed, too"
    seen = []
    for _ in record.messages:
        await sessions.save(record)
        seen.append(texts(await other_process(sessions).load(ID)) == texts(record))
    assert seen[-1]
    assert seen == sorted(seen), "once it is noticed the file says what memory says, in every line"


async def test_a_compacted_conversation_is_what_the_file_says(sessions: FileSessions, record: SessionRecord) -> None:
    for number in range(1, 6):
        await sessions.save(grown(record, f"question {number}"))
    summary = message("user", "[summary]", additional_properties=mark("mm", "summary"))
    record.messages = [summary, *record.messages[-2:]]
    await sessions.save(record)
    assert said(await other_process(sessions).load(ID)) == said(record)
    assert b"question 3" not in sessions.path_of(ID).read_bytes()
    await agree(sessions, record)


async def test_what_is_known_of_a_file_goes_with_its_record(sessions: FileSessions, record: SessionRecord) -> None:
    for _ in range(20):
        await sessions.save(await sessions.load(ID))
    gc.collect()
    assert list(sessions._written) == [record], "and nothing of the copies that nobody holds"
