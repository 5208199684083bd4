"""A page played: the page's text again, with what the terminal really showed where the page is wrong.

The page is a terminal session: the shell, the programs and the files are real. Only the home folder is the test's own,
and is shown as ``/home/you``; ``$CLONE`` is this repository.
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from .masking import settled
from .page import Block, PageFailure, Terminal, Typed, WindowClosed, is_played, steps
from .terminal import SECONDS, ShellTerminal

ROOT = Path(__file__).resolve().parents[2]
SHOWN_HOME = "/home/you"

_NEEDS = re.compile(r"^<!-- needs ([\w ]+) -->$", re.MULTILINE)
_COMMANDS = {
    "demo130": ("-m", "demo130"),
    "demo140": ("-m", "demo140"),
    "maf-memory": ("-m", "maf_command"),
    "mm": ("-m", "mm"),
    "python3": (),
}


def pages() -> list[Path]:
    """Return every page that has something to play: the README and whatever is under ``docs``."""
    candidates = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in candidates if page.is_file() and is_played(page.read_text(encoding="utf-8"))]


def missing_tools(text: str) -> list[str]:
    """Return the programs that a page says it needs, as ``<!-- needs jq git -->``, and that this system has not."""
    named = _NEEDS.search(text)
    return [tool for tool in named[1].split() if shutil.which(tool) is None] if named else []


def difference(name: str, text: str, played: str) -> str:
    """Return how the page differs from what the terminal showed, as a unified diff; empty when it does not."""
    lines = difflib.unified_diff(
        text.splitlines(), played.splitlines(), f"{name} (the page)", f"{name} (the terminal)", lineterm=""
    )
    return "\n".join(lines)


def play(text: str, folder: Path, *, seconds: float = SECONDS) -> str:
    """Play the page in new terminals whose home lies in ``folder``, and return its text as the terminal has it.

    A page that is right comes back unchanged to the byte. ``seconds`` is the longest wait for one prompt.

    Raises:
        PageFailure: the page cannot be played to its end.
    """
    if missing := missing_tools(text):
        raise PageFailure(f"it needs what is not installed here: {', '.join(missing)}")
    home, environment = _furnish(folder)
    with _Player(home, environment, seconds) as player:
        pieces: list[str] = []
        done = 0
        for step in steps(text):
            match step:
                case Block(start, end, indent, typed):
                    shown = list(player.played(typed))
                    pieces += [text[done:start], *(f"{indent}{line}".rstrip() + "\n" for line in shown)]
                    done = end
                case Terminal(name):
                    player.current = name
                case WindowClosed():
                    player.close_window()
        return "".join(pieces) + text[done:]


class _Player:
    """The terminals of one page, by name; the first one is called 1."""

    def __init__(self, home: Path, environment: Mapping[str, str], seconds: float) -> None:
        self._home = home
        self._environment = environment
        self._seconds = seconds
        self._open: dict[str, ShellTerminal] = {}
        self._to_close = ExitStack()
        self.current = "1"

    def __enter__(self) -> _Player:
        return self

    def __exit__(self, *raised: object) -> None:
        self._to_close.close()

    def played(self, typed: Sequence[Typed]) -> Iterator[str]:
        """Yield each typed line, then what it showed, as the page has it where only what varies differs."""
        waiting = list(typed)
        while waiting:
            one = waiting.pop(0)
            shown = self._shown(one)
            page = list(one.shows)
            while waiting and waiting[0].line in shown:  # it only looks like a prompt: the program showed it
                page += [waiting[0].line, *waiting.pop(0).shows]
            yield one.line
            yield from settled(page, shown)

    def _shown(self, typed: Typed) -> list[str]:
        terminal = self._terminal()
        if terminal.prompt != typed.prompt:
            raise PageFailure(
                f"line {typed.number}: the page types «{typed.text}» at «{typed.prompt}», "
                f"but the terminal shows the prompt «{terminal.prompt}»"
            )
        try:
            shown = terminal.type(typed.text)
        except PageFailure as failure:
            raise PageFailure(f"line {typed.number}: {failure}") from failure
        return [line.replace(str(self._home), SHOWN_HOME) for line in shown.lines]

    def close_window(self) -> None:
        self._terminal().close_window()
        del self._open[self.current]

    def _terminal(self) -> ShellTerminal:
        if self.current not in self._open:
            terminal = ShellTerminal(self._environment, self._home, seconds=self._seconds)
            self._open[self.current] = self._to_close.enter_context(terminal)
        return self._open[self.current]


def _furnish(folder: Path) -> tuple[Path, dict[str, str]]:
    """Make a home, and a folder of commands that run under this interpreter; return the home and the environment."""
    folder = folder.resolve()
    home, commands = folder / "home", folder / "bin"
    home.mkdir(mode=0o700)
    commands.mkdir()
    for name, arguments in _COMMANDS.items():
        command = commands / name
        command.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, *arguments])} "$@"\n', encoding="utf-8")
        command.chmod(0o755)
    search = [str(Path(entry).resolve()) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    return home, {
        "HOME": str(home),
        "CLONE": str(ROOT),
        "PATH": f"{commands}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "PYTHONPATH": os.pathsep.join(search),
        "TERM": "dumb",
        "LC_ALL": "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8",
        "INPUTRC": os.devnull,
        "BASH_SILENCE_DEPRECATION_WARNING": "1",
    }
