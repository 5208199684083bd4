"""A real process is killed at every system call of a save, and every system call is made to fail.

Afterwards a reader finds the old or the new state, whole; what was acknowledged is there; no temporary file outlives
the next sweep; and the failing process got one error of the family.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from maf_memory.files import StoreFile
from tests.maf_memory.samples import beside, context_store, snapshot_store, talked, texts

SERVER = Path(__file__).with_name("crash_server.py")
CHANGES = [
    *("open", "openat", "write", "fsync", "fdatasync", "rename", "renameat", "renameat2", "unlink", "unlinkat"),
    *("mkdir", "mkdirat", "chmod", "fchmod", "fchmodat", "ftruncate", "close", "flock"),
]
"""A kill before any other call finds the same disk as a kill before the next of these."""

FILLED = ["open", "openat", "write", "fsync", "rename", "renameat", "renameat2", "mkdir", "mkdirat"]
"""What a full disk refuses."""

CALLS = [*CHANGES, "read", "pread64", "stat", "lstat", "fstat", "newfstatat", "statx", "getdents64", "lseek"]

WORKS = ["save first", "save again", "delete", "set first", "set again", "reset"]


@dataclass(frozen=True)
class Ended:
    killed: bool
    told: str


class Server:
    """The process that forks one child a crash point, and the tracer that goes with each child."""

    def __init__(self, script: Path = SERVER) -> None:
        if sys.platform != "linux" or shutil.which("strace") is None:
            pytest.skip("strace is not installed: no system call can be made to fail here")
        self.process = subprocess.Popen(
            [os.path.realpath(sys.executable), str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )

    def run(self, work: str, root: Path, *tracing: str, log: Path | None = None) -> Ended:
        """Do ``work`` in a new process under the tracer, and return how it ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"work": work, "root": str(root)}) + "\n")
        self.process.stdin.flush()
        child = int(self.process.stdout.readline())
        calls = ",".join(f"?{call}" for call in CALLS)
        tracer = subprocess.Popen(
            ["strace", "-f", "-p", str(child), "-o", str(log or os.devnull), "-e", f"trace={calls}", *tracing],
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert tracer.stderr is not None
            first = tracer.stderr.readline()
            if "attached" not in first:
                pytest.skip(f"strace cannot attach here: {first.strip()}")
        finally:
            os.kill(child, signal.SIGCONT)
            ended = json.loads(self.process.stdout.readline())
            tracer.communicate(timeout=30)
        return Ended(ended["killed"], ended["told"])

    def close(self) -> None:
        self.process.communicate(timeout=30)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


def points(server: Server, work: str, folder: Path) -> list[tuple[str, int, str]]:
    """Every system call of the work: its name, which of its name it is, and the traced line."""
    log = folder / "trace"
    assert server.run(work, folder / "traced", log=log) == Ended(killed=False, told="done")
    counted: Counter[str] = Counter()
    found = []
    for line in log.read_text().splitlines():
        call = re.match(r"(\d+)\s+(\w+)\(", line)
        if call:
            counted[call[2]] += 1
            found.append((call[2], counted[call[2]], line))
    threads = {line.split()[0] for *_, line in found}
    assert len(threads) == 1, "the tracer counts each thread for itself; the work must be in one"
    return found


def state(root: Path) -> str:
    """What a new reader finds: nothing, the old or the new state, or another one, which would be a loss."""

    async def read() -> tuple[list[str] | None, str | None]:
        session = await snapshot_store(root).load()
        return None if session is None else texts(session), await context_store(root).get()

    match asyncio.run(read()):
        case None, None:
            return "nothing"
        case (["old"], None) | (None, "old"):
            return "old"
        case (["old", "new"], None) | (["new"], None) | (None, "new"):
            return "new"
        case other:
            return str(other)


def before_and_after(work: str) -> tuple[str, str]:
    return ("nothing" if "first" in work else "old", "nothing" if work in {"delete", "reset"} else "new")


def store_file(work: str, root: Path) -> StoreFile:
    return (snapshot_store(root) if "save" in work or work == "delete" else context_store(root))._file


def goes_on(work: str, root: Path) -> None:
    """Claim that the next start sweeps what is left, and that the next save works."""

    async def start_and_save() -> None:
        if store_file(work, root).path.name == "session.json":
            store = snapshot_store(root)
            await asyncio.to_thread(store._file.sweep)
            await store.load()
            await store.save(talked("later"))
        else:
            context = context_store(root)
            await context.open()
            await context.set("later")

    asyncio.run(start_and_save())
    path = store_file(work, root).path
    assert beside(path) == [path.name]


@pytest.mark.parametrize("work", WORKS)
def test_a_kill_at_any_call_leaves_the_old_or_the_new_state(server: Server, tmp_path: Path, work: str) -> None:
    before, after = before_and_after(work)
    found = [point for point in points(server, work, tmp_path) if point[0] in CHANGES]
    seen = []
    for call, number, line in found:
        root = tmp_path / f"{call}-{number}"
        ended = server.run(work, root, "-e", f"inject={call}:signal=SIGKILL:when={number}")
        assert ended == Ended(killed=True, told=""), line
        seen.append(state(root))
        assert seen[-1] in (before, after), line
        goes_on(work, root)
    switch = seen.index(after) if before != after else 0
    assert seen == [before] * switch + [after] * (len(seen) - switch), "the state changes once, in one step"
    assert len(found) >= 9


@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
def test_a_failure_of_any_call_is_told_and_loses_nothing(server: Server, tmp_path: Path, work: str, error: str) -> None:
    before, after = before_and_after(work)
    told = Counter[str]()
    for call, number, line in points(server, work, tmp_path):
        if error == "ENOSPC" and call not in FILLED:
            continue
        root = tmp_path / f"{call}-{number}"
        ended = server.run(work, root, "-e", f"inject={call}:error={error}:when={number}")
        assert not ended.killed, line
        kind = ended.told.partition(":")[0]
        told[kind] += 1
        assert "\n" not in ended.told
        found = state(root)
        match kind:
            case "done" | "NotProvenDurable":
                assert found == after, (line, ended.told)
            case "SaveFailed" | "FileRefused" | "FileUnreadable":
                assert found == before, (line, ended.told)
                assert str(root) in ended.told
            case _:
                pytest.fail(f"{line}\n{ended.told}")
        if store_file(work, root).path.parent.is_dir():
            assert store_file(work, root).temporary_files() == [], (line, ended.told)
        goes_on(work, root)
    assert told["SaveFailed"] >= 2
    assert told["NotProvenDurable"] >= 1, "the flush of the folder, at least"
