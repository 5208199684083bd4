"""What an attacker, or bad luck, did between a load and a save is seen by every copy, by archive and by delete."""

from __future__ import annotations

import copy
import os
import shutil
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from agent_framework import Content, Message

from maf_memory.errors import FileRefused, StateConflict
from maf_memory.sessions.copies import copied_record
from maf_memory.sessions.directory import SessionDirectory
from maf_memory.sessions.export import as_html, as_markdown
from maf_memory.sessions.files import FileSessions
from maf_memory.sessions.hosting import HostSessionStore
from maf_memory.sessions.record import Damaged, SessionRecord

NOW = datetime(2026, 9, 16, 10, 15, 30, tzinfo=timezone(timedelta(hours=2)))
ID = "20260916-101530-4f2a9c1e"


async def kept(folder: Path, *messages: Message) -> tuple[FileSessions, SessionRecord]:
    storage = FileSessions(folder)
    record = SessionRecord(ID, NOW, NOW, "/home/ada/shop")
    record.messages = list(messages) or [Message("user", ["hello"]), Message("assistant", ["there"])]
    await storage.create(record)
    return storage, record


def edit(path: Path) -> bytes:
    """A hand edit that leaves the header as it is."""
    path.write_text(path.read_text(encoding="utf-8").replace("hello", "EDITED"), encoding="utf-8")
    return path.read_bytes()


Attempt = Callable[[FileSessions, SessionRecord], Awaitable[object]]
ATTEMPTS: dict[str, Attempt] = {
    "a save": lambda storage, record: storage.save(record),
    "a save of a copy": lambda storage, record: storage.save(copied_record(record)),
    "a save of a deep copy": lambda storage, record: storage.save(copy.deepcopy(record)),
    "a save by another store": lambda storage, record: FileSessions(storage.folder).save(record),
    "archive": lambda storage, record: SessionDirectory(storage).archive(record),
    "renew": lambda storage, record: SessionDirectory(storage).renew(record),
    "a delete of what is known": lambda storage, record: storage.delete(record.id, expected=record),
}


@pytest.mark.parametrize("what", ATTEMPTS)
async def test_a_hand_edit_is_a_conflict_and_stays(tmp_path: Path, what: str) -> None:
    storage, record = await kept(tmp_path / "s")
    edited = edit(storage.path_of(ID))
    with pytest.raises(StateConflict, match="with other bytes"):
        await ATTEMPTS[what](storage, record)
    assert storage.path_of(ID).read_bytes() == edited
    assert [path.name for path in storage.folder.glob("*.json")] == [f"{ID}.json"], "no copy stays behind"


async def test_a_host_that_copies_its_session_sees_a_hand_edit_too(tmp_path: Path) -> None:
    store = HostSessionStore(FileSessions(tmp_path / "s"))
    from agent_framework import AgentSession

    session = AgentSession(session_id="k")
    session.state["in_memory"] = {"messages": [Message("user", ["hello"])]}
    await store.set("k", session)
    again = copy.deepcopy(await HostSessionStore(FileSessions(tmp_path / "s")).get("k"))
    (path,) = (tmp_path / "s").glob("*.json")
    edited = edit(path)
    with pytest.raises(StateConflict):
        await store.set("k", again)
    assert path.read_bytes() == edited


async def test_a_copy_that_was_saved_moves_on_and_the_other_one_is_told(tmp_path: Path) -> None:
    storage, record = await kept(tmp_path / "s")
    one, other = copied_record(record), copied_record(record)
    await storage.save(one)
    await storage.save(one)
    with pytest.raises(StateConflict, match="revision 3"):
        await storage.save(other)


async def test_a_project_that_was_moved_away_is_told_and_not_made_again(tmp_path: Path) -> None:
    storage = FileSessions.of_project(tmp_path / "proj")
    record = SessionRecord(ID, NOW, NOW, "x", [Message("user", ["hello"])])
    (tmp_path / "proj").mkdir()
    await storage.create(record)
    (tmp_path / "proj").rename(tmp_path / "renamed")
    with pytest.raises(StateConflict, match="its folder is gone"):
        await storage.save(record)
    assert not (tmp_path / "proj").exists()


async def test_what_a_killed_save_left_goes_with_the_first_write_and_with_a_delete(tmp_path: Path) -> None:
    storage, record = await kept(tmp_path / "s")
    rest = storage.folder / f".{ID}.json.{'0' * 16}.tmp"
    rest.write_text("a whole conversation", encoding="utf-8")
    await FileSessions(storage.folder).save(record)
    assert not rest.exists()
    rest.write_text("a whole conversation", encoding="utf-8")
    await storage.delete(ID)
    assert sorted(os.listdir(storage.folder)) == [".lock"]


@pytest.mark.parametrize("date", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
async def test_a_date_that_no_other_clock_can_show_is_damage_and_hides_no_other_session(
    tmp_path: Path, date: str
) -> None:
    storage, record = await kept(tmp_path / "s")
    path = storage.path_of(ID)
    other = storage.path_of("20260916-101530-00000000")
    shutil.copy(path, other)
    other.write_text(other.read_text(encoding="utf-8").replace(ID, other.stem), encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8").replace(NOW.isoformat(), date), encoding="utf-8")
    with pytest.raises(FileRefused, match="at the end of all dates"):
        await storage.load(record.id)
    page = await storage.page()
    assert [head.id for head in page.heads] == [other.stem]
    (damaged,) = page.damaged
    assert isinstance(damaged, Damaged)


async def test_annotations_that_are_no_objects_are_refused_so_that_they_can_be_repaired(tmp_path: Path) -> None:
    storage, _ = await kept(tmp_path / "s")
    path = storage.path_of(ID)
    wrong = path.read_text(encoding="utf-8").replace('"text":"hello"', '"text":"hello","annotations":["abc"]')
    path.write_text(wrong, encoding="utf-8")
    with pytest.raises(FileRefused, match="annotations are not a list of objects"):
        await storage.load(ID)


@pytest.mark.parametrize("inputs", [["print(1)"], "print(1)", {"code": "print(1)"}])
async def test_whatever_was_saved_can_be_exported(tmp_path: Path, inputs: object) -> None:
    call = Content("code_interpreter_tool_call", call_id="c", inputs=inputs)  # type: ignore[arg-type]
    storage, _ = await kept(tmp_path / "s", Message("user", ["hello"]), Message("assistant", [call]))
    record = await storage.load(ID)
    assert "print(1)" in as_html(record)
    assert "print(1)" in as_markdown(record)
