"""MCP servers for the tests: one of the protocol's own package, one written by hand, one that hangs."""

from __future__ import annotations

import sys
from typing import Any

from acp.schema import EnvVariable, McpServerStdio

TOOLS = """
import asyncio, os
from pathlib import Path
from typing import Any
from mcp.server.mcpserver import MCPServer

server = MCPServer("tools")
Path(f"{os.environ.get('NAME', 'server')}.pid").write_text(f"{os.getpid()}\\n")

@server.tool()
def add(first: int, second: int) -> int:
    "Add two numbers."
    return first + second

@server.tool()
def about(length: int = 0) -> str:
    return f"{os.environ.get('NAME')} in {os.getcwd()} {os.environ.get('OPENAI_API_KEY')}" + "." * length

@server.tool()
def echo(session: str, options: dict[str, Any]) -> str:
    return f"{session} {options}"

@server.tool()
def gateway(tool_name: str) -> str:
    return tool_name

@server.tool()
async def wait() -> str:
    Path("waiting.pid").write_text("1\\n")
    await asyncio.sleep(600)
    return "never"

@server.tool()
def die() -> str:
    os._exit(3)

server.run("stdio")
"""

ANSWERING = """
import json, sys

def send(request, **answer):
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)

for line in sys.stdin:
    request = json.loads(line)
    match request.get("method"):
        case "initialize":
            send(request, **INITIALIZE)
        case "tools/list":
            send(request, result={"tools": TOOLS})
        case "tools/call":
            send(request, **CALL)
        case "ping":
            send(request, result={})
        case _ if "id" in request:
            send(request, error={"code": -32601, "message": "unknown"})
"""
WELCOME = {
    "result": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "by hand", "version": "1"},
    }
}

HANGING = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open(f"child of {os.environ['NAME']}.pid", "w").write(f"{child.pid}\\n")
open(f"{os.environ['NAME']}.pid", "w").write(f"{os.getpid()}\\n")
time.sleep(600)
"""


def server(name: str, *arguments: str, command: str = sys.executable, **variables: str) -> McpServerStdio:
    env = [EnvVariable(name=key, value=value) for key, value in variables.items()]
    return McpServerStdio(name=name, command=command, args=list(arguments), env=env)


def with_tools(name: str, **variables: str) -> McpServerStdio:
    """A server of the protocol's own package."""
    return server(name, "-c", TOOLS, NAME=name, **variables)


def by_hand(name: str, initialize: Any = WELCOME, call: Any = None, *tools: str) -> McpServerStdio:
    """A server in a few lines, as an older or a careless one may be."""
    listed = [{"name": tool, "inputSchema": {"type": "object"}} for tool in tools]
    return server(name, "-c", f"INITIALIZE, TOOLS, CALL = {initialize!r}, {listed!r}, {call!r}\n{ANSWERING}")
