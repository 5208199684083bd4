"""What follows a slash: a command, a mistake that is told with the nearest one, or a question after all."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from maf_memory.errors import MafMemoryError
from maf_memory.text import one_line
from mm.errors import SessionsDisabled

if TYPE_CHECKING:
    from mm.config import Config

_COMMAND = re.compile(r"/([A-Za-z][\w-]*)(?:\s+(.*))?\Z", re.DOTALL)


class CommandRefused(MafMemoryError):
    """What was typed is no command, or not how this one is given; nothing was done."""


def split(text: str, known: Iterable[str], config: Config) -> tuple[str, str] | None:
    """Return the name of the command that ``text`` is, among ``known``, and the words after it.

    ``None`` is a question, such as ``/tmp/x is full``.

    Raises:
        CommandRefused: no command has this name; the line names the nearest one.
    """
    found = _COMMAND.match(text.strip())
    if found is None:
        return None
    name = f"/{found[1]}"
    names = list(known)
    if name in names:
        return name, (found[2] or "").strip()
    if Path(name).exists():
        return None
    raise CommandRefused(_unknown(name, names, config))


def check_words(usage: str, words: str) -> None:
    """Check that a command is given what its ``usage`` says: its name, and what it takes, in brackets where optional.

    Raises:
        CommandRefused: it is given too much or too little.
    """
    name, _, takes = usage.partition(" ")
    if words and not takes:
        raise CommandRefused(f"{name} takes nothing after it.")
    if not words and takes and not takes.startswith("["):
        raise CommandRefused(f"{name} needs more: {usage}.")


def _unknown(name: str, known: list[str], config: Config) -> str:
    shown = one_line(name, 60)
    if name == "/memory":  # the only one that is there or not
        off = "/memory is off in this project: set memory.command to true in agent.yaml."
        return str(SessionsDisabled()) if config.memory_command else off
    nearest = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    hint = f"Did you mean {nearest[0]}?" if nearest else "/help lists the commands."
    return f"There is no command {shown}. {hint}"
