"""A file is replaced whole, durably and privately, or it is as it was and nothing is left beside it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from maf_memory import disk
from maf_memory.errors import FileRefused, NotProvenDurable, SaveFailed
from maf_memory.files import StoreFile
from tests.maf_memory.conftest import held_lock, no_waiting, umask
from tests.maf_memory.samples import beside, untouched

posix = pytest.mark.skipif(os.name != "posix", reason="modes, links and limits of POSIX")


@pytest.fixture
def file(state_root: Path) -> StoreFile:
    """A file that holds ``old``."""
    file = StoreFile(state_root / "demo" / "file.json")
    put(file, b"old")
    return file


def put(file: StoreFile, content: bytes) -> None:
    with file.locked():
        file.replace(content)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_what_is_written_is_read_back(file: StoreFile) -> None:
    for content in (b"", b"new", bytes(range(256)) * 10_000, b"\0" * 100):
        put(file, content)
        assert file.read() == content
        assert file.path.read_bytes() == content
    assert beside(file.path) == ["file.json"]


def test_no_file_is_nothing_and_creates_nothing(state_root: Path) -> None:
    file = StoreFile(state_root / "demo" / "file.json")
    assert file.read() is None
    assert file.sweep() == []
    assert file.temporary_files() == []
    assert not state_root.exists()


def test_a_write_outside_the_lock_is_a_bug(file: StoreFile) -> None:
    for write in (lambda: file.replace(b"x"), file.delete):
        with untouched(file.path), pytest.raises(RuntimeError, match="needs the lock"):
            write()


def test_the_limit_holds_for_reading_and_for_writing(file: StoreFile) -> None:
    small = StoreFile(file.path, limit=10)
    put(small, b"0123456789")
    assert small.read() == b"0123456789"
    with untouched(file.path), pytest.raises(SaveFailed, match="it would have more than 10 bytes"):
        put(small, b"0123456789A")
    file.path.write_bytes(b"0123456789A")
    with untouched(file.path), pytest.raises(FileRefused, match="it has 11 bytes; expected at most 10 bytes"):
        small.read()


def test_a_reader_sees_the_old_or_the_new_content_whole(file: StoreFile) -> None:
    contents = [bytes([65 + number]) * 300_000 for number in range(2)]
    put(file, contents[0])
    stop = threading.Event()
    seen: set[bytes] = set()

    def read() -> None:
        while not stop.is_set():
            content = file.read()
            seen.add(b"nothing" if content is None else content)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for number in range(60):
            put(file, contents[number % 2])
    finally:
        stop.set()
        reader.join()
    assert seen <= set(contents)


def test_delete_says_whether_there_was_a_file(file: StoreFile) -> None:
    with file.locked():
        assert file.delete()
        assert not file.delete()
    assert file.read() is None


# Private.


@posix
@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077, 0o777])
def test_files_and_folders_are_private_under_any_umask(state_root: Path, mask: int) -> None:
    file = StoreFile(state_root / "a" / "b" / "file.json")
    with umask(mask):
        put(file, b"one")
        put(file, b"two")
    assert (mode(file.path), mode(file.lock_path)) == (0o600, 0o600)
    assert [mode(folder) for folder in (state_root, state_root / "a", state_root / "a" / "b")] == [0o700] * 3


@posix
@pytest.mark.parametrize("mask", [0o077, 0o777])
def test_a_user_whom_modes_stop_can_write_again_under_any_umask(unprivileged: Path, mask: int) -> None:
    file = StoreFile(unprivileged / "a" / "b" / "file.json")
    with umask(mask):
        put(file, b"one")
        put(file, b"two")
        assert file.read() == b"two"
        with file.locked():
            assert file.delete()
    assert mode(file.lock_path) == 0o600


@posix
def test_a_file_that_was_open_to_others_is_private_after_a_replace(file: StoreFile) -> None:
    file.path.chmod(0o666)
    put(file, b"new")
    assert mode(file.path) == 0o600


@posix
def test_a_second_name_of_the_old_file_keeps_the_old_content(file: StoreFile) -> None:
    other = file.path.with_name("copy")
    other.hardlink_to(file.path)
    put(file, b"new")
    assert other.read_bytes() == b"old"


# Links and other special targets.


@posix
def test_a_link_in_the_place_of_the_file_is_never_followed(file: StoreFile, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"theirs")
    file.path.unlink()
    file.path.symlink_to(outside)
    with pytest.raises(FileRefused, match="it is a symbolic link"):
        put(file, b"new")
    with pytest.raises(FileRefused, match="it is a symbolic link"):
        file.read()
    assert outside.read_bytes() == b"theirs"
    assert file.path.is_symlink()
    assert beside(file.path) == ["file.json"]
    with file.locked():
        assert file.delete(), "deleting removes the link itself"
    assert outside.read_bytes() == b"theirs"


@posix
def test_a_link_in_the_place_of_the_folder_is_never_followed(file: StoreFile, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    file.path.parent.rename(outside)
    file.path.parent.symlink_to(outside)
    before = sorted(os.listdir(outside))
    for use in (file.read, file.sweep, lambda: put(file, b"new")):
        with pytest.raises(FileRefused, match="its folder is a symbolic link"):
            use()
    assert sorted(os.listdir(outside)) == before
    assert (outside / "file.json").read_bytes() == b"old"


@posix
def test_a_link_in_the_place_of_the_lock_is_never_followed(file: StoreFile, tmp_path: Path) -> None:
    file.lock_path.unlink()
    file.lock_path.symlink_to(tmp_path / "created-by-the-lock")
    with untouched(file.path), pytest.raises(SaveFailed, match=r"its lock \.file\.json\.lock cannot be used"):
        put(file, b"new")
    assert not (tmp_path / "created-by-the-lock").exists()


def test_a_folder_in_the_place_of_the_lock_is_told(file: StoreFile) -> None:
    file.lock_path.unlink()
    file.lock_path.mkdir()
    with untouched(file.path), pytest.raises(SaveFailed, match=r"its lock \.file\.json\.lock cannot be used"):
        put(file, b"new")


@posix
def test_a_named_pipe_is_neither_waited_for_nor_replaced(file: StoreFile) -> None:
    file.path.unlink()
    os.mkfifo(file.path)
    with no_waiting(file.path):
        with pytest.raises(FileRefused, match="not a regular file"):
            file.read()
        with pytest.raises(FileRefused, match="not a regular file"):
            put(file, b"new")
    assert beside(file.path) == ["file.json"]


def test_a_folder_is_neither_read_nor_replaced(file: StoreFile) -> None:
    file.path.unlink()
    file.path.mkdir()
    with pytest.raises(FileRefused, match="not a regular file"):
        file.read()
    with pytest.raises(FileRefused, match="not a regular file"):
        put(file, b"new")
    with pytest.raises(SaveFailed, match="was not deleted"):
        delete(file)
    assert beside(file.path) == ["file.json"]


def test_a_folder_that_is_a_file_is_told(state_root: Path) -> None:
    state_root.mkdir()
    (state_root / "demo").write_text("mine")
    file = StoreFile(state_root / "demo" / "file.json")
    with pytest.raises(FileRefused, match="cannot be read"):
        file.read()
    with pytest.raises(SaveFailed):
        put(file, b"new")
    assert (state_root / "demo").read_text() == "mine"


# The disk refuses.


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file may grow beyond ``size`` bytes meanwhile, as on a full disk."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@posix
@pytest.mark.parametrize("room", [0, 1, 4096])
def test_a_write_that_does_not_fit_leaves_the_old_bytes_and_no_temporary_file(file: StoreFile, room: int) -> None:
    with untouched(file.path):
        with largest_file(room), pytest.raises(SaveFailed) as caught:
            put(file, b"x" * 100_000)
        line = str(caught.value)
        assert line == f"{file.path} was not saved: File too large. The old file is as it was."
    put(file, b"new")
    assert file.read() == b"new"


@posix
def test_a_first_write_that_does_not_fit_leaves_no_file(state_root: Path) -> None:
    file = StoreFile(state_root / "demo" / "file.json")
    with largest_file(0), pytest.raises(SaveFailed):
        put(file, b"x")
    assert file.read() is None
    assert beside(file.path) == []


@posix
def test_a_folder_that_is_not_writable_is_told(unprivileged: Path) -> None:
    file = StoreFile(unprivileged / "demo" / "file.json")
    put(file, b"old")
    for take_the_lock_away in (False, True):
        if take_the_lock_away:
            file.lock_path.unlink()
        file.path.parent.chmod(0o500)
        try:
            with untouched(file.path), pytest.raises(SaveFailed, match="Permission denied"):
                put(file, b"new")
            if not take_the_lock_away:
                with untouched(file.path), pytest.raises(SaveFailed, match="was not deleted: Permission denied"):
                    delete(file)
            assert file.read() == b"old"
        finally:
            file.path.parent.chmod(0o700)
    put(file, b"new")
    assert file.read() == b"new"


def delete(file: StoreFile) -> None:
    with file.locked():
        file.delete()


@posix
def test_a_file_or_folder_that_is_not_readable_is_told(unprivileged: Path) -> None:
    file = StoreFile(unprivileged / "demo" / "file.json")
    put(file, b"old")
    file.path.chmod(0)
    with pytest.raises(FileRefused, match=r"it cannot be read \(Permission denied\)"):
        file.read()
    file.path.chmod(0o600)
    file.path.parent.chmod(0)
    try:
        with pytest.raises(FileRefused, match=r"it cannot be read \(Permission denied\)"):
            file.read()
        with pytest.raises(SaveFailed, match="Permission denied"):
            put(file, b"new")
        assert not file.folder_is_missing
    finally:
        file.path.parent.chmod(0o700)
    assert file.read() == b"old"


@posix
def test_a_folder_that_cannot_be_created_is_told(unprivileged: Path) -> None:
    unprivileged.chmod(0o500)
    try:
        with pytest.raises(SaveFailed, match="Permission denied"):
            put(StoreFile(unprivileged / "demo" / "file.json"), b"x")
        assert os.listdir(unprivileged) == []
    finally:
        unprivileged.chmod(0o700)


@posix
def test_each_step_of_a_replace_is_done_in_its_order(file: StoreFile, monkeypatch: pytest.MonkeyPatch) -> None:
    """Content before name, name before folder: a power cut then finds the old or the new file, whole."""
    steps: list[str] = []
    flush, replace = disk.flush_file, os.replace

    def noted_flush(descriptor: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        steps.append("flush the folder" if is_folder else f"flush {os.fstat(descriptor).st_size} bytes")
        flush(descriptor)

    def noted_replace(source: str, target: str, **folders: int) -> None:
        steps.append("replace")
        replace(source, target, **folders)

    monkeypatch.setattr("maf_memory.files.flush_file", noted_flush)
    monkeypatch.setattr(disk, "flush_file", noted_flush)
    monkeypatch.setattr(os, "replace", noted_replace)
    put(file, b"12345")
    assert steps == ["flush 5 bytes", "replace", "flush the folder"]
    steps.clear()
    delete(file)
    assert steps == ["flush the folder"]
    steps.clear()
    put(StoreFile(file.path.parent / "new" / "newer" / "file"), b"1")
    folders = ["flush the folder"] * 2
    assert steps == [*folders, "flush 1 bytes", "replace", "flush the folder"], (
        "a new folder is flushed into its parent"
    )


@posix
def test_a_failure_after_the_replace_is_told_apart(file: StoreFile, monkeypatch: pytest.MonkeyPatch) -> None:
    flush = disk.flush_file

    def failing(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(5, "Input/output error")
        flush(descriptor)

    monkeypatch.setattr(disk, "flush_file", failing)
    with pytest.raises(NotProvenDurable) as caught:
        put(file, b"new")
    assert file.read() == b"new"
    assert "saved, perhaps not durably: its folder could not be flushed (Input/output error)" in str(caught.value)
    assert beside(file.path) == ["file.json"]
    with pytest.raises(NotProvenDurable):
        delete(file)
    assert file.read() is None


# One writer at a time.


def test_a_writer_waits_for_another_and_says_so_when_it_takes_too_long(file: StoreFile) -> None:
    hasty = StoreFile(file.path, lock_seconds=0.02)
    with held_lock(file.lock_path), untouched(file.path):
        with pytest.raises(SaveFailed, match=r"another process has been writing it for 0\.02 seconds"):
            put(hasty, b"new")
        assert file.read() == b"old"
    put(hasty, b"new")
    assert file.read() == b"new"


def test_the_lock_is_given_back_after_an_error(file: StoreFile) -> None:
    with pytest.raises(KeyError), file.locked():
        raise KeyError
    put(StoreFile(file.path, lock_seconds=0), b"new")


def test_the_lock_is_empty_and_stays(file: StoreFile) -> None:
    inode = file.lock_path.stat().st_ino
    put(file, b"new")
    assert file.lock_path.stat().st_ino == inode
    assert file.lock_path.read_bytes() == b""


@posix
def test_no_descriptor_is_left_open(file: StoreFile) -> None:
    folder = "/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"  # noqa: PTH112
    before = len(os.listdir(folder))
    for _ in range(20):
        put(file, b"x")
        file.read()
        with largest_file(0), pytest.raises(SaveFailed):
            put(file, b"y")
        with pytest.raises(KeyError), file.locked():
            raise KeyError
    assert len(os.listdir(folder)) == before


# What killed writers leave.


def test_the_rest_of_a_killed_writer_is_swept_and_nothing_else(file: StoreFile) -> None:
    folder = file.path.parent
    rests = [folder / f".file.json.{number:016x}.tmp" for number in (0, 2**64 - 1)]
    kept = [
        "file.json.tmp",
        ".file.json.tmp",
        ".file.json.mine.tmp",
        f".file.json.{'A' * 16}.tmp",
        f".file.json.{'a' * 15}.tmp",
        f".file.json.{'a' * 16}.tmp~",
        f".other.json.{'a' * 16}.tmp",
        f".file_json.{'a' * 16}.tmp",
        ".file.json.bak",
    ]
    for path in (*rests, *(folder / name for name in kept)):
        path.write_bytes(b"x")
    assert file.temporary_files() == rests
    assert file.sweep() == rests
    assert file.sweep() == []
    assert sorted(kept) == sorted(name for name in beside(file.path) if name != "file.json")
    assert file.read() == b"old"


def test_a_sweep_waits_for_the_writer_whose_file_it_sees(file: StoreFile) -> None:
    rest = file.path.with_name(f".file.json.{'0' * 16}.tmp")
    rest.write_bytes(b"a save under way")
    hasty = StoreFile(file.path, lock_seconds=0.02)
    with held_lock(file.lock_path), pytest.raises(SaveFailed, match="another process"):
        hasty.sweep()
    assert rest.exists(), "its writer is alive"
    assert hasty.sweep() == [rest]


KILLED = """
import os, sys
from pathlib import Path
from maf_memory import files
from maf_memory.files import StoreFile
files.flush_file = lambda descriptor: os.kill(os.getpid(), 9)
file = StoreFile(Path(sys.argv[1]))
with file.locked():
    file.replace(b"new")
"""


@posix
def test_a_killed_writer_holds_no_lock_and_its_rest_is_swept(file: StoreFile) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, str(file.path)], timeout=30, check=False)
    assert killed.returncode == -9
    assert len(file.temporary_files()) == 1
    assert file.read() == b"old"
    put(StoreFile(file.path, lock_seconds=0), b"newer")
    assert len(file.sweep()) == 1
    assert file.read() == b"newer"
    assert beside(file.path) == ["file.json"]
