"""A bar on the terminal while long work goes on; nothing anywhere else, and nothing for short work."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 0.5
"""Seconds after which a person wonders whether something happens."""


class Bar:
    """Shows how many of how many are done, once the work takes long; it leaves no trace on the screen.

    It is called from the thread that works. ``visible`` says whether there is a terminal that can move its cursor.
    """

    def __init__(self, what: str, *, visible: bool | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        can_move = sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
        self._visible = can_move if visible is None else visible
        self._what = what
        self._clock = clock
        self._begun = clock()
        self._shown: tuple[Progress, TaskID] | None = None

    def __call__(self, done: int, total: int) -> None:
        """Take note of how far the work is."""
        if self._shown is None and self._visible and self._clock() - self._begun >= PATIENCE:
            self._show()
        if self._shown is not None:
            bar, task = self._shown
            bar.update(task, completed=done, total=total)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        bar.start()
        self._shown = bar, bar.add_task(self._what, total=None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._shown is not None:
            self._shown[0].stop()
