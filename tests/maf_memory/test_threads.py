"""Disk work is finished before its task ends, whatever happens to the task."""

from __future__ import annotations

import asyncio
import threading

import pytest

from maf_memory.threads import finished_in_thread


async def started(event: threading.Event) -> None:
    async with asyncio.timeout(10):
        while not event.is_set():  # noqa: ASYNC110 - a thread's state has no asyncio event
            await asyncio.sleep(0)


async def test_the_result_and_the_arguments_pass_through() -> None:
    assert await finished_in_thread(divmod, 7, 2) == (3, 1)
    assert await finished_in_thread(sorted, [1, 2], reverse=True) == [2, 1]
    assert await finished_in_thread(threading.get_ident) != threading.get_ident()


async def test_an_error_of_the_work_is_raised_as_it_is() -> None:
    def fail() -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await finished_in_thread(fail)


async def test_a_cancellation_waits_until_the_work_is_done() -> None:
    begun, release, done = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        release.wait(10)
        done.set()

    task = asyncio.create_task(finished_in_thread(work))
    await started(begun)
    for _ in range(5):
        task.cancel()
        await asyncio.sleep(0)
    assert not task.done()
    release.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert done.is_set()


async def test_an_error_of_cancelled_work_is_the_cause_of_the_cancellation() -> None:
    begun, release = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        release.wait(10)
        raise KeyError("mine")

    task = asyncio.create_task(finished_in_thread(work))
    await started(begun)
    task.cancel()
    await asyncio.sleep(0)
    release.set()
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    assert isinstance(caught.value.__cause__, KeyError)


async def test_a_timeout_ends_after_the_work() -> None:
    begun, done = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        threading.Event().wait(0.05)
        done.set()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await finished_in_thread(work)
    assert not begun.is_set() or done.is_set()


async def test_a_coroutine_that_is_closed_while_its_work_runs_raises_nothing_of_its_own() -> None:
    release, done = threading.Event(), threading.Event()

    def work() -> None:
        release.wait(10)
        done.set()

    coroutine = finished_in_thread(work)
    waiting = coroutine.send(None)
    assert waiting is not None
    coroutine.close()
    release.set()
    await started(done)


def test_a_program_that_is_interrupted_finishes_its_work() -> None:
    begun, done = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        threading.Event().wait(0.05)
        done.set()

    async def main() -> None:
        task = asyncio.create_task(finished_in_thread(work))
        await started(begun)
        assert not task.done()
        # the loop ends here and cancels every task, the inner one included

    asyncio.run(main())
    assert done.is_set()
