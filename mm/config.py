"""What ``agent.yaml`` says: the agent of a project, as values."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

TOOL_NAMES = ("read_file", "list_files", "search_text", "write_file", "edit_file", "run_command")
Provider = Literal["offline", "openai", "script"]

DEFAULT_INSTRUCTIONS = (
    "You are mini-me, a small agent that works in the project folder it was started in. "
    "Read before you change, change as little as needed, and say what you did."
)


@dataclass(frozen=True, slots=True)
class Model:
    """Who answers: ``provider`` decides which of the rest counts; ``key_variable`` is a name, never a key."""

    provider: Provider = "offline"
    name: str | None = None
    base_url: str | None = None
    key_variable: str = "OPENAI_API_KEY"
    script: Path | None = None


@dataclass(frozen=True, slots=True)
class Compaction:
    """When old turns become a summary: at ``threshold`` (0 to 1) of ``context_size`` tokens; ``None`` is never."""

    threshold: float | None = None
    context_size: int = 32_768
    keep_original: bool = False
    keep_turns: int = 2


@dataclass(frozen=True, slots=True)
class Hook:
    """A command that gets the prompt as JSON before it is sent; ``timeout`` in seconds."""

    command: tuple[str, ...]
    timeout: float = 10.0


@dataclass(frozen=True, slots=True)
class Config:
    """The agent of a project. ``source`` is the file it was read from; ``None`` is the defaults."""

    name: str = "mini-me"
    instructions: str = DEFAULT_INSTRUCTIONS
    model: Model = field(default_factory=Model)
    max_output: int = 20_000
    """The longest output of one tool call that the model gets, in characters."""
    watchdog_timeout: float = 120.0
    """How many seconds the model may be silent."""
    sessions_enabled: bool = True
    memory_command: bool = False
    memory_tool: bool = False
    compaction: Compaction = field(default_factory=Compaction)
    tools: tuple[str, ...] = TOOL_NAMES
    pre_generation: tuple[Hook, ...] = ()
    source: Path | None = None
