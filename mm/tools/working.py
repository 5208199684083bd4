"""Work in a thread that ends soon after it is cancelled, and partial work that stops by itself when its time is up."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Stopped(Exception):
    """The time is up, or nobody waits for the work any more; what was found until now can still be told."""


class Bounds:
    """How long some work may go on."""

    def __init__(self, seconds: float, is_unwanted: Callable[[], bool] = lambda: False) -> None:
        """Begin now; ``is_unwanted`` turns true when nobody waits for the work."""
        self.seconds = seconds
        self._until = time.monotonic() + seconds
        self._is_unwanted = is_unwanted

    def left(self) -> float:
        """Return how many seconds are left.

        Raises:
            Stopped: none are, or nobody waits.
        """
        left = self._until - time.monotonic()
        if left <= 0 or self._is_unwanted():
            raise Stopped
        return left


async def bounded_in_thread(work: Callable[[Bounds], T], seconds: float) -> T:
    """Run ``work`` in a thread and return its result; a cancellation stops the work and waits until it has ended."""
    unwanted = threading.Event()
    task = asyncio.ensure_future(asyncio.to_thread(work, Bounds(seconds, unwanted.is_set)))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        unwanted.set()
        await settled(task)
        raise


async def settled(task: asyncio.Future[T]) -> None:
    """Wait until ``task`` has ended, however often this is cancelled meanwhile."""
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            continue
