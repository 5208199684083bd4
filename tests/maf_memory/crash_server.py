"""A process that forks one child a crash point: the child has imported everything and stops right before its work.

One line in (JSON: ``work`` and ``root``) starts a child; its process id comes out once it has stopped. Whoever attaches
to it lets it go on; a second line then tells how it ended. The child reports over a socket and leaves without a
system call of the kinds that are counted, so that what is counted is the work and nothing else.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn

from agent_framework import AgentSession, Message

from maf_memory.context import ContextStore
from maf_memory.errors import MafMemoryError
from maf_memory.snapshot import SnapshotStore

Work = Callable[[], Awaitable[object]]
Ready = Callable[[str, Path], Awaitable[Work]]
"""Does what comes before the work of that name below a root, and returns the work itself."""


def talked(*turns: str) -> AgentSession:
    """A session of these questions."""
    session = AgentSession(session_id="session-1")
    session.state["in_memory"] = {"messages": [Message("user", [turn], message_id=turn) for turn in turns]}
    return session


async def ready(work: str, root: Path) -> Work:
    """Do what comes before the work, and return the work itself."""
    snapshot = SnapshotStore(root / "demo140" / "session.json", instruction_version="memory-1.1")
    context = ContextStore(root / "demo130" / "agent-state.json")
    if work in {"save again", "delete"}:
        await snapshot.save(talked("old"))
    if work in {"set again", "reset"}:
        await context.set("old")
    return {
        "save first": lambda: snapshot.save(talked("new")),
        "save again": lambda: snapshot.save(talked("old", "new")),
        "delete": snapshot.delete,
        "set first": lambda: context.set("new"),
        "set again": lambda: context.set("new"),
        "reset": context.reset,
    }[work]


async def stopped(ready: Ready, work: str, root: Path) -> str:
    """Stop this process in the thread that will do the work, then do it, and return what it told."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    doing = await ready(work, root)
    await asyncio.to_thread(os.kill, os.getpid(), signal.SIGSTOP)
    try:
        await doing()
    except MafMemoryError as error:
        return f"{type(error).__name__}: {error}"
    return "done"


def child(ready: Ready, work: str, root: Path, report: socket.socket) -> NoReturn:
    """Do one work and report it; whatever else is raised is reported as a bug."""
    try:
        told = asyncio.Runner().run(stopped(ready, work, root))
    except BaseException as error:  # noqa: BLE001 - the test fails on it, with this text
        told = f"BUG {type(error).__name__}: {error}"
    report.send(told.encode())
    os._exit(0)


def serve(ready: Ready, *warming: str) -> None:
    """Serve until the input ends; what the works ``warming`` import late is imported now."""
    with tempfile.TemporaryDirectory() as warm:
        for work in warming:
            asyncio.run(_once(ready, work, Path(warm)))
    for line in sys.stdin:
        asked = json.loads(line)
        ours, theirs = socket.socketpair()
        process = os.fork()
        if process == 0:
            child(ready, asked["work"], Path(asked["root"]), theirs)
        os.waitpid(process, os.WUNTRACED)
        print(process, flush=True)
        _, status = os.waitpid(process, 0)
        theirs.close()
        told = ours.recv(65536).decode()
        ours.close()
        print(json.dumps({"killed": os.WIFSIGNALED(status), "told": told}), flush=True)


async def _once(ready: Ready, work: str, root: Path) -> None:
    await (await ready(work, root))()


if __name__ == "__main__":
    serve(ready, "save again", "set again")
