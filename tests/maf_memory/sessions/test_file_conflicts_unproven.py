"""When the disk does not confirm: the record knows what is in place, and is never in conflict with itself."""

from __future__ import annotations

import os
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from maf_memory import disk
from maf_memory.errors import NotProvenDurable, SaveFailed, StateConflict
from maf_memory.sessions.contract.base import record_of, said, turn
from maf_memory.sessions.files import FileSessions
from maf_memory.sessions.record import SessionRecord
from tests.maf_memory.conftest import let_the_next_unlock_fail
from tests.maf_memory.sessions.golden_samples import ID
from tests.maf_memory.sessions.session_files import grown, kept, other_process, untouched

pytestmark = pytest.mark.skipif(os.name != "posix", reason="only POSIX flushes folders")


@pytest.fixture
def sessions(tmp_path: Path) -> FileSessions:
    return FileSessions.of_project(tmp_path)


@pytest.fixture
async def record(sessions: FileSessions) -> SessionRecord:
    return await kept(sessions, "Is it 8080?", ID)


@pytest.fixture
def failing_folder_flush(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make a coming flush of a folder fail, as a failing disk would; the flush of a file goes on working."""

    def arm(*, after: int = 0) -> None:
        real, left = disk.flush_file, after

        def once(descriptor: int) -> None:
            nonlocal left
            if stat.S_ISDIR(os.fstat(descriptor).st_mode):
                left -= 1
                if left < 0:
                    monkeypatch.setattr(disk, "flush_file", real)
                    raise OSError(5, "Input/output error")
            real(descriptor)

        monkeypatch.setattr(disk, "flush_file", once)

    return arm


async def test_a_save_that_is_not_proven_durable_is_in_place_and_the_next_one_is_no_conflict(
    sessions: FileSessions, record: SessionRecord, failing_folder_flush: Callable[..., None]
) -> None:
    failing_folder_flush()
    with pytest.raises(NotProvenDurable, match="perhaps not durably") as caught:
        await sessions.save(grown(record))
    assert str(caught.value).isprintable()
    assert record.stamp is not None
    assert record.stamp.revision == 2
    assert said(await other_process(sessions).load(ID)) == said(record)
    assert (await sessions.save(grown(record))).revision == 3


async def test_a_creation_that_is_not_proven_durable_is_in_place_and_not_in_conflict_with_itself(
    sessions: FileSessions, record: SessionRecord, failing_folder_flush: Callable[..., None]
) -> None:
    new = record_of(*turn("new"))
    failing_folder_flush()
    with pytest.raises(NotProvenDurable):
        await sessions.create(new)
    assert new.stamp is not None
    assert said(await other_process(sessions).load(new.id)) == said(new)
    assert (await sessions.save(grown(new))).revision == 2
    assert record.stamp is not None


@pytest.mark.parametrize("flush", range(3))
async def test_a_creation_in_a_new_project_that_fails_before_its_file_says_so_and_can_be_repeated(
    sessions: FileSessions, failing_folder_flush: Callable[..., None], flush: int
) -> None:
    new = record_of(*turn("new"))
    failing_folder_flush(after=flush)
    with pytest.raises(SaveFailed) as caught:
        await sessions.create(new)
    assert str(caught.value).isprintable()
    assert new.stamp is None
    assert not (await sessions.page()).heads
    assert (await sessions.create(new)).revision == 1
    assert (sessions.folder.parent / ".gitignore").read_bytes() == b"*\n"


async def test_a_deletion_that_is_not_proven_durable_is_done(
    sessions: FileSessions, record: SessionRecord, failing_folder_flush: Callable[..., None]
) -> None:
    failing_folder_flush()
    with pytest.raises(NotProvenDurable):
        await sessions.delete(ID, expected=record.stamp)
    assert await sessions.delete(ID) is False
    assert (await sessions.create(record)).revision == 1


async def test_what_another_saved_after_an_unproven_save_is_still_theirs(
    sessions: FileSessions, record: SessionRecord, failing_folder_flush: Callable[..., None]
) -> None:
    failing_folder_flush()
    with pytest.raises(NotProvenDurable):
        await sessions.save(grown(record))
    other = other_process(sessions)
    await other.save(grown(await other.load(ID), "theirs"))
    with untouched(sessions.path_of(ID)), pytest.raises(StateConflict, match="revision 3"):
        await sessions.save(grown(record))


@pytest.mark.parametrize("work", ["create", "save", "delete"])
async def test_a_lock_that_cannot_be_given_back_is_told_and_the_record_goes_on(
    sessions: FileSessions, record: SessionRecord, monkeypatch: pytest.MonkeyPatch, work: str
) -> None:
    new = record_of(*turn("new"))
    works: dict[str, Callable[[], Awaitable[object]]] = {
        "create": lambda: sessions.create(new),
        "save": lambda: sessions.save(grown(record)),
        "delete": lambda: sessions.delete(ID, expected=record.stamp),
    }
    let_the_next_unlock_fail(monkeypatch)
    with pytest.raises(NotProvenDurable, match="the lock could not be given back"):
        await works[work]()
    if work == "delete":
        assert (await sessions.create(record)).revision == 1
    elif work == "create":
        assert (await sessions.save(grown(new))).revision == 2
    else:
        assert (await sessions.save(grown(record))).revision == 3
