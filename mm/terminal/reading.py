"""Where a person's lines come from, and the plain way: a line at a time, for dumb terminals and pipes."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from types import FrameType
from typing import Protocol, TextIO

IS_DUMB = frozenset({"dumb", "unknown"})


class Reader(Protocol):
    """Reads what a person writes."""

    is_plain: bool
    """Whether there are no keys but lines: no recall, no picker."""

    async def question(self) -> str:
        """Return the next question or command.

        Raises:
            KeyboardInterrupt: Ctrl-C on an empty line.
            EOFError: Ctrl-D on an empty line.
        """
        ...

    async def choice(self, prompt: str) -> str:
        """Return one line that answers ``prompt``; what was typed before it was shown does not count.

        Raises:
            KeyboardInterrupt, EOFError: as :meth:`question`.
        """
        ...

    def interrupt(self) -> None:
        """Do what Ctrl-C does, when it came as a signal."""
        ...


class Lines:
    """The plain reader: the system's own line editing, and nothing drawn but the prompt."""

    is_plain = True

    def __init__(self, stdin: TextIO, shown: TextIO, prompt: str) -> None:
        """Read from ``stdin`` and show prompts on ``shown``."""
        self._stdin = stdin
        self._shown = shown
        self._prompt = prompt
        self._read = b""
        self._waiting: asyncio.Future[str] | None = None

    async def question(self) -> str:
        """Return the next line."""
        return await self._line(self._prompt)

    async def choice(self, prompt: str) -> str:
        """Return the line that answers ``prompt``."""
        self._read = b""
        forget_typed(self._stdin)
        with echoed(self._stdin):  # a turn is under way, in which what is typed waits unseen
            return await self._line(prompt)

    def interrupt(self) -> None:
        """End the waiting for a line; the system has thrown away what was typed of it."""
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(KeyboardInterrupt())

    async def _line(self, prompt: str) -> str:
        self._shown.write(prompt)
        self._shown.flush()
        loop = asyncio.get_running_loop()
        self._waiting = loop.create_future()
        descriptor = self._stdin.fileno()
        try:
            loop.add_reader(descriptor, self._take, descriptor)
        except NotImplementedError:  # Windows
            return (await asyncio.to_thread(self._stdin.readline)).rstrip("\n")
        try:
            self._offer()
            return await self._waiting
        except (KeyboardInterrupt, EOFError):
            self._shown.write("\n")
            raise
        finally:
            loop.remove_reader(descriptor)
            self._waiting = None

    def _take(self, descriptor: int) -> None:
        assert self._waiting is not None  # noqa: S101 - the reader is removed with it
        try:
            taken = os.read(descriptor, 65_536)
        except OSError:  # the terminal is gone
            taken = b""
        self._read += taken
        if not taken and not self._waiting.done():
            self._waiting.set_exception(EOFError())
        self._offer()

    def _offer(self) -> None:
        line, end, rest = self._read.partition(b"\n")
        if end and self._waiting is not None and not self._waiting.done():
            self._read = rest
            self._waiting.set_result(line.decode("utf-8", "replace"))


def is_plain(stdin: TextIO, stdout: TextIO) -> bool:
    """Whether keys cannot be drawn here: not a terminal on both sides, or a dumb one."""
    return os.environ.get("TERM", "").lower() in IS_DUMB or not (stdin.isatty() and stdout.isatty())


def quiet(stdin: TextIO) -> AbstractContextManager[None]:
    """Let what is typed meanwhile wait unseen, so that it stands in no answer; Ctrl-C is still a signal."""
    return _echo(stdin, is_on=False)


def echoed(stdin: TextIO) -> AbstractContextManager[None]:
    """Show what is typed meanwhile, also within :func:`quiet`."""
    return _echo(stdin, is_on=True)


@contextmanager
def _echo(stdin: TextIO, *, is_on: bool) -> Iterator[None]:
    if sys.platform == "win32" or not stdin.isatty():
        yield
        return
    import termios

    descriptor = stdin.fileno()

    def set_echo() -> None:
        modes = termios.tcgetattr(descriptor)
        modes[3] = modes[3] | termios.ECHO if is_on else modes[3] & ~termios.ECHO
        termios.tcsetattr(descriptor, termios.TCSANOW, modes)

    def continued(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        with suppress(OSError, termios.error):  # the terminal is gone
            if os.tcgetpgrp(descriptor) == os.getpgrp():  # in the background it would be stopped for this
                set_echo()

    before = termios.tcgetattr(descriptor)
    set_echo()
    then = signal.signal(signal.SIGCONT, continued)  # after Ctrl-Z and fg the terminal is as the shell had it
    try:
        yield
    finally:
        signal.signal(signal.SIGCONT, then)
        termios.tcsetattr(descriptor, termios.TCSANOW, before)


def forget_typed(stdin: TextIO) -> None:
    """Throw away what was typed and not read yet: it was no answer to what is asked now."""
    if sys.platform != "win32" and stdin.isatty():
        import termios

        termios.tcflush(stdin, termios.TCIFLUSH)
