"""``mm`` in a pseudo-terminal with a model of its screen: keys go in, and what a person would see is looked at."""

from __future__ import annotations

import fcntl
import json
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyte

from tests.consoles import PATIENCE, environment
from tests.mm.brain import conversation_of, drawn

UP, DOWN, TAB, ENTER, ESCAPE = "\x1b[A", "\x1b[B", "\t", "\r", "\x1b"
ALT_ENTER, CTRL_C, CTRL_D, CTRL_O, CTRL_Z, BACKSPACE = "\x1b\r", "\x03", "\x04", "\x0f", "\x1a", "\x7f"

_TAKE_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
terminal = os.open(os.ttyname(0), os.O_RDWR)
fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
for number in (0, 1, 2):
    os.dup2(terminal, number)
os.execv(sys.argv[1], sys.argv[1:])
"""


def pasted(text: str) -> str:
    """What a terminal sends for a paste."""
    return f"\x1b[200~{text}\x1b[201~"


def _unbroken(text: str) -> str:
    return re.sub(r"\s+", "", text)


class _Screen(pyte.HistoryScreen):
    """A screen that knows that a variation selector takes no column: pyte leaves out what stands behind one."""

    def draw(self, data: str) -> None:
        super().draw(data.replace("\ufe0f", ""))


class Window:
    """A running ``mm`` and its screen; everything that scrolled away is remembered, too."""

    def __init__(
        self,
        project: Path,
        *arguments: str,
        columns: int = 100,
        rows: int = 30,
        start: Sequence[str] = ("-m", "mm"),
        **environ: str | None,
    ) -> None:
        self.screen = _Screen(columns, rows, history=5_000, ratio=0.5)
        self.screen.write_process_input = self.press  # type: ignore[method-assign] - where the cursor is, when asked
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self._master, slave = os.openpty()
        self.resize(columns, rows, tell=False)
        environ = {"TERM": "xterm-256color", "COLUMNS": None, "LINES": None, **environ}
        launcher = [sys.executable, "-I", "-S", "-c", _TAKE_TERMINAL]
        self.process = subprocess.Popen(
            [*launcher, sys.executable, "-W", "error", *start, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=project,
            env=environment(**environ),
        )
        os.close(slave)

    def resize(self, columns: int, rows: int, *, tell: bool = True) -> None:
        """Make the terminal another size."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        if tell:
            self.screen.resize(rows, columns)
            self.process.send_signal(signal.SIGWINCH)

    def press(self, keys: str) -> None:
        """Press keys."""
        os.write(self._master, keys.encode())

    @property
    def echoes(self) -> bool:
        """Whether the terminal shows what is typed, in a line that it edits."""
        modes = termios.tcgetattr(self._master)[3]
        return bool(modes & termios.ECHO and modes & termios.ICANON and modes & termios.ISIG)

    @property
    def is_restored(self) -> bool:
        """Whether the terminal is as a shell wants it: what is typed echoes, the cursor shows, a paste is text."""
        pastes = self.raw.rfind(b"\x1b[?2004h") <= self.raw.rfind(b"\x1b[?2004l")
        return self.echoes and pastes and not self.screen.cursor.hidden

    @property
    def lines(self) -> list[str]:
        """The rows that are seen, without the blank ones at the end."""
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip("\n").split("\n")

    @property
    def seen(self) -> str:
        """What is seen on the screen."""
        return "\n".join(self.lines)

    @property
    def everything(self) -> str:
        """What scrolled away, and what is seen."""
        gone = ["".join(row[x].data for x in range(self.screen.columns)).rstrip() for row in self.screen.history.top]
        return "\n".join([*gone, *self.lines])

    def said(self, text: str) -> bool:
        """Whether ``text`` was shown, wherever its lines broke: how long a path is decides where they break."""
        return _unbroken(text) in _unbroken(self.everything)

    def wait(self, what: str | Callable[[Window], bool]) -> Self:
        """Draw what comes until ``what`` is seen."""
        end = time.monotonic() + PATIENCE
        while not (what in self.seen if isinstance(what, str) else what(self)):
            if time.monotonic() > end or not self._draw(0.2):
                if isinstance(what, str) and what in self.seen:
                    break
                raise AssertionError(f"{what!r} was never seen; the screen is:\n{self.everything}")
        return self

    def prompt(self, line: str = ">") -> Self:
        """Wait until the prompt holds ``line``, with the line of status under it."""
        return self.wait(lambda window: window.at_prompt() == line)

    def at_prompt(self) -> str | None:
        """The line at the cursor while the prompt waits, else None."""
        row = self.screen.cursor.y
        line = self.screen.display[row].rstrip()
        status = any(" turns · " in one or " turn · " in one for one in self.screen.display[row + 1 :])
        return line if status else None

    def ask(self, line: str) -> Self:
        """Write a line at the prompt, send it, and wait for the next prompt."""
        self.prompt()
        self.press(line)
        self.wait(lambda window: (window.at_prompt() or "").endswith(line[-20:]))
        self.press(ENTER)
        before = len(self.raw)
        self.wait(lambda window: len(window.raw) > before and window.at_prompt() == ">")
        return self

    def ends(self) -> int:
        """Wait for the end, and return the exit status."""
        end = time.monotonic() + PATIENCE
        while self._draw(0.2):
            assert time.monotonic() < end, f"it does not end; the screen is:\n{self.everything}"
        assert "Traceback" not in self.everything, self.everything
        return self.process.wait(PATIENCE)

    def _draw(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], seconds)
        if not ready:
            return self.process.poll() is None
        try:
            block = os.read(self._master, 65_536)
        except OSError:  # Linux: the other side is closed
            block = b""
        self.raw += block
        self._stream.feed(block.replace(b"\xef\xb8\x8f", b""))  # pyte drops what follows a variation selector
        return bool(block)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._master)


def scripted(project: Path, *replies: Any, more: str = "") -> None:
    """Give the project an agent that answers with ``replies``, and records what it was asked."""
    script = {"replies": list(replies), "record": "requests.jsonl"}
    (project / "replies.json").write_text(json.dumps(script), encoding="utf-8")
    (project / "agent.yaml").write_text(
        f"model: {{provider: script, name: scripted, script: replies.json}}\n{more}", encoding="utf-8"
    )


def requests(project: Path) -> list[dict[str, Any]]:
    """What the model was sent."""
    path = project / "requests.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def last_question(project: Path) -> str:
    """The texts of the last message that the model was sent."""
    return "\n".join(one["text"] for one in requests(project)[-1]["messages"][-1]["contents"] if one["type"] == "text")


async def conversations(project: Path, *questions: str) -> list[str]:
    """One conversation for each question, the last one newest; their ids."""
    ids = []
    for place, question in enumerate(questions):
        conversation, _ = conversation_of(project, [f"answer to {question}"])
        await drawn(conversation.ask(question))
        path = conversation.keeper.path
        record = recorded(path)
        changed = record["updated"].replace(record["updated"][:4], str(1990 + place), 1)
        path.write_text(path.read_text(encoding="utf-8").replace(record["updated"], changed), encoding="utf-8")
        ids.append(conversation.keeper.record.id)
    return ids


def recorded(path: Path) -> dict[str, Any]:
    """What a session's file says."""
    read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return read


def session_of(shown: str) -> str:
    """The id in the line that says how to go on."""
    found = re.search(r"mm (?:--config \S+ )?--resume (\S+)", shown)
    assert found, shown
    return found[1]
