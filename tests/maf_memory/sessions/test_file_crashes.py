"""A process is killed at every system call of its work on a session, every call is made to fail, and the disk is full.

Afterwards the session is what it was or what it was to be, whole; what was acknowledged is there; the others are as
usual; no temporary file outlives the next sweep; and the failing process got one error of the family.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from maf_memory.errors import FileUnreadable, SaveFailed, UnknownSession
from maf_memory.sessions.contract.base import record_of, said, texts, turn
from maf_memory.sessions.files import FileSessions
from tests.maf_memory.sessions.crash_session_server import ID
from tests.maf_memory.sessions.session_files import kept, names, put, untouched
from tests.maf_memory.test_crash_points import CHANGES, FILLED, Ended, Server, points

SERVER = Path(__file__).with_name("crash_session_server.py")
WORKS = {
    "create in a new project": ("nothing", "new"),
    "create": ("nothing", "new"),
    "save": ("old", "new"),
    "delete": ("old", "nothing"),
}
"""What a reader finds before the work, and after it."""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server(SERVER)
    yield server
    server.close()


def state(root: Path) -> str:
    """What a new reader finds: nothing, the old or the new state, or another one, which would be a loss."""

    async def read() -> str:
        sessions = FileSessions.of_project(root)
        page = await sessions.page()
        assert not page.damaged
        assert not (await sessions.search("old new")).unread
        heads = {head.id: head for head in page.heads}
        try:
            said = texts(await sessions.load(ID))
        except UnknownSession:
            assert ID not in heads
            return "nothing"
        assert heads[ID].turns == len(said)
        return {("old",): "old", ("new",): "new", ("old", "new"): "new"}.get(tuple(said), str(said))

    return asyncio.run(read())


def goes_on(work: str, root: Path) -> None:
    """Claim that the next start sweeps what is left, and that the next work is done."""

    async def start_and_save() -> None:
        sessions = FileSessions.of_project(root)
        left = await sessions.sweep()
        assert [path.name.endswith(".tmp") for path in left] == [True] * len(left)
        try:
            record = await sessions.load(ID)
        except UnknownSession:
            await sessions.create(record := record_of(id=ID))
        record.messages = turn("later")
        await sessions.save(record)
        other = [] if work != "create" else ["20260916-101530-00000001.json"]
        assert names(sessions) == [*other, f"{ID}.json"]

    asyncio.run(start_and_save())
    assert sorted(os.listdir(root / ".mm")) == [".gitignore", ".lock", "sessions"]
    assert (root / ".mm" / ".gitignore").read_bytes() == b"*\n"


@pytest.mark.parametrize("work", WORKS)
def test_a_kill_at_any_call_leaves_the_session_as_it_was_or_as_it_was_to_be(
    server: Server, tmp_path: Path, work: str
) -> None:
    before, after = WORKS[work]
    found = [point for point in points(server, work, tmp_path) if point[0] in CHANGES]
    seen = []
    for call, number, line in found:
        root = tmp_path / f"{call}-{number}"
        ended = server.run(work, root, "-e", f"inject={call}:signal=SIGKILL:when={number}")
        assert ended == Ended(killed=True, told=""), line
        seen.append(state(root))
        assert seen[-1] in (before, after), line
        goes_on(work, root)
    switch = seen.index(after)
    assert seen == [before] * switch + [after] * (len(seen) - switch), "the state changes once, in one step"
    assert len(found) >= 10


@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
def test_a_failure_of_any_call_is_told_and_loses_nothing(server: Server, tmp_path: Path, work: str, error: str) -> None:
    before, after = WORKS[work]
    told = Counter[str]()
    for call, number, line in points(server, work, tmp_path):
        if error == "ENOSPC" and call not in FILLED:
            continue
        root = tmp_path / f"{call}-{number}"
        ended = server.run(work, root, "-e", f"inject={call}:error={error}:when={number}")
        assert not ended.killed, line
        kind = ended.told.partition(":")[0]
        told[kind] += 1
        assert "\n" not in ended.told
        found = state(root)
        match kind:
            case "done" | "NotProvenDurable":
                assert found == after, (line, ended.told)
            case "SaveFailed" | "FileRefused" | "FileUnreadable":
                assert found == before, (line, ended.told)
                assert str(root) in ended.told
            case _:
                pytest.fail(f"{line}\n{ended.told}")
        assert [path for path in root.rglob("*.tmp") if "unlink" not in call] == [], (line, ended.told)
        goes_on(work, root)
    assert told["SaveFailed"] >= 3
    assert told["NotProvenDurable"] >= 1, "the flush of the folder, at least"


@pytest.fixture
def sessions(tmp_path: Path) -> FileSessions:
    return FileSessions(tmp_path / "sessions")


async def test_a_sweep_removes_what_killed_saves_left_and_nothing_else(tmp_path: Path) -> None:
    sessions = FileSessions.of_project(tmp_path)
    record = await kept(sessions)
    left = [
        put(sessions, b"{").rename(sessions.folder / f".{name}.json.0123456789abcdef.tmp") for name in (ID, record.id)
    ]
    left.append(tmp_path / ".mm" / "..gitignore.0123456789abcdef.tmp")
    left[-1].write_bytes(b"*")
    others = [
        f".{ID}.json.0123456789abcdef.tmp.bak",
        f".{ID}.json.0123456789ABCDEF.tmp",
        f"{ID}.json.0123456789abcdef.tmp",
        ".notes.json.0123456789abcdef.tmp",
        f".{ID}.json.swp",
    ]
    for name in others:
        (sessions.folder / name).write_bytes(b"theirs")
    with _kept_as_they_are(sessions.folder, others):
        assert sorted(await sessions.sweep()) == sorted(left)
    assert [path for path in left if path.exists()] == []
    assert names(sessions) == sorted([*others, f"{record.id}.json"])
    assert await sessions.sweep() == []


@contextmanager
def _kept_as_they_are(folder: Path, of: list[str]) -> Iterator[None]:
    before = {name: (folder / name).stat() for name in of}
    yield
    assert {name: (folder / name).stat() for name in of} == before


async def test_a_sweep_of_what_is_not_there_makes_nothing(tmp_path: Path) -> None:
    assert await FileSessions.of_project(tmp_path / "none").sweep() == []
    assert await FileSessions.of_project(tmp_path).sweep() == []
    assert os.listdir(tmp_path) == []


async def test_a_folder_that_became_read_only_refuses_saves_and_shows_all_there_is(unprivileged: Path) -> None:
    sessions = FileSessions(unprivileged / "sessions")
    record = await kept(sessions)
    sessions.folder.chmod(0o500)
    record.messages = [*record.messages, *turn("two")]
    with untouched(sessions.path_of(record.id)):
        for refused in (sessions.save(record), sessions.create(record_of()), sessions.delete(record.id)):
            with pytest.raises(SaveFailed, match="Permission denied") as caught:
                await refused
            assert str(caught.value).isprintable()
        assert [head.id for head in (await sessions.page()).heads] == [record.id]
        assert texts(await sessions.load(record.id)) == ["kept", "Noted."]
    sessions.folder.chmod(0o700)
    assert (await sessions.save(record)).revision == 2


async def test_a_folder_that_cannot_be_seen_is_told_and_not_taken_for_an_empty_one(unprivileged: Path) -> None:
    sessions = FileSessions(unprivileged / "sessions")
    record = await kept(sessions)
    sessions.folder.chmod(0)
    for work in (sessions.page(), sessions.load(record.id), sessions.search("kept"), sessions.sweep()):
        with pytest.raises(FileUnreadable, match="Permission denied"):
            await work
    for work in (sessions.save(record), sessions.create(record_of()), sessions.delete(record.id)):
        with pytest.raises(SaveFailed, match="Permission denied"):
            await work
    sessions.folder.chmod(0o700)
    assert said(await sessions.load(record.id)) == said(record)


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """No file can grow beyond this, as on a full disk."""
    resource = pytest.importorskip("resource", reason="only POSIX limits the size of files")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_full_disk_loses_nothing_and_the_next_save_with_space_saves_all(sessions: FileSessions) -> None:
    record = await kept(sessions)
    new = record_of(*turn("new" * 4000), id=ID)
    with files_of_at_most(2000), untouched(sessions.path_of(record.id)):
        for number in range(3):
            record.messages = [*record.messages, *turn(f"{number} " * 2000)]
            with pytest.raises(SaveFailed, match="File too large") as caught:
                await sessions.save(record)
            assert str(caught.value).endswith("The old file is as it was.")
        with pytest.raises(SaveFailed, match="File too large"):
            await sessions.create(new)
        assert new.stamp is None
        assert [head.turns for head in (await sessions.page()).heads] == [1]
    assert (await sessions.save(record)).revision == 2
    await sessions.create(new)
    for one in (record, new):
        assert said(await FileSessions(sessions.folder).load(one.id)) == said(one)
