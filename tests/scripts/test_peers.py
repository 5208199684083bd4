"""The stores of the bench run as real programs; what was not kept, or cannot be installed, gives no figure."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"

FORGETFUL = """\
import asyncio
import sys

sys.path.insert(0, sys.argv[1])
import _peers
import _peer_worker


class Forgetful(_peers.Ours):
    async def save(self):
        pass


_peers.Forgetful = Forgetful
sys.exit(asyncio.run(_peer_worker.main("Forgetful", sys.argv[2], "2")))
"""


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module scripts/_peer_processes.py."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module("_peer_processes")


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module scripts/_peers.py."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module("_peers")


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module scripts/_bench_peers.py."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module("_bench_peers")


@pytest.mark.parametrize("name", ["Ours", "Framework"])
def test_a_store_saves_a_turn_whenever_it_is_asked_and_kept_it_at_the_end(
    processes: ModuleType, peers: ModuleType, name: str
) -> None:
    with processes.Running(getattr(peers, name), 2) as running:
        running.wait()
        assert running.save() > 0
        assert running.save() > 0
        running.end()


def test_a_store_that_kept_nothing_is_refused(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORGETFUL, SCRIPTS, tmp_path], input="save\n", capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "Forgetful kept 8 messages of 8 and 1 turns" in done.stderr


def test_a_store_that_fails_is_told_with_its_last_words(processes: ModuleType, peers: ModuleType) -> None:
    class Unknown(peers.Ours):  # type: ignore[misc, name-defined]
        name = "Unknown"

    with processes.Running(Unknown, 2) as running:
        with pytest.raises(processes.Unavailable, match=r"failed: AttributeError: .*Unknown"):
            running.wait()
        with pytest.raises(processes.Unavailable, match=r"failed: AttributeError: .*Unknown"):
            running.save()


def test_a_store_that_cannot_be_installed_is_told_with_the_reason(
    processes: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(processes, "CACHE", tmp_path)
    for name, value in {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": ""}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(processes.Unavailable, match=r"cannot be installed: No matching distribution .*no-such-store"):
        processes.environment_of("No such store", ("no-such-store==1.0",))


def test_an_unavailable_store_stands_in_the_table_with_the_reason_and_in_no_aim(
    bench: ModuleType, peers: ModuleType
) -> None:
    costs = {10: 0.001, 100: 0.002, 1000: 0.004, 5000: 0.008}
    measured = [
        bench.Measured(peers.Ours, costs, 2),
        bench.Measured(peers.LangGraph, {turns: 2 * cost for turns, cost in costs.items()}, 1),
        bench.Measured(peers.Strands, reason="cannot be installed: no index"),
    ]
    assert f"* Not measured: {measured[2].name}: cannot be installed: no index" in bench.table(measured, 3)
    assert [(row.against, row.ratio, row.aim) for row in bench.rows(measured)] == [
        (measured[1].name, 0.5, 1.0),
        (f"the best: {measured[1].name}", 0.5, 2.0),
    ]


def test_only_the_flushes_of_the_last_save_are_counted(processes: ModuleType) -> None:
    trace = """\
1 fsync(3) = 0
1 access("/bench-of-maf-memory/save", F_OK) = -1 ENOENT
2 fsync(3) = 0
2 fsync(4) = 0
1 access("/bench-of-maf-memory/saved", F_OK) = -1 ENOENT
1 access("/bench-of-maf-memory/save", F_OK) = -1 ENOENT
2 fdatasync(5 <unfinished ...>
1 access("/somewhere/else", F_OK) = 0
2 <... fdatasync resumed>) = 0
1 access("/bench-of-maf-memory/saved", F_OK) = -1 ENOENT
1 fsync(3) = 0
"""
    assert processes._flushes_between_marks(trace) == 1


def test_strace_sees_that_our_save_flushes_and_the_frameworks_does_not(
    processes: ModuleType, peers: ModuleType
) -> None:
    if processes.flushes_of(peers.Ours, 1) is None:
        pytest.skip("strace is missing or may not watch")
    assert processes.flushes_of(peers.Ours, 1) == 2
    assert processes.flushes_of(peers.Framework, 1) == 0
