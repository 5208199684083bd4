"""One MCP server over standard input and output, by the framework's own tool: its times are bounded, and it is ended.

The framework keeps a task for each server that opens the connection and closes it again. It waits for an answer as long
as it takes; what is here ends that wait, at a point where the task still ends the process in order. The process gets
the variables that the editor names and a few harmless ones (PATH, HOME), and never the key of the model.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_framework import MCPStdioTool
from agent_framework.exceptions import AgentFrameworkException
from anyio import BrokenResourceError, ClosedResourceError
from mcp import MCPError
from mcp.types import CONNECTION_CLOSED

from maf_memory.text import one_line
from mm.tools.refused import Refused

if TYPE_CHECKING:
    from acp.schema import McpServerStdio
    from agent_framework import Content, FunctionTool

_log = logging.getLogger(__name__)

ENDING_SECONDS = 8.0
"""A process has 2 s to end once its input is closed, 2 s more once it is asked to, and is then killed."""

_ITS_OWN_NAMES = ("chat_options", "conversation_id", "options", "response_format", "session", "thread", "tool_choice",
                  "tools")  # fmt: skip


class StdioServer(MCPStdioTool):
    """One server, which starts in the project's folder."""

    def __init__(self, server: McpServerStdio, project: Path, patience: float) -> None:
        """Start nothing yet; ``patience`` is how many seconds the server has to answer and to name its tools."""
        super().__init__(
            server.name,
            server.command,
            args=list(server.args),
            env={variable.name: variable.value for variable in server.env},
            cwd=str(project),
            load_prompts=False,
            tool_result_content="content_first",
            # The framework keeps arguments of these names from every server, also where the server declares them.
            additional_tool_argument_names=_ITS_OWN_NAMES,
        )
        self._patience = patience
        self._owner: asyncio.Task[Any] | None = None
        self._may_be_cancelled = False
        self._is_unwanted = False

    async def why_not(self) -> str | None:
        """Connect, and return ``None``, or why that failed in words that hold neither an argument nor a variable."""
        try:
            await self.connect()
        except TimeoutError:
            return f"it did not answer within {self._patience:g} s"
        except Exception as error:  # noqa: BLE001 - whatever one server does, the others are still connected
            _log.warning("the MCP server %r is not connected: %s", self.name, _kinds(error))
            return _reason(error)
        return None

    async def connect(self, *, reset: bool = False) -> None:
        """Connect as the framework does, at most so long as the server has.

        Raises:
            TimeoutError: it did not answer; its process is being ended.
            AgentFrameworkException, MCPError, OSError: it cannot be connected; its process has ended.
        """
        try:
            async with asyncio.timeout(self._patience):
                await super().connect(reset=reset)
        except (TimeoutError, asyncio.CancelledError):
            self._give_up()
            raise

    @asynccontextmanager
    async def get_mcp_client(self) -> AsyncIterator[Any]:
        """Yield the two streams of the framework's own process, in the task that opens and closes it."""
        if self._is_unwanted:
            raise RuntimeError("The server was ended.")
        self._owner, self._may_be_cancelled = asyncio.current_task(), True
        try:
            async with super().get_mcp_client() as streams:
                try:
                    yield streams
                finally:  # from here on the process is being ended, which a cancellation would break off
                    self._may_be_cancelled = False
        finally:
            self._may_be_cancelled = False

    async def answer(self, function: FunctionTool, arguments: dict[str, Any]) -> str:
        """Return what a tool of this server answers, as text.

        Raises:
            Refused: the server says that it failed, or is not there any more.
        """
        try:
            return _text(await function.invoke(arguments=arguments))
        except AgentFrameworkException as error:
            if any(_is_end(cause) for cause in _causes(error)) or not self.is_connected:
                raise Refused(
                    f"the MCP server {one_line(self.name, 60)} has ended. Go on without it; it starts again when the "
                    "person opens the session again."
                ) from error
            raise Refused(str(error.args[0])) from error

    async def end(self) -> None:
        """End the process and what it started in its group; return when it is gone, after some seconds at most."""
        self._is_unwanted = True
        owner = self._owner
        if owner is None or owner.done():
            return
        # What is not connected ends by itself, after a failure or a cancellation.
        closing = asyncio.ensure_future(self.close()) if self.is_connected else owner
        if not await self._ended(closing):
            self._give_up()
            await self._ended(owner)
        if closing.done() and not closing.cancelled() and (error := closing.exception()) is not None:
            _log.warning("the MCP server %r did not end in order: %s", self.name, _kinds(error))

    async def _ended(self, task: asyncio.Future[Any]) -> bool:
        await asyncio.wait([task], timeout=ENDING_SECONDS)
        return task.done()

    def _give_up(self) -> None:
        if self._may_be_cancelled and self._owner is not None:
            self._may_be_cancelled = False
            self._owner.cancel()


def _text(contents: Sequence[Content]) -> str:
    return "\n".join(_shown(content) for content in contents)


def _shown(content: Content) -> str:
    if content.type == "text":
        return content.text or ""
    kind = one_line(content.media_type or content.type, 80)
    return f"[{kind}: {one_line(content.uri or '', 2000)}]" if content.type == "uri" else f"[{kind}, which is no text]"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and all that led to it."""
    left, seen = [error], set()
    while left:
        one = left.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        left += [cause for cause in (one.__cause__, one.__context__) if cause is not None]
        left += one.exceptions if isinstance(one, BaseExceptionGroup) else ()


def _kinds(error: BaseException) -> str:
    return ", ".join(dict.fromkeys(type(cause).__name__ for cause in _causes(error)))


def _is_end(error: BaseException) -> bool:
    if isinstance(error, MCPError):
        return bool(error.error.code == CONNECTION_CLOSED)
    return isinstance(error, BrokenResourceError | ClosedResourceError)


def _reason(error: BaseException) -> str:
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, OSError) and cause.strerror:
            return f"its command cannot be started ({cause.strerror}). Correct it in the editor's settings"
    if any(_is_end(cause) for cause in causes):
        return "it ended before it had answered. What it wrote is in the log of mini-me"
    for cause in causes:
        if isinstance(cause, MCPError):
            return f"it answered with an error (code {cause.error.code})"
    return f"it does not keep to the protocol ({type(causes[-1]).__name__})"
