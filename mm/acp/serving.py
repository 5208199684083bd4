"""Serves an editor until it goes: the streams, the connection, and an end in order.

However the end comes (the editor closes the pipe, or a signal), the turns under way are stopped and saved first.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from maf_memory.errors import MafMemoryError

_log = logging.getLogger(__name__)

_FLUSH_SECONDS = 2.0
"""How long the end waits for an editor that does not read."""


class LogRefused(MafMemoryError):
    """The log cannot be written; nothing was served."""


def serve(given: Path | None, log: Path | None) -> int:
    """Serve the Agent Client Protocol on the standard streams, and return the exit status.

    ``given`` is the configuration in place of each folder's own; ``log`` gets what standard error gets.

    Raises:
        LogRefused: the log cannot be written.
    """
    from mm.acp.stdio import claimed

    source, target = claimed()
    _log_to(log)
    return asyncio.run(_served(source, target, given))


async def _served(source: int, target: int, given: Path | None) -> int:
    from acp.agent.router import build_agent_router
    from acp.connection import Connection
    from acp.meta import AGENT_METHODS
    from acp.schema import DeleteSessionRequest
    from acp.utils import normalize_result

    from mm.acp.agent import AgentOfProtocol
    from mm.acp.editor import Editor
    from mm.acp.refusals import in_one_line
    from mm.acp.stdio import Input, Output
    from mm.acp.wire import Wire

    output = Output(target)
    wire = Wire(Input(source), output)
    agent: Any = AgentOfProtocol(given)
    router = build_agent_router(agent, use_unstable_protocol=True)  # without it the stable resume and close are refused
    router.route_request(
        AGENT_METHODS["session_delete"],
        DeleteSessionRequest,
        agent,
        "delete_session",
        adapt_result=normalize_result,
    )
    connection = Connection(in_one_line(router), wire, listening=False)
    agent.editor = Editor(connection, wire)
    with _signals() as (ended, ended_by):
        waits = [asyncio.ensure_future(work) for work in (connection.main_loop(), output.gone.wait(), ended.wait())]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        _log.info("the end: %s", f"signal {ended_by[0]}" if ended_by else "the editor has gone")
        for work in waits:
            work.cancel()
        await agent.close()
        await asyncio.wait([asyncio.ensure_future(connection.close())], timeout=_FLUSH_SECONDS)
    return 128 + ended_by[0] if ended_by else 0


def _log_to(path: Path | None) -> None:
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    if path is not None:
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            raise LogRefused(f"The log {path} cannot be written: {error.strerror}.") from error
        handlers.append(logging.StreamHandler(os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace")))
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s", handlers=handlers, force=True
    )
    logging.captureWarnings(capture=True)


@contextmanager
def _signals() -> Iterator[tuple[asyncio.Event, list[int]]]:
    """Let a signal end the service in order; yield what it sets, and the list that names it."""
    loop, ended, ended_by = asyncio.get_running_loop(), asyncio.Event(), []

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        ended_by.append(number)
        loop.call_soon_threadsafe(ended.set)

    wanted = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if sys.platform != "win32" else [])]
    before = {number: signal.signal(number, end) for number in wanted}
    try:
        yield ended, ended_by
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
