"""The lock of a store: one holder at a time, on the file that is really there, never through a link."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from maf_memory.disk import PathFolder, open_folder
from maf_memory.locking import LockIsHeld, locked
from tests.maf_memory.conftest import umask

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX modes, links and pipes")


def test_a_second_holder_is_turned_away_and_comes_in_afterwards(tmp_path: Path) -> None:
    with open_folder(tmp_path) as folder:
        with locked(folder, ".lock", 0), pytest.raises(LockIsHeld), locked(folder, ".lock", 0):
            pass
        with locked(folder, ".lock", 0):
            pass


def test_folders_without_descriptors_lock_alike(tmp_path: Path) -> None:
    folder = PathFolder(tmp_path)
    with locked(folder, ".lock", 0), pytest.raises(LockIsHeld), locked(folder, ".lock", 0):
        pass
    with locked(folder, ".lock", 0):
        pass


@posix
@pytest.mark.parametrize("kind", ["descriptors", "paths"])
def test_a_link_in_the_place_of_the_lock_is_not_followed(tmp_path: Path, kind: str) -> None:
    stranger = tmp_path / "elsewhere"
    (tmp_path / ".lock").symlink_to(stranger)
    if kind == "paths":
        with pytest.raises(OSError, match="link"), locked(PathFolder(tmp_path), ".lock", 0):
            pass
    else:
        with open_folder(tmp_path) as folder, pytest.raises(OSError, match="link"), locked(folder, ".lock", 0):
            pass
    assert not stranger.exists()


@posix
def test_a_pipe_in_the_place_of_the_lock_is_refused_without_waiting_for_its_other_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".lock", 0o600)
    refused = pytest.raises(OSError, match="not a regular file")
    with open_folder(tmp_path) as folder, refused, locked(folder, ".lock", 0):
        pass


@posix
@pytest.mark.parametrize("mask", [0, 0o777])
def test_the_lock_is_private_under_any_umask(tmp_path: Path, mask: int) -> None:
    with umask(mask), open_folder(tmp_path) as folder, locked(folder, ".lock", 0):
        pass
    assert (tmp_path / ".lock").stat().st_mode & 0o777 == 0o600


@posix
def test_a_lock_that_was_removed_while_somebody_waited_admits_one_holder_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    with open_folder(tmp_path) as folder:
        with locked(folder, ".lock", 0):
            path.unlink()
            with locked(folder, ".lock", 0):  # nobody can know of a lock whose file is gone
                inode = path.stat().st_ino
                with pytest.raises(LockIsHeld), locked(folder, ".lock", 0):
                    pass
        assert path.stat().st_ino == inode


@posix
def test_whoever_waited_on_a_removed_file_takes_the_one_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / ".lock"
    with open_folder(tmp_path) as folder:
        opened = folder.open_lock
        removed: list[int] = []

        def open_lock(name: str) -> int:
            descriptor = opened(name)
            if not removed:
                removed.append(os.fstat(descriptor).st_ino)
                path.rename(tmp_path / "removed")
            return descriptor

        monkeypatch.setattr(folder, "open_lock", open_lock)
        with locked(folder, ".lock", 0):
            assert path.stat().st_ino != removed[0]


KILLED = """
import os, sys
from pathlib import Path
from maf_memory.disk import open_folder
from maf_memory.locking import locked
with open_folder(Path(sys.argv[1])) as folder, locked(folder, ".lock", 0):
    os.kill(os.getpid(), 9)
"""


@posix
def test_the_lock_of_a_killed_process_blocks_nobody(tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert ended.returncode == -9
    assert (tmp_path / ".lock").exists()
    with open_folder(tmp_path) as folder, locked(folder, ".lock", 0):
        pass
