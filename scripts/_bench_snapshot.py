"""What a save and a load of the snapshot cost."""

from __future__ import annotations

import asyncio
import json
import tempfile
import warnings
from pathlib import Path

from _measuring import Row, side_by_side, turn_of, write_raw

TURNS = (10, 100, 1000)


async def rows(repeats: int) -> list[Row]:
    """Measure each length of conversation."""
    measured: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="maf-bench-") as folder:
        for turns in TURNS:
            measured += await _rows_of(Path(folder) / str(turns), turns, repeats)
    return measured


async def _rows_of(folder: Path, turns: int, repeats: int) -> list[Row]:
    from agent_framework import AgentSession

    from maf_memory import SnapshotStore

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning)  # the framework's store is experimental
        from agent_framework import FileSessionStore

        theirs = FileSessionStore(folder / "theirs")
    session = AgentSession(session_id="bench")
    recorded = [message for turn in range(turns - 1) for message in turn_of(turn)]
    session.state["in_memory"] = {"messages": [*recorded, *turn_of(turns)]}
    store = SnapshotStore(folder / "ours" / "session.json", instruction_version="bench")
    await store.save(session)
    content = store.path.read_bytes()
    number = iter(range(turns, 10**9))

    async def next_turn() -> None:
        session.state["in_memory"]["messages"] = [*recorded, *turn_of(next(number))]

    async def save() -> None:
        await store.save(session)

    async def raw() -> None:
        await asyncio.to_thread(write_raw, folder / "raw", content)

    async def to_dict() -> None:
        session.to_dict()

    async def load() -> None:
        await SnapshotStore(store.path, instruction_version="bench").load()

    async def unchecked() -> None:
        await asyncio.to_thread(lambda: AgentSession.from_dict(json.loads(store.path.read_bytes())["session"]))

    async def their_save() -> None:
        await theirs.set("bench", session)

    async def their_load() -> None:
        await theirs.get("bench")

    await their_save()
    works = {
        "save": save,
        "raw": raw,
        "to_dict": to_dict,
        "load": load,
        "unchecked": unchecked,
        "their save": their_save,
        "their load": their_load,
    }
    took = await side_by_side(repeats, works, before=next_turn)
    size = f"{turns:,} turns ({store.path.stat().st_size / 1000:,.0f} kB)"
    base = took["raw"] + took["to_dict"]
    return [
        Row(f"snapshot: save, {size}", took["save"], "raw durable write + to_dict", base, 1.3),
        Row(f"snapshot: save, {size}", took["save"], "FileSessionStore.set (not durable)", took["their save"]),
        Row(f"snapshot: load, {size}", took["load"], "read + decode + from_dict, unchecked", took["unchecked"], 1.3),
        Row(f"snapshot: load, {size}", took["load"], "FileSessionStore.get", took["their load"]),
    ]
