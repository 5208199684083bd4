"""Starts the consoles as people do: real processes, with a pipe or a pseudo-terminal in front of them.

Three ways, from the cheapest: :func:`piped` gives all lines at once, :class:`Piped` one after the other, and
:class:`tests.terminals.Terminal` types them on a pseudo-terminal (POSIX only).
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

PATIENCE = 30
"""Seconds after which a console that says nothing counts as stuck; no test waits for it when all is well."""

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX: a pseudo-terminal, signals or modes")

PROGRAMS = ("demo130", "demo140")


SLOW_DISK = "MAF_TEST_SLOW_DISK"

# Says when a flush begins, and waits in it for as long as the gate file is there and empty; with text in it, it fails.
_ON_A_SLOW_DISK = f"""
import os, runpy, sys, time
import maf_memory.disk, maf_memory.files
flush = maf_memory.disk.flush_file
def slowly(descriptor):
    os.write(2, b"[flushing]\\n")
    gate = os.environ["{SLOW_DISK}"]
    while os.path.exists(gate):
        time.sleep(0.005)
        if os.path.exists(gate) and os.path.getsize(gate):
            os.unlink(gate)
            raise OSError(5, "Input/output error")
    flush(descriptor)
maf_memory.disk.flush_file = maf_memory.files.flush_file = slowly
sys.argv = sys.argv[1:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""
FLUSHING = "[flushing]\n"


def command(program: str, *options: str, slow_disk: bool = False) -> list[str]:
    """The command line of a console; a warning in it is an error."""
    start = ["-c", _ON_A_SLOW_DISK] if slow_disk else ["-m"]
    return [sys.executable, "-W", "error", *start, program, *options]


def environment(**changes: str | None) -> dict[str, str]:
    """The test's own environment with ``changes`` (None removes), and import paths that hold in any folder."""
    paths = [str(Path(path).absolute()) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    # Unbuffered streams would hide what is left in a buffer when a reader is gone.
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    environ = {**inherited, "PYTHONPATH": os.pathsep.join(paths), "INPUTRC": os.devnull, "TERM": "dumb"}
    for name, value in changes.items():
        environ.pop(name, None)
        if value is not None:
            environ[name] = value
    return environ


@dataclass(frozen=True)
class Run:
    """How one run of a console ended, and what it said."""

    status: int
    out: str
    err: str

    @property
    def errors(self) -> list[str]:
        """The lines that tell of an error."""
        return [line for line in self.err.splitlines() if line.startswith("error: ")]


def piped(
    program: str,
    *lines: str | bytes,
    options: Sequence[str] = (),
    before: Sequence[str] = (),
    cwd: Path | None = None,
    **environ: str | None,
) -> Run:
    """Run a console to its end on ``lines``; ``before`` is a command that starts it. A traceback is a failure."""
    typed = b"".join(line if isinstance(line, bytes) else line.encode() + b"\n" for line in lines)
    ended = subprocess.run(
        [*before, *command(program, *options)],
        input=typed,
        capture_output=True,
        cwd=cwd,
        env=environment(**environ),
        timeout=PATIENCE,
        check=False,
    )
    run = Run(ended.returncode, _text(ended.stdout), _text(ended.stderr))
    assert "Traceback" not in run.err, run.err
    return run


class Piped:
    """A console that is given one line after the other through a pipe; both its streams are read as one."""

    def __init__(self, program: str, *options: str, **environ: str | None) -> None:
        self.process = subprocess.Popen(
            command(program, *options, slow_disk=SLOW_DISK in environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment(**environ),
        )
        self.seen = ""
        self._read_to = 0
        self._watchdog = threading.Timer(PATIENCE, self.process.kill)
        self._watchdog.start()
        self.until("Type help for the commands")

    def say(self, line: str) -> None:
        """Give the console one line."""
        assert self.process.stdin is not None
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def until(self, text: str) -> str:
        """Read until ``text`` was said, and return what came before it since the last call."""
        assert self.process.stdout is not None
        while (found := self.seen.find(text, self._read_to)) < 0:
            block = os.read(self.process.stdout.fileno(), 65536)
            assert block, f"the console ended without saying {text!r}; it said:\n{self.seen}"
            self.seen += _text(block)
        before = self.seen[self._read_to : found]
        self._read_to = found + len(text)
        return before

    def ends(self) -> int:
        """Close the pipe, read the rest, and return the exit status."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.seen += _text(self.process.stdout.read())
        status = self.process.wait()
        assert "Traceback" not in self.seen, self.seen
        return status

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._watchdog.cancel()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None and not stream.closed:
                with suppress(BrokenPipeError):  # the console was gone before it read its last line
                    stream.close()


def unprivileged() -> list[str]:
    """The start of a command line that takes from root the right to ignore file modes; nothing for anybody else."""
    if os.geteuid() != 0:
        return []
    if sys.platform != "linux":
        pytest.skip("root ignores file modes, and only Linux lets a process give that up")
    bound = "[lib.prctl(24, right, 0, 0, 0) for right in (1, 2)]"  # PR_CAPBSET_DROP: DAC_OVERRIDE, DAC_READ_SEARCH
    launch = f"import ctypes, os, sys; lib = ctypes.CDLL(None); {bound}; os.execv(sys.argv[1], sys.argv[1:])"
    return [sys.executable, "-I", "-S", "-c", launch]


def ledger_rows(text: str) -> list[dict[str, str]]:
    """Every ledger in ``text``: what each row says. Any other shape than the three rows is a failure."""
    rows = re.findall(r"^  (conversation|snapshot|context) +((?:un)?changed .*)$", text, re.MULTILINE)
    names = [name for name, _ in rows]
    assert names == ["conversation", "snapshot", "context"] * (len(rows) // 3), text
    said = [(name, " ".join(what.split())) for name, what in rows]
    return [dict(said[at : at + 3]) for at in range(0, len(said), 3)]


def files_under(root: Path) -> dict[str, bytes]:
    """Every file below ``root`` with its bytes, locks left out."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.name.endswith(".lock")
    }


def interrupt(process: subprocess.Popen[bytes]) -> None:
    """Send what Ctrl-C sends."""
    process.send_signal(signal.SIGINT)


def _text(shown: bytes) -> str:
    return shown.decode("utf-8").replace("\r\n", "\n")
