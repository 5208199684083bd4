"""Sessions are their user's own: who may read, who may write, and what git sees of them."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from maf_memory.errors import FileRefused
from maf_memory.sessions.contract.base import record_of, said, texts, turn
from maf_memory.sessions.files import FileSessions
from tests.maf_memory.conftest import NOBODY, umask
from tests.maf_memory.sessions.golden_samples import ID, golden
from tests.maf_memory.sessions.session_files import (
    damage_listed,
    kept,
    put,
    refusal,
    tree,
    untouched,
)

posix = pytest.mark.skipif(os.name != "posix", reason="links, pipes and modes of POSIX")
root_only = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture
def sessions(tmp_path: Path) -> FileSessions:
    return FileSessions.of_project(tmp_path)


# modes and owners


async def test_a_file_without_permission_is_listed_with_its_reason_and_the_others_as_usual(unprivileged: Path) -> None:
    sessions = FileSessions(unprivileged / "sessions")
    record = await kept(sessions)
    path = put(sessions, golden())
    path.chmod(0)
    assert await damage_listed(sessions) == "it cannot be read (Permission denied)"
    assert "Permission denied" in str(await refusal(sessions))
    assert [head.id for head in (await sessions.page()).heads] == [record.id]
    found = await sessions.search("kept slog")
    assert ([one.id for one in found.unread], [hit.session_id for hit in found.hits]) == ([ID], [record.id])
    with pytest.raises(FileRefused):
        await sessions.create(record_of(id=ID))
    path.chmod(0o600)
    assert texts(await sessions.load(ID))


@posix
@pytest.mark.parametrize("mode", [0o602, 0o666, 0o777])
async def test_what_everybody_can_write_is_nobodys_memory(sessions: FileSessions, mode: int) -> None:
    record = await kept(sessions)
    path = put(sessions, golden())
    path.chmod(mode)
    sessions.path_of(record.id).chmod(mode)
    for session_id in (ID, record.id):
        assert "it can be written by every user" in await damage_listed(sessions, session_id)
        assert "it can be written by every user" in str(await refusal(sessions, session_id))
    assert len((await sessions.search("kept")).unread) == 2
    with untouched(sessions.path_of(record.id)), pytest.raises(FileRefused, match="every user"):
        await sessions.save(record)
    sessions.path_of(record.id).chmod(0o600)
    await sessions.save(record)


@posix
async def test_a_folder_that_everybody_can_write_is_refused_as_a_whole(sessions: FileSessions) -> None:
    record = await kept(sessions)
    sessions.folder.chmod(0o777)
    for work in (sessions.page(), sessions.load(record.id), sessions.search("kept"), sessions.save(record)):
        with pytest.raises(FileRefused, match="can be written by every user"):
            await work
    sessions.folder.chmod(0o700)
    assert said(await sessions.load(record.id)) == said(record)


@root_only
async def test_another_users_file_is_listed_as_damaged_and_never_trusted(sessions: FileSessions) -> None:
    record = await kept(sessions)
    path = put(sessions, golden())
    os.chown(path, NOBODY, NOBODY)
    assert f"it belongs to another user (uid {NOBODY})" in await damage_listed(sessions)
    assert "belongs to another user" in str(await refusal(sessions))
    os.chown(sessions.folder, NOBODY, NOBODY)
    for work in (sessions.page(), sessions.load(record.id), sessions.search("x"), sessions.save(record)):
        with pytest.raises(FileRefused, match="belongs to another user"):
            await work


@posix
@pytest.mark.parametrize("mask", [0o000, 0o022, 0o777])
async def test_everything_is_private_whatever_the_mask_of_the_process(tmp_path: Path, mask: int) -> None:
    sessions = FileSessions.of_project(tmp_path)
    with umask(mask):
        record = await kept(sessions)
        await sessions.save(record)
    modes = {name: stat.S_IMODE(mode) for name, (_, _, mode, _) in tree(tmp_path).items()}
    locks = [modes.pop(name) for name in list(modes) if name.endswith(".lock")]
    assert [mode & 0o077 for mode in locks] == [0, 0]
    assert modes == {
        ".mm": 0o700,
        ".mm/.gitignore": 0o600,
        ".mm/sessions": 0o700,
        f".mm/sessions/{record.id}.json": 0o600,
    }


@posix
async def test_a_save_makes_private_again_what_somebody_opened_to_the_group(sessions: FileSessions) -> None:
    record = await kept(sessions)
    path = sessions.path_of(record.id)
    path.chmod(0o640)
    await sessions.save(record)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


# what is not committed


async def test_a_new_project_says_once_that_nothing_of_it_is_committed(sessions: FileSessions, tmp_path: Path) -> None:
    ignore = tmp_path / ".mm" / ".gitignore"
    record = await kept(sessions)
    assert ignore.read_bytes() == b"*\n"
    with untouched(ignore):
        await sessions.save(record)
        await sessions.create(record_of(*turn("x")))
    ignore.unlink()
    await sessions.save(record)
    assert not ignore.exists(), "only a new session asks for it"


@pytest.mark.parametrize("theirs", ["text", "empty", "open to all", "link", "dangling", "folder"])
async def test_a_persons_own_gitignore_stays_whatever_it_is(
    sessions: FileSessions, tmp_path: Path, theirs: str
) -> None:
    ignore = tmp_path / ".mm" / ".gitignore"
    ignore.parent.mkdir(mode=0o700)
    match theirs:
        case "text":
            ignore.write_text("!sessions\n")
        case "empty":
            ignore.touch()
        case "open to all":
            ignore.touch()
            ignore.chmod(0o666)
        case "folder":
            ignore.mkdir()
        case _:
            (tmp_path / "dotfiles").write_text("!*\n")
            ignore.symlink_to(tmp_path / ("dotfiles" if theirs == "link" else "nowhere"))
    before = tree(tmp_path)
    sessions = FileSessions.of_project(tmp_path)
    record = await kept(sessions)
    assert before.items() <= tree(tmp_path).items()
    assert texts(await sessions.load(record.id)) == ["kept", "Noted."]


async def test_only_the_sessions_of_a_project_are_kept_out_of_git(tmp_path: Path) -> None:
    await kept(FileSessions(tmp_path / "sessions"))
    assert os.listdir(tmp_path) == ["sessions"]


async def test_git_sees_nothing_of_the_sessions(sessions: FileSessions, tmp_path: Path) -> None:
    git = shutil.which("git")
    if git is None:
        pytest.skip("git is not installed")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run([git, "init", "-q"], cwd=tmp_path, env=environment, check=True)  # noqa: ASYNC221 - short
    await kept(sessions)
    (tmp_path / "code.py").touch()
    shown = subprocess.run(  # noqa: ASYNC221 - short
        [git, "status", "--porcelain", "-uall"], cwd=tmp_path, env=environment, check=True, capture_output=True
    )
    assert shown.stdout == b"?? code.py\n"
