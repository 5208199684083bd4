"""Completion of commands at the start of a line, of sessions after ``/resume``, and of ``@paths`` anywhere."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from maf_memory.text import one_line
from mm.terminal.registry import commands

if TYPE_CHECKING:
    from mm.config import Config

MOST = 200
"""How many names of a folder are offered."""

_PATH = re.compile(r'(?:^|(?<=\s))@(?:"(?P<quoted>[^"\n]*)|(?P<plain>[^\s"@]*))\Z')
_COMMAND = re.compile(r"/[\w-]*\Z")


class Completions(Completer):
    """Offers what can stand at the cursor."""

    def __init__(self, project: Path, config: Config) -> None:
        self._project = project
        self._config = config

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:  # noqa: ARG002
        """Yield the completions of the word before the cursor."""
        before = document.text_before_cursor
        if _COMMAND.match(before):
            return list(self._commands(before))
        if found := _PATH.search(before):
            return list(self._paths(found))
        return []

    def _commands(self, begun: str) -> Iterator[Completion]:
        for name, one in commands(self._config).items():
            if name.startswith(begun.lower()):
                yield Completion(name, -len(begun), display=one.usage, display_meta=one.help)

    def _paths(self, found: re.Match[str]) -> Iterator[Completion]:
        begun = found["quoted"] if found["quoted"] is not None else found["plain"]
        folder, _, start = begun.rpartition("/")
        for name, is_folder in self._names(folder, start):
            path = f"{folder}/{name}" if folder else name
            path += "/" if is_folder else ""
            text = f'@"{path}' + ("" if is_folder else '"') if re.search(r"\s", path) else f"@{path}"
            shown = one_line(f"{name}/" if is_folder else name, 60)
            yield Completion(text, -len(found[0]), display=shown)

    def _names(self, folder: str, start: str) -> list[tuple[str, bool]]:
        """Return the fitting names of a folder inside the project: folders first, hidden ones where asked for."""
        project = self._project.resolve()
        try:
            place = (project / folder).resolve()
            if not place.is_relative_to(project):
                return []
            with os.scandir(place) as entries:
                found = [
                    (entry.name, entry.is_dir())
                    for entry in entries
                    if entry.name.lower().startswith(start.lower())
                    and (start.startswith(".") or not entry.name.startswith("."))
                    and entry.name.isprintable()
                    and '"' not in entry.name
                ]
        except (OSError, ValueError):  # no folder has this name
            return []
        return sorted(found, key=lambda one: (not one[1], one[0].lower()))[:MOST]
