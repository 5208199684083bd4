"""The MCP servers that an editor passes with a session: connected all at once, or refused in one line each.

Each tool of theirs asks before it runs, whatever the server says of it. A line about a server names it and its
command; arguments, variables and addresses may hold keys.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maf_memory.text import one_line, sound, sound_throughout
from mm.config import TOOL_NAMES
from mm.memory import NAME as MEMORY_TOOL
from mm.tools.diffs import harmless
from mm.tools.output import capped
from mm.tools.refused import ERROR, Refused
from mm.tools.spec import ToolSpec

if TYPE_CHECKING:
    from agent_framework import FunctionTool

    from mm.acp.mcp_server import StdioServer

PATIENCE = 10.0
"""How many seconds a server has to answer and to name its tools."""

LONGEST_NAME = 64
"""What a model's endpoint takes as the name of a function."""

_NEEDED = ("mcp", "tenacity")
_LONGEST_PREFIX = 30
_NOT_PASSED = {"_meta", "ctx", "self", "tool_name"}
_TITLE = 120


@dataclass(slots=True)
class McpServers:
    """The servers of one session: their tools, a line about each that is not there, and the processes to end."""

    specs: list[ToolSpec] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    open: list[StdioServer] = field(default_factory=list)
    _closing: asyncio.Future[Any] | None = None

    async def close(self) -> None:
        """End all processes; return when they are gone, after some seconds at most. Again and at once is the same."""
        if self._closing is None:
            self._closing = asyncio.ensure_future(asyncio.gather(*(server.end() for server in self.open)))
        await asyncio.shield(self._closing)


async def connected(
    servers: Sequence[Any], project: Path, max_output: int, *, patience: float = PATIENCE
) -> McpServers:
    """Start the servers in the project's folder, all at once, and return them with their tools.

    A server that cannot be used is refused by name, and the others work. ``max_output`` is how many characters a call
    may return; ``patience`` is how many seconds each server has.
    """
    here = McpServers()
    if not servers:
        return here
    reasons = _reasons_not_to_start(servers)
    if None in reasons:  # a second's work, meanwhile other requests of the editor are answered
        await asyncio.to_thread(import_module, "mm.acp.mcp_server")

    async def opened(server: Any, reason: str | None) -> StdioServer | str:
        if reason is not None:
            return reason
        from mm.acp.mcp_server import StdioServer

        made = StdioServer(server, project, patience)
        here.open.append(made)
        return await made.why_not() or made

    try:
        outcomes = await asyncio.gather(*map(opened, servers, reasons))
        taken = {*TOOL_NAMES, MEMORY_TOOL}
        for server, outcome in zip(servers, outcomes, strict=True):
            if isinstance(outcome, str):
                here.refused.append(f"The MCP server {_named(server)} is not connected: {outcome}.")
            else:
                _take_tools(here, server, outcome, taken, max_output)
    except BaseException:
        await here.close()
        raise
    return here


def _reasons_not_to_start(servers: Sequence[Any]) -> list[str | None]:
    """Return for each server why it is not even started, or ``None``."""
    from acp.schema import McpServerStdio

    is_missing = any(find_spec(package) is None for package in _NEEDED)
    reasons: list[str | None] = []
    names: set[str] = set()
    for server in servers:
        if not isinstance(server, McpServerStdio):
            kind = one_line(str(getattr(server, "type", "another way")), 20)
            reasons.append(f"mini-me connects servers over stdio, and this one is reached over {kind}")
        elif server.name in names:
            reasons.append("another one has the same name. Rename one of them in the editor's settings")
        elif is_missing:
            reasons.append(
                "the package for it is not installed. Run pip install 'maf-memory[mcp]', and start mini-me again"
            )
        else:
            reasons.append(None)
        names.add(server.name)
    return reasons


def _take_tools(here: McpServers, server: Any, opened: StdioServer, taken: set[str], limit: int) -> None:
    for function in opened.functions:
        unpassable = _NOT_PASSED.intersection(function.parameters().get("properties") or ())
        if unpassable:
            here.refused.append(
                f"The tool {one_line(function.name, _TITLE)} of the MCP server {_named(server)} is left out: the "
                f"framework does not pass on an argument named {min(unpassable)}."
            )
            continue
        name = _free_name(server.name, function.name, taken)
        taken.add(name)
        here.specs.append(_spec(opened, function, name, limit))


def _named(server: Any) -> str:
    name = one_line(server.name, 60) or "without a name"
    command = one_line(str(getattr(server, "command", "")), 200)
    return f"{name} ({command})" if command else name


def _free_name(server: str, tool: str, taken: set[str]) -> str:
    """Return a name for the model: letters, digits, _ and -, not too long, and not taken."""
    prefix = _valid(server)[:_LONGEST_PREFIX].strip("_-") or "mcp"
    whole = f"{prefix}_{_valid(tool)}"
    name, number = whole[:LONGEST_NAME], 1
    while name in taken:
        number += 1
        end = f"_{number}"
        name = whole[: LONGEST_NAME - len(end)] + end
    return name


def _valid(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", text)


def _spec(server: StdioServer, function: FunctionTool, name: str, limit: int) -> ToolSpec:
    from agent_framework import FunctionTool

    title = one_line(f"{server.name}: {function.name}", _TITLE)

    async def call(**given: Any) -> str:
        try:
            said = await server.answer(function, given)
        except Refused as refused:
            said = f"{ERROR}{refused}"
        return capped(sound(said), limit)

    def preview(arguments: Mapping[str, Any]) -> str:
        exactly = json.dumps(dict(arguments), ensure_ascii=False, indent=2, default=str)
        lines = "\n".join(harmless(line) for line in exactly.split("\n"))
        return f"{title}\n{lines}\n\nRuns in this MCP server, which can do whatever this user can, anywhere."

    made = FunctionTool(
        name=name,
        description=sound(function.description),
        approval_mode="never_require",
        func=call,
        input_model=sound_throughout(function.parameters()),
    )
    return ToolSpec(made, "other", True, lambda _: title, preview)
