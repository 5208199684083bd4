"""One turn as a façade sees it: events to draw, until the one that ends it; and a way to stop it.

The turn runs in a task of its own, which the conversation holds: a façade that dies, or stops reading, loses nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from mm.events import Event, Outcome, TurnEnded


class Turn:
    """Yields the events of one turn; iterate once."""

    def __init__(self, run: Callable[[Turn], Coroutine[Any, Any, Outcome]]) -> None:
        """Begin at once; ``run`` does the work, emits events, and returns how the turn ended."""
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self.outcome: Outcome | None = None
        self._has_begun = False
        self._is_unwanted = False
        self._task = asyncio.get_running_loop().create_task(self._whole(run))

    def emit(self, event: Event) -> None:
        """Put an event into the hands of whoever draws."""
        self._events.put_nowait(event)

    def cancel(self) -> None:
        """Stop the turn; what was done stays, and the end comes as an event. Only the first time counts.

        A second one would break off the saving of what was done.
        """
        if self._is_unwanted:
            return
        self._is_unwanted = True
        if self._has_begun:  # a task that is cancelled before its first step would never tell its end
            self._task.cancel()

    async def ended(self) -> Outcome:
        """Wait for the end, whoever reads the events.

        Raises:
            BaseException: a bug; nothing that a person could have caused.
        """
        await asyncio.wait([self._task])
        return self._task.result()

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            event = await self._events.get()
            yield event
            if isinstance(event, TurnEnded):
                self._task.result()  # a bug keeps its traceback
                return

    async def _whole(self, run: Callable[[Turn], Coroutine[Any, Any, Outcome]]) -> Outcome:
        outcome = Outcome.FAILED
        self._has_begun = True
        try:
            outcome = Outcome.CANCELLED if self._is_unwanted else await run(self)
        except asyncio.CancelledError:
            outcome = Outcome.CANCELLED  # before the turn had anything to lose
        finally:
            self.outcome = outcome
            self.emit(TurnEnded(outcome))
        return outcome
