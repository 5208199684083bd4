"""What the window shows: text that is only ever appended, in which nothing that was said commands the terminal.

A colour never carries the meaning alone: an error begins with ``Error:``, a removed line of a change with ``-``.
"""

from __future__ import annotations

import io
from typing import TextIO

from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.segment import Segment, Segments
from rich.style import Style

from maf_memory.text import one_line

QUIET, LOUD, STRONG = "dim", "bold red", "bold"
"""Styles: what the program says beside the answer, an error, and what stands out."""


class Screen:
    """Answers go to ``answers``, everything else to ``rest``; on a terminal both are the same."""

    def __init__(self, answers: TextIO, rest: TextIO) -> None:
        for stream in (answers, rest):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")
        self._answers = Console(file=answers, highlight=False, markup=False, emoji=False)
        self._rest = self._answers if rest is answers else Console(file=rest, highlight=False, markup=False)
        self._in_a_line = False

    @property
    def width(self) -> int:
        """How many columns the terminal has now."""
        return self._rest.width

    def answer(self, text: str, style: str = "") -> None:
        """Append a piece of an answer as it is; it was made visible before."""
        if text:
            _append(self._answers, text, style)
            self._in_a_line = not text.endswith("\n")

    def end_answer(self) -> None:
        """Begin a new line where the answer has not."""
        if self._in_a_line:
            _append(self._answers, "\n", "")
            self._in_a_line = False

    def say(self, text: str = "", style: str = "") -> None:
        """Show a text of the program in whole lines; what is quoted in it may hold anything."""
        from maf_memory.sessions.export.visible import visible

        self.end_answer()
        _append(self._rest, f"{visible(text)}\n", style)

    def line(self, text: str, style: str = "") -> None:
        """Show one line of the program; what does not print is escaped, and nothing is cut."""
        self.end_answer()
        _append(self._rest, f"{one_line(text, 20_000)}\n", style)

    def short_line(self, text: str, style: str = "") -> None:
        """Show one line that stays one on a narrow terminal: it is cut to the width."""
        self.line(fitted(one_line(text, 2_000), self.width - 1), style)

    def notice(self, text: str) -> None:
        """Show what the program has to say beside the answer."""
        self.line(text, QUIET)

    def error(self, text: str) -> None:
        """Show an error in one red line."""
        self.line(f"Error: {text}", LOUD)


def fitted(text: str, columns: int) -> str:
    """Return ``text`` cut to ``columns``, with an ellipsis where it was longer."""
    if cell_len(text) <= columns:
        return text
    return f"{chop_cells(text, max(columns - 1, 1))[0].rstrip()}…"


def _append(console: Console, text: str, style: str) -> None:
    console.print(Segments([Segment(text, Style.parse(style) if style else None)]), crop=False, end="")
    console.file.flush()
