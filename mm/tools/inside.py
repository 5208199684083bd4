"""The project folder as the tools see it: whatever path the model gives, nothing outside the folder is opened.

A path is resolved first, links and ``..`` included, and refused when it leads out. Then it is opened folder by folder
without following a link, so that one swapped in afterwards is refused as well. What this cannot see is a second name
that the file system itself gives a file outside (a hard link, a mount); writing replaces a hard link, and leaves the
file that it shares as it is.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from mm.tools.refused import Refused, quoted, refusing
from mm.tools.room import Room

NEVER_WRITTEN = {".mm": "mini-me keeps its conversations there", ".git": "it is git's own; use run_command with git"}
"""Folders that may be read and are never written, with the reason."""

_LONGEST = 1000


@dataclass(frozen=True, slots=True)
class Place:
    """A path inside the project, free of links; the project itself has no parts."""

    parts: tuple[str, ...]

    def __str__(self) -> str:
        return "/".join(self.parts) or "."

    @property
    def told(self) -> str:
        """The path as it can stand in a sentence."""
        return quoted(str(self)) if self.parts else "the project folder"

    @property
    def name(self) -> str:
        """The last part."""
        return self.parts[-1] if self.parts else "."

    @property
    def folder(self) -> Place:
        """The folder that holds it."""
        return Place(self.parts[:-1])


class ProjectFolder:
    """The folder that the tools must not leave."""

    def __init__(self, project: Path) -> None:
        """Resolve the folder, once: it may itself be reached through links, as any folder of one's own may."""
        self.root = project.resolve()
        self._given = project.absolute()

    def place(self, path: str) -> Place:
        """Return where ``path`` is; relative to the project, or absolute; it need not exist.

        Raises:
            Refused: it is outside the project, leads out of it, or is no path.
        """
        if not path.strip():
            raise Refused("a path is needed, relative to the project folder, e.g. README.md.")
        if "\0" in path:
            raise Refused(f"{quoted(path)} is no path: it holds a NUL character.")
        if len(path) > _LONGEST:
            raise Refused(f"{quoted(path)} is too long: {len(path):,} characters. Give a shorter path.")
        try:
            real = (self.root / path).resolve()
        except (OSError, RuntimeError, ValueError) as error:  # a loop of links is a RuntimeError before Python 3.13
            with refusing(path):
                raise error if isinstance(error, OSError) else OSError(errno.ELOOP, "Too many links") from error
        if not real.is_relative_to(self.root):
            if self._without_links(path) is None:
                raise Refused(f"{quoted(path)} is outside the project folder. Only files inside it can be used.")
            raise Refused(f"{quoted(path)} leads out of the project folder through a link, and is not used.")
        return Place(real.relative_to(self.root).parts)

    def place_to_write(self, path: str) -> Place:
        """Return where ``path`` is; no part of it may be a link, so that what is shown is what is written.

        Raises:
            Refused: as :meth:`place`; it goes through a link; or it is never written.
        """
        place = self.place(path)
        plain = self._without_links(path)
        if plain is None or [*map(os.path.normcase, plain)] != [*map(os.path.normcase, place.parts)]:
            raise Refused(f"{quoted(path)} goes through a link to {place.told}. Write to that path.")
        if not place.parts:
            raise Refused(f"{quoted(path)} is the project folder itself. Give the path of a file.")
        for part in place.parts:
            if (name := _plain_name(part)) in NEVER_WRITTEN:
                raise _never_written(name, place)
        return place

    def _without_links(self, path: str) -> tuple[str, ...] | None:
        """Return the parts of ``path`` as they are written; ``None`` outside the project."""
        plain = Path(os.path.normpath(self.root / path))
        for root in (self.root, self._given):
            if plain.is_relative_to(root):
                return plain.relative_to(root).parts
        return None

    @contextmanager
    def opened(self, place: Place, *, to_write: bool = False, make: bool = False) -> Iterator[Room]:
        """Open the folder at ``place``; with ``make``, what is missing of it is made.

        Raises:
            Refused: it is a folder that is never written, under whatever name the file system knows it.
            OSError: a part of it is missing, a link, or no folder.
        """
        protected = self._never_written() if to_write else {}
        room = Room.opened(self.root)
        try:
            for part in place.parts:
                inner = room.inner(part, make=make)
                room.close()
                room = inner
                if protected and (name := protected.get(_identity(room.status()))):
                    raise _never_written(name, place)
            yield room
        finally:
            room.close()

    def _never_written(self) -> dict[tuple[int, int], str]:
        found = {}
        for name in NEVER_WRITTEN:
            with suppress(OSError):
                found[_identity((self.root / name).stat())] = name
        return found

    def is_folder(self, place: Place) -> bool:
        """Whether there is a folder."""
        with suppress(OSError), self.opened(place):
            return True
        return False

    def alike(self, place: Place) -> str:
        """Return a sentence with the names that ``place`` may mean, or nothing."""
        with suppress(OSError), self.opened(place.folder) as room:
            names = [entry.name for entry in room.entries()]
            by_fold = {name.casefold(): name for name in names}
            close = get_close_matches(place.name.casefold(), list(by_fold), n=3, cutoff=0.6)
            if close:
                return f" Is it {' or '.join(quoted(str(Place((*place.folder.parts, by_fold[n])))) for n in close)}?"
        return ""


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _never_written(name: str, place: Place) -> Refused:
    return Refused(f"{place.told} is not written: {NEVER_WRITTEN[name]}.")


def _plain_name(part: str) -> str:
    """Return a name as some file system may read it: without regard to case, or to dots and spaces at its end."""
    return part.rstrip(". ").partition(":")[0].casefold()
