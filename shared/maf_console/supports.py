"""The three supports of continuity, read where they are: the conversation, the snapshot, the context."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from maf_console.places import CONTEXT_OWNER, INSTRUCTION_VERSION, SNAPSHOT_OWNER, Places
from maf_memory.checkpoint import history_of
from maf_memory.context import KEY, VERSION, ContextStore
from maf_memory.envelope import VERSION as FORMAT
from maf_memory.errors import FileRefused
from maf_memory.snapshot import SnapshotStore
from maf_memory.text import utf16_length

if TYPE_CHECKING:
    from agent_framework import AgentSession

ROWS = ("conversation", "snapshot", "context")
"""The rows of every ledger and of ``where``, in this order."""

PROJECT, HOST = "sessions", "host"
SESSION_ROWS = (PROJECT, HOST)
"""The rows that ``maf-memory where`` adds: the sessions of a project, and those of a host under the state root."""

NONE = "none"


@dataclass(frozen=True, slots=True)
class Support:
    """One support: what it holds in a few words, the facts behind them, and what tells two contents apart."""

    holds: str
    facts: Sequence[str] = ()
    path: Path | None = None
    identity: object = None


def counted(count: int, noun: str) -> str:
    """Return the count with its noun, in the plural where it needs one."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def conversation(session: AgentSession | None, place: str) -> Support:
    """Describe the active conversation, which lives in the process; ``place`` says where and how.

    Its messages tell two conversations apart: two consoles may go on from the same session in different ways. One
    empty conversation is like another.
    """
    messages = [] if session is None else history_of(session)
    holds = counted(len(messages), "message") if messages else "empty"
    return Support(holds, [f"{holds}, {place}"], None, [message.message_id for message in messages])


async def snapshot(places: Places) -> Support:
    """Describe the snapshot from its file; a refused one is described as refused."""
    path = places.snapshot
    store = SnapshotStore(path, instruction_version=INSTRUCTION_VERSION, root=places.root)
    try:
        envelope = await store.read()
    except FileRefused as error:
        return _refused(path, error)
    status = _status(path)
    if envelope is None or status is None:
        return Support(NONE, [f"no file; {SNAPSHOT_OWNER} writes it after an answer"], path)
    size = status.st_size
    stamp = envelope.stamp
    return Support(
        f"revision {stamp.revision}, {counted(len(envelope.messages), 'message')}, {size:,} bytes",
        [
            f"{size:,} bytes, version {FORMAT}, instructions {envelope.instruction_version}",
            f"{stamp}, saved {envelope.saved_at}",
            f"{counted(len(envelope.messages), 'message')}, {envelope.framework}",
        ],
        path,
        stamp,
    )


async def context(places: Places) -> Support:
    """Describe the context store from its file; a refused one is described as refused."""
    path = places.context
    try:
        entries = await ContextStore(path, root=places.root).entries()
    except FileRefused as error:
        return _refused(path, error)
    status = _status(path)
    if status is None:
        return Support(NONE, [f"no file; {CONTEXT_OWNER} creates it when it starts"], path)
    others = {key: value for key, value in entries.items() if key != KEY}
    value = entries.get(KEY)
    holds = NONE if value is None else counted(utf16_length(value), "character")
    if others:
        holds += f" and {counted(len(others), 'other entry').replace('entrys', 'entries')}"
    return Support(
        holds,
        [
            f"{status.st_size:,} bytes, version {VERSION}, {holds}",
            f"modified {_modified(status)}",
        ],
        path,
        entries or None,  # a file without entries holds what no file holds
    )


def _refused(path: Path, error: FileRefused) -> Support:
    status = _status(path)
    if status is None or not stat.S_ISREG(status.st_mode):
        return Support("refused", [f"refused: {error.found}"], path, error.found)
    return Support(
        "refused",
        [f"refused: {error.found}", f"{status.st_size:,} bytes, modified {_modified(status)}"],
        path,
        (status.st_ino, status.st_mtime_ns),
    )


def _status(path: Path) -> os.stat_result | None:
    """Return the status of the file; ``None`` when another console has just deleted it, or it cannot be seen."""
    try:
        return path.lstat()
    except OSError:
        return None


def _modified(status: os.stat_result) -> str:
    try:
        return datetime.fromtimestamp(status.st_mtime, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return "at a time outside the calendar"
