"""A program in a process group of its own: its output is read as it comes, and its whole group is ended with it.

The output goes through a pipe of ours: before Python 3.15 the event loop takes a program for running as long as
anything that it started holds the loop's own pipe. What leaves the group on purpose (a daemon) is not found again.
On Windows only the program itself is ended.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mm.tools.working import settled

GRACE_SECONDS = 2.0
"""How long a group has to end by itself after it was asked to; then it is killed."""

_LINGER_SECONDS = 0.5
_STEP_SECONDS = 0.02
_BLOCK = 65_536
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended: ``status`` is ``None`` when its time was up; ``left_some`` when it left others behind."""

    status: int | None
    left_some: bool = False


async def run(
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    seconds: float,
    take: Callable[[bytes], None],
) -> Ran:
    """Run a program without input; ``take`` gets what it and all that it started print, in order.

    When its time is up, when this is cancelled, and when the program has ended, whatever is left of its group is ended;
    a cancellation is raised after that.

    Raises:
        OSError, ValueError: it cannot be started.
    """
    unwanted = asyncio.Event()
    work = asyncio.ensure_future(_run(command, cwd, env, seconds, take, unwanted))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        unwanted.set()
        await settled(work)
        raise


async def _run(
    command: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    seconds: float,
    take: Callable[[bytes], None],
    unwanted: asyncio.Event,
) -> Ran:
    process, reader, close = await _started(command, cwd, env)
    reading = asyncio.ensure_future(_read(reader, take))
    try:
        return await _ended(process, reading, seconds, unwanted)
    except BaseException:
        _signal(process, _KILL)  # at once: the loop itself is being closed
        await process.wait()
        raise
    finally:
        reading.cancel()
        close()


async def _started(
    command: Sequence[str], cwd: Path, env: Mapping[str, str]
) -> tuple[asyncio.subprocess.Process, asyncio.StreamReader, Callable[[], None]]:
    """Start the program, and return it with its output and what closes that."""
    start = partial(
        asyncio.create_subprocess_exec,
        *command,
        cwd=cwd,
        env=dict(env),
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.STDOUT,
    )
    if os.name != "posix":
        process = await start(stdout=asyncio.subprocess.PIPE)
        assert process.stdout is not None  # noqa: S101 - it was started with a pipe
        return process, process.stdout, lambda: None
    read_end, write_end = os.pipe()
    reader = asyncio.StreamReader(limit=_BLOCK)
    try:
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read_end, "rb", buffering=0)
        )
        try:
            return await start(stdout=write_end, start_new_session=True), reader, transport.close
        except BaseException:
            transport.close()
            raise
    finally:
        os.close(write_end)


async def _ended(
    process: asyncio.subprocess.Process, reading: asyncio.Future[None], seconds: float, unwanted: asyncio.Event
) -> Ran:
    """Wait until the program ends, its time is up or nobody wants it any more; then end what is left of its group."""
    ending = asyncio.ensure_future(process.wait())
    stopping = asyncio.ensure_future(unwanted.wait())
    try:
        await asyncio.wait([ending, stopping], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()
        ending.cancel()
    status = process.returncode
    if status is not None:
        await _until_empty(process, _LINGER_SECONDS)
    left_some = _is_alive(process)
    if left_some:
        _signal(process, signal.SIGTERM)
        await _until_empty(process, GRACE_SECONDS)
        _signal(process, _KILL)
        await process.wait()
    await asyncio.wait([reading], timeout=_LINGER_SECONDS)  # only what left the group can hold the pipe any longer
    return Ran(status, left_some)


async def _read(reader: asyncio.StreamReader, take: Callable[[bytes], None]) -> None:
    while block := await reader.read(_BLOCK):
        take(block)


async def _until_empty(process: asyncio.subprocess.Process, seconds: float) -> None:
    """Wait until nothing is left of the group, at most so long; nothing tells when a group is empty but asking."""
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    while _is_alive(process) and loop.time() < until:  # noqa: ASYNC110 - there is no event for it
        await asyncio.sleep(_STEP_SECONDS)


def _is_alive(process: asyncio.subprocess.Process) -> bool:
    return _signal(process, 0) and not _is_unburied(process.pid)


def _is_unburied(group: int) -> bool:
    """Whether all that is left of the group has ended and waits to be buried, in a container perhaps for ever."""
    states = set()
    with suppress(OSError):  # only Linux tells it so
        for name in os.listdir("/proc"):
            with suppress(OSError, ValueError, IndexError):
                state, _, its_group = (
                    Path("/proc", str(int(name)), "stat").read_bytes().rpartition(b") ")[2].split()[:3]
                )
                if int(its_group) == group:
                    states.add(state)
    return bool(states) and states <= {b"Z", b"X"}


def _signal(process: asyncio.subprocess.Process, number: int) -> bool:
    """Send a signal to the group, and return whether there was one to send it to."""
    if os.name != "posix":
        if number and process.returncode is None:
            process.kill()
        return process.returncode is None
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
        return True
    return False
