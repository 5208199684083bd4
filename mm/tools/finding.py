"""list_files: what is in a folder, or which files below it match a pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mm.tools.refused import Refused, path_line, quoted, refusing
from mm.tools.walking import Pattern, is_pattern, joined, split, walked
from mm.tools.working import Bounds, Stopped

if TYPE_CHECKING:
    from mm.tools.arguments import ListFiles
    from mm.tools.inside import Place, ProjectFolder

SECONDS = 10.0
"""How long one search for files may take."""


def list_files(project: ProjectFolder, wanted: ListFiles, limit: int, bounds: Bounds) -> str:
    """Return the names, one a line, in at most ``limit`` characters.

    Raises:
        Refused: the folder is not there, or the pattern is none.
    """
    if not wanted.pattern.strip("/"):
        return _listed(project, project.place(wanted.path), limit)
    if not is_pattern(wanted.pattern):
        place = project.place(joined(wanted.path, wanted.pattern))
        if project.is_folder(place):
            return _listed(project, place, limit)
    folder, pattern = split(wanted.pattern)
    return _found(project, project.place(joined(wanted.path, folder)), pattern, wanted.pattern, limit, bounds)


def _listed(project: ProjectFolder, place: Place, limit: int) -> str:
    with refusing(str(place)):
        try:
            with project.opened(place) as room:
                entries = [entry for entry in room.entries() if entry.name != ".git"]
                lines = []
                for entry in entries:
                    match entry.kind:
                        case "folder":
                            lines.append(f"{path_line(entry.name)}/")
                        case "link":
                            lines.append(f"{path_line(entry.name)} -> {path_line(room.leads_to(entry.name))}")
                        case _:
                            lines.append(path_line(entry.name))
        except NotADirectoryError:
            raise Refused(f"{place.told} is no folder. read_file reads a file.") from None
        except FileNotFoundError:
            raise Refused(f"there is no folder {place.told}.{project.alike(place)}") from None
    count = "1 entry" if len(lines) == 1 else f"{len(lines):,} entries"
    return fitting(f"[{place.told}, {count}]", lines, limit, "Ask for a folder below it, or give a pattern.")


def _found(project: ProjectFolder, start: Place, pattern: Pattern, told: str, limit: int, bounds: Bounds) -> str:
    lines: list[str] = []
    note = ""
    with refusing(str(start)):
        try:
            for parts, _ in walked(project, start, bounds, hidden=pattern.names_hidden):
                if pattern.matches("/".join(parts[len(start.parts) :]), bounds):
                    lines.append(path_line("/".join(parts)))
        except Stopped:
            note = f"; stopped after {bounds.seconds:g} s, there may be more: search a smaller folder"
        except (FileNotFoundError, NotADirectoryError):
            raise Refused(f"there is no folder {start.told}.{project.alike(start)}") from None
    count = "1 file matches" if len(lines) == 1 else f"{len(lines):,} files match"
    if not lines:
        note += "; hidden and ignored files are found only in a folder that is named"
    return fitting(f"[{count} {quoted(told)} in {start.told}{note}]", lines, limit, "Narrow the pattern.")


def fitting(header: str, lines: list[str], limit: int, advice: str) -> str:
    """Return the header and as many whole lines as fit; a note tells how many are left out."""
    room = limit - len(header) - 80 - len(advice)
    for number, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            left = len(lines) - number
            return "\n".join([header, *lines[:number], f"[{left:,} more are left out. {advice}]"])
    return "\n".join([header, *lines])
