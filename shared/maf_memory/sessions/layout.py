"""The session file: one JSON document, laid out so that people and line tools can read it.

A short header first, then one message a line, then the state and one error a line. What stands before the first message
is enough for a listing; a file that somebody re-formatted is read all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from maf_memory.lines import SEPARATOR, Joined, encoded

FORMAT = 1
EXPECTED = f"a session file of format {FORMAT}"

HEADER_LINES = (
    ("format",),
    ("id",),
    ("lineage", "revision"),
    ("created",),
    ("updated",),
    ("cwd",),
    ("key", "service_session_id", "session_id"),
    ("title",),
    ("turns",),
    ("error_count",),
    ("provider", "model", "continued_in"),
    ("framework",),
)
"""The fields of the header, in the order and on the lines on which they stand."""

HEADER: Mapping[str, tuple[type, ...]] = {
    "format": (int,),
    "id": (str,),
    "lineage": (str,),
    "revision": (int,),
    "created": (str,),
    "updated": (str,),
    "cwd": (str,),
    "title": (str,),
    "turns": (int,),
    "framework": (str,),
}
"""The header's fields that every file has, and their types."""

OPTIONAL: Mapping[str, tuple[type, ...]] = {
    "key": (str, type(None)),
    "service_session_id": (str, dict, type(None)),
    "session_id": (str, type(None)),
    "error_count": (int,),
    "provider": (str, type(None)),
    "model": (str, type(None)),
    "continued_in": (str, type(None)),
}
"""The header's fields that may be absent: from older files, or because they have nothing to say."""

_ORDER = [name for names in HEADER_LINES for name in names]


@dataclass(frozen=True, slots=True)
class Around:
    """What stands before the first message of a file and after the last one."""

    opening: bytes
    closing: bytes

    def pieces(self, lines: Sequence[bytes], joined: Joined) -> Iterator[bytes | memoryview]:
        """Yield the file's bytes; of ``lines``, those that are ``joined`` already are not put together again."""
        yield self.opening
        yield joined.content
        rest = SEPARATOR.join(lines[joined.count :])
        yield (SEPARATOR + rest if joined.count and rest else rest) + self.closing

    def whole(self, lines: Sequence[bytes]) -> bytes:
        """Return the file's bytes."""
        return b"".join((self.opening, SEPARATOR.join(lines), self.closing))


def around(header: Mapping[str, Any], state: Mapping[str, Any], errors: Sequence[Any] | None) -> Around:
    """Return what stands around the messages; the same values always give the same bytes.

    ``errors`` is ``None`` only for an older file, which has none.

    Raises:
        ValueError, TypeError, RecursionError: a value that JSON cannot hold.
    """
    fields = ([name + encoded(header[field]) for field, name in names if field in header] for names in _NAMES)
    opening = b"{\n" + b",\n".join(b", ".join(line) for line in fields if line) + b',\n"messages": [\n'
    closing = b'\n],\n"state": ' + encoded(state)
    if errors is not None:
        closing += (
            b',\n"errors": []' if not errors else b',\n"errors": [\n' + b",\n".join(map(encoded, errors)) + b"\n]"
        )
    return Around(opening, closing + b"\n}\n")


_NAMES = [[(name, encoded(name) + b": ") for name in names] for names in HEADER_LINES]


def in_order(document: Mapping[str, Any]) -> bool:
    """Whether the fields of ``document`` stand in the order of the layout, and none beside them."""
    names = list(document)
    header = [name for name in _ORDER if name in document]
    return names in ([*header, "messages", "state", "errors"], [*header, "messages", "state"])
