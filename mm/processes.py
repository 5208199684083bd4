"""Child processes in a group of their own, so that a command is ended with everything that it started."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

GRACE_SECONDS = 2.0
"""How long a group has to end by itself before it is killed."""


async def started(
    command: Sequence[str],
    *,
    cwd: Path,
    stdin: int,
    stderr: int = asyncio.subprocess.PIPE,
    env: dict[str, str] | None = None,
) -> asyncio.subprocess.Process:
    """Start ``command``, without a shell, in a group of its own.

    Raises:
        OSError: it cannot be started.
    """
    own_group: dict[str, Any] = (
        {"start_new_session": True}
        if os.name == "posix"
        else {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
    )
    return await asyncio.create_subprocess_exec(
        *command, cwd=cwd, stdin=stdin, stdout=asyncio.subprocess.PIPE, stderr=stderr, env=env, **own_group
    )


async def end_group(process: asyncio.subprocess.Process, *, grace: float = GRACE_SECONDS) -> None:
    """End the process and its whole group: asked first, killed after ``grace`` seconds; returns when it is gone.

    A cancellation is raised when that is done, and not before.
    """
    ending = asyncio.ensure_future(_end_group(process, grace))
    try:
        await asyncio.shield(ending)
    except asyncio.CancelledError:
        await ending
        raise


async def _end_group(process: asyncio.subprocess.Process, grace: float) -> None:
    left = grace
    if _signal(process, signal.SIGTERM):
        while left > 0 and _signal(process, 0):  # nothing tells when a group is empty but asking
            await asyncio.sleep(_STEP)
            left -= _STEP
        _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
    await process.wait()


_STEP = 0.02


def _signal(process: asyncio.subprocess.Process, number: int) -> bool:
    """Send a signal to the group, and return whether there was one to send it to."""
    try:
        if os.name == "posix":
            os.killpg(process.pid, number)
        elif process.returncode is not None:
            return False
        elif number:
            process.terminate()
    except (ProcessLookupError, PermissionError):  # gone; what it left has no group any more
        return False
    return True
