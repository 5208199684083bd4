"""Calls a tool as the framework does, and looks for processes that should be gone."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from mm.config import Config
from mm.tools import project_tools
from mm.tools.spec import ToolSpec


def tools_of(project: Path, **changes: Any) -> dict[str, ToolSpec]:
    return {spec.name: spec for spec in project_tools(project, replace(Config(), **changes))}


async def call(project: Path | dict[str, ToolSpec], name: str, **arguments: Any) -> str:
    """What the model gets from one call."""
    tools = tools_of(project) if isinstance(project, Path) else project
    result = await tools[name].function.invoke(arguments=arguments)
    assert [content.type for content in result] == ["text"]
    return str(result[0].text)


def put(project: Path, path: str, content: str | bytes = "") -> Path:
    """A file of the project, with its folders."""
    file = project / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def is_gone(pid: int) -> bool:
    """Whether a process ended; one that nobody has buried yet counts."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2].startswith("Z"):
                return True
            os.kill(pid, 0)
        except (FileNotFoundError, ProcessLookupError):
            return True
    return False


async def until(claim: Callable[[], Any]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(20):
        while not claim():  # noqa: ASYNC110 - a file of another process makes no event
            await asyncio.sleep(0.01)


def pid_in(file: Path) -> int | None:
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    return int(text) if text.endswith("\n") else None
