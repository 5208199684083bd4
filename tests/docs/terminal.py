"""One real terminal with a plain ``sh`` in it: type a line, and get what it showed and which prompt came back.

Nothing is waited for but prompts. The shell's own prompt is a token that no program prints by chance.
"""

from __future__ import annotations

import os
import re
import secrets
import signal
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from .page import PROGRAMS, SHELL, PageFailure

COLUMNS = 400  # a dumb terminal scrolls longer lines sideways
SECONDS = 30.0


class Shown(NamedTuple):
    """What a typed line showed, and the prompt that came back."""

    lines: list[str]
    prompt: str


class ShellTerminal:
    """A pseudo-terminal of 400 columns in which ``sh`` runs, with exactly the environment given."""

    def __init__(self, environment: Mapping[str, str], folder: Path, *, seconds: float = SECONDS) -> None:
        import pexpect  # POSIX only, as pseudo-terminals are

        self._ended = (pexpect.TIMEOUT, pexpect.EOF)
        self._seconds = seconds
        token, more = f"sh-{secrets.token_hex(8)}", f"more-{secrets.token_hex(8)}"
        programs = "|".join(map(re.escape, PROGRAMS))
        # A program's prompt starts a line and ends what was shown so far; re-reading a longer output is never needed.
        self._patterns = [
            re.compile(re.escape(token)),
            re.compile(re.escape(more)),
            re.compile(rf"(?<![^\n])(?:{programs})\Z"),
            *self._ended,
        ]
        with warnings.catch_warnings():
            # The child becomes sh at once, so the threads of the test process are no danger to it.
            warnings.filterwarnings("ignore", message=".*multi-threaded.*fork", category=DeprecationWarning)
            self._child = pexpect.spawn(
                "/bin/sh",
                ["-i"],
                env=dict(environment),
                cwd=str(folder),
                dimensions=(50, COLUMNS),
                encoding="utf-8",
                timeout=seconds,
            )
        self._child.delaybeforesend = None
        self._child.ptyproc.delayafterclose = 0
        # The tokens are typed in two halves, so that their echo is no prompt.
        self._send(f"PS1='{token[:5]}''{token[5:]}' PS2='{more[:5]}''{more[5:]}'")
        self._wait("the start of sh")
        self.prompt = SHELL

    def __enter__(self) -> Self:
        """Return the terminal."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Kill what is left."""
        self._kill_shell()

    def type(self, line: str) -> Shown:
        """Type one line at the prompt and return what it showed.

        Raises:
            PageFailure: no prompt came back in time, or the shell ended.
        """
        self._send(line)
        self.prompt = self._wait(f"«{self.prompt}{line}»")
        echo, *lines = self._child.before.replace("\r\n", "\n").split("\n")
        if echo.strip() != line.strip():
            raise PageFailure(
                f"«{line}» came back from the terminal as «{echo}»: can it be typed in {COLUMNS} columns?"
            )
        if lines and not lines[-1]:
            lines.pop()
        return Shown([shown.rstrip() for shown in lines], self.prompt)

    def close_window(self) -> None:
        """Kill the running program, as a closed window may do, wait for its end, and kill the shell."""
        for running in self._groups() - {self._child.pid}:
            os.killpg(running, signal.SIGKILL)
            self._wait("the end of the killed program")
        self._kill_shell()

    def _send(self, line: str) -> None:
        self._child.send(line + "\n")

    def _wait(self, what: str) -> str:
        match self._child.expect(self._patterns):
            case 0:
                return SHELL
            case 1:
                raise PageFailure(f"After {what} the shell waits for the rest of a command: is a quote left open?")
            case 2:
                return str(self._child.match.group())
            case 3:
                shown = self._child.before[-400:]
                raise PageFailure(
                    f"After {what} no prompt came within {self._seconds:g} s; the terminal ends with {shown!r}"
                )
            case _:
                raise PageFailure(f"After {what} the terminal was closed: the shell ended.")

    def _kill_shell(self) -> None:
        if self._child.closed:
            return
        for group in self._groups():
            with suppress(ProcessLookupError):  # it has ended by itself
                os.killpg(group, signal.SIGKILL)
        if self._child.isalive():
            self._child.wait()
        self._child.close(force=True)

    def _groups(self) -> set[int]:
        """Return the process groups of the shell and of what runs in the foreground; never this process's own."""
        if not self._child.isalive():  # a terminal without a shell has group 0 in the foreground, which would be ours
            return set()
        return {self._child.pid, os.tcgetpgrp(self._child.child_fd)} - {0}
