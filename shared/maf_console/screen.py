"""The one place that prints: answers and results to stdout, everything about the run to stderr."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import TextIO

_VISIBLE: dict[int, int | str] = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"},
    0x7F: 0x2421,
    **{code: f"\\x{code:02x}" for code in range(0x80, 0xA0)},
    **{code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))},
}
"""Control characters, and what stands for them: the pictures of Unicode, or an escape.

The last ones override the direction of writing, and can make a line show other than it is. Text of right-to-left
scripts does not need them.
"""


def harmless(text: str) -> str:
    """Return ``text`` with every control character made visible, so that data never drives the terminal."""
    return text.translate(_VISIBLE)


def _fitted(text: str, stream: TextIO) -> str:
    """Return ``text`` broken for a narrow terminal, with the columns kept; as it is for anything else."""
    if not stream.isatty():
        return text
    from maf_console.fitting import fitted  # imported late: only a terminal has columns

    return fitted(text, shutil.get_terminal_size().columns)


class OutputLost(Exception):
    """Raised when a stream takes no more text: its reader is gone, or the disk behind it is full."""

    def __init__(self, stream: TextIO, error: OSError) -> None:
        self.stream = stream
        self.error = error
        super().__init__(str(error))


class Screen:
    """Writes lines, streamed answers and errors, each flushed at once so that the two streams keep their order."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self._out = sys.stdout if out is None else out
        self._err = sys.stderr if err is None else err
        self._in_answer = False

    def result(self, text: str) -> None:
        """Show what a command found or did."""
        self.end_answer()
        self._write(self._out, _fitted(harmless(text), self._out) + "\n")

    def document(self, text: str) -> None:
        """Show what another program is to read, exactly as it is: whoever made it has made it harmless."""
        self.end_answer()
        self._write(self._out, text)

    def answer(self, piece: str) -> None:
        """Show a piece of a streamed answer."""
        self._in_answer = True
        self._write(self._out, harmless(piece))

    def end_answer(self) -> None:
        """Finish the line of a streamed answer, if one is open."""
        if self._in_answer:
            self._in_answer = False
            self._write(self._out, "\n")

    def notice(self, text: str) -> None:
        """Say something about the run that is neither an answer nor a result."""
        self.end_answer()
        self._write(self._err, _fitted(harmless(text), self._err) + "\n")

    def error(self, text: str) -> None:
        """Say what went wrong, in one line; red on a terminal, and told by its first word everywhere."""
        self.end_answer()
        line = "error: " + harmless(" ".join(text.splitlines()))
        if not self._err.isatty():
            self._write(self._err, line + "\n")
            return
        from rich.console import Console  # imported late: only a terminal that shows an error needs it

        console = Console(file=self._err, highlight=False, markup=False, emoji=False)
        with console.capture() as capture:
            console.print(line, style="red", soft_wrap=True)  # bold would stay under NO_COLOR
        self._write(self._err, capture.get())

    def typed(self, prompt: str, line: str) -> None:
        """Show a line that came through a pipe as a terminal would show it."""
        self.end_answer()
        self._write(self._out, f"{prompt}{harmless(line)}\n")

    def lost(self, error: OSError) -> OutputLost:
        """Return what to raise when somebody else, as the prompt does, could not write to the output."""
        _let_go(self._out)
        return OutputLost(self._out, error)

    @staticmethod
    def _write(stream: TextIO, text: str) -> None:
        try:
            stream.write(text)
            stream.flush()
        except OSError as error:
            _let_go(stream)
            raise OutputLost(stream, error) from error


def _let_go(stream: TextIO) -> None:
    """Send what is still buffered to nowhere; else the interpreter tries again at its end, and complains."""
    with suppress(OSError, ValueError):  # a stream without a descriptor keeps nothing for the end
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def open_streams() -> None:
    """Make pipes UTF-8 on every platform, and let no character of data stop the program.

    A stream that was closed by whoever started the program is opened on nothing: else its number would go to the
    next file that is opened, and that file is a person's state.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - for the whole run
    if isinstance(sys.stdin, TextIOWrapper):
        # Some shells put a byte order mark in front of what they pipe; it is no part of the first line.
        encoding = None if sys.stdin.isatty() else "utf-8-sig"
        sys.stdin.reconfigure(encoding=encoding, errors="surrogateescape")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")
