"""The files below a folder, in order: links are never followed, and what nobody wants to see is passed over.

Passed over are ``.git``, hidden files and folders, and what ``.gitignore`` names. Whatever is asked for by its name is
shown nevertheless: a folder that is itself hidden or ignored is walked whole, so that ``.mm`` can be read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING

import bracex
import regex
from wcmatch import glob

from mm.tools.ignoring import Rules, is_ignored, rules_above, rules_in
from mm.tools.inside import Place
from mm.tools.refused import Refused, quoted
from mm.tools.working import Stopped

if TYPE_CHECKING:
    from mm.tools.inside import ProjectFolder
    from mm.tools.room import EntryKind
    from mm.tools.working import Bounds

_FLAGS = glob.GLOBSTAR | glob.FORCEUNIX
_MOST_ALTERNATIVES = 100
_LONGEST = 500


class Pattern:
    """A glob over paths: ``**`` is any folders, ``{a,b}`` alternatives."""

    def __init__(self, pattern: str, *, anchored: bool) -> None:
        """Understand the pattern; one that is not ``anchored`` and has no ``/`` is a name at any depth.

        Raises:
            Refused: it is none.
        """
        if len(pattern) > _LONGEST:
            raise Refused(f"the pattern has {len(pattern):,} characters; the limit is {_LONGEST}. Give a shorter one.")
        pattern = "/".join(part for part in pattern.split("/") if part not in ("", "."))
        flags = _FLAGS if anchored else _FLAGS | glob.MATCHBASE
        try:
            alternatives = bracex.expand(pattern, limit=_MOST_ALTERNATIVES)
            accepted = [glob.translate(alternative, flags=flags)[0] for alternative in alternatives]
            self._matches = [regex.compile(expression) for expressions in accepted for expression in expressions]
        except (bracex.ExpansionLimitException, ValueError, regex.error, RecursionError) as error:
            raise Refused(f"{quoted(pattern)} cannot be used as a pattern. Give one like src/**/*.py.") from error
        self.names_hidden = any(part.startswith(".") for alternative in alternatives for part in alternative.split("/"))

    def matches(self, path: str, bounds: Bounds) -> bool:
        """Whether a path, relative to the folder that is searched, matches.

        Raises:
            Stopped: the time is up.
        """
        try:
            return any(expression.match(path, timeout=bounds.left()) for expression in self._matches)
        except TimeoutError:
            raise Stopped from None


def is_pattern(path: str) -> bool:
    """Whether there are wildcards or alternatives in it."""
    return glob.is_magic(path, flags=_FLAGS | glob.BRACE)


def split(pattern: str) -> tuple[str, Pattern]:
    """Return the folder that a pattern names without wildcards, or ``""``, and the rest, which is below that folder.

    Raises:
        Refused: it is no pattern.
    """
    parts = (f"{pattern}**" if pattern.endswith("/") else pattern).split("/")
    plain = 0
    while plain < len(parts) - 1 and not is_pattern(parts[plain]):
        plain += 1
    folder = "/".join(parts[:plain])
    return (folder or "/" if plain else ""), Pattern("/".join(parts[plain:]), anchored=plain > 0)


def joined(path: str, folder: str) -> str:
    """Return a path below another; an absolute one stands for itself."""
    return str(PurePath(path, folder)) if folder else path


def walked(
    project: ProjectFolder, start: Place, bounds: Bounds, *, hidden: bool = False
) -> Iterator[tuple[tuple[str, ...], EntryKind]]:
    """Yield each file and link below ``start``, as its parts in the project; ``hidden`` ones only where wanted.

    Raises:
        Stopped: the time is up.
        OSError: ``start`` cannot be read; a folder below that cannot be read is passed over.
    """
    above, ignored = rules_above(project, start, bounds)
    whole = ignored or any(part.startswith(".") for part in start.parts)
    yield from _below(project, start, above, bounds, whole=whole, hidden=hidden or whole)


def _below(
    project: ProjectFolder, start: Place, above: tuple[Rules, ...], bounds: Bounds, *, whole: bool, hidden: bool
) -> Iterator[tuple[tuple[str, ...], EntryKind]]:
    pending: list[tuple[Place, EntryKind, tuple[Rules, ...]]] = [(start, "folder", above)]
    while pending:
        place, kind, rules = pending.pop()
        bounds.left()
        if kind != "folder":
            yield place.parts, kind
            continue
        try:
            with project.opened(place) as room:
                entries = room.entries()
                found = None if whole else rules_in(room, len(place.parts))
        except OSError:
            if place == start:
                raise
            continue
        rules = (*rules, found) if found is not None else rules
        for entry in reversed(entries):
            parts = (*place.parts, entry.name)
            if not whole:
                if entry.name == ".git" or (not hidden and entry.name.startswith(".")):
                    continue
                if is_ignored(parts, rules, bounds, folder=entry.kind == "folder"):
                    continue
            if entry.kind != "other":
                pending.append((Place(parts), entry.kind, rules))
