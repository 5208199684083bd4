"""What a person or a backup does to a file behind a record's back: told, never overwritten."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from maf_memory.errors import StateConflict, UnknownSession
from maf_memory.sessions.contract.base import record_of, said, texts
from maf_memory.sessions.files import FileSessions
from maf_memory.sessions.record import SessionRecord
from tests.maf_memory.sessions.golden_samples import ID
from tests.maf_memory.sessions.session_files import grown, identity, kept, other_process, untouched

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links, modes and times of POSIX")


@pytest.fixture
def sessions(tmp_path: Path) -> FileSessions:
    return FileSessions.of_project(tmp_path)


@pytest.fixture
async def record(sessions: FileSessions) -> SessionRecord:
    return await kept(sessions, "Is it 8080?", ID)


def later_than(path: Path) -> None:
    """Wait until a change of the file now has another time than its last one: the clock of files goes in ticks."""
    probe = path.with_name("probe")
    while True:
        probe.write_bytes(b"")
        if probe.stat().st_ctime_ns > path.stat().st_ctime_ns:
            break
    probe.unlink()


async def refuses(sessions: FileSessions, record: SessionRecord, found: str) -> None:
    """Claim that a save tells of the conflict in one line, changes nothing, and that a copy can be kept elsewhere."""
    before, stamp = said(grown(record)), record.stamp
    path = sessions.path_of(record.id)
    with untouched(path), pytest.raises(StateConflict) as caught:
        await sessions.save(record)
    assert found in str(caught.value)
    assert str(path) in str(caught.value)
    assert str(caught.value).isprintable()
    assert (said(record), record.stamp) == (before, stamp)
    copy = record_of(*record.messages)
    await sessions.create(copy)
    assert texts(await other_process(sessions).load(copy.id)) == texts(record)


# by hand


def in_place(path: Path, change: Callable[[bytes], bytes]) -> None:
    later_than(path)
    with path.open("r+b") as file:
        content = change(file.read())
        file.seek(0)
        file.write(content)
        file.truncate()


def replaced(path: Path, change: Callable[[bytes], bytes]) -> None:
    new = path.with_name("new")
    new.write_bytes(change(path.read_bytes()))
    new.chmod(0o600)
    new.replace(path)


def with_its_old_date(path: Path, change: Callable[[bytes], bytes]) -> None:
    status = path.stat()
    in_place(path, change)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


EDITS = {
    "another word of the same length": lambda content: content.replace(b"8080", b"9090"),
    "a longer word": lambda content: content.replace(b"8080", b"8080 or 9090"),
    "a line end at the end": lambda content: content + b"\n",
    "formatted anew": lambda content: json.dumps(json.loads(content), indent=2).encode(),
}


@pytest.mark.parametrize("loaded", [False, True], ids=["created here", "loaded here"])
@pytest.mark.parametrize("way", [in_place, replaced, with_its_old_date])
@pytest.mark.parametrize("edit", EDITS)
async def test_a_file_that_somebody_edited_is_a_conflict_and_loads_as_it_was_edited(
    sessions: FileSessions,
    record: SessionRecord,
    edit: str,
    way: Callable[[Path, Callable[[bytes], bytes]], None],
    loaded: bool,
) -> None:
    if loaded:
        record = await sessions.load(ID)
    way(sessions.path_of(ID), EDITS[edit])
    await refuses(sessions, record, "revision 1 with other bytes")
    edited = await sessions.load(ID)
    await sessions.save(grown(edited))
    assert (await other_process(sessions).load(ID)).stamp == edited.stamp


async def test_a_file_in_another_layout_that_was_changed_since_it_was_loaded_is_a_conflict(
    sessions: FileSessions, record: SessionRecord
) -> None:
    replaced(sessions.path_of(ID), EDITS["formatted anew"])
    record = await sessions.load(ID)
    in_place(sessions.path_of(ID), EDITS["another word of the same length"])
    await refuses(sessions, record, "revision 1 with other bytes")


@pytest.mark.parametrize("loaded", [False, True])
async def test_a_file_that_was_only_touched_is_saved_over(
    sessions: FileSessions, record: SessionRecord, loaded: bool
) -> None:
    path = sessions.path_of(ID)
    if loaded:
        replaced(path, EDITS["formatted anew"])
        record = await sessions.load(ID)
    touches: list[Callable[[], object]] = [
        path.touch,
        lambda: os.utime(path, (0, 0)),
        lambda: path.chmod(0o644),
        lambda: path.chmod(0o400),
        lambda: os.link(path, path.with_name("linked")),
        lambda: replaced(path, lambda content: content),
        lambda: shutil.copy2(path, path.with_name("copy")) and path.with_name("copy").replace(path),
    ]
    for number, touch in enumerate(touches, start=2):
        later_than(path)
        touch()
        assert (await sessions.save(grown(record))).revision == number
    assert said(await other_process(sessions).load(ID)) == said(record)


async def test_a_hard_link_to_a_session_keeps_what_it_linked_to(
    sessions: FileSessions, record: SessionRecord, tmp_path: Path
) -> None:
    backup = tmp_path / "backup.json"
    os.link(sessions.path_of(ID), backup)
    before = backup.read_bytes()
    await sessions.save(grown(record))
    assert backup.read_bytes() == before


# backups


async def test_a_backup_of_an_older_save_that_was_put_back_is_a_conflict(
    sessions: FileSessions, record: SessionRecord, tmp_path: Path
) -> None:
    path, backup = sessions.path_of(ID), tmp_path / "backup.json"
    shutil.copy2(path, backup)
    await sessions.save(grown(record))
    shutil.copy2(backup, path)
    await refuses(sessions, record, "revision 1")
    assert texts(await sessions.load(ID)) == ["Is it 8080?", "Noted."]


async def test_a_backup_with_the_known_stamp_and_other_content_is_a_conflict(
    sessions: FileSessions, record: SessionRecord, tmp_path: Path
) -> None:
    """Both went on from revision 1 to a revision 2 of their own."""
    path, backup = sessions.path_of(ID), tmp_path / "backup.json"
    shutil.copy2(path, backup)
    theirs = await other_process(sessions).load(ID)
    await other_process(sessions).save(grown(theirs, "their"))
    shutil.copy2(path, tmp_path / "theirs.json")
    shutil.copy2(backup, path)
    await sessions.save(grown(record, "mine!"))
    assert record.stamp == theirs.stamp
    shutil.copy2(tmp_path / "theirs.json", path)
    await refuses(sessions, record, "revision 2 with other bytes")


async def test_a_backup_of_the_last_save_that_was_put_back_is_saved_over(
    sessions: FileSessions, record: SessionRecord, tmp_path: Path
) -> None:
    path, backup = sessions.path_of(ID), tmp_path / "backup.json"
    shutil.copy2(path, backup)
    path.unlink()
    shutil.copy2(backup, path)
    assert (await sessions.save(grown(record))).revision == 2


async def test_a_session_that_was_moved_away_is_deleted_for_who_saves_it(
    sessions: FileSessions, record: SessionRecord, tmp_path: Path
) -> None:
    moved = sessions.path_of(ID).rename(tmp_path / "moved.json")
    before = identity(moved)
    with pytest.raises(StateConflict, match="it was deleted"):
        await sessions.save(grown(record))
    assert not sessions.path_of(ID).exists()
    assert identity(moved) == before


async def test_a_copy_under_another_name_is_refused_by_the_name_that_it_has(
    sessions: FileSessions, record: SessionRecord
) -> None:
    copy = sessions.path_of("20260916-101530-00000099")
    shutil.copy2(sessions.path_of(ID), copy)
    page = await sessions.page()
    assert [head.id for head in page.heads] == [record.id]
    assert [(one.id, one.problem) for one in page.damaged] == [
        (copy.stem, f"it holds the session {ID}; expected the name {ID}.json for it")
    ]


# a deleted record


async def test_a_record_that_was_deleted_by_its_own_process_is_created_again_only_when_asked_to(
    sessions: FileSessions, record: SessionRecord
) -> None:
    before = record.stamp
    assert await sessions.delete(ID, expected=record.stamp)
    with pytest.raises(StateConflict, match="it was deleted"):
        await sessions.save(grown(record))
    with pytest.raises(UnknownSession):
        await sessions.load(ID)
    stamp = await sessions.create(record)
    assert before is not None
    assert (stamp.revision, stamp.lineage == before.lineage) == (1, False)
    await sessions.save(grown(record))
    assert said(await other_process(sessions).load(ID)) == said(record)
