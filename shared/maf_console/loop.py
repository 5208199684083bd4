"""The loop of a console: read a line, do it, until the input ends.

Lines are read in the main thread while nothing else runs; each command or question runs to its end in the event loop.
Ctrl-C during an answer cancels the turn, and the loop goes on. A command is finished in spite of Ctrl-C: half of one
would leave the disk and this process with two different stories.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Coroutine, Sequence
from typing import Any, Protocol

from maf_console.commands import Advice, Call, Command, Question, read_line
from maf_console.screen import Screen
from maf_memory.errors import MafMemoryError

INTERRUPTED = 130

START_REMEDY = "Copy it and look at it first. Another MAF_STATE_ROOT starts afresh; --reset-state=true destroys it."
"""What can be done about a file that is refused at the start, the careful way first."""


class Demo(Protocol):
    """What the loop needs of a demo."""

    @property
    def commands(self) -> Sequence[Command]:
        """The commands, in the order of the help page."""
        ...

    @property
    def elsewhere(self) -> Sequence[str]:
        """The usage lines of the other demo's commands that this one has not."""
        ...

    @property
    def other(self) -> str:
        """The name of the other demo."""
        ...

    async def start(self) -> None:
        """Open the store and say what was found again."""
        ...

    async def ask(self, question: str) -> None:
        """Put a question, show the answer, and keep what is to be kept."""
        ...

    def remedy(self, error: MafMemoryError) -> str:
        """Return what the person can do about ``error`` in this program, or an empty text."""
        ...

    @property
    def unsaved(self) -> bool:
        """Whether something that should have been saved was not."""
        ...


class Quit(Exception):
    """Raised by the command that leaves."""


class Lines:
    """Where lines come from: a terminal with a prompt, or a pipe without."""

    def __init__(self, prompt: str, screen: Screen, *, echo: bool) -> None:
        self._prompt = prompt
        self._screen = screen
        self._echo = echo
        self.interactive = sys.stdin.isatty()
        if self.interactive:
            self._edit_lines()

    @staticmethod
    def _edit_lines() -> None:
        """Let the terminal edit and recall lines, in memory only; Windows consoles do it by themselves."""
        try:
            import readline
        except ImportError:
            return
        # Pasted text is shown as typed, without the markers that some terminals put around it.
        readline.parse_and_bind("set enable-bracketed-paste off")

    @staticmethod
    def cleared() -> bool:
        """Whether the Ctrl-C that was just read cleared a line with text on it."""
        readline = sys.modules.get("readline")
        return readline is not None and bool(readline.get_line_buffer())

    def next(self) -> str:
        """Return the next line. Raises EOFError after the last one."""
        if self.interactive:
            try:
                return input(self._prompt)
            except OSError as error:
                raise self._screen.lost(error) from error
        try:
            line = sys.stdin.readline()
        except OSError as error:
            self._screen.error(f"The input cannot be read: {error.strerror}.")
            raise EOFError from error
        if not line:
            raise EOFError
        line = line.rstrip("\r\n")
        if self._echo:
            self._screen.typed(self._prompt, line)
        return line


class Console:
    """Runs one demo and keeps its exit status."""

    def __init__(self, demo: Demo, screen: Screen, lines: Lines) -> None:
        self._demo = demo
        self._screen = screen
        self._lines = lines
        self._failed = False

    def run(self) -> int:
        """Return the exit status: 0, 1 (refused at start, unsaved at the end, or a failed line in a pipe), or 130."""
        with asyncio.Runner() as runner:
            try:
                runner.run(self._demo.start())
            except MafMemoryError as error:
                self._report(error)
                return 1
            except KeyboardInterrupt:
                return INTERRUPTED
            return self._serve(runner)

    def _serve(self, runner: asyncio.Runner) -> int:
        while True:
            try:
                line = self._lines.next()
            except EOFError:
                if self._lines.interactive:
                    self._screen.notice("")
                break
            except KeyboardInterrupt:
                if not self._lines.interactive:
                    return INTERRUPTED
                self._screen.notice("" if self._lines.cleared() else "\nquit leaves (or Ctrl-D).")
                continue
            try:
                self._do(runner, line)
            except Quit:
                break
            except KeyboardInterrupt:
                self._settle(runner)
                if not self._lines.interactive:
                    return INTERRUPTED
        if self._demo.unsaved:
            self._screen.notice("The last answer was never saved.")
            return 1
        return 1 if self._failed and not self._lines.interactive else 0

    def _do(self, runner: asyncio.Runner, line: str) -> None:
        demo = self._demo
        match read_line(line, demo.commands, elsewhere=demo.elsewhere, program=demo.other):
            case Call(command, text):
                self._finish(runner, _whole(command.run(text)))
            case Question(text):
                self._finish(runner, demo.ask(text))
            case Advice(text):
                self._failed = True
                self._screen.notice(text)

    def _finish(self, runner: asyncio.Runner, work: Coroutine[Any, Any, None]) -> None:
        try:
            runner.run(work)
        except MafMemoryError as error:
            self._report(error)

    def _settle(self, runner: asyncio.Runner) -> None:
        """Wait for what a second Ctrl-C left unfinished; a third one leaves without waiting."""
        try:
            for failure in runner.run(self._others()):
                self._report(failure)
        except KeyboardInterrupt:
            # A thread waits for a disk that does not answer, and an orderly end would wait for the thread. A save
            # that is killed leaves the old file or the new one, whole.
            os._exit(INTERRUPTED)

    async def _others(self) -> list[MafMemoryError]:
        """Wait for every other task of the loop, and return the errors that they ended with, each once."""
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if not others:
            return []
        self._screen.notice("Waiting for the disk; one more Ctrl-C leaves at once.")
        outcomes = await asyncio.gather(*others, return_exceptions=True)
        return list(dict.fromkeys(outcome for outcome in outcomes if isinstance(outcome, MafMemoryError)))

    def _report(self, error: MafMemoryError) -> None:
        self._failed = True
        remedy = self._demo.remedy(error)
        self._screen.error(f"{error} {remedy}".strip())


async def _whole(work: Coroutine[Any, Any, None]) -> None:
    """Finish ``work`` even when this task is cancelled, and pass the cancellation on then; its own error wins."""
    task = asyncio.ensure_future(work)
    interrupted = False
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            interrupted = True
    task.result()
    if interrupted:
        raise asyncio.CancelledError
