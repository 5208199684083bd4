"""Session files on a disk: what must not change in one that is refused, and what the engine says of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from maf_memory.errors import FileRefused
from maf_memory.sessions.contract.base import MORNING, record_of, turn
from maf_memory.sessions.files import FileSessions
from maf_memory.sessions.record import Damaged, Head, SessionRecord
from tests.maf_memory.sessions.golden_samples import ID

OTHER = "20260916-101530-0000000a"


def put(sessions: FileSessions, content: bytes, session_id: str = ID) -> Path:
    """Lay a file into the folder, as a person or another program does."""
    path = sessions.path_of(session_id)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


async def kept(sessions: FileSessions, text: str = "kept", session_id: str = OTHER) -> SessionRecord:
    """Create a session of one turn."""
    record = record_of(*turn(text), id=session_id, at=MORNING)
    await sessions.create(record)
    return record


def names(sessions: FileSessions) -> list[str]:
    """What stands in the folder, the lock apart."""
    return sorted(name for name in os.listdir(sessions.folder) if name != ".lock")


def identity(path: Path) -> tuple[object, ...]:
    """What must not change in a file that is refused, and in the names beside it."""
    status = path.lstat()
    content = path.read_bytes() if path.is_file() and not path.is_symlink() else None
    beside = sorted(name for name in os.listdir(path.parent) if name != ".lock")
    return (content, status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_mode, status.st_size, beside)


@contextmanager
def untouched(path: Path) -> Iterator[None]:
    """Claim that the file is the same afterwards, down to its times, and that nothing new stands beside it."""
    before = identity(path)
    yield
    assert identity(path) == before


async def refusal(sessions: FileSessions, session_id: str = ID) -> FileRefused:
    """Claim that a load refuses the session in one line that names its file, and return the error."""
    with pytest.raises(FileRefused) as caught:
        await sessions.load(session_id)
    line = str(caught.value)
    assert line.startswith(f"{sessions.path_of(session_id)} is refused: ")
    assert line.isprintable(), "one line, and no command to the terminal"
    return caught.value


async def listed(sessions: FileSessions, session_id: str = ID) -> Head | Damaged | None:
    """Return how the listing shows a session: by its head, as damaged, or not at all."""
    page = await sessions.page()
    found = [one for one in (*page.heads, *page.damaged) if one.id == session_id]
    assert len(found) <= 1
    return found[0] if found else None


async def damage_listed(sessions: FileSessions, session_id: str = ID) -> str:
    """Claim that the session is listed as damaged, in one line, and return that."""
    one = await listed(sessions, session_id)
    assert isinstance(one, Damaged), one
    assert one.problem.isprintable()
    assert one.path == sessions.path_of(session_id)
    return one.problem


def tree(folder: Path) -> dict[str, tuple[object, ...]]:
    """Every file, link and folder below, with what must not change in it."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(folder))] = (content, status.st_ino, status.st_mode, status.st_uid)
    return found


@contextmanager
def all_untouched(folder: Path) -> Iterator[None]:
    before = tree(folder)
    yield
    assert tree(folder) == before


def other_process(sessions: FileSessions) -> FileSessions:
    """Another handle on the sessions of a project, which is to the first one what another process is."""
    return FileSessions(sessions.folder, root=sessions.folder.parent.parent, ignore=True)


def grown(record: SessionRecord, text: str = "mine") -> SessionRecord:
    """The record after one more turn."""
    record.messages = [*record.messages, *turn(text)]
    record.updated += timedelta(minutes=1)
    return record
