"""What a write would make of a file: planned first, so that a person can be shown it.

A file keeps its mark at the beginning and its line ends; an edit leaves every other character as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mm.tools.diffs import Diff, diff
from mm.tools.reading import read_bytes
from mm.tools.refused import Refused, refusing
from mm.tools.texts import Text, decoded, lines_of, plain

if TYPE_CHECKING:
    from mm.tools.arguments import EditFile, WriteFile
    from mm.tools.inside import Place, ProjectFolder

_MOST_WORK = 10_000_000
"""How many pairs of lines are compared to find what is alike."""


@dataclass(frozen=True, slots=True)
class Change:
    """One write: what the file holds now (``None``: there is none), what it will hold, and how that is told."""

    place: Place
    before: bytes | None
    after: bytes
    diff: Diff
    notes: tuple[str, ...] = ()


def whole(project: ProjectFolder, place: Place, wanted: WriteFile) -> Change:
    """Return the change that puts a whole content in place.

    Raises:
        Refused: the path is a folder, or cannot be written.
    """
    content, text = wanted.content.encode(), plain(wanted.content)
    with refusing(str(place)):
        try:
            with project.opened(place.folder, to_write=True) as room:
                room.status(place.name)
        except FileNotFoundError:
            return Change(place, None, content, diff(None, text, str(place)), ("A new file.",))
    before = read_bytes(project, place)
    there = decoded(before)
    if there is None or there.encoding != "UTF-8":
        what = "not text" if there is None else f"not UTF-8 ({there.encoding})"
        note = f"The file that is there is {what}, {len(before):,} bytes; it is replaced whole."
        return Change(place, before, content, diff(None, text, str(place)), (note,))
    notes = (f"The {there.told} are kept.",) if there.has_crlf else ()
    after = there.encoded(there.ended(text))
    return Change(place, before, after, diff(there.plain, text, str(place)), notes)


def edited(project: ProjectFolder, place: Place, wanted: EditFile) -> Change:
    """Return the change that an edit makes; the old text must stand there exactly once, unless all are wanted.

    Raises:
        Refused: it does not, or the file is no UTF-8 text.
    """
    if not wanted.old:
        raise Refused("old is empty. Give the text to replace; write_file makes a new file.")
    before = read_bytes(project, place)
    text = decoded(before)
    if text is None or text.encoding != "UTF-8":
        what = "not text" if text is None else "UTF-16" if text.encoding == "UTF-16" else "not UTF-8"
        raise Refused(
            f"{place.told} is {what}, and edit_file would change more of it than was asked. "
            "Convert it first, e.g. with run_command and iconv."
        )
    old, new = plain(wanted.old), plain(wanted.new)
    if old == new:
        raise Refused("old and new are the same; there is nothing to change.")
    found = list(re.finditer("\r?\n".join(map(re.escape, old.split("\n"))), text.raw))
    if not found:
        raise Refused(f"old is not in {place.told} exactly as given.{_alike(text, old)}")
    if len(found) > 1 and not wanted.all:
        raise Refused(
            f"old is in {place.told} {len(found)} times (lines {_numbers(text, found)}). "
            "Give more of the lines around the one that is meant, or set all to true."
        )
    pieces, end = [], 0
    for match in found:
        pieces += [text.raw[end : match.start()], _ended_like(match[0], new, text)]
        end = match.end()
    raw = "".join([*pieces, text.raw[end:]])
    many = f"{len(found)} places, lines" if len(found) > 1 else "Line"
    note = f"{many} {_numbers(text, found)}."
    return Change(place, before, text.encoded(raw), diff(text.plain, plain(raw), str(place)), (note,))


def _ended_like(old: str, new: str, text: Text) -> str:
    """Return ``new`` with the line ends of what it replaces; of most of the file where that is a single line."""
    if "\n" not in old:
        return text.ended(new)
    return new.replace("\n", "\r\n") if "\r\n" in old else new


def _numbers(text: Text, found: list[re.Match[str]]) -> str:
    numbers, number, counted = [], 1, 0
    for match in found[:10]:
        number += text.raw.count("\n", counted, match.start())
        counted = match.start()
        numbers.append(str(number))
    return ", ".join(numbers) + (", …" if len(found) > 10 else "")


def _alike(text: Text, old: str) -> str:
    """Return what stands in the file where only the spaces differ, so that it can be copied."""
    wanted = [line.strip() for line in lines_of(old)]
    lines = lines_of(text.plain)
    stripped = [line.strip() for line in lines]
    while wanted and not wanted[0]:
        wanted.pop(0)
    if wanted and len(wanted) * len(lines) <= _MOST_WORK:
        for number in range(len(lines) - len(wanted) + 1):
            if stripped[number] == wanted[0] and stripped[number : number + len(wanted)] == wanted:
                there = "\n".join(lines[number : number + len(wanted)])
                return f" Only the spaces differ from line {number + 1}; the file has there:\n{there[:2000]}"
    return " Read the file again, and copy the text from it with its spaces and line breaks."
