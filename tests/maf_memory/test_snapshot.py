"""One session in one file: found again whole, never overwritten for another process, never brought back to life."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from agent_framework import Agent as FrameworkAgent
from agent_framework import AgentSession, InMemoryHistoryProvider

from maf_memory.chat.scripted import ScriptedChatClient
from maf_memory.errors import FileRefused, SaveFailed, StateConflict
from maf_memory.snapshot import Saved, SnapshotStore
from maf_memory.turn import ask
from tests.maf_memory.conftest import held_lock
from tests.maf_memory.samples import (
    Agent,
    add_turn,
    another,
    assistant,
    session_of,
    snapshot_store,
    talked,
    texts,
    untouched,
    user,
)


@pytest.fixture
def store(state_root: Path) -> SnapshotStore:
    return snapshot_store(state_root)


async def test_a_new_session_is_made_only_when_there_is_no_file(store: SnapshotStore) -> None:
    fresh = await store.load_or_create(Agent())
    assert texts(fresh) == []
    assert store.stamp is None
    assert not store.path.parent.exists(), "reading creates nothing"
    await store.save(talked("hello"))
    assert texts(await another(store).load_or_create(Agent())) == ["hello", "You said: hello"]
    store.path.write_bytes(b"")
    with untouched(store.path), pytest.raises(FileRefused):
        await another(store).load_or_create(Agent())


async def test_an_empty_session_is_saved_and_found_again_by_its_id(store: SnapshotStore) -> None:
    session = AgentSession()
    await store.save(session)
    again = await another(store).load()
    assert again is not None
    assert again.to_dict() == session.to_dict()


async def test_the_file_is_a_header_and_one_message_a_line(state_root: Path) -> None:
    now = datetime(2026, 9, 16, 12, 15, 30, 999_999, tzinfo=timezone(timedelta(hours=2)))
    store = snapshot_store(state_root, now=lambda: now)
    saved = await store.save(session_of(user("a\nb\u2028c"), assistant("é")))
    lines = store.path.read_text("utf-8").split("\n")
    assert lines[0] == "{"
    assert lines[1] == '"version": 1,'
    assert lines[2] == '"instruction_version": "memory-1.1",'
    assert lines[3] == f'"lineage": "{saved.stamp.lineage}",'
    assert lines[4] == '"revision": 1,'
    assert lines[5] == '"saved_at": "2026-09-16T10:15:30Z",'
    assert lines[6].startswith('"framework": "agent-framework-core ')
    assert lines[7].startswith('"session": {"type":"session","session_id":"session-1",')
    assert [json.loads(line.removesuffix(","))["role"] for line in lines[8:10]] == ["user", "assistant"]
    assert lines[10:] == ["]}}}", "}", ""]
    assert (saved.messages, saved.size) == (2, len(store.path.read_bytes()))


async def test_save_after_save_keeps_the_lineage_and_counts_revisions(store: SnapshotStore) -> None:
    session = AgentSession()
    stamps = []
    for number in range(4):
        add_turn(session, f"question {number}")
        stamps.append((await store.save(session)).stamp)
    assert [stamp.revision for stamp in stamps] == [1, 2, 3, 4]
    assert len({stamp.lineage for stamp in stamps}) == 1
    assert store.stamp == stamps[-1]
    later = another(store)
    assert texts(await later.load()) == texts(session)
    assert later.stamp == stamps[-1]
    assert (await later.save(session)).stamp.revision == 5


async def test_a_saved_session_is_not_changed_by_what_happens_after(store: SnapshotStore) -> None:
    session = talked("first")
    session.state["mine"] = {"list": [1]}
    task = asyncio.create_task(store.save(session))
    await asyncio.sleep(0)  # the save has begun, in its thread
    session.state["mine"]["list"].append(2)
    add_turn(session, "second")
    await task
    again = await another(store).load()
    assert texts(again) == ["first", "You said: first"]
    assert again is not None
    assert again.state["mine"] == {"list": [1]}


@pytest.mark.parametrize(
    "text",
    [
        "\0",
        "a\u2028b\u2029c",
        "\u202e\u05e9\u05dc\u05d5\u05dd \u0627",
        "🙂👩‍👩‍👧",
        "x" * 1_000_000,
        '"]}}}\n',
        "\x1b[2J",
        "",
        "\ufeff",
        "\\ud800",
    ],
)
async def test_any_text_survives_a_restart(store: SnapshotStore, text: str) -> None:
    await store.save(session_of(user(text), assistant(text)))
    assert texts(await another(store).load()) == [text, text]


async def test_the_same_question_twice_with_the_same_answer_keeps_four_messages(store: SnapshotStore) -> None:
    agent = FrameworkAgent(
        ScriptedChatClient(["yes", "yes", "yes"]), "Answer.", context_providers=[InMemoryHistoryProvider()]
    )
    session = await store.load_or_create(agent)
    for _ in range(2):
        await ask(agent, session, "yes")
        await store.save(session)
    store = another(store)
    session = await store.load_or_create(agent)
    assert texts(session) == ["yes"] * 4
    await ask(agent, session, "yes")
    await store.save(session)
    assert texts(await another(store).load()) == ["yes"] * 6


# Conflicts: whatever somebody else did stays as it is.


async def test_another_save_is_a_conflict_and_nothing_is_overwritten(store: SnapshotStore) -> None:
    await store.save(talked("mine"))
    other = another(store)
    theirs = await other.load()
    assert theirs is not None
    add_turn(theirs, "theirs")
    await other.save(theirs)
    with untouched(store.path), pytest.raises(StateConflict) as caught:
        await store.save(talked("mine", "again"))
    line = str(caught.value)
    assert line.isprintable()
    assert "revision 2" in line
    assert "revision 1" in line
    assert str(store.path) in line
    with untouched(store.path), pytest.raises(StateConflict):
        await store.save(talked("mine", "again"))
    merged = await store.load()
    assert merged is not None
    add_turn(merged, "mine again")
    assert (await store.save(merged)).stamp.revision == 3


async def test_a_deletion_by_another_is_a_conflict_and_nothing_comes_back(store: SnapshotStore) -> None:
    await store.save(talked("mine"))
    assert await another(store).delete()
    for _ in range(2):
        with pytest.raises(StateConflict, match="it holds nothing"):
            await store.save(talked("mine", "again"))
        assert not store.path.exists()
    assert await store.load() is None
    assert (await store.save(talked("new"))).stamp.revision == 1


async def test_a_file_born_again_with_the_same_revision_is_a_conflict(store: SnapshotStore) -> None:
    await store.save(talked("mine"))
    other = another(store)
    await other.delete()
    await other.save(talked("mine"))
    assert other.stamp is not None
    assert store.stamp is not None
    assert other.stamp.revision == store.stamp.revision
    with untouched(store.path), pytest.raises(StateConflict):
        await store.save(talked("mine", "again"))


async def test_a_file_where_none_was_seen_is_a_conflict(store: SnapshotStore) -> None:
    assert await store.load() is None
    await another(store).save(talked("theirs"))
    with untouched(store.path), pytest.raises(StateConflict, match="this one last saw no file"):
        await store.save(talked("mine"))


async def test_a_store_that_never_loaded_does_not_overwrite(store: SnapshotStore) -> None:
    await another(store).save(talked("theirs"))
    with untouched(store.path), pytest.raises(StateConflict):
        await store.save(talked("mine"))


async def test_the_stamp_decides_and_not_the_clock(store: SnapshotStore, state_root: Path) -> None:
    """Another save with the same size, time and header length is still another save."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    store, other = (snapshot_store(state_root, now=lambda: now) for _ in range(2))
    await store.save(talked("one"))
    status = store.path.stat()
    theirs = await other.load()
    assert theirs is not None
    await other.save(theirs)
    os.utime(store.path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert store.path.stat().st_size == status.st_size
    with untouched(store.path), pytest.raises(StateConflict):
        await store.save(talked("two"))


async def test_reading_for_display_does_not_make_it_the_loaded_one(store: SnapshotStore) -> None:
    await another(store).save(talked("theirs"))
    envelope = await store.read()
    assert envelope is not None
    assert len(envelope.messages) == 2
    assert store.stamp is None
    with pytest.raises(StateConflict):
        await store.save(talked("mine"))


# Damage after the load.


@pytest.mark.parametrize("keep_the_time", [False, True])
@pytest.mark.parametrize("place", ["head", "tail", "cut", "empty"])
async def test_damage_since_the_last_save_is_refused_and_not_replaced(
    store: SnapshotStore, place: str, keep_the_time: bool
) -> None:
    await store.save(talked("mine"))
    sound = store.path.read_bytes()
    spoilt = {
        "head": sound.replace(b'"revision"', b'"revisi\x00n"'),
        "tail": sound[:-4] + b"\0\0\0\0",
        "cut": sound[: len(sound) // 2],
        "empty": b"",
    }[place]
    status = store.path.stat()
    store.path.write_bytes(spoilt)
    if keep_the_time:
        os.utime(store.path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with untouched(store.path), pytest.raises(FileRefused):
        await store.save(talked("mine", "again"))
    with untouched(store.path), pytest.raises(FileRefused):
        await store.load()
    store.path.write_bytes(sound)
    assert (await store.save(talked("mine", "again"))).stamp.revision == 2


async def test_a_refused_load_leaves_the_store_knowing_what_it_knew(store: SnapshotStore) -> None:
    await store.save(talked("mine"))
    known = store.stamp
    sound = store.path.read_bytes()
    store.path.write_bytes(b"{")
    with pytest.raises(FileRefused):
        await store.load()
    assert store.stamp == known
    store.path.write_bytes(sound)
    await store.save(talked("mine", "again"))


@pytest.mark.parametrize("change", [lambda text: json.dumps(json.loads(text), indent=4), lambda text: text + "\n"])
async def test_a_file_that_somebody_rewrote_since_is_theirs_also_with_the_same_revision(
    store: SnapshotStore, change: Callable[[str], str]
) -> None:
    await store.save(talked("mine"))
    store.path.write_text(change(store.path.read_text()))
    with untouched(store.path), pytest.raises(StateConflict, match="holds revision 1 with other bytes"):
        await store.save(talked("mine", "again"))
    session = await store.load()
    assert texts(session) == texts(talked("mine"))
    assert (await store.save(talked("mine", "again"))).stamp.revision == 2


async def test_a_turn_saved_on_a_backup_that_was_put_back_is_not_overwritten_when_the_revisions_meet(
    store: SnapshotStore,
) -> None:
    await store.save(talked("one"))
    backup = store.path.read_bytes()
    await store.save(talked("one", "two"))
    store.path.write_bytes(backup)
    theirs = another(store)
    await theirs.load()
    await theirs.save(talked("one", "Lyon"))
    assert theirs.stamp == store.stamp
    with untouched(store.path), pytest.raises(StateConflict):
        await store.save(talked("one", "two", "three"))


# Deleting.


async def test_delete_is_idempotent_and_forgets(store: SnapshotStore) -> None:
    assert not await store.delete()
    assert not store.path.parent.exists(), "there was nothing to delete, so nothing was created"
    await store.save(talked("x"))
    assert await store.delete()
    assert not await store.delete()
    assert store.stamp is None
    assert await store.load() is None
    first = await store.save(talked("new"))
    assert first.stamp.revision == 1


async def test_a_lineage_is_drawn_at_each_birth(store: SnapshotStore) -> None:
    lineages = set()
    for _ in range(5):
        lineages.add((await store.save(talked("x"))).stamp.lineage)
        await store.delete()
    assert len(lineages) == 5


async def until(condition: Callable[[], bool]) -> None:
    """Let the threads go on until something is true that must become true."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - a thread's state has no asyncio event
            await asyncio.sleep(0)


def lock_of(store: SnapshotStore) -> AbstractContextManager[None]:
    """The store's lock, in the hands of somebody else."""
    store.path.parent.mkdir(parents=True, exist_ok=True)
    return held_lock(store.path.with_name(".session.json.lock"))


async def test_a_save_under_way_before_the_delete_is_deleted(store: SnapshotStore) -> None:
    await store.save(talked("x"))
    with lock_of(store):
        saving = asyncio.create_task(store.save(talked("x", "y")))
        await until(store._one_at_a_time.locked)
        deleting = asyncio.create_task(store.delete())
        await asyncio.sleep(0)
    saved, deleted = await asyncio.gather(saving, deleting)
    assert saved.stamp.revision == 2
    assert deleted
    assert not store.path.exists()
    assert store.stamp is None


async def test_a_save_that_waits_behind_the_delete_is_refused(store: SnapshotStore) -> None:
    await store.save(talked("x"))
    with lock_of(store):
        deleting = asyncio.create_task(store.delete())
        await until(store._one_at_a_time.locked)
        saves = [asyncio.create_task(store.save(talked("x", "y"))) for _ in range(3)]
        await asyncio.sleep(0)
    assert await deleting
    for result in await asyncio.gather(*saves, return_exceptions=True):
        assert isinstance(result, StateConflict)
    assert not store.path.exists()


async def test_a_save_that_waits_behind_the_first_delete_of_nothing_is_refused_too(store: SnapshotStore) -> None:
    with lock_of(store):
        deleting = asyncio.create_task(store.delete())
        await until(store._one_at_a_time.locked)
        saving = asyncio.create_task(store.save(talked("x")))
        await asyncio.sleep(0)
    assert not await deleting
    with pytest.raises(StateConflict):
        await saving
    assert not store.path.exists()


async def test_a_save_that_waits_behind_a_load_does_not_overwrite_what_was_loaded(store: SnapshotStore) -> None:
    await store.save(talked("mine"))
    other = another(store)
    theirs = await other.load()
    assert theirs is not None
    add_turn(theirs, "theirs")
    await other.save(theirs)
    with store._one_at_a_time:  # hold the store, so that the save below is asked for before the load and runs after
        saving = asyncio.create_task(store.save(talked("mine", "old")))
        await asyncio.sleep(0)
        store._depart((await another(store).read()).stamp, store.path.read_bytes())  # type: ignore[union-attr]
    with untouched(store.path), pytest.raises(StateConflict):
        await saving


async def test_many_saves_and_deletes_at_once_end_in_the_last_word(store: SnapshotStore) -> None:
    await store.save(talked("x"))
    with lock_of(store):
        tasks = [asyncio.create_task(store.save(talked("x", str(number)))) for number in range(5)]
        tasks.append(asyncio.create_task(store.delete()))  # type: ignore[arg-type]
        await asyncio.sleep(0)
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(result, Saved | StateConflict | bool) for result in results)
    assert not store.path.exists(), "every save was asked for before the delete"
    await store.save(talked("new"))
    assert texts(await another(store).load()) == ["new", "You said: new"]


async def test_of_saves_under_way_the_last_one_asked_for_stays(store: SnapshotStore) -> None:
    session = AgentSession()
    tasks = []
    with lock_of(store):
        for number in range(8):
            add_turn(session, str(number))
            tasks.append(asyncio.create_task(store.save(session)))
            await asyncio.sleep(0)
    saves = await asyncio.gather(*tasks)
    assert texts(await another(store).load()) == texts(session)
    assert saves[-1].messages == 16
    assert all(saved.messages >= 2 * number for number, saved in enumerate(saves, start=1)), "each is in what is saved"


async def test_a_save_that_a_later_one_overtook_is_not_written_over_it(store: SnapshotStore) -> None:
    """Threads are not served in the order in which they ask: the one asked for first may come last."""
    asked_first, asked_second = next(store._turns), next(store._turns)
    later = store._save(talked("one", "two"), asked_second, store._departures)
    with untouched(store.path):
        assert store._save(talked("one"), asked_first, store._departures) == later
    assert (await store.save(talked("one", "two", "three"))).stamp.revision == 2


# Cancellation.


async def test_a_cancelled_save_is_completed_before_the_cancellation_is_raised(store: SnapshotStore) -> None:
    await store.save(talked("one"))
    with lock_of(store):
        saving = asyncio.create_task(store.save(talked("one", "two")))
        await until(store._one_at_a_time.locked)
        for _ in range(3):
            saving.cancel()
            await asyncio.sleep(0)
        assert not saving.done(), "it waits for the work"
    with pytest.raises(asyncio.CancelledError):
        await saving
    assert len(texts(await another(store).load())) == 4
    assert (await store.save(talked("one", "two", "three"))).stamp.revision == 3


async def test_a_save_that_another_writer_keeps_waiting_says_so(state_root: Path) -> None:
    store = snapshot_store(state_root)
    await store.save(talked("one"))
    store._file.lock_seconds = 0.05
    with lock_of(store):
        with untouched(store.path), pytest.raises(SaveFailed, match=r"another process has been writing it for 0\.05"):
            await store.save(talked("one", "two"))
        assert texts(await another(store).load()) == ["one", "You said: one"], "a reader needs no lock"
    assert (await store.save(talked("one", "two"))).stamp.revision == 2


async def test_a_left_over_of_a_killed_save_is_swept_at_start_and_nothing_else_is(store: SnapshotStore) -> None:
    await store.save(talked("one"))
    folder = store.path.parent
    left_over = folder / f".session.json.{'0a' * 8}.tmp"
    others = ["session.json.tmp", ".session.json.mine.tmp", f".other.json.{'0a' * 8}.tmp", ".session.json.bak", "x.tmp"]
    left_over.write_text("{")
    for name in others:
        (folder / name).write_text("kept")
    await another(store).load_or_create(Agent())
    assert not left_over.exists()
    assert sorted(path.name for path in folder.iterdir() if path.name in others) == sorted(others)


async def test_delete_takes_what_a_killed_save_left_with_it(store: SnapshotStore) -> None:
    await store.save(talked("canary"))
    left_over = store.path.with_name(f".session.json.{'0a' * 8}.tmp")
    left_over.write_bytes(store.path.read_bytes())
    assert await store.delete()
    assert not left_over.exists()
