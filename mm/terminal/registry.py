"""The commands of the window: a name, what it takes, and a function whose docstring is its help line."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mm.slash import check_words, split

if TYPE_CHECKING:
    from mm.config import Config
    from mm.terminal.window import Window

Run = Callable[["Window", str], Awaitable[None]]


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
    known = commands(config)
    found = split(text, known, config)
    if found is None:
        return None
    name, words = found
    check_words(known[name].usage, words)
    return known[name], words
