"""Starts the consoles as people do: real processes, with a pipe or a pseudo-terminal in front of them.

Three ways, from the cheapest: :func:`piped` gives all lines at once, :class:`Piped` one after the other, and
:class:`Terminal` types them on a pseudo-terminal (POSIX only).
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

PATIENCE = 30
"""Seconds after which a console that says nothing counts as stuck; no test waits for it when all is well."""

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX: a pseudo-terminal, signals or modes")

PROGRAMS = ("demo130", "demo140")


def command(program: str, *options: str) -> list[str]:
    """The command line of a console; a warning in it is an error."""
    return [sys.executable, "-W", "error", "-m", program, *options]


def environment(**changes: str | None) -> dict[str, str]:
    """The test's own environment with ``changes`` (None removes), and import paths that hold in any folder."""
    paths = [str(Path(path).absolute()) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "INPUTRC": os.devnull, "TERM": "dumb"}
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
    """Run a console to its end on ``lines``; ``before`` is a command that starts it. Nothing of it may be a traceback."""
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
            command(program, *options),
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

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._watchdog.cancel()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None and not stream.closed:
                try:
                    stream.close()
                except BrokenPipeError:
                    pass  # the console was gone before it read its last line


# Python warns where a process with threads forks (pexpect's own spawn does); a child that takes the terminal by
# itself needs no fork of this process.
_TAKE_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
terminal = os.open(os.ttyname(0), os.O_RDWR)
fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
for number in (0, 1, 2):
    os.dup2(terminal, number)
os.execv(sys.argv[1], sys.argv[1:])
"""


class Terminal:
    """A console on a pseudo-terminal of 24 lines and 400 columns, so that no long line is scrolled sideways."""

    def __init__(self, program: str, *options: str, **environ: str | None) -> None:
        import termios

        import pexpect.fdpexpect

        master, slave = os.openpty()
        termios.tcsetwinsize(slave, (24, 400))
        launcher = [sys.executable, "-I", "-S", "-c", _TAKE_TERMINAL]
        self.prompt = f"{program}> "
        started = [*launcher, *command(program, *options)]
        self.process = subprocess.Popen(started, stdin=slave, env=environment(**environ))
        os.close(slave)
        self._master = master
        self._lines = pexpect.fdpexpect.fdspawn(master, timeout=PATIENCE, encoding="utf-8", codec_errors="replace")

    def until(self, text: str) -> str:
        """Read until ``text`` was shown, and return what stood before it since the last call."""
        self._lines.expect_exact(text)
        before = self._lines.before
        assert isinstance(before, str)
        return before.replace("\r\n", "\n")

    def says(self, line: str) -> str:
        """Type a line at the prompt, and return what is shown until the next prompt, without the typed line."""
        self.type(line + "\n")
        self.until(line)
        return self.until(self.prompt).lstrip("\n")

    def type(self, keys: str) -> None:
        """Press keys; control characters are keys too."""
        os.write(self._master, keys.encode())

    def ends(self) -> tuple[int, str]:
        """Wait for the end and return the exit status and what was shown since the last call."""
        import pexpect

        self._lines.expect(pexpect.EOF)
        rest = self._lines.before
        assert isinstance(rest, str)
        assert "Traceback" not in rest, rest
        return self.process.wait(PATIENCE), rest.replace("\r\n", "\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._lines.close()


def unprivileged() -> list[str]:
    """The start of a command line that takes from root the right to ignore file modes; nothing for anybody else."""
    if os.geteuid() != 0:
        return []
    if sys.platform != "linux":
        pytest.skip("root ignores file modes, and only Linux lets a process give that up")
    bound = "[lib.prctl(24, right, 0, 0, 0) for right in (1, 2)]"  # PR_CAPBSET_DROP: DAC_OVERRIDE, DAC_READ_SEARCH
    launch = f"import ctypes, os, sys; lib = ctypes.CDLL(None); {bound}; os.execv(sys.argv[1], sys.argv[1:])"
    return [sys.executable, "-I", "-S", "-c", launch]


@dataclass(frozen=True)
class Script:
    """A scripted model for a real process, and what it was sent."""

    path: Path

    @classmethod
    def of(cls, folder: Path, *replies: Any) -> Script:
        """Write a script; ``record`` beside it takes the requests."""
        folder.mkdir(parents=True, exist_ok=True)
        script = cls(folder / "script.json")
        script.path.write_text(json.dumps({"replies": replies, "record": "requests.jsonl"}), encoding="utf-8")
        script.record.unlink(missing_ok=True)
        return script

    @property
    def record(self) -> Path:
        """The file of recorded requests."""
        return self.path.with_name("requests.jsonl")

    @property
    def option(self) -> str:
        """The option that chooses this script."""
        return f"--chat=script:{self.path}"

    def requests(self) -> list[list[tuple[str, str]]]:
        """The messages of each request, as (role, text)."""
        return [
            [(message["role"], "".join(part.get("text", "") for part in message["contents"])) for message in one["messages"]]
            for one in self._recorded()
        ]

    def instructions(self) -> list[str]:
        """The instructions of each request."""
        return [one["options"]["instructions"] for one in self._recorded()]

    def _recorded(self) -> list[Mapping[str, Any]]:
        return [json.loads(line) for line in self.record.read_text(encoding="utf-8").split("\n") if line]


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


@contextmanager
def lock_held(path: Path) -> Iterator[None]:
    """Hold the lock of a store's file, as another console does while it saves."""
    import filelock

    with filelock.FileLock(path.with_name(f".{path.name}.lock")):
        yield


def interrupt(process: subprocess.Popen[bytes]) -> None:
    """Send what Ctrl-C sends."""
    process.send_signal(signal.SIGINT)


def _text(shown: bytes) -> str:
    return shown.decode("utf-8").replace("\r\n", "\n")
