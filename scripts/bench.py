"""Measures what durability costs, as ratios of things done side by side in one run; never part of the tests.

``--write`` puts the table, with machine, versions and date, into docs/performance.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import _environment

TURNS = (10, 100, 1000)
PAGE = _environment.ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- measured -->", "<!-- end of measured -->"


@dataclass(frozen=True)
class Row:
    """One line of the table: ``seconds`` of the work, against ``against_seconds`` of what it is compared with."""

    work: str
    seconds: float
    against: str
    against_seconds: float
    aim: float | None = None

    @property
    def ratio(self) -> float:
        """How many times the other."""
        return self.seconds / self.against_seconds


def main() -> int:
    """Measure, print the table, and return 1 when an aim was missed."""
    parser = argparse.ArgumentParser(
        description=f"{__doc__}\nexample:\n  python3 scripts/bench.py --repeats 9",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--repeats", type=int, default=15, help="how often each work is done; the median counts (15)")
    parser.add_argument("--write", action="store_true", help="write the table into docs/performance.md")
    options = parser.parse_args()
    _environment.reexec_inside(("openai",))
    rows = asyncio.run(_stores(options.repeats)) + _starts(options.repeats)
    table = _table(rows)
    print(table)
    if options.write:
        _write(table, options.repeats)
    return 1 if any(row.aim is not None and row.ratio > row.aim for row in rows) else 0


async def _side_by_side(repeats: int, works: dict[str, Callable[[], Awaitable[object]]]) -> dict[str, float]:
    """Return the median seconds of each work; all are done in turn, so that a busy moment meets all of them."""
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for round_number in range(repeats + 1):
        for name, work in works.items():
            start = time.perf_counter()
            await work()
            if round_number:  # the first round warms up
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def _messages(turn: int) -> list[Any]:
    from agent_framework import Content, Message

    call = f"call-{turn}"
    return [
        Message("user", ["q" * 200], message_id=f"question-{turn}"),
        Message("assistant", [Content.from_function_call(call, "look", arguments='{"at": 1}')], message_id=f"c-{turn}"),
        Message("tool", [Content.from_function_result(call, result="r" * 2000)], message_id=f"result-{turn}"),
        Message("assistant", ["a" * 800], message_id=f"answer-{turn}"),
    ]


async def _stores(repeats: int) -> list[Row]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="maf-bench-") as folder:
        for turns in TURNS:
            rows += await _store_rows(Path(folder) / str(turns), turns, repeats)
    return rows


async def _store_rows(folder: Path, turns: int, repeats: int) -> list[Row]:
    from agent_framework import AgentSession

    from maf_memory import SnapshotStore

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning)  # the framework's store is experimental
        from agent_framework import FileSessionStore

        theirs = FileSessionStore(folder / "theirs")
    session = AgentSession(session_id="bench")
    recorded = [message for turn in range(turns - 1) for message in _messages(turn)]
    session.state["in_memory"] = {"messages": [*recorded, *_messages(turns)]}
    store = SnapshotStore(folder / "ours" / "session.json", instruction_version="bench")
    await store.save(session)
    number = iter(range(turns, 10**9))

    async def save() -> None:
        await store.save(session)

    async def next_turn() -> None:
        session.state["in_memory"]["messages"] = [*recorded, *_messages(next(number))]

    async def raw() -> None:
        await asyncio.to_thread(_write_raw, folder / "raw", content)

    content = store.path.read_bytes()

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
        "turn": next_turn,
        "save": save,
        "raw": raw,
        "to_dict": to_dict,
        "load": load,
        "unchecked": unchecked,
        "their save": their_save,
        "their load": their_load,
    }
    took = await _side_by_side(repeats, works)
    size = f"{turns:,} turns ({store.path.stat().st_size / 1000:,.0f} kB)"
    base = took["raw"] + took["to_dict"]
    return [
        Row(f"save, {size}", took["save"], "raw durable write + to_dict", base, 1.3),
        Row(f"save, {size}", took["save"], "FileSessionStore.set (not durable)", took["their save"]),
        Row(f"load, {size}", took["load"], "read + decode + from_dict, unchecked", took["unchecked"], 1.3),
        Row(f"load, {size}", took["load"], "FileSessionStore.get", took["their load"]),
    ]


def _write_raw(folder: Path, content: bytes) -> None:
    """Write the same bytes with the same flushes, and nothing else."""
    folder.mkdir(exist_ok=True)
    temporary = folder / "temporary"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(descriptor, content)
    os.fsync(descriptor)
    os.close(descriptor)
    temporary.replace(folder / "file")
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


def _starts(repeats: int) -> list[Row]:
    def seconds(*arguments: str) -> float:
        with tempfile.TemporaryDirectory(prefix="maf-bench-") as root:
            environment = {**os.environ, "MAF_STATE_ROOT": str(Path(root) / "root")}
            start = time.perf_counter()
            subprocess.run(
                [sys.executable, *arguments], stdin=subprocess.DEVNULL, capture_output=True, check=True, env=environment
            )
            return time.perf_counter() - start

    works = {
        "bare": ("-c", "pass"),
        "help130": ("-m", "demo130", "--help"),
        "help140": ("-m", "demo140", "--help"),
        "prompt130": ("-m", "demo130"),
        "prompt140": ("-m", "demo140"),
    }
    rounds = [{name: seconds(*arguments) for name, arguments in works.items()} for _ in range(repeats + 1)][1:]
    took = {name: statistics.median(one[name] for one in rounds) for name in works}
    bare = "python -c pass"
    return [
        Row("demo130 --help", took["help130"], bare, took["bare"], 15),
        Row("demo140 --help", took["help140"], bare, took["bare"], 15),
        Row("demo130 to the first prompt, and end", took["prompt130"], bare, took["bare"], 35),
        Row("demo140 to the first prompt, and end", took["prompt140"], bare, took["bare"], 35),
    ]


def _table(rows: list[Row]) -> str:
    lines = ["| work | ms | against | ms | ratio | aim |", "|---|---:|---|---:|---:|---|"]
    for row in rows:
        aim = "" if row.aim is None else f"≤ {row.aim:g}{'' if row.ratio <= row.aim else ', missed'}"
        lines.append(
            f"| {row.work} | {row.seconds * 1000:.1f} | {row.against} | {row.against_seconds * 1000:.1f} "
            f"| {row.ratio:.2f} | {aim} |"
        )
    return "\n".join(lines)


def _write(table: str, repeats: int) -> None:
    from importlib.metadata import version

    about = (
        f"{datetime.now(UTC):%Y-%m-%d}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, agent-framework-core {version('agent-framework-core')}, "
        f"median of {repeats}."
    )
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{about}\n\n{table}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
