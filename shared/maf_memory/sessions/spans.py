"""A text of which some spans are accounted for: where a place is, what stands elsewhere, and which lines are left."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator

_BLANK = re.compile(r"\s*")
_NOTHING = re.compile(r"[\s{}\[\],]*")


class Spans:
    """The spans of one text that are accounted for; none reaches into another."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._breaks = [found.start() for found in re.finditer("\n", text)]
        self._spans: list[tuple[int, int]] = []

    def account(self, start: int, end: int) -> None:
        """Account for what stands from ``start`` to before ``end``."""
        bisect.insort(self._spans, (start, end))

    def holds(self, position: int) -> bool:
        """Whether what stands at ``position`` is accounted for."""
        before = bisect.bisect_right(self._spans, position, key=lambda span: span[0])
        return before > 0 and position < self._spans[before - 1][1]

    def elsewhere(self, pattern: re.Pattern[str]) -> list[re.Match[str]]:
        """Return the matches that begin where nothing is accounted for."""
        return [found for found in pattern.finditer(self.text) if not self.holds(found.start())]

    @property
    def end(self) -> int:
        """Where the last span ends."""
        return self._spans[-1][1] if self._spans else 0

    def line(self, position: int) -> int:
        """Return the line of ``position``, from 1."""
        return bisect.bisect_left(self._breaks, position) + 1

    def margin(self, position: int) -> int:
        """Return where the first thing on the line of ``position`` stands, at most there."""
        found = _BLANK.match(self.text, self._start_of_line(position), position)
        return found.end() if found else position

    def indent(self, position: int) -> int | None:
        """Return how far from its line's start ``position`` is, or ``None`` where something stands before it."""
        return position - self._start_of_line(position) if self.margin(position) == position else None

    def _start_of_line(self, position: int) -> int:
        line = self.line(position)
        return self._breaks[line - 2] + 1 if line > 1 else 0

    def rest(self) -> Iterator[tuple[int, str, bool]]:
        """Yield each line with more than punctuation that is not accounted for.

        With it comes what stands there, and whether another part of the line is accounted for.
        """
        rests: dict[int, str] = {}
        position = 0
        for start, end in (*self._spans, (len(self.text), 0)):
            for number, rest in enumerate(self.text[position:start].split("\n"), start=self.line(position)):
                if not _NOTHING.fullmatch(rest):
                    rests[number] = rests.get(number, "") + rest
            position = max(position, end)
        shared = {line for start, end in self._spans for line in (self.line(start), self.line(end - 1))}
        for number in sorted(rests):
            yield number, rests[number], number in shared
