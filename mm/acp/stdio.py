"""The two pipes of the protocol: whole lines in, whole lines out, and nothing else ever on standard output.

Threads read and write, on every platform alike: a pipe, a terminal or a file will do, no descriptor that a parent
shares is made non-blocking, and an editor that does not read holds up nobody but itself.
"""

from __future__ import annotations

import asyncio
import os
import queue
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass

LONGEST_LINE = 32 * 1024 * 1024
"""The longest line that is read, in bytes; an image of some megabytes fits."""

_BLOCK = 256 * 1024


@dataclass(frozen=True, slots=True)
class TooLong:
    """Stands in the place of a line that was longer than is read."""

    size: int


def claimed() -> tuple[int, int]:
    """Take both standard streams for the protocol, and return their descriptors.

    From then on whatever prints, in this process or in one that it starts, prints on standard error, and whatever
    reads standard input finds its end.
    """
    source, target = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0, inheritable=True)
    try:
        os.dup2(2, 1, inheritable=True)
    except OSError:  # standard error was closed before the start
        os.dup2(nowhere, 1, inheritable=True)
    os.close(nowhere)
    sys.stdout = sys.stderr
    return source, target


class Input:
    """The lines that come in; without their ends, and without empty ones."""

    def __init__(self, descriptor: int, *, longest: int = LONGEST_LINE) -> None:
        """Begin to read at once."""
        self._descriptor = descriptor
        self._longest = longest
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[bytes | TooLong | None] = asyncio.Queue()
        threading.Thread(target=self._read, name="mm-acp-input", daemon=True).start()

    async def line(self) -> bytes | TooLong | None:
        """Return the next line, or ``None`` once there is no more."""
        return await self._lines.get()

    def _read(self) -> None:
        with suppress(RuntimeError):  # the loop has ended, and nobody waits for lines any more
            with suppress(OSError):  # a pipe that breaks has ended
                self._read_lines()
            self._hand_over(None)

    def _read_lines(self) -> None:
        begun, length = bytearray(), 0
        while block := os.read(self._descriptor, _BLOCK):
            *ended, rest = block.split(b"\n")
            for piece in ended:
                length += len(piece)
                begun += piece
                if length > self._longest:
                    self._hand_over(TooLong(length))
                elif begun.strip():
                    self._hand_over(bytes(begun))
                begun, length = bytearray(), 0
            length += len(rest)
            if length <= self._longest:
                begun += rest
            else:
                begun.clear()
        if begun.strip():
            self._hand_over(bytes(begun))

    def _hand_over(self, line: bytes | TooLong | None) -> None:
        self._loop.call_soon_threadsafe(self._lines.put_nowait, line)


class Output:
    """The bytes that go out, in the order in which they were given."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._waiting: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]]] = queue.SimpleQueue()
        self.gone = asyncio.Event()
        """Set once nobody reads any more."""
        threading.Thread(target=self._write, name="mm-acp-output", daemon=True).start()

    def write(self, content: bytes) -> asyncio.Future[None]:
        """Put ``content`` in line at once; the future ends when it is written, or when nobody reads any more."""
        written: asyncio.Future[None] = self._loop.create_future()
        self._waiting.put((content, written))
        return written

    def _write(self) -> None:
        is_gone = False
        with suppress(RuntimeError):  # the loop has ended
            while True:
                content, written = self._waiting.get()
                try:
                    left = memoryview(b"" if is_gone else content)
                    while left:
                        left = left[os.write(self._descriptor, left) :]
                except OSError:
                    is_gone = True
                    self._loop.call_soon_threadsafe(self.gone.set)
                self._loop.call_soon_threadsafe(_end, written)


def _end(written: asyncio.Future[None]) -> None:
    if not written.done():
        written.set_result(None)
