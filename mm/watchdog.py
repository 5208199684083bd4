"""Gives up on a model that goes silent; at rest while tools run and while a person is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Watchdog:
    """Calls ``bite`` once when nothing was heard for ``seconds``."""

    def __init__(self, seconds: float, bite: Callable[[], object]) -> None:
        self.seconds = seconds
        self.has_bitten = False
        self._bite = bite
        self._timer: asyncio.TimerHandle | None = None
        self._resting = 0

    def hear(self) -> None:
        """Begin to wait anew: the model said something, or was just asked."""
        self.stop()
        if not self._resting and not self.has_bitten:
            self._timer = asyncio.get_running_loop().call_later(self.seconds, self._expire)

    def stop(self) -> None:
        """Wait no longer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """Wait for nothing inside; several may rest at once."""
        self._resting += 1
        self.stop()
        try:
            yield
        finally:
            self._resting -= 1
            self.hear()

    def _expire(self) -> None:
        self.has_bitten = True
        self._bite()
