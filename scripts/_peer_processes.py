"""The stores of ``_peers.py`` as running programs, each in an environment of its own below ``.bench/``.

Their requirements exclude one another, and none of them belongs into the project's own environment.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

import _peer_worker
from _environment import ROOT
from _peer import Peer

CACHE = ROOT / ".bench"
WORKER = ROOT / "scripts" / "_peer_worker.py"
FLUSHES = re.compile(r"\b(?:fsync|fdatasync|sync_file_range)\(")


class Unavailable(Exception):
    """A store cannot be measured here; the text says why, in a line that can be shown."""


def environment_of(name: str, requirements: tuple[str, ...]) -> Path:
    """Return a Python that holds exactly these requirements; the first call installs them, which needs an index.

    Raises:
        Unavailable: they cannot be installed.
    """
    if not requirements:
        return Path(sys.executable)
    venv = CACHE / re.sub(r"\W+", "-", name).lower()
    python = venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = venv / "installed"
    wanted = "\n".join([sys.version.split()[0], *requirements])
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return python
    print(f"Installing {', '.join(requirements)} into .bench…", file=sys.stderr)
    shutil.rmtree(venv, ignore_errors=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
    for command in ([sys.executable, "-m", "venv", venv], [*pip, *requirements]):
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise Unavailable(f"cannot be installed: {_last_line(done.stderr)}")
    stamp.write_text(wanted, encoding="utf-8")
    return python


class Running:
    """One store with a conversation of a length, in a process that saves a turn whenever it is asked to."""

    def __init__(self, peer: type[Peer], turns: int, *, trace: Path | None = None) -> None:
        """Start it; :meth:`wait` for it before the first save. With ``trace``, strace notes its flushes there."""
        python = environment_of(peer.name, peer.requirements)
        self.name = peer.__name__
        self._folder = tempfile.TemporaryDirectory(prefix="maf-bench-")
        self._errors = tempfile.TemporaryFile(mode="w+", encoding="utf-8")  # noqa: SIM115 - closed in __exit__
        calls = "trace=fsync,fdatasync,sync_file_range,?access,?faccessat,?faccessat2"
        before = [] if trace is None else ["strace", "-f", "-qq", "-o", str(trace), "-e", calls]
        self._process = subprocess.Popen(
            [*before, str(python), str(WORKER), self.name, self._folder.name, str(turns)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env={**os.environ, "PYTHONWARNINGS": "ignore", "OPENAI_AGENTS_DISABLE_TRACING": "1"},
        )

    def __enter__(self) -> Running:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()
        self._errors.close()
        self._folder.cleanup()

    def wait(self) -> None:
        """Return when the conversation is there.

        Raises:
            Unavailable: the store failed.
        """
        self._answer()

    def save(self) -> float:
        """Save a turn and return the seconds that it took.

        Raises:
            Unavailable: the store failed.
        """
        try:
            self._process.stdin.write("save\n")  # type: ignore[union-attr]
            self._process.stdin.flush()  # type: ignore[union-attr]
        except BrokenPipeError:
            pass  # it has ended: the answer says how
        return float(self._answer()["seconds"])

    def end(self) -> None:
        """Let it read back what it kept, and end.

        Raises:
            Unavailable: a turn is missing, or the store failed.
        """
        self._process.communicate()
        if self._process.returncode:
            raise Unavailable(self._failure())

    def _answer(self) -> dict[str, Any]:
        line = self._process.stdout.readline()  # type: ignore[union-attr]
        if not line:
            self._process.wait()
            raise Unavailable(self._failure())
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _failure(self) -> str:
        self._errors.seek(0)
        return f"failed: {_last_line(self._errors.read())}"


def flushes_of(peer: type[Peer], turns: int) -> int | None:
    """Return how often one save of a turn flushes to the disk, or nothing where no strace can tell.

    Raises:
        Unavailable: the store failed.
    """
    if not _strace_works():
        return None
    with tempfile.TemporaryDirectory(prefix="maf-bench-") as folder:
        trace = Path(folder) / "trace"
        with Running(peer, turns, trace=trace) as running:
            running.wait()
            for _ in range(3):
                running.save()
            running.end()
        return _flushes_between_marks(trace.read_text(encoding="utf-8", errors="replace"))


def _strace_works() -> bool:
    strace = shutil.which("strace")  # it may be there and not allowed to watch, as in some containers
    return bool(strace) and subprocess.run([strace, "-o", os.devnull, "true"], capture_output=True).returncode == 0


def _flushes_between_marks(trace: str) -> int:
    """Return the flushes of the last save: the ones before it may be a first time of something."""
    after = trace.rpartition(f'"{_peer_worker.BEGIN}"')[2]
    return len(FLUSHES.findall(after.partition(f'"{_peer_worker.END}"')[0]))


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")] or lines or ["it said nothing"]
    return re.sub(r"^ERROR:\s*", "", errors[-1])[:200]
