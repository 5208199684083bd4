"""When the disk does not confirm: the store knows what is in place, and is never in conflict with itself."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from maf_memory import disk
from maf_memory.errors import NotProvenDurable, StateConflict
from maf_memory.snapshot import SnapshotStore
from tests.maf_memory.conftest import let_the_next_unlock_fail
from tests.maf_memory.samples import (
    another,
    snapshot_store,
    talked,
    texts,
    untouched,
)

pytestmark = pytest.mark.skipif(os.name != "posix", reason="only POSIX flushes folders")


@pytest.fixture
def store(state_root: Path) -> SnapshotStore:
    return snapshot_store(state_root)


@pytest.fixture
def failing_folder_flush(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Make the next flush of a folder fail, as a failing disk would; the flush of a file goes on working."""

    def arm() -> None:
        real = disk.flush_file

        def once(descriptor: int) -> None:
            if stat.S_ISDIR(os.fstat(descriptor).st_mode):
                monkeypatch.setattr(disk, "flush_file", real)
                raise OSError(5, "Input/output error")
            real(descriptor)

        monkeypatch.setattr(disk, "flush_file", once)

    return arm


posix = pytest.mark.skipif(os.name != "posix", reason="only POSIX flushes folders and locks with flock")


@posix
async def test_a_save_that_is_not_proven_durable_is_in_place_and_the_next_one_works(
    store: SnapshotStore, failing_folder_flush: Callable[[], None]
) -> None:
    await store.save(talked("one"))
    failing_folder_flush()
    with pytest.raises(NotProvenDurable, match="perhaps not durably") as caught:
        await store.save(talked("one", "two"))
    assert str(caught.value).isprintable()
    assert len(texts(await another(store).load())) == 4
    assert (await store.save(talked("one", "two", "three"))).stamp.revision == 3
    assert len(texts(await another(store).load())) == 6


@posix
async def test_a_first_save_that_is_not_proven_durable_is_not_in_conflict_with_itself(
    store: SnapshotStore, failing_folder_flush: Callable[[], None]
) -> None:
    store.path.parent.mkdir(parents=True)
    failing_folder_flush()
    with pytest.raises(NotProvenDurable):
        await store.save(talked("one"))
    assert (await store.save(talked("one", "two"))).stamp.revision == 2


@posix
async def test_what_another_saved_after_an_unproven_save_is_still_theirs(
    store: SnapshotStore, failing_folder_flush: Callable[[], None]
) -> None:
    await store.save(talked("one"))
    failing_folder_flush()
    with pytest.raises(NotProvenDurable):
        await store.save(talked("one", "two"))
    other = another(store)
    theirs = await other.load()
    assert theirs is not None
    await other.save(theirs)
    with untouched(store.path), pytest.raises(StateConflict):
        await store.save(talked("one", "two", "three"))


@posix
async def test_a_delete_that_is_not_proven_durable_is_done(
    store: SnapshotStore, failing_folder_flush: Callable[[], None]
) -> None:
    await store.save(talked("one"))
    failing_folder_flush()
    with pytest.raises(NotProvenDurable):
        await store.delete()
    assert not store.path.exists()
    assert (await store.save(talked("new"))).stamp.revision == 1


@posix
@pytest.mark.parametrize("work", ["save", "delete"])
async def test_a_lock_that_cannot_be_given_back_is_told_and_the_store_goes_on(
    store: SnapshotStore, monkeypatch: pytest.MonkeyPatch, work: str
) -> None:
    await store.save(talked("one"))
    let_the_next_unlock_fail(monkeypatch)
    with pytest.raises(NotProvenDurable, match="the lock could not be given back"):
        await (store.save(talked("one", "two")) if work == "save" else store.delete())
    after = await store.save(talked("one", "two", "three"))
    assert after.stamp.revision == (3 if work == "save" else 1)


@posix
async def test_a_conflict_is_told_even_when_the_lock_cannot_be_given_back(
    store: SnapshotStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await another(store).save(talked("theirs"))
    let_the_next_unlock_fail(monkeypatch)
    with untouched(store.path), pytest.raises(StateConflict):
        await store.save(talked("mine"))
