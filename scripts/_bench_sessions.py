"""What the sessions of a project cost: a save of a turn, a cold load, a listing."""

from __future__ import annotations

import asyncio
import os
import shutil
import statistics
import tempfile
import tracemalloc
from datetime import timedelta
from pathlib import Path
from typing import Any

from _measuring import Row, side_by_side, turn_of, write_raw

TURNS = (10, 100, 1000, 5000)
LISTED = (1000, 10_000)


async def rows(repeats: int) -> list[Row]:
    """Measure saves and loads at each length, and listings of each size."""
    measured: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="maf-bench-") as folder:
        for turns in TURNS:
            measured += await _turns(
                Path(folder) / str(turns), turns, repeats if turns < 1000 else max(3, repeats // 2)
            )
        for sessions in LISTED:
            measured += await _listing(Path(folder) / f"listed-{sessions}", sessions, max(3, repeats // 2))
    return measured


def _record(folder: Path, turns: int) -> Any:
    from maf_memory.sessions.ids import new_id
    from maf_memory.sessions.record import SessionRecord, local_now

    now = local_now()
    record = SessionRecord(new_id(now), now, now, str(folder), provider="openai", model="bench")
    record.messages = [message for turn in range(turns) for message in turn_of(turn)]
    return record


async def _turns(folder: Path, turns: int, repeats: int) -> list[Row]:
    import msgspec

    from maf_memory.lines import message_of
    from maf_memory.sessions.files import FileSessions

    storage = FileSessions(folder / "ours")
    record = _record(folder, turns)
    await storage.create(record)
    path = storage.path_of(record.id)
    shutil.copy2(path, folder / "before")
    opened: list[Any] = []
    written: list[bytes] = []

    async def before() -> None:
        """Open a session of just this length and add a turn, as a program does before each save."""
        shutil.copy2(folder / "before", path)
        _make_durable(path)  # as the file is that a save replaces: else the save also pays for what was not written yet
        again = await storage.load(record.id)
        again.messages = [*again.messages, *turn_of(turns)]
        opened[:] = [again]
        if not written:
            await storage.save(again)
            written.append(path.read_bytes())
            await before()

    async def save() -> None:
        await storage.save(opened[0])

    async def raw() -> None:
        await asyncio.to_thread(write_raw, folder / "raw", written[0])

    async def load() -> None:
        await FileSessions(folder / "ours").load(record.id)

    async def unchecked() -> None:
        def work() -> list[Any]:
            return [message_of(form) for form in msgspec.json.decode(path.read_bytes())["messages"]]

        await asyncio.to_thread(work)

    took = await side_by_side(repeats, {"save": save, "raw": raw, "load": load, "unchecked": unchecked}, before=before)
    size = f"{turns:,} turns ({len(written[0]) / 1000:,.0f} kB)"
    return [
        Row(f"session: save of a turn, {size}", took["save"], "raw durable write", took["raw"], 1.15, 0.0003),
        Row(f"session: cold load, {size}", took["load"], "read + decode + rebuild, unchecked", took["unchecked"], 1.2),
    ]


def _make_durable(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


async def _listing(folder: Path, sessions: int, repeats: int) -> list[Row]:
    from maf_memory.sessions.files import FileSessions

    storage = FileSessions(folder)
    record = _record(folder, 8)
    await storage.create(record)
    template = storage.path_of(record.id).read_text(encoding="utf-8")
    for number in range(sessions):
        session_id = f"20260101-000000-{number:08x}"
        updated = (record.updated + timedelta(seconds=number)).isoformat()
        text = template.replace(record.id, session_id, 1).replace(
            f'"updated": "{record.updated.isoformat()}"', f'"updated": "{updated}"', 1
        )
        storage.path_of(session_id).write_text(text, encoding="utf-8")

    async def page() -> None:
        assert len((await storage.page()).heads) == sessions + 1  # noqa: S101

    async def blocks() -> None:
        def work() -> None:
            for path in folder.iterdir():
                with path.open("rb") as file:
                    file.read(4096)

        await asyncio.to_thread(work)

    took = await side_by_side(repeats, {"page": page, "blocks": blocks})
    kept: list[float] = []
    for _ in range(2):
        tracemalloc.start()
        listed = await storage.page()
        kept.append(tracemalloc.get_traced_memory()[1] / len(listed.heads))
        tracemalloc.stop()
    return [
        Row(f"list {sessions:,} sessions", took["page"], "open().read(4096) of each file", took["blocks"], 1.5),
        Row(f"list {sessions:,} sessions: memory of each", statistics.median(kept), "1 kB", 1000, 1.0, unit="B"),
    ]
