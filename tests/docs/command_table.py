"""The tables of docs/forget-and-reset.md: what each command does to each of the three supports, as the page says it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HEADING = re.compile(r"## (demo1[34]0)\b")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: the program, the first cell, and the cells for conversation, snapshot and context."""

    program: str
    command: str
    cells: tuple[str, str, str]

    def __str__(self) -> str:
        """Return the line's name for a test report."""
        return f"{self.program}: {self.command}"

    @property
    def typed(self) -> str | None:
        """The command as it is typed, from the first cell's code; ``None`` for a line that names none."""
        code = re.search(r"`([^`]+)`", self.command)
        return code[1] if code else None


def rows(page: str) -> Iterator[Row]:
    """Yield the lines of the tables that stand under a heading which starts with a program's name."""
    program = None
    for line in page.split("\n"):
        if line.startswith("## "):
            heading = _HEADING.match(line)
            program = heading[1] if heading else None
        elif program and line.startswith("| ") and not line.startswith("| command |"):
            command, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            conversation, snapshot, context = cells
            yield Row(program, command, (conversation, snapshot, context))
