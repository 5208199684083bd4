"""Conditions of the system that several tests of the memory package need."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock
import pytest

NOBODY = 65534


@pytest.fixture
def unprivileged(tmp_path: Path) -> Iterator[Path]:
    """A folder of a user whom file modes stop; for root, which no mode stops, the test runs as nobody."""
    if os.name != "posix":
        pytest.skip("file modes stop nobody on this platform")
    if os.geteuid() != 0:
        yield tmp_path
        return
    with filelock.FileLock(tmp_path / "warm.lock"):
        pass  # nobody may not be allowed to import what the lock imports late
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
