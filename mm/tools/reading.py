"""read_file: the lines of one file, exactly as they stand in it, so that they can be copied into an edit.

No line numbers stand before the lines, because small models copy them along; the line above says which they are.
"""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from mm.tools.output import capped
from mm.tools.refused import Refused, refusing
from mm.tools.texts import Text, decoded, lines_of

if TYPE_CHECKING:
    from mm.tools.arguments import ReadFile
    from mm.tools.inside import Place, ProjectFolder

LARGEST = 16 * 1024 * 1024
"""The largest file that is read, in bytes."""


def read_text(project: ProjectFolder, place: Place) -> Text:
    """Return the text of a file.

    Raises:
        Refused: it is missing, a folder, no regular file, too large, or no text.
    """
    content = read_bytes(project, place)
    text = decoded(content)
    if text is None:
        raise Refused(
            f"{place.told} is not text ({len(content):,} bytes), and is not shown. "
            "run_command can look at it, e.g. with file or xxd."
        )
    return text


def read_bytes(project: ProjectFolder, place: Place) -> bytes:
    """Return the content of a file.

    Raises:
        Refused: as :func:`read_text`.
    """
    with refusing(str(place)):
        if not place.parts:
            raise _is_folder(place)
        try:
            with project.opened(place.folder) as room:
                if stat.S_ISDIR(room.status(place.name).st_mode):
                    raise _is_folder(place)
                return room.read(place.name, LARGEST)
        except FileNotFoundError:
            alike = project.alike(place) or " list_files shows what is there."
            raise Refused(f"there is no file {place.told}.{alike}") from None
    raise AssertionError  # for the type checker: refusing() lets nothing pass


def _is_folder(place: Place) -> Refused:
    return Refused(f"{place.told} is a folder. list_files lists it.")


def read_file(project: ProjectFolder, wanted: ReadFile, limit: int) -> str:
    """Return the wanted lines under one line that says which they are; at most ``limit`` characters.

    Raises:
        Refused: as :func:`read_text`; or the file has not so many lines.
    """
    place = project.place(wanted.path)
    text = read_text(project, place)
    lines = lines_of(text.plain)
    first, last = max(wanted.first, 1), wanted.last if wanted.last > 0 else len(lines)
    name = place.told
    if not lines:
        return f"[{name} is empty]"
    if first > len(lines):
        raise Refused(f"{name} has only {_count(len(lines))}; ask for lines up to {len(lines)}.")
    if last < first:
        raise Refused(f"last ({last}) is before first ({first}); lines are counted from 1, and 0 is the end.")
    last = min(last, len(lines))
    shown, end = _fitting(lines[first - 1 : last], max(limit - len(name) - len(text.told) - 140, 0))
    end += first - 1
    header = f"[{name}, {_which(first, end, len(lines))}{', ' if text.told else ''}{text.told}]"
    footer = f"\n[cut at {limit:,} characters; go on with first={end + 1}]" if end < last else ""
    return f"{header}\n{shown}{footer}"


def _fitting(lines: list[str], limit: int) -> tuple[str, int]:
    """Return as many whole lines as fit, and how many they are; the first one is cut where it alone is too long."""
    length = -1
    for number, line in enumerate(lines):
        length += len(line) + 1
        if length > limit:
            if number == 0:
                return capped(line, limit, "The line is long; search_text or run_command can show a part."), 1
            return "\n".join(lines[:number]), number
    return "\n".join(lines), len(lines)


def _which(first: int, last: int, total: int) -> str:
    if (first, last) == (1, total):
        return _count(total)
    which = f"line {first}" if first == last else f"lines {first}-{last}"
    return f"{which} of {total}"


def _count(lines: int) -> str:
    return "1 line" if lines == 1 else f"{lines} lines"
