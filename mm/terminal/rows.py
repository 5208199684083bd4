"""The rows in which a text is drawn: ↑ goes up one of them, and recalls from the first one only."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from prompt_toolkit.layout.screen import Char
from prompt_toolkit.utils import get_cwidth

if TYPE_CHECKING:
    from prompt_toolkit.document import Document


def row_above(document: Document, columns: int) -> int | None:
    """Return the place in the text one row of ``columns`` cells above the cursor; ``None`` on the first row."""
    line, column = document.cursor_position_row, document.cursor_position_col
    starts, row = _at(document.lines[line], column, columns)
    if row == 0 and line == 0:
        return None
    across = _cells(document.lines[line][starts[row] : column])
    if row == 0:
        line -= 1
        starts = _starts(document.lines[line], columns)
        row = len(starts)
    return document.translate_row_col_to_index(line, _place(document.lines[line], starts, row - 1, across))


def row_below(document: Document, columns: int) -> int | None:
    """Return the place one row below the cursor; ``None`` on the last row."""
    line, column = document.cursor_position_row, document.cursor_position_col
    starts, row = _at(document.lines[line], column, columns)
    is_last = row == len(starts) - 1
    if is_last and line == document.line_count - 1:
        return None
    across = _cells(document.lines[line][starts[row] : column])
    if is_last:
        line += 1
        starts = _starts(document.lines[line], columns)
        row = -1
    return document.translate_row_col_to_index(line, _place(document.lines[line], starts, row + 1, across))


def _at(text: str, column: int, columns: int) -> tuple[Sequence[int], int]:
    starts = _starts(text, columns)
    return starts, bisect_right(starts, column) - 1


def _starts(text: str, columns: int) -> Sequence[int]:
    """Return where each row of a line begins; the cursor behind the last character has a cell of its own."""
    columns = max(columns, 2)  # or a wide character would have no row
    if text.isascii() and text.isprintable():
        return range(0, len(text) + 1, columns)
    starts, used = [0], 0
    for place, character in enumerate(f"{text} "):
        cells = _cells(character)
        if used + cells > columns:
            starts.append(place)
            used = 0
        used += cells
    return starts


def _place(text: str, starts: Sequence[int], row: int, across: int) -> int:
    """Return the place in a row that is ``across`` cells from its start, or the row's last one."""
    end = starts[row + 1] - 1 if row + 1 < len(starts) else len(text)
    place = starts[row]
    while place < end and (cells := _cells(text[place])) <= across:
        across -= cells
        place += 1
    return place


def _cells(text: str) -> int:
    return sum(get_cwidth(Char.display_mappings.get(one, one)) for one in text)
