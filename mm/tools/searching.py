"""search_text: the lines of a project's files that hold a text, in bounded time.

The expression is the model's: it must be one of Python's own (``re``), and is run by an engine that stops when its time
is up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import regex

from maf_memory.text import one_line
from mm.tools.finding import fitting
from mm.tools.inside import Place
from mm.tools.reading import LARGEST
from mm.tools.refused import Refused, path_line, quoted, refusing
from mm.tools.texts import decoded
from mm.tools.walking import Pattern, joined, split, walked
from mm.tools.working import Bounds, Stopped

if TYPE_CHECKING:
    from mm.tools.arguments import SearchText
    from mm.tools.inside import ProjectFolder

SECONDS = 10.0
"""How long one search may take."""

_LONGEST_EXPRESSION = 1000
_LONGEST_LINE = 300
_MOST_HITS = 10_000


def search_text(project: ProjectFolder, wanted: SearchText, limit: int, bounds: Bounds) -> str:
    """Return each line that holds the text, after its file and number, in at most ``limit`` characters.

    Raises:
        Refused: the folder or file is not there, or the text or the pattern cannot be searched for.
    """
    expression = _expression(wanted)
    folder, pattern = split(wanted.pattern) if wanted.pattern.strip("/") else ("", None)
    start = project.place(joined(wanted.path, folder))
    search = _Search(project, expression, bounds)
    note = ""
    with refusing(str(start)):
        try:
            for parts in _files(project, start, pattern, bounds):
                search.look_in(Place(parts))
        except Stopped:
            note = f"; stopped after {bounds.seconds:g} s, there may be more: search a smaller folder"
        except MemoryError:
            raise Refused("the expression is too costly. Make it simpler, or search a smaller folder.") from None
        except FileNotFoundError:
            raise Refused(f"there is no {start.told}.{project.alike(start)}") from None
    return search.told(quoted(wanted.text), start.told, note, limit)


def _expression(wanted: SearchText) -> regex.Pattern[str]:
    if not wanted.text:
        raise Refused("a text to look for is needed.")
    if len(wanted.text) > _LONGEST_EXPRESSION:
        raise Refused(f"the text has {len(wanted.text):,} characters; the limit is {_LONGEST_EXPRESSION:,}.")
    source = wanted.text.replace("\r\n", "\n")
    flags = regex.MULTILINE | (regex.IGNORECASE if wanted.ignore_case else 0)
    if not wanted.regex:
        return regex.compile(re.escape(source), flags)
    try:
        re.compile(source)  # what only the other engine knows (recursion, for one) is not offered
        return regex.compile(source, flags)
    except (re.error, regex.error, RecursionError, OverflowError) as error:
        raise Refused(
            f"{quoted(wanted.text)} is no regular expression: {one_line(str(error))}. "
            "Correct it, or leave regex out to look for the text as it is written."
        ) from error


def _files(project: ProjectFolder, start: Place, pattern: Pattern | None, bounds: Bounds) -> Iterator[tuple[str, ...]]:
    if start.parts:
        with project.opened(start.folder) as room:
            kinds = {entry.name: entry.kind for entry in room.entries()}
        if kinds.get(start.name, "folder") != "folder":
            yield start.parts
            return
    for parts, kind in walked(project, start, bounds, hidden=pattern is not None and pattern.names_hidden):
        if kind == "file" and (pattern is None or pattern.matches("/".join(parts[len(start.parts) :]), bounds)):
            yield parts


class _Search:
    """Looks into one file after the other, and keeps what it found."""

    def __init__(self, project: ProjectFolder, expression: regex.Pattern[str], bounds: Bounds) -> None:
        self._project = project
        self._expression = expression
        self._bounds = bounds
        self._lines: list[str] = []
        self._hits = 0
        self._files = 0
        self._searched = 0
        self._unread: list[str] = []

    def look_in(self, place: Place) -> None:
        """Search one file; one that is no text, too large, or cannot be read is passed over and counted."""
        try:
            with self._project.opened(place.folder) as room:
                content = room.read(place.name, LARGEST)
        except (OSError, Refused):
            self._unread.append(str(place))
            return
        text = decoded(content)
        if text is None:
            return
        self._searched += 1
        for hit, (number, line) in enumerate(self._found(text.plain)):
            self._files += hit == 0
            self._hits += 1
            if len(self._lines) < _MOST_HITS:
                self._lines.append(f"{path_line(str(place))}:{number}: {line}")

    def _found(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield each line in which a match begins, with its number."""
        place, number, counted = 0, 1, 0
        while place < len(text) and (match := self._next(text, place)) is not None and match.start() < len(text):
            begin = text.rfind("\n", 0, match.start()) + 1
            end = text.find("\n", match.start())
            end = len(text) if end < 0 else end
            number += text.count("\n", counted, begin)
            counted = begin
            yield number, _around(text[begin:end], match.start() - begin)
            place = end + 1

    def _next(self, text: str, place: int) -> regex.Match[str] | None:
        try:
            return self._expression.search(text, place, timeout=self._bounds.left())
        except TimeoutError:
            raise Stopped from None

    def told(self, text: str, where: str, note: str, limit: int) -> str:
        """Return what was found."""
        if self._unread:
            shown = ", ".join(map(quoted, self._unread[:3]))
            note += f"; {len(self._unread)} could not be read or are too large: {shown}"
        if not self._hits:
            return f"[no line holds {text}; {self._searched:,} text files in {where} were searched{note}]"
        lines = "1 line" if self._hits == 1 else f"{self._hits:,} lines"
        files = "1 file" if self._files == 1 else f"{self._files:,} files"
        header = f"[{lines} in {files} of {where}{note}]"
        return fitting(header, self._lines, limit, "Narrow it with path or pattern.")


def _around(line: str, start: int) -> str:
    """Return the line, or the part of a long one around what was found."""
    if len(line) <= _LONGEST_LINE:
        return line
    begin = max(0, min(start - 100, len(line) - _LONGEST_LINE))
    cut = line[begin : begin + _LONGEST_LINE]
    return f"{'…' if begin else ''}{cut}{'…' if begin + _LONGEST_LINE < len(line) else ''}"
