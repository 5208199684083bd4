"""An answer as it arrives: the characters that the model wrote, and nothing twice.

Markdown stays text, so that what was streamed never has to be taken back, and can be copied as the model wrote it.
Headings and code stand out by their style alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from maf_memory.sessions.export.visible import visible
from mm.terminal.screen import STRONG

CODE = "cyan"

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6} ")
_UNDECIDED = re.compile(r" {0,3}(#{0,6}|`{0,2}|~{0,2})\Z")


class Prose:
    """Takes pieces of text and shows each as soon as it is known how its line begins."""

    def __init__(self, show: Callable[[str, str], None]) -> None:
        """Show by ``show(text, style)``."""
        self._show = show
        self._held = ""
        self._fence: str | None = None
        self._style: str | None = None  # of the line at hand; None where it has not begun

    def write(self, piece: str) -> None:
        """Take a piece; half a line end and an undecided start of a line wait for the next one."""
        text = self._held + piece
        self._held = "\r" if text.endswith("\r") else ""
        lines = visible(text.removesuffix("\r")).split("\n")
        for line in lines[:-1]:
            self._part(line, ends=True)
        self._part(lines[-1], ends=False)

    def end(self) -> None:
        """Show what still waits."""
        held, self._held = self._held, ""
        if held:
            self._show(visible(held.removesuffix("\r")), self._style or "")
        self._style = None

    def _part(self, part: str, *, ends: bool) -> None:
        if self._style is None:
            if not ends and _UNDECIDED.match(part):
                self._held = part + self._held
                return
            self._style = self._style_of(part)
        self._show(f"{part}\n" if ends else part, self._style)
        if ends:
            self._style = None

    def _style_of(self, line: str) -> str:
        fence = _FENCE.match(line)
        if self._fence is not None:
            if fence and fence[1].startswith(self._fence):
                self._fence = None
            return CODE
        if fence:
            self._fence = fence[1]
            return CODE
        return STRONG if _HEADING.match(line) else ""
