"""Breaks lines for a terminal, so that it breaks none itself: what it breaks goes on in its first column.

There the program's own lines begin. What a person, a model or a tool wrote is indented, and stays so: a line that goes
on keeps the indent, or the columns, of the line that it continues, and never begins in the first column.
"""

from __future__ import annotations

import re
import unicodedata

from rich.cells import get_character_cell_size

LEAST = 8
"""The narrowest terminal that lines are broken for."""

_HANGING = 2
"""What a line goes on with that itself begins in the first column."""

_COLUMN = re.compile(r"  \S+(?: [A-Z]+| root)? {2,}(?:(?:un)?changed +)?")
"""The first columns of a table's line: of the ledger, of ``where``, of ``help`` and of the banner."""

_CHUNK = re.compile(" +|[^ ]+")
_MAY_SHOW = "\ufe0f\xad"
"""What some terminals show, or widen the character before it by, and others do not."""


def fitted(text: str, width: int) -> str:
    """Return ``text`` with no line wider than ``width`` cells: broken at words, and a longer word within it."""
    width = max(width, LEAST)
    lines = text.split("\n")
    return "\n".join(line if _fits(line, width) else _broken(_untabbed(line), width) for line in lines)


def cells(text: str) -> int:
    """Return how many columns a terminal takes for ``text`` without tabs; where they differ, the most."""
    return len(text) if text.isascii() else sum(map(_cells_of, text))


def _cells_of(character: str) -> int:
    size = get_character_cell_size(character)
    return size or int(character in _MAY_SHOW or unicodedata.category(character).startswith("L"))


def _fits(line: str, width: int) -> bool:
    return cells(_untabbed(line) if "\t" in line else line) <= width


def _untabbed(line: str) -> str:
    shown: list[str] = []
    used = 0
    for place, part in enumerate(line.split("\t")):
        blank = " " * (8 - used % 8) if place else ""
        shown += (blank, part)
        used += len(blank) + cells(part)
    return "".join(shown)


def _broken(line: str, width: int) -> str:
    words = line.lstrip(" ")
    start = min(len(line) - len(words), width // 2)  # a terminal would break a wider blank, too
    column = _COLUMN.match(line)
    indent = cells(column[0]) if column and cells(column[0]) < width // 2 else start or _HANGING
    rows, row, room = [], " " * start, width - start
    for chunk in _CHUNK.findall(words):
        size = cells(chunk)
        if size <= room:
            row, room = row + chunk, room - size
            continue
        if chunk[0] == " " or size <= width - indent:
            rows.append(row)
            row, room = " " * indent, width - indent
        if chunk[0] == " ":
            continue  # no row begins with the blank at which the one before it was broken
        if size <= room:
            row, room = row + chunk, room - size
            continue
        pieces = [row]
        for character in chunk:
            if _cells_of(character) > room:
                rows.append("".join(pieces))
                pieces, room = [" " * indent], width - indent
            pieces.append(character)
            room -= _cells_of(character)
        row = "".join(pieces)
    return "\n".join(one.rstrip(" ") for one in (*rows, row))
