"""Two real processes on one root, at full speed: every acknowledged turn is accounted for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.maf_memory.samples import beside, context_store, snapshot_store, texts
from tests.maf_memory.writer import value_of

WRITER = Path(__file__).with_name("writer.py")
Told = list[dict[str, Any]]


def race(root: Path, *works: tuple[str, str, int], meanwhile: Callable[[], object] | None = None) -> list[Told]:
    """Start every work at once, and return what each process was told."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONWARNINGS": "error::ResourceWarning"}
    processes = [
        subprocess.Popen(
            [sys.executable, str(WRITER), work, str(root), name, str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for work, name, count in works
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n", process.communicate()[1]
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        while meanwhile is not None and any(process.poll() is None for process in processes):
            meanwhile()
        told = []
        for process in processes:
            output, errors = process.communicate(timeout=60)
            assert (process.returncode, errors) == (0, "")
            told.append([json.loads(line) for line in output.splitlines()])
        return told
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.communicate()


async def test_of_two_processes_that_save_200_times_each_no_acknowledged_turn_is_lost(state_root: Path) -> None:
    first, second = race(state_root, ("save", "first", 200), ("save", "second", 200))
    assert len(first) == len(second) == 200
    acknowledged = [line["turn"] for line in (*first, *second) if "revision" in line]
    conflicts = [line for line in (*first, *second) if "conflict" in line]
    assert len(acknowledged) + len(conflicts) == 400, "each attempt was acknowledged or told of the conflict"
    assert conflicts, "of the two first saves at least one was told"
    store = snapshot_store(state_root)
    kept = texts(await store.load())
    assert sorted(kept) == sorted(acknowledged), "every acknowledged turn once, and no other"
    for name in ("first", "second"):
        assert [turn for turn in kept if turn.startswith(name)] == [
            turn for turn in acknowledged if turn.startswith(name)
        ]
    assert store.stamp is not None
    assert store.stamp.revision == len(acknowledged)
    stamps = [(line["lineage"], line["revision"]) for line in (*first, *second) if "revision" in line]
    assert sorted(stamps) == [(store.stamp.lineage, number) for number in range(1, len(acknowledged) + 1)]
    assert beside(store.path) == ["session.json"]


async def test_what_is_forgotten_in_one_process_does_not_come_back_from_the_other(state_root: Path) -> None:
    saves, deletions = race(state_root, ("save", "saver", 200), ("delete", "saver", 200))
    assert deletions, "the other process deletes for as long as this one saves"
    for before, line in pairwise(saves):
        if "revision" not in line:
            continue
        if "revision" in before:
            assert (line["lineage"], line["revision"]) == (before["lineage"], before["revision"] + 1)
        elif not before["found"]:
            assert line["revision"] == 1, "a new life begins only after the saver was told that there is nothing"
    lineages = [line["lineage"] for line in saves if line.get("revision") == 1]
    assert len(set(lineages)) == len(lineages), "no lineage is born twice"
    assert len(lineages) <= len(deletions) + 1
    last = await snapshot_store(state_root).read()
    if last is not None:
        assert [last.stamp.lineage, last.stamp.revision] in [
            [line["lineage"], line["revision"]] for line in saves if "revision" in line
        ]
        assert await snapshot_store(state_root).delete()
    assert beside(snapshot_store(state_root).path) == []


async def test_two_processes_that_set_200_values_each_leave_every_reader_a_whole_one(state_root: Path) -> None:
    store = context_store(state_root)
    store.path.parent.mkdir(parents=True)
    store.path.write_text('{"version": 1, "entries": {"theirs": "kept"}}')
    seen: set[str | None] = set()

    def read() -> None:
        seen.add(store._read().get("context"))

    first, second = race(state_root, ("set", "first", 200), ("set", "second", 200), meanwhile=read)
    assert len(first) == len(second) == 200, "each waits for the other, and none is refused"
    assert seen <= {None, *(value_of(name, number) for name in ("first", "second") for number in range(200))}
    entries = await store.entries()
    assert entries["theirs"] == "kept"
    assert entries["context"] in (value_of("first", 199), value_of("second", 199))
    assert beside(store.path) == ["agent-state.json"]
