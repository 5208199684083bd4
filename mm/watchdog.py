"""Gives up on a model that goes silent; at rest while tools run and while a person is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from maf_memory.errors import TurnFailed

T = TypeVar("T")


class Silent(TurnFailed):
    """The model said nothing for too long, and was given up."""


class Watchdog:
    """Ends the work that it watches when nothing was heard for ``seconds``."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.has_bitten = False
        self._watched: asyncio.Future[Any] | None = None
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

    async def watch(self, work: Coroutine[Any, Any, T]) -> T:
        """Do ``work``, which must tell by :meth:`hear` that it goes on; a cancellation waits until it has ended.

        Raises:
            Silent: nothing was heard for too long, and the work was ended.
        """
        self._watched = working = asyncio.ensure_future(work)
        self.hear()
        try:
            return await asyncio.shield(working)
        except asyncio.CancelledError:
            if not working.done():
                if not self.has_bitten:  # it is ending already, and a second time would break that off
                    working.cancel()
                await asyncio.wait([working])
            if self.has_bitten:
                raise Silent(f"The question got no answer: {silence(self.seconds)}.") from None
            raise
        finally:
            self.stop()

    def _expire(self) -> None:
        self.has_bitten = True
        if self._watched is not None:
            self._watched.cancel()


def silence(seconds: float) -> str:
    """Return how it is told that the watchdog ended a turn."""
    return f"the model was silent for {seconds:g} s (watchdogTimeout)"
