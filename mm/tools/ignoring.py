"""Which files of a project nobody wants to see: what its ``.gitignore`` files name, as git reads them.

The patterns are a project's own, and a project may be a stranger's: they are matched in bounded time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import regex
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from mm.tools.inside import Place
from mm.tools.refused import Refused
from mm.tools.working import Stopped

if TYPE_CHECKING:
    from mm.tools.inside import ProjectFolder
    from mm.tools.room import Room
    from mm.tools.working import Bounds

FILE = ".gitignore"
_LARGEST = 256 * 1024


class _Rule(NamedTuple):
    matches: regex.Pattern[str]
    ignores: bool


class Rules(NamedTuple):
    """The rules of one ``.gitignore``, how many parts its folder has, and whether any of the rules matches at all."""

    depth: int
    rules: tuple[_Rule, ...]
    any_rule: regex.Pattern[str]


def rules_in(room: Room, depth: int) -> Rules | None:
    """Return the rules of the folder, where it has any; a file that cannot be read has none, as for git."""
    try:
        content = room.read(FILE, _LARGEST)
    except (OSError, Refused):
        return None
    rules = tuple(rule for line in content.decode("utf-8", "replace").splitlines() if (rule := _rule(line)) is not None)
    if not rules:
        return None
    return Rules(depth, rules, regex.compile("|".join(f"(?:{rule.matches.pattern})" for rule in rules)))


def _rule(line: str) -> _Rule | None:
    try:
        expression, ignores = GitIgnoreSpecPattern.pattern_to_regex(line)
        if expression is None or ignores is None:
            return None
        return _Rule(regex.compile(str(expression)), ignores)
    except (ValueError, regex.error, RecursionError):  # git passes over a pattern that is none
        return None


def is_ignored(parts: tuple[str, ...], rules: tuple[Rules, ...], bounds: Bounds, *, folder: bool) -> bool:
    """Whether the nearest rule that knows the name ignores it; the folder that holds it must not be ignored.

    Raises:
        Stopped: the time is up.
    """
    for of_folder in reversed(rules):
        path = "/".join(parts[of_folder.depth :]) + ("/" if folder else "")
        if _matches(of_folder.any_rule, path, bounds):
            return next(rule.ignores for rule in reversed(of_folder.rules) if _matches(rule.matches, path, bounds))
    return False


def _matches(expression: regex.Pattern[str], path: str, bounds: Bounds) -> bool:
    try:
        return expression.match(path, timeout=bounds.left()) is not None
    except TimeoutError:
        raise Stopped from None


def rules_above(project: ProjectFolder, place: Place, bounds: Bounds) -> tuple[tuple[Rules, ...], bool]:
    """Return the rules that hold in the folder ``place``, and whether it or a folder above it is ignored itself.

    Raises:
        Stopped: the time is up.
        OSError: the folder cannot be read.
    """
    rules: tuple[Rules, ...] = ()
    for depth in range(len(place.parts)):
        with project.opened(Place(place.parts[:depth])) as room:
            found = rules_in(room, depth)
        rules = (*rules, found) if found is not None else rules
        if is_ignored(place.parts[: depth + 1], rules, bounds, folder=True):
            return rules, True
    return rules, False
