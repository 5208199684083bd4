"""Conditions of the system that several tests of the memory package need."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import portalocker
import pytest

NOBODY = 65534


@contextmanager
def held_lock(path: Path) -> Iterator[None]:
    """A store's lock, in the hands of somebody else."""
    with path.open("ab") as file:
        path.chmod(0o600)
        portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
        yield
        portalocker.unlock(file)


def let_the_next_unlock_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the system refuse once to give a lock back."""
    real = portalocker.unlock

    def stuck(_: int) -> None:
        monkeypatch.setattr(portalocker, "unlock", real)
        raise portalocker.LockException from OSError(5, "Input/output error")

    monkeypatch.setattr(portalocker, "unlock", stuck)


@pytest.fixture
def unprivileged(tmp_path: Path) -> Iterator[Path]:
    """A folder of a user whom file modes stop; for root, which no mode stops, the test runs as nobody."""
    if os.name != "posix":
        pytest.skip("file modes stop nobody on this platform")
    if os.geteuid() != 0:
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(prefix="maf-nobody-"))
    os.chown(folder, NOBODY, NOBODY)
    group = os.getegid()
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield folder
    finally:
        os.seteuid(0)
        os.setegid(group)
        shutil.rmtree(folder)


@contextmanager
def no_waiting(pipe: Path) -> Iterator[None]:
    """Claim that nobody waits for the writer of a named pipe; who does is let go after five seconds."""
    waited = threading.Event()

    def write() -> None:
        waited.set()
        os.close(os.open(pipe, os.O_RDWR | os.O_NONBLOCK))

    timer = threading.Timer(5, write)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
    assert not waited.is_set()


@contextmanager
def umask(mask: int) -> Iterator[None]:
    """Files are created under this mask meanwhile."""
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)
