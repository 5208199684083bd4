"""The state root is one absolute, private folder, or the program says why not before it does anything."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from maf_memory.errors import RootRefused
from maf_memory.root import VARIABLE, open_root, state_root
from tests.maf_memory.conftest import NOBODY, umask

posix = pytest.mark.skipif(os.name != "posix", reason="modes, owners and links of POSIX")


def refusal(value: str) -> str:
    """The line with which a root is refused."""
    with pytest.raises(RootRefused) as caught:
        open_root({VARIABLE: value})
    line = str(caught.value)
    assert "\n" not in line
    return line


def test_an_absolute_root_is_taken_as_it_is_and_touched_by_nothing(tmp_path: Path) -> None:
    root = tmp_path / "not yet"
    assert state_root({VARIABLE: str(root)}) == root
    assert not root.exists()


@pytest.mark.parametrize("relative", ["state", "./state", "../state", "state/deeper", "."])
def test_a_relative_root_is_refused_with_the_absolute_path_it_would_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, relative: str
) -> None:
    monkeypatch.chdir(tmp_path)
    line = refusal(relative)
    assert f"Here it would be {tmp_path / relative}: set {VARIABLE} to that path" in line
    assert repr(str(Path(relative))) in line
    assert os.listdir(tmp_path) == []


@posix
def test_a_relative_root_in_a_deleted_folder_is_refused_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert "must be absolute" in refusal("state")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("empty", ["", " ", "\t\n"])
def test_an_empty_root_is_refused_and_not_taken_for_unset(empty: str) -> None:
    assert "set but empty" in refusal(empty)


def test_a_nul_in_the_root_is_refused() -> None:
    assert "NUL" in refusal("/tmp/a\0b")


def test_a_missing_root_is_created_private_with_its_parents(tmp_path: Path) -> None:
    root = tmp_path / "with spaces" / "é à 日本" / "root"
    with umask(0):
        assert open_root({VARIABLE: str(root)}) == root
    assert root.is_dir()
    assert os.listdir(root) == []
    if os.name == "posix":
        assert [stat.S_IMODE(path.stat().st_mode) for path in (root, *list(root.parents)[:2])] == [0o700] * 3


def test_an_existing_root_and_what_it_holds_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("kept")
    tmp_path.chmod(0o755)
    before = tmp_path.stat()
    assert open_root({VARIABLE: str(tmp_path)}) == tmp_path
    assert tmp_path.stat() == before
    assert os.listdir(tmp_path) == ["theirs"]


def test_a_file_in_the_place_of_the_root_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    assert "is a file, not a folder" in refusal(str(file))
    assert f"{file}" in refusal(str(file / "below"))
    assert file.read_text() == "mine"


@posix
def test_a_link_in_the_place_of_the_root_is_refused_with_its_target(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    for target in ("real", "missing"):
        link = tmp_path / f"to-{target}"
        link.symlink_to(tmp_path / target)
        line = refusal(str(link))
        assert f"is a symbolic link to {tmp_path / target}" in line
    assert sorted(os.listdir(tmp_path)) == ["real", "to-missing", "to-real"]


@posix
def test_a_link_above_the_root_is_followed(tmp_path: Path) -> None:
    """Folders such as /tmp are links on some systems."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    open_root({VARIABLE: str(tmp_path / "link" / "root")})
    assert (tmp_path / "real" / "root").is_dir()


@posix
def test_a_root_of_another_user_is_refused(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    root = tmp_path / "theirs"
    root.mkdir()
    os.chown(root, NOBODY, NOBODY)
    assert f"belongs to another user (uid {NOBODY})" in refusal(str(root))


@posix
def test_a_root_of_another_user_is_refused_for_a_user_whom_modes_stop(unprivileged: Path) -> None:
    assert unprivileged.is_dir()
    assert "belongs to another user (uid 0)" in refusal("/")


@posix
@pytest.mark.parametrize("mode", [0o777, 0o702, 0o1777])
def test_a_root_that_every_user_can_write_to_is_refused(tmp_path: Path, mode: int) -> None:
    root = tmp_path / "open"
    root.mkdir()
    root.chmod(mode)
    assert f"The state root {root} can be written by every user (mode {mode:04o})." in refusal(str(root))


@posix
@pytest.mark.parametrize("mode", [0o500, 0o600, 0o300, 0])
def test_a_root_that_is_not_writable_is_refused(unprivileged: Path, mode: int) -> None:
    root = unprivileged / "closed"
    root.mkdir()
    root.chmod(mode)
    try:
        assert "not writable" in refusal(str(root))
    finally:
        root.chmod(0o700)
    assert os.listdir(root) == []


@posix
def test_a_root_that_cannot_be_reached_or_created_is_refused(unprivileged: Path) -> None:
    closed = unprivileged / "closed"
    closed.mkdir()
    for mode in (0, 0o500):
        closed.chmod(mode)
        try:
            assert "Permission denied" in refusal(str(closed / "root"))
        finally:
            closed.chmod(0o700)
    assert os.listdir(closed) == []


@posix
def test_a_name_that_the_disk_cannot_hold_is_refused(tmp_path: Path) -> None:
    assert "cannot be" in refusal(str(tmp_path / ("x" * 300)))
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.name != "posix" or os.uname().sysname != "Linux", reason="the folder's name is the platform's")
def test_an_unset_root_is_the_platforms_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    assert state_root({}) == tmp_path / "home" / ".local" / "state" / "maf-memory"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    assert open_root({}) == tmp_path / "xdg" / "maf-memory"
    assert stat.S_IMODE((tmp_path / "xdg" / "maf-memory").stat().st_mode) == 0o700


def test_the_environment_is_read_at_every_call(state_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert open_root() == state_root
    monkeypatch.setenv(VARIABLE, str(state_root / "another"))
    assert open_root() == state_root / "another"


def test_a_tilde_that_no_shell_expanded_is_explained() -> None:
    assert "which a shell expands only outside quotes" in refusal("~/state")
