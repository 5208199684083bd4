"""The platform seam does the same on both sides; the Windows side is tried with the failures that Windows gives."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from maf_memory.disk import PathFolder, PosixFolder, make_private_folder, open_folder
from tests.maf_memory.conftest import umask


class Clock:
    """A clock that only a pause moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def __call__(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


class WindowsError5(OSError):
    """An error that carries a Windows number, on any platform."""

    def __init__(self, number: int) -> None:
        super().__init__(13, "Access is denied")
        self.winerror = number


def failing(times: int, error: Callable[[], OSError]) -> tuple[Callable[[Path, Path], None], list[int]]:
    """A replace that fails so many times and then works, and the list of its calls."""
    calls: list[int] = []

    def replace(source: Path, target: Path) -> None:
        calls.append(len(calls))
        if len(calls) <= times:
            raise error()
        source.replace(target)

    return replace, calls


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """A folder with an old file and its successor."""
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "source").write_bytes(b"new")
    return tmp_path


@pytest.mark.parametrize("number", [5, 32, 33])
def test_a_sharing_violation_is_tried_again_until_the_other_program_lets_go(pair: Path, number: int) -> None:
    clock = Clock()
    replace, calls = failing(7, lambda: WindowsError5(number))
    PathFolder(pair, replace=replace, clock=clock, pause=clock.pause).replace("source", "target")
    assert (pair / "target").read_bytes() == b"new"
    assert len(calls) == 8
    assert clock.pauses == sorted(clock.pauses), "each pause is at least as long as the one before"
    assert max(clock.pauses) <= 0.2


@pytest.mark.parametrize("number", [5, 32, 33])
def test_a_sharing_violation_that_stays_is_given_up_after_a_bounded_time(pair: Path, number: int) -> None:
    clock = Clock()
    replace, calls = failing(10_000, lambda: WindowsError5(number))
    with pytest.raises(OSError, match="Access is denied"):
        PathFolder(pair, replace=replace, clock=clock, pause=clock.pause).replace("source", "target")
    assert 2.0 <= clock.now <= 2.2
    assert len(calls) < 50
    assert (pair / "target").read_bytes() == b"old"
    assert (pair / "source").exists(), "the caller removes its own temporary file"


@pytest.mark.parametrize("error", [lambda: WindowsError5(112), lambda: WindowsError5(17), lambda: OSError(28, "full")])
def test_any_other_error_is_raised_at_once(pair: Path, error: Callable[[], OSError]) -> None:
    clock = Clock()
    replace, calls = failing(1, error)
    with pytest.raises(OSError):  # noqa: PT011 - exactly the error that was raised; the call count says so
        PathFolder(pair, replace=replace, clock=clock, pause=clock.pause).replace("source", "target")
    assert len(calls) == 1
    assert clock.pauses == []
    assert (pair / "target").read_bytes() == b"old"


def test_deleting_is_as_patient_as_replacing(pair: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    refusals = [WindowsError5(32), WindowsError5(5)]
    unlink = Path.unlink

    def busy(path: Path) -> None:
        if refusals:
            raise refusals.pop()
        unlink(path)

    monkeypatch.setattr(Path, "unlink", busy)
    PathFolder(pair, clock=clock, pause=clock.pause).unlink("target")
    assert len(clock.pauses) == 2
    assert not (pair / "target").exists()


def test_the_path_side_opens_regular_files_only(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="not a regular file"):
        PathFolder(tmp_path).open("folder")


@pytest.fixture(params=["posix", "paths"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> object:
    """Both sides of the seam, on one folder."""
    if request.param == "paths":
        yield PathFolder(tmp_path)
        return
    if os.name != "posix":
        pytest.skip("this platform has no folder descriptors")
    with open_folder(tmp_path) as posix:
        assert isinstance(posix, PosixFolder)
        yield posix


def test_both_sides_do_the_same(folder: PosixFolder | PathFolder) -> None:
    descriptor = folder.create("b")
    os.write(descriptor, b"new\r\n\x1a")
    os.close(descriptor)
    with pytest.raises(FileExistsError):
        folder.create("b")
    (folder.path / "a").write_bytes(b"old")
    assert folder.names() == ["a", "b"]
    folder.replace("b", "a")
    assert folder.names() == ["a"]
    descriptor = folder.open("a")
    assert os.read(descriptor, 100) == b"new\r\n\x1a", "no byte is translated"
    os.close(descriptor)
    assert folder.status("a").st_size == 6
    folder.flush()
    folder.unlink("a")
    assert folder.names() == []
    for missing in (folder.open, folder.unlink, folder.status):
        with pytest.raises(FileNotFoundError):
            missing("a")


@pytest.mark.skipif(os.name != "posix", reason="links need no privilege on POSIX only")
def test_neither_side_follows_a_link(
    folder: PosixFolder | PathFolder, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "file"
    (folder.path / "dangling").symlink_to(outside)
    with pytest.raises(FileExistsError):
        folder.create("dangling")
    with pytest.raises(OSError, match=r"link|symbolic"):
        folder.open("dangling")
    assert stat.S_ISLNK(folder.status("dangling").st_mode)
    assert not outside.exists()


@pytest.mark.skipif(os.name != "posix", reason="folder descriptors")
def test_a_folder_that_is_swapped_after_it_was_opened_changes_nothing(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    with open_folder(ours) as folder:
        ours.rename(tmp_path / "moved")
        ours.symlink_to(theirs)
        os.close(folder.create("file"))
    assert os.listdir(tmp_path / "moved") == ["file"]
    assert os.listdir(theirs) == []


@pytest.mark.skipif(os.name != "posix", reason="links need no privilege on POSIX only")
def test_a_folder_is_opened_only_when_it_is_one_itself(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "file").touch()
    for name in ("link", "file", "missing"):
        with pytest.raises(OSError), open_folder(tmp_path / name):  # noqa: PT011 - each platform has its own number
            pass


def test_what_is_missing_above_a_folder_is_created_too(tmp_path: Path) -> None:
    deep = tmp_path / "a b" / "é" / "日本"
    with umask(0):
        make_private_folder(deep)
        make_private_folder(deep)
    assert deep.is_dir()
    if os.name == "posix":
        assert [stat.S_IMODE(path.stat().st_mode) for path in (deep, *list(deep.parents)[:2])] == [0o700] * 3


def test_an_existing_folder_stays_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    before = tmp_path.stat()
    make_private_folder(tmp_path)
    assert tmp_path.stat() == before


def test_a_file_in_the_way_of_a_folder_is_an_error_and_stays(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(OSError):  # noqa: PT011 - the number differs between platforms
            make_private_folder(path)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.skipif(sys.platform == "win32", reason="a new file's inherited handles are a POSIX matter here")
def test_no_descriptor_is_inherited_by_a_child(folder: PosixFolder | PathFolder) -> None:
    descriptor = folder.create("x")
    assert not os.get_inheritable(descriptor)
    os.close(descriptor)
    descriptor = folder.open("x")
    assert not os.get_inheritable(descriptor)
    os.close(descriptor)
