"""write_file and edit_file: what a person was shown is what is written, or nothing is.

A file is put in place in one step and keeps its mode. It is read again just before; between that and the replacing
another program has a moment left, as with every editor.
"""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING

from mm.tools.arguments import EditFile, WriteFile
from mm.tools.changes import Change, edited, whole
from mm.tools.reading import LARGEST
from mm.tools.refused import Refused, refusing

if TYPE_CHECKING:
    from mm.tools.inside import Place, ProjectFolder

CHANGED = "the file changed since it was shown. Read it again, and make the change anew."

_MOST_SHOWN = 64
_NOT_POSSIBLE = ("", "not possible")


class Writer:
    """Writes the files of one project, one at a time, and remembers what a person was shown."""

    def __init__(self, project: ProjectFolder, configuration: Path | None = None) -> None:
        """Write below ``project``; each change of ``configuration``, the agent's own, must have been shown."""
        self._project = project
        self._configuration = {"agent.yaml"}
        if configuration is not None:
            self._configuration.add(os.path.relpath(configuration.resolve(), project.root).replace(os.sep, "/"))
        self._lock = threading.Lock()
        self._shown: dict[tuple[Hashable, ...], tuple[str, str]] = {}

    def is_configuration(self, path: str) -> bool:
        """Whether ``path`` names what decides what the agent may do."""
        try:
            return self._is_configuration(self._project.place_to_write(path))
        except Refused:
            return False  # it will not be written

    def preview(self, wanted: WriteFile | EditFile) -> str:
        """Return the diff of a call, and remember of which content it was made."""
        with self._lock:
            try:
                change = self._planned(wanted)
            except Refused as error:
                self._remember(wanted, _NOT_POSSIBLE)
                return f"This call cannot be done as things are: {error}"
            self._remember(wanted, (str(change.place), _digest(change.before)))
        notes = list(change.notes)
        if self._is_configuration(change.place):
            notes.append("This file decides what the agent may do, from its next start on.")
        return "\n".join([*notes, f"{change.place.told}: {change.diff.counts}", change.diff.text])

    def write(self, wanted: WriteFile | EditFile) -> str:
        """Do the call, and return what was done.

        Raises:
            Refused: it cannot be done, or the file is not what the person was shown; the file is as it was.
        """
        with self._lock:
            shown = self._shown.pop(_key(wanted), None)
            change = self._planned(wanted)
            if shown is not None and shown != (str(change.place), _digest(change.before)):
                raise Refused(f"{change.place.told} is not written: {CHANGED}")
            if shown is None and self._is_configuration(change.place):
                raise Refused(
                    f"{change.place.told} decides what this agent may do, and is written only when the person "
                    "is shown exactly this change. Ask the person to make it."
                )
            if change.before == change.after:
                return f"{change.place.told} already holds exactly this; nothing was changed."
            self._put(change)
            self._follow(change)
        return _told(change)

    def _is_configuration(self, place: Place) -> bool:
        return str(place).casefold() in {name.casefold() for name in self._configuration}

    def _remember(self, wanted: WriteFile | EditFile, seen: tuple[str, str]) -> None:
        self._shown.pop(_key(wanted), None)
        self._shown[_key(wanted)] = seen
        while len(self._shown) > _MOST_SHOWN:
            del self._shown[next(iter(self._shown))]

    def _follow(self, change: Change) -> None:
        """Let the other edits of this file, shown before this one was made, be made too: the person saw both."""
        before, after = _digest(change.before), _digest(change.after)
        for key, seen in self._shown.items():
            if key[0] == EditFile.__name__ and seen == (str(change.place), before):
                self._shown[key] = (str(change.place), after)

    def _planned(self, wanted: WriteFile | EditFile) -> Change:
        place = self._project.place_to_write(wanted.path)
        if isinstance(wanted, WriteFile):
            return whole(self._project, place, wanted)
        return edited(self._project, place, wanted)

    def _put(self, change: Change) -> None:
        place = change.place
        is_new = change.before is None
        with refusing(str(place)), self._project.opened(place.folder, to_write=True, make=is_new) as room:
            try:
                status: os.stat_result | None = room.status(place.name)
                now: bytes | None = room.read(place.name, LARGEST)
            except FileNotFoundError:
                status = now = None
            if now != change.before:
                raise Refused(f"{place.told} is not written: {CHANGED}")
            if status is not None and not status.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
                raise Refused(f"{place.told} is read-only, and was not changed. Ask the person.")
            room.put(place.name, change.after, status)


def _key(wanted: WriteFile | EditFile) -> tuple[Hashable, ...]:
    return (type(wanted).__name__, *wanted.model_dump().values())


def _digest(content: bytes | None) -> str:
    return "none" if content is None else hashlib.sha256(content).hexdigest()


def _told(change: Change) -> str:
    name = change.place.told
    if change.before is None:
        return f"{name} is written: a new file of {len(change.after):,} bytes."
    return f"{name} is changed: {change.diff.counts}."
