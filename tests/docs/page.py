"""What a Markdown page types into a terminal, and what it says the terminal shows.

Only blocks fenced as ``console`` are played; a transcript that is not to be played is fenced as ``text``. In a block, a
line that starts with a prompt is typed and the lines under it are what it shows; a shown line may itself start like a
prompt, as a quoted question does, and is known when it is shown. Comments between the blocks move the
hands: one closes the window, one goes to another terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from sybil import Document, Region
from sybil.parsers.markdown.lexers import FencedCodeBlockLexer

SHELL = "$ "
PROGRAMS = ("demo130> ", "demo140> ", "> ", "Allow it? once, always, no: ")
PROMPTS = (SHELL, *PROGRAMS)

_COMMENT = re.compile(r"^<!-- (?:(?P<closed>the window is closed)|terminal (?P<terminal>\d+)) -->$", re.MULTILINE)


class PageFailure(Exception):
    """A page cannot be played to its end; the message names the line and what the terminal showed."""


@dataclass(frozen=True, slots=True)
class Typed:
    """One line that is typed at a prompt, with its line number in the page and the lines it should show."""

    number: int
    prompt: str
    text: str
    shows: list[str] = field(default_factory=list)

    @property
    def line(self) -> str:
        """The line as it stands in the page."""
        return self.prompt + self.text


@dataclass(frozen=True, slots=True)
class Block:
    """One console block: where its lines lie in the page's text, and what they type."""

    start: int
    end: int
    indent: str
    typed: list[Typed]


@dataclass(frozen=True, slots=True)
class WindowClosed:
    """The terminal in use is killed with what runs in it; what follows is typed into a new one."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """What follows is typed into the terminal of this name; it is opened when it is first named."""

    name: str


Step = Block | WindowClosed | Terminal


def is_played(text: str) -> bool:
    """Tell whether the page has a block to play."""
    return any(True for _ in _regions(text))


def steps(text: str) -> list[Step]:
    """Return what the page does, in its order. Raises :class:`PageFailure` when a block does not start by typing."""
    blocks = [_block(text, region) for region in _regions(text)]
    found: list[tuple[int, Step]] = [(block.start, block) for block in blocks]
    for comment in _COMMENT.finditer(text):
        if any(block.start <= comment.start() < block.end for block in blocks):
            continue
        name = comment["terminal"]
        found.append((comment.start(), Terminal(name) if name else WindowClosed()))
    return [step for _, step in sorted(found, key=lambda placed: placed[0])]


def _regions(text: str) -> Iterator[Region]:
    yield from FencedCodeBlockLexer("console")(Document(text, "page.md"))


def _line_number(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def _block(text: str, region: Region) -> Block:
    source = region.lexemes["source"]
    start = region.start + source.offset
    end = text.rindex("\n", start - 1, region.end) + 1
    opening = text[region.start : start]
    indent = opening[: len(opening) - len(opening.lstrip())]
    return Block(start, end, indent, list(_typed(source.split("\n")[:-1], _line_number(text, start))))


def _typed(lines: list[str], first: int) -> Iterator[Typed]:
    current: Typed | None = None
    for number, line in enumerate(lines, start=first):
        prompt = next((prompt for prompt in PROMPTS if line.startswith(prompt)), None)
        if prompt is not None:
            if current is not None:
                yield current
            current = Typed(number, prompt, line.removeprefix(prompt))
        elif current is None:
            raise PageFailure(f"line {number}: a console block starts with what is typed, not with {line!r}")
        else:
            current.shows.append(line)
    if current is not None:
        yield current
