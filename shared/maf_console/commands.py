"""What a line typed into a console is: a command, a question, or a command that was nearly typed.

A command is a whole line, so that «reset my password» is a question. Only a command that says so takes text.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its name, its help line, what it does, and the name of its text if it takes one."""

    name: str
    help: str
    run: Callable[[str], Coroutine[Any, Any, None]]
    text: str | None = None
    is_word: bool = True  # an ordinary word: a question may begin with it, or with one like it

    @property
    def usage(self) -> str:
        """How the command is typed."""
        return self.name if self.text is None else f"{self.name} {self.text}"


@dataclass(frozen=True, slots=True)
class Call:
    """The line is a command, with its text if it takes one."""

    command: Command
    text: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """The line goes to the model."""

    text: str


@dataclass(frozen=True, slots=True)
class Advice:
    """The line goes nowhere; the person is told why."""

    text: str


def read_line(
    line: str, commands: Sequence[Command], *, elsewhere: Sequence[str] = (), program: str = ""
) -> Call | Question | Advice | None:
    """Return what ``line`` is, or ``None`` for an empty one.

    ``elsewhere`` are the usage lines of the commands of the program named ``program``: typed here they get a hint.
    """
    typed = line.strip()
    if not typed:
        return None
    word, *rest = typed.split(maxsplit=1)
    text = rest[0] if rest else ""
    for command in commands:
        if command.name != word.lower():
            continue
        if command.text is not None:
            return Call(command, text) if text else Advice(f"usage: {command.usage}")
        if not text:
            return Call(command)
    return _near_miss(word, text, commands, elsewhere, program) or Question(typed)


def _near_miss(
    word: str, text: str, commands: Sequence[Command], elsewhere: Sequence[str], program: str
) -> Advice | None:
    for command in commands:
        if (text and (command.text is None or command.is_word)) or not one_letter_away(word.lower(), command.name):
            continue
        otherwise = "" if text else " To ask this as a question, add a word."
        return Advice(f"Did you mean {command.usage}? Nothing was sent.{otherwise}")
    meant = _MEANT.get(f"{word} {text}".strip().lower())
    for command in commands:
        if command.name == meant:
            return Advice(f"{meant} leaves. Nothing was sent. To ask this as a question, add a word.")
    for usage in elsewhere:
        name, _, its_text = usage.partition(" ")
        if word.lower() == name and (its_text or not text):
            return Advice(f"{name} is a command of {program}. Nothing was sent; help lists the commands here.")
    return None


_MEANT = dict.fromkeys(("exit", "exit()", "quit()", "bye", "q", ":q", "logout"), "quit")
"""What people type to leave, elsewhere."""


def one_letter_away(word: str, name: str) -> bool:
    """Whether one letter added, dropped or changed, or two neighbours swapped, turn ``word`` into ``name``."""
    if word == name:
        return False
    start = 0
    while start < min(len(word), len(name)) and word[start] == name[start]:
        start += 1
    end = 0
    while end < min(len(word), len(name)) - start and word[-1 - end] == name[-1 - end]:
        end += 1
    left, right = word[start : len(word) - end], name[start : len(name) - end]
    return max(len(left), len(right)) == 1 or (len(left) == 2 and left == right[::-1])


def help_text(commands: Sequence[Command], closing: str) -> str:
    """Return the help page: one line a command, then what every other line is."""
    width = max(len(command.usage) for command in commands)
    lines = [f"  {command.usage:<{width}}  {command.help}" for command in commands]
    return "\n".join(["Commands (each is a whole line):", *lines, closing])
