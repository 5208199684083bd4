"""Completion of commands at the start of a line, of sessions after ``/resume``, and of ``@paths`` anywhere."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from maf_memory.errors import MafMemoryError
from maf_memory.text import one_line
from mm.terminal.registry import commands

if TYPE_CHECKING:
    from maf_memory.sessions.storage import Page
    from mm.config import Config

MOST = 200
"""How many names of a folder, or conversations, are offered."""

_PATH = re.compile(r'(?:^|(?<=\s))@(?:"(?P<quoted>[^"\n]*)|(?P<plain>[^\s"]*))\Z')
_COMMAND = re.compile(r"/[\w-]*\Z")
_RESUME = re.compile(r"/resume[ \t]+(.*)\Z")
_NEEDS_QUOTES = re.compile(r"\s|@|[.,;:!?)]\Z")
"""What ends a path, or is taken for the end of the sentence around it."""


class Completions(Completer):
    """Offers what can stand at the cursor."""

    def __init__(self, project: Path, config: Config, sessions: Callable[[], Awaitable[Page]]) -> None:
        """Offer the files of ``project``, and the conversations that ``sessions`` lists."""
        self._project = project
        self._config = config
        self._sessions = sessions

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """Yield the completions of the word before the cursor; a folder is read in a thread."""
        found = _RESUME.match(document.text_before_cursor)
        if found and self._config.sessions_enabled:
            offered = await self._conversations(found[1])
        else:
            offered = await asyncio.to_thread(lambda: list(self.get_completions(document, complete_event)))
        for one in offered:
            yield one

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:  # noqa: ARG002
        """Return the commands or the paths that the word before the cursor can be."""
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

    async def _conversations(self, begun: str) -> list[Completion]:
        """Return the conversations whose id begins like this, or whose title holds it."""
        from maf_memory.sessions.listing import describe
        from maf_memory.sessions.record import local_now

        try:
            heads = (await self._sessions()).heads
        except MafMemoryError:  # /resume tells of it
            return []
        now, wanted = local_now(), begun.strip().lower()
        return [
            Completion(head.id, -len(begun), display=head.id, display_meta=one_line(describe(head, now), 80))
            for head in heads
            if head.id.startswith(wanted) or wanted in head.title.lower()
        ][:MOST]

    def _paths(self, found: re.Match[str]) -> Iterator[Completion]:
        quoted = found["quoted"] is not None
        begun = found["quoted"] if quoted else found["plain"]
        folder, slash, start = begun.rpartition("/")
        if slash and not folder:
            return  # the root of the file system is outside the project
        for name, is_folder in self._names(folder, start):
            path = f"{folder}/{name}" if folder else name
            path += "/" if is_folder else ""
            text = f'@"{path}' + ("" if is_folder else '"') if quoted or _NEEDS_QUOTES.search(path) else f"@{path}"
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
                    (entry.name, _is_folder(entry))
                    for entry in entries
                    if entry.name.lower().startswith(start.lower())
                    and (start.startswith(".") or not entry.name.startswith("."))
                    and entry.name.isprintable()
                    and '"' not in entry.name
                ]
        except (OSError, ValueError):  # no folder has this name
            return []
        return sorted(found, key=lambda one: (not one[1], one[0].lower()))[:MOST]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads nowhere
        return False
