"""Disk work runs in a thread and is always finished, even when the task that asked for it is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def finished_in_thread(work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run ``work`` in a thread and return its result.

    A cancellation waits until the work is done and is raised then, so that nobody sees half a save and nothing goes
    on writing behind the caller's back. An error of the work wins over the cancellation only as its context.
    """
    # A task, though a bare future costs less: a loop that is closed in a hurry cancels it, and waits for no dead disk.
    task = asyncio.ensure_future(asyncio.to_thread(work, *args, **kwargs))
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            if task.cancelled():
                raise
            cancelled = error
        except BaseException:
            if not task.done():
                raise  # not the work's error: this coroutine itself is being closed
    if cancelled is not None:
        if not task.cancelled() and (failure := task.exception()) is not None:
            raise cancelled from failure
        raise cancelled
    return task.result()
