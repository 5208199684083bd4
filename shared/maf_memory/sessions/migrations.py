"""What brings a file of an older format to today's, one step at a time, before anything else looks at it.

A migration takes the decoded document of format *n* and returns the document of format *n + 1*; the file itself is
rewritten only by the next save.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from maf_memory.errors import FileRefused, VersionRefused
from maf_memory.sessions.layout import EXPECTED, FORMAT
from maf_memory.text import one_line

Migration = Callable[[dict[str, Any]], dict[str, Any]]

MIGRATIONS: Mapping[int, Migration] = {}
"""The step from each older format; format 1 is the first."""


def as_of_today(
    document: object,
    path: Path,
    *,
    today: int = FORMAT,
    migrations: Mapping[int, Migration] = MIGRATIONS,
) -> dict[str, Any]:
    """Return the document in today's format.

    Raises:
        VersionRefused: a newer format, or one that no migration knows.
        FileRefused: it is no session file.
    """
    if type(document) is not dict:
        raise FileRefused(path, "it is not an object", EXPECTED)
    found = document.get("format")
    if type(found) is not int:
        raise FileRefused(path, "it has no format", EXPECTED)
    while found != today:
        if found not in migrations or found > today:
            raise VersionRefused(
                path, f"it has format {one_line(str(found), 40)}", f"this program reads up to format {today}"
            )
        document = _stepped(document, found, migrations[found], path)
        found += 1
    return document


def _stepped(document: dict[str, Any], found: int, step: Migration, path: Path) -> dict[str, Any]:
    try:
        migrated = step(document)
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        why = one_line(repr(error), 160)
        raise FileRefused(
            path, f"it cannot be read as format {found}: {why}", f"a session file of format {found}"
        ) from error
    if migrated.get("format") != found + 1:
        raise RuntimeError(f"the step from format {found} gives format {migrated.get('format')}")
    return migrated
