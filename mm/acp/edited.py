"""What a call changes in a file, as an editor's diff: the old text and the new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mm.acp.inside import path_inside


@dataclass(frozen=True, slots=True)
class Edited:
    """A change of the file at ``path``; ``old`` is ``None`` for a new file, and where nobody knows it any more."""

    path: str
    old: str | None
    new: str


def edited_in(project: Path, name: str, arguments: Mapping[str, Any], *, live: bool) -> Edited | None:
    """Return what a call of write_file or edit_file changes, and ``None`` for any other call.

    Where it is ``live``, the file that write_file will replace is read, inside the project only; a record holds only
    what was written.
    """
    path = path_inside(project, arguments.get("path"))
    if path is None:
        return None
    match name:
        case "edit_file":
            old, new = arguments.get("old"), arguments.get("new")
            return Edited(path, old, new) if isinstance(old, str) and isinstance(new, str) else None
        case "write_file":
            content = arguments.get("content")
            return Edited(path, _there(project, path) if live else None, content) if isinstance(content, str) else None
    return None


def _there(project: Path, path: str) -> str | None:
    """Return the text of the file that is there, as the tool that will replace it reads it."""
    from mm.tools.inside import ProjectFolder
    from mm.tools.reading import read_text
    from mm.tools.refused import Refused

    folder = ProjectFolder(project)
    try:
        return read_text(folder, folder.place(path)).plain
    except Refused:  # none is there, or no text: what is refused is told by the tool itself
        return None
