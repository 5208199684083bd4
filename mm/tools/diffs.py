"""What a write changes, for a person who decides: a unified diff that is bounded, and says so where it is cut."""

from __future__ import annotations

import difflib
import re
from typing import NamedTuple

from mm.tools.refused import quoted

CONTEXT = 3
_MOST_LINES = 400
_LONGEST_LINE = 500
_MOST_WORK = 1_000_000
"""How many pairs of lines may be compared; beyond, a changed part is shown as taken out and put in."""

_HUNK = re.compile(r"@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@")


class Diff(NamedTuple):
    """The diff, and how many lines it adds and removes."""

    text: str
    added: int
    removed: int

    @property
    def counts(self) -> str:
        """How many lines come and go, in short."""
        return f"+{self.added:,} -{self.removed:,} lines"


def diff(before: str | None, after: str, name: str) -> Diff:
    """Return how the plain text ``before`` becomes ``after``; ``None`` is a file that is not there yet."""
    old, new = _lines(before or ""), _lines(after)
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    begin = max(0, start - CONTEXT)
    old_part = old[begin : len(old) - max(0, end - CONTEXT)]
    new_part = new[begin : len(new) - max(0, end - CONTEXT)]
    if (len(old) - start - end) * (len(new) - start - end) > _MOST_WORK:
        body = _replaced(old_part, new_part, start - begin, min(end, CONTEXT))
    else:
        body = list(difflib.unified_diff(old_part, new_part, n=CONTEXT, lineterm=""))[2:]
    added = sum(line.startswith("+") for line in body)
    removed = sum(line.startswith("-") for line in body)
    shown = [_moved(line, begin) if line.startswith("@@") else _line(line) for line in body[:_MOST_LINES]]
    if len(body) > _MOST_LINES:
        shown.append(f"[{len(body) - _MOST_LINES:,} more lines of the diff are not shown]")
    head = ["--- /dev/null" if before is None else f"--- {quoted(name)}", f"+++ {quoted(name)}"]
    return Diff("\n".join([*head, *shown]), added, removed)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [*lines, f"{last}\n"] if last else lines  # the one line that can hold a line end is the one without one


def _common(one: list[str], other: list[str]) -> int:
    number = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        number += 1
    return number


def _replaced(old: list[str], new: list[str], before: int, after: int) -> list[str]:
    """Return one hunk that takes the whole middle out and puts the new one in."""
    return [
        f"@@ -1,{len(old)} +1,{len(new)} @@",
        *(f" {line}" for line in old[:before]),
        *(f"-{line}" for line in old[before : len(old) - after]),
        *(f"+{line}" for line in new[before : len(new) - after]),
        *(f" {line}" for line in old[len(old) - after :]),
    ]


def _moved(header: str, lines: int) -> str:
    """Return a hunk's header with its numbers counted from the beginning of the file."""
    found = _HUNK.fullmatch(header)
    if found is None:
        return _line(header)
    old, new = (int(found[group]) + lines for group in (1, 3))
    return f"@@ -{old}{found[2] or ''} +{new}{found[4] or ''} @@"


def _line(line: str) -> str:
    no_end = "\n\\ No newline at end of file" if line.endswith("\n") else ""
    return harmless(line.removesuffix("\n"), _LONGEST_LINE) + no_end


def harmless(line: str, limit: int | None = None) -> str:
    """Return one line that commands no terminal and hides nothing: what does not print is escaped, tabs are kept."""
    cut = line if limit is None or len(line) <= limit else line[:limit]
    shown = "".join(
        character
        if character.isprintable() or character == "\t"
        else character.encode("unicode_escape", "backslashreplace").decode("ascii")
        for character in cut
    )
    return shown if len(cut) == len(line) else f"{shown}… [{len(line) - len(cut):,} more characters]"
