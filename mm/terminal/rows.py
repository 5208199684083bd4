"""The rows of a long line as they are drawn: ↑ goes up one of them, and recalls from the first one only."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prompt_toolkit.buffer import Buffer
    from prompt_toolkit.layout import Window


def row_above(window: Window, buffer: Buffer) -> int | None:
    """Return the place in the text one drawn row above the cursor; ``None`` on the first row."""
    return _row(window, buffer, -1)


def row_below(window: Window, buffer: Buffer) -> int | None:
    """Return the place one drawn row below the cursor; ``None`` on the last row."""
    return _row(window, buffer, 1)


def _row(window: Window, buffer: Buffer, step: int) -> int | None:
    document = buffer.document
    here = (document.cursor_position_row, document.cursor_position_col)
    drawn = {} if window.render_info is None else window.render_info._rowcol_to_yx
    if here in drawn:
        height, across = drawn[here]
        beside = {
            x: place
            for place, (y, x) in drawn.items()
            if y == height + step and place[0] < document.line_count and place[1] <= len(document.lines[place[0]])
        }
        if beside:
            nearest = min(beside, key=lambda x: (x > across, abs(x - across)))
            return document.translate_row_col_to_index(*beside[nearest])
    row = here[0] + step  # not drawn, or scrolled out of sight: whole lines then
    return document.translate_row_col_to_index(row, here[1]) if 0 <= row < document.line_count else None
