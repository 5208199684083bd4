"""What else may lie where sessions are kept: others' files, links, pipes; nothing leads out of the folder."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from maf_memory.errors import FileRefused, SaveFailed, StateConflict, UnknownSession
from maf_memory.sessions.contract.base import record_of, said, texts, turn
from maf_memory.sessions.contract.refusing import HOSTILE_IDS
from maf_memory.sessions.files import FileSessions
from tests.maf_memory.conftest import no_waiting
from tests.maf_memory.sessions.golden_samples import ID, golden
from tests.maf_memory.sessions.session_files import (
    all_untouched,
    damage_listed,
    identity,
    kept,
    names,
    refusal,
    untouched,
)

posix = pytest.mark.skipif(os.name != "posix", reason="links, pipes and modes of POSIX")
root_only = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture
def sessions(tmp_path: Path) -> FileSessions:
    return FileSessions.of_project(tmp_path)


# files of others


FOREIGN = [
    "notes.txt",
    "README",
    ".DS_Store",
    ".json",
    ID,
    "20260916.json",
    f"{ID}.json~",
    f"{ID}.json.bak",
    f"{ID}.JSON",
    f".{ID}.json.swp",
    f"{ID} (copy).json",
    f"{ID.upper()}.json",
    f"{ID}.json.0123456789abcdef.tmp",
    "sessions.db",
    "é\u0301 \n.json",
]


async def test_files_of_others_are_no_sessions_and_stay_as_they_are(sessions: FileSessions) -> None:
    record = await kept(sessions)
    for name in FOREIGN:
        (sessions.folder / name).write_bytes(golden())
    (sessions.folder / "archive").mkdir()
    (sessions.folder / "archive" / f"{ID}.json").write_bytes(golden())
    theirs = {name: identity(sessions.folder / name) for name in (*FOREIGN, "archive")}
    page = await sessions.page()
    assert ([head.id for head in page.heads], list(page.damaged)) == ([record.id], [])
    found = await sessions.search("slog kept")
    assert (found.searched, list(found.unread)) == (1, [])
    await sessions.save(record)
    assert await sessions.sweep() == []
    with pytest.raises(UnknownSession):
        await sessions.load(ID)
    assert await sessions.delete(ID) is False
    assert {name: identity(sessions.folder / name) for name in theirs} == theirs


async def test_a_folder_with_the_name_of_a_session_is_listed_as_damaged_and_stays(sessions: FileSessions) -> None:
    record = await kept(sessions)
    (sessions.folder / f"{ID}.json").mkdir()
    (sessions.folder / f"{ID}.json" / "inside").write_text("theirs")
    with all_untouched(sessions.folder):
        assert "it is not a regular file" in await damage_listed(sessions)
        assert "it is not a regular file" in str(await refusal(sessions))
        with pytest.raises(FileRefused):
            await sessions.create(record_of(id=ID))
        with pytest.raises(SaveFailed):
            await sessions.delete(ID)
        assert texts(await sessions.load(record.id)) == ["kept", "Noted."]


async def test_where_the_folder_should_be_stands_a_file(tmp_path: Path) -> None:
    sessions = FileSessions.of_project(tmp_path)
    (tmp_path / ".mm").write_text("a person's own")
    with all_untouched(tmp_path):
        for work in (sessions.page(), sessions.load(ID), sessions.search("x"), sessions.sweep()):
            with pytest.raises(FileRefused, match="Not a directory"):
                await work
        with pytest.raises(SaveFailed, match="Not a directory"):
            await sessions.create(record_of(id=ID))


async def test_a_project_without_sessions_has_none_and_gets_nothing(tmp_path: Path) -> None:
    sessions = FileSessions.of_project(tmp_path)
    page = await sessions.page()
    assert (list(page.heads), list(page.damaged), page.next) == ([], [], None)
    assert (await sessions.search("x")).searched == 0
    assert await sessions.delete(ID) is False
    for work in (sessions.load(ID), sessions.read(ID)):
        with pytest.raises(UnknownSession):
            await work
    assert os.listdir(tmp_path) == []


# ids that are none


@pytest.mark.parametrize("hostile", HOSTILE_IDS)
async def test_what_is_no_id_never_touches_a_path(tmp_path: Path, hostile: str) -> None:
    sessions = FileSessions.of_project(tmp_path)
    await kept(sessions)
    (tmp_path / ".mm" / "x.json").write_bytes(golden())
    with all_untouched(tmp_path):
        with pytest.raises(UnknownSession) as caught:
            sessions.path_of(hostile)
        assert str(caught.value).isprintable()
        record = record_of(*turn("x"), id=hostile)
        works = (sessions.load, sessions.read, sessions.delete)
        for work in (*(each(hostile) for each in works), sessions.create(record), sessions.save(record)):
            with pytest.raises(UnknownSession):
                await work


# links and pipes


@posix
@pytest.mark.parametrize("target", ["a sound session", "nothing", "itself", "a folder"])
async def test_a_link_is_no_session_and_what_it_leads_to_is_never_read_or_written(tmp_path: Path, target: str) -> None:
    sessions = FileSessions.of_project(tmp_path / "project")
    record = await kept(sessions)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / f"{ID}.json").write_bytes(golden())
    link = sessions.path_of(ID)
    leads_to = {
        "a sound session": outside / f"{ID}.json",
        "nothing": outside / "nothing",
        "itself": link,
        "a folder": outside,
    }
    link.symlink_to(leads_to[target])
    with all_untouched(tmp_path):
        assert await damage_listed(sessions) == "it is a symbolic link"
        assert "it is a symbolic link" in str(await refusal(sessions))
        found = await sessions.search("slog kept")
        assert ([one.id for one in found.unread], found.searched) == ([ID], 1)
        for work in (sessions.create(record_of(id=ID)), sessions.delete(ID, expected=record.stamp)):
            with pytest.raises(FileRefused):
                await work
    with all_untouched(outside):
        assert await sessions.delete(ID) is True
    assert names(sessions) == [f"{record.id}.json"]


@posix
async def test_a_session_that_became_a_link_is_not_saved_through_it(sessions: FileSessions, tmp_path: Path) -> None:
    record = await kept(sessions)
    path = sessions.path_of(record.id)
    elsewhere = path.rename(tmp_path / "elsewhere.json")
    path.symlink_to(elsewhere)
    with untouched(elsewhere), untouched(path), pytest.raises(FileRefused, match="it is a symbolic link"):
        await sessions.save(record)


@posix
@pytest.mark.parametrize("part", [".mm", ".mm/sessions"])
@pytest.mark.parametrize("dangling", [False, True])
async def test_no_link_on_the_way_is_followed(tmp_path: Path, part: str, dangling: bool) -> None:
    theirs, mine = tmp_path / "theirs", tmp_path / "mine"
    record = await kept(FileSessions.of_project(theirs))
    (mine / part).parent.mkdir(parents=True)
    (mine / part).symlink_to(tmp_path / "nowhere" if dangling else theirs / part)
    sessions = FileSessions.of_project(mine)
    with all_untouched(tmp_path):
        for work in (sessions.page(), sessions.load(record.id), sessions.search("kept"), sessions.sweep()):
            with pytest.raises(FileRefused, match="symbolic link") as caught:
                await work
            assert str(caught.value).isprintable()
        with pytest.raises(FileRefused, match="symbolic link"):
            await sessions.save(record)
        with pytest.raises(FileRefused, match="symbolic link"):
            await sessions.delete(record.id)
    with all_untouched(theirs), pytest.raises((FileRefused, SaveFailed)):
        await sessions.create(record_of(id=ID))


@posix
async def test_a_folder_that_is_swapped_for_a_link_leads_no_save_away(tmp_path: Path) -> None:
    sessions = FileSessions.of_project(tmp_path / "project")
    record = await kept(sessions)
    moved = sessions.folder.rename(tmp_path / "moved")
    sessions.folder.symlink_to(moved)
    record.messages = [*record.messages, *turn("two")]
    with all_untouched(moved):
        for work in (sessions.save(record), sessions.delete(record.id), sessions.load(record.id)):
            with pytest.raises(FileRefused, match="symbolic link"):
                await work


@posix
async def test_the_project_itself_may_be_reached_by_a_link(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "link").symlink_to("project")
    record = await kept(FileSessions.of_project(tmp_path / "link"))
    assert texts(await FileSessions.of_project(tmp_path / "project").load(record.id)) == ["kept", "Noted."]
    await FileSessions.of_project(tmp_path / "link").save(record)


@posix
async def test_a_pipe_is_refused_nobody_waits_for_its_writer_and_nothing_is_taken_out_of_it(
    sessions: FileSessions,
) -> None:
    record = await kept(sessions)
    pipe = sessions.path_of(ID)
    os.mkfifo(pipe, 0o600)
    with no_waiting(pipe):
        assert "it is not a regular file" in await damage_listed(sessions)
        assert "it is not a regular file" in str(await refusal(sessions))
        assert [one.id for one in (await sessions.search("kept")).unread] == [ID]
        with pytest.raises(FileRefused):
            await sessions.create(record_of(id=ID))
    both = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        os.write(both, b"theirs")
        assert "it is not a regular file" in await damage_listed(sessions)
        assert "it is not a regular file" in str(await refusal(sessions))
        assert os.read(both, 100) == b"theirs"
    finally:
        os.close(both)
    assert [head.id for head in (await sessions.page()).heads] == [record.id]


# the folder is gone


async def test_a_folder_that_somebody_removed_is_a_conflict_and_does_not_come_back_with_a_part(
    sessions: FileSessions, tmp_path: Path
) -> None:
    record = await kept(sessions)
    shutil.rmtree(tmp_path / ".mm")
    with pytest.raises(StateConflict, match="its folder is gone"):
        await sessions.save(record)
    assert not (await sessions.page()).heads
    record.stamp = None
    await sessions.create(record)
    assert said(await sessions.load(record.id)) == said(record)
