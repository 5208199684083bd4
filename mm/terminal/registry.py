"""The commands of the window: a name, what it takes, and a function whose docstring is its help line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from maf_memory.errors import MafMemoryError
from maf_memory.text import one_line
from mm.errors import SessionsDisabled

if TYPE_CHECKING:
    from mm.config import Config
    from mm.terminal.window import Window

Run = Callable[["Window", str], Awaitable[None]]

_COMMAND = re.compile(r"/([A-Za-z][\w-]*)(?:\s+(.*))?\Z", re.DOTALL)


class CommandRefused(MafMemoryError):
    """What was typed is no command, or not how this one is given; nothing was done."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command; ``arguments`` is what it takes, in brackets where that may be left out."""

    name: str
    arguments: str
    run: Run
    exists: Callable[[Config], bool]

    @property
    def help(self) -> str:
        """What it does, in one line."""
        return (self.run.__doc__ or "").partition("\n")[0]

    @property
    def usage(self) -> str:
        """How it is typed."""
        return f"{self.name} {self.arguments}".rstrip()


_COMMANDS: dict[str, Command] = {}


def command(
    name: str, arguments: str = "", *, exists: Callable[[Config], bool] = lambda _: True
) -> Callable[[Run], Run]:
    """Register a function as the command ``name``."""

    def register(run: Run) -> Run:
        _COMMANDS[name] = Command(name, arguments, run, exists)
        return run

    return register


def commands(config: Config) -> dict[str, Command]:
    """Return the commands that there are under this configuration, by their names."""
    import mm.terminal.commands  # importing registers them
    import mm.terminal.session_commands  # noqa: F401

    return {name: one for name, one in sorted(_COMMANDS.items()) if one.exists(config)}


def parsed(text: str, config: Config) -> tuple[Command, str] | None:
    """Return the command that ``text`` is, with what it is given; ``None`` for a question, such as ``/tmp/x is full``.

    Raises:
        CommandRefused: no command has this name, or it is given too much or too little.
    """
    found = _COMMAND.match(text.strip())
    if found is None:
        return None
    name, words = f"/{found[1]}", (found[2] or "").strip()
    known = commands(config)
    if name not in known:
        if Path(name).exists():
            return None
        raise CommandRefused(_unknown(name, known, config))
    wanted = known[name]
    if words and not wanted.arguments:
        raise CommandRefused(f"{name} takes nothing after it.")
    if not words and wanted.arguments and not wanted.arguments.startswith("["):
        raise CommandRefused(f"{name} needs more: {wanted.usage}.")
    return wanted, words


def _unknown(name: str, known: dict[str, Command], config: Config) -> str:
    shown = one_line(name, 60)
    if name == "/memory":  # the only one that is there or not
        off = "/memory is off in this project: set memory.command to true in agent.yaml."
        return str(SessionsDisabled()) if config.memory_command else off
    nearest = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    hint = f"Did you mean {nearest[0]}?" if nearest else "/help lists the commands."
    return f"There is no command {shown}. {hint}"
