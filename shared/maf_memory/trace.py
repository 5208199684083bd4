"""Where a text still stands under the state root, whatever its JSON escaping.

Forgetting removes one support and leaves the others; this finds what is left. It reads every file, also those of other
programs and the temporary file of a killed save, and follows no link. It would rather report a line too many than miss
one: case and Unicode composition make no difference.
"""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from maf_memory.disk import open_folder
from maf_memory.reading import DEFAULT_LIMIT, reason

BLIND = (
    "what the provider of a model logged or kept",
    "backups, copies elsewhere, and this terminal's own scrollback",
    "the disk's freed pages: a deleted or replaced file may still stand there",
    "the names of files, and text that is compressed, encrypted or encoded other than as JSON escapes it",
)
"""What no search under the root can see (the seed page's «Portée de l'oubli»)."""

_DEPTH = 3
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_SHORT = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True, slots=True)
class Place:
    """A line that holds the text: its file and its number, from 1."""

    path: Path
    line: int


@dataclass(frozen=True, slots=True)
class Unread:
    """Something under the root that was not read, and why."""

    path: Path
    why: str


def trace(root: Path, text: str) -> tuple[list[Place], list[Unread]]:
    """Return every line under ``root`` that holds ``text``, and what could not be read, both in the order of paths.

    Raises:
        ValueError: ``text`` is blank, and would be found everywhere.
    """
    wanted = folded(text)
    if not wanted.strip():
        raise ValueError("a text to look for is needed")
    places: list[Place] = []
    unread: list[Unread] = []
    for path, problem in _files_below(root):
        if problem is not None:
            unread.append(Unread(path, problem))
            continue
        try:
            places += [Place(path, number) for number in _lines_with(path, wanted)]
        except OSError as error:
            unread.append(Unread(path, reason(error)))
    return places, unread


def _files_below(root: Path) -> Iterator[tuple[Path, str | None]]:
    """Yield every file below ``root`` in the order of paths, and what is not read with the reason."""
    waiting = [root]
    while waiting:
        path = waiting.pop()
        try:
            kind = path.lstat().st_mode
            if stat.S_ISDIR(kind):
                waiting += sorted(path.iterdir(), reverse=True)
                continue
        except FileNotFoundError:
            continue
        except OSError as error:
            yield path, reason(error)
            continue
        if stat.S_ISLNK(kind):
            yield path, "a link, which is not followed"
        else:
            yield path, None if stat.S_ISREG(kind) else "not a regular file"


def _lines_with(path: Path, wanted: str) -> Iterator[int]:
    with open_folder(path.parent) as folder:
        descriptor = folder.open(path.name)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise OSError("it is no longer a regular file")
            if status.st_size > DEFAULT_LIMIT:
                raise OSError(f"larger than {DEFAULT_LIMIT:,} bytes")
            for number, line in enumerate(file, start=1):
                if holds(line.decode("utf-8", errors="replace"), wanted):
                    yield number


def holds(line: str, wanted: str) -> bool:
    """Whether ``line`` holds the folded text ``wanted``, as it stands or under up to three layers of JSON escapes.

    Layers, because a tool call's arguments are JSON inside a JSON text.
    """
    for _ in range(_DEPTH + 1):
        if wanted in folded(line):
            return True
        plain = _unescaped(line)
        if plain == line:
            return False
        line = plain
    return False


def _unescaped(line: str) -> str:
    """Return ``line`` with each JSON escape replaced, also where the line is no whole JSON, as in a cut file."""
    plain = _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else _SHORT[found[2]], line)
    # Escapes write an astral character as two surrogates; joined again, they are the character.
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def folded(text: str) -> str:
    """Return ``text`` without the differences that do not count: case, and how Unicode composes it."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
