"""How a session stands in a list, in the same words wherever it is listed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from maf_memory.sessions.journal import errors_suffix
from maf_memory.text import one_line

if TYPE_CHECKING:
    from maf_memory.sessions.record import Damaged, Head

_MINUTE = 60
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR
_YEAR = 365 * _DAY
_UNITS = ((_YEAR, "year"), (30 * _DAY, "month"), (7 * _DAY, "week"), (_DAY, "day"))


def describe(head: Head, now: datetime) -> str:
    """Return ``title · 3 turns · 2 h ago``, then where it was continued and how many errors it has, where it has any.

    The mark of errors is the seed's own; the line of a resumed session ends with it too.
    """
    parts = [one_line(head.title, 200) or "(no question)", counted(head.turns, "turn"), age(head.updated, now)]
    if head.continued_in:
        parts.append(f"continued in {one_line(head.continued_in, 60)}")
    return f"{' · '.join(parts)}{errors_suffix(head.error_count)}"


def describe_damaged(damaged: Damaged) -> str:
    """Return ``damaged · 20260916-101530-4f2a9c1e · why``, for a session that cannot be listed."""
    return f"damaged · {one_line(damaged.id, 60)} · {one_line(damaged.problem, 240)}"


def age(then: datetime, now: datetime) -> str:
    """Return how long ago it was, in words; what a clock set back shows in the future is ``just now``."""
    seconds = int((now.astimezone(UTC) - then.astimezone(UTC)).total_seconds())
    if seconds < _MINUTE:
        return "just now"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE} min ago"
    if seconds < _DAY:
        return f"{seconds // _HOUR} h ago"
    return next(f"{counted(seconds // size, unit)} ago" for size, unit in _UNITS if seconds >= size)


def counted(number: int, thing: str) -> str:
    """Return ``1 turn``, ``2 turns``, ``1,234 turns``."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
