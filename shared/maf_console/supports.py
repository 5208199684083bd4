"""The three supports of continuity, read where they are: the conversation, the snapshot, the context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from maf_console.places import CONTEXT_OWNER, INSTRUCTION_VERSION, SNAPSHOT_OWNER, Places
from maf_memory.context import KEY, VERSION, ContextStore
from maf_memory.errors import FileRefused
from maf_memory.snapshot import SnapshotStore
from maf_memory.text import utf16_length

ROWS = ("conversation", "snapshot", "context")
"""The rows of every ledger and of ``where``, in this order."""

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


def conversation(session_id: str | None, messages: int, facts: Sequence[str]) -> Support:
    """Describe the active conversation, which lives in the process."""
    return Support("empty" if messages == 0 else counted(messages, "message"), facts, None, (session_id, messages))


async def snapshot(places: Places) -> Support:
    """Describe the snapshot from its file; a refused one is described as refused."""
    path = places.snapshot
    store = SnapshotStore(path, instruction_version=INSTRUCTION_VERSION)
    try:
        envelope = await store.read()
    except FileRefused as error:
        return _refused(path, error)
    if envelope is None:
        return Support(NONE, [f"no file; {SNAPSHOT_OWNER} writes it after an answer"], path)
    size = path.stat().st_size
    stamp = envelope.stamp
    return Support(
        f"revision {stamp.revision}, {counted(len(envelope.messages), 'message')}, {size:,} bytes",
        [
            f"{size:,} bytes, version 1, instructions {envelope.instruction_version}",
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
        entries = await ContextStore(path).entries()
    except FileRefused as error:
        return _refused(path, error)
    if not path.exists():
        return Support(NONE, [f"no file; {CONTEXT_OWNER} creates it when it starts"], path)
    others = {key: value for key, value in entries.items() if key != KEY}
    value = entries.get(KEY)
    holds = NONE if value is None else counted(utf16_length(value), "character")
    if others:
        holds += f" and {counted(len(others), 'other entry').replace('entrys', 'entries')}"
    return Support(
        holds,
        [
            f"{path.stat().st_size:,} bytes, version {VERSION}, {holds}",
            f"modified {_modified(path)}",
        ],
        path,
        tuple(sorted(entries.items())),
    )


def _refused(path: Path, error: FileRefused) -> Support:
    if not path.is_file():
        return Support("refused", [f"refused: {error.found}"], path, error.found)
    status = path.stat()
    return Support(
        "refused",
        [f"refused: {error.found}", f"{status.st_size:,} bytes, modified {_modified(path)}"],
        path,
        (status.st_ino, status.st_mtime_ns),
    )


def _modified(path: Path) -> str:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
