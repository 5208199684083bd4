"""How a session stands in a list."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from maf_memory.sessions.listing import age, describe, describe_damaged
from maf_memory.sessions.record import Damaged, Head
from maf_memory.stamp import Stamp

NOW = datetime(2026, 9, 16, 12, 0, tzinfo=UTC)


def head(
    title: str = "Quel format ?", turns: int = 3, errors: int = 0, *, minutes: int = 120, continued: str | None = None
) -> Head:
    then = NOW - timedelta(minutes=minutes)
    return Head(
        "20260916-101530-4f2a9c1e", Stamp("b81f0c2e", 1), then, then, "/", title, turns, errors, continued_in=continued
    )


def test_a_line_says_title_turns_age_and_errors() -> None:
    assert describe(head(), NOW) == "Quel format ? · 3 turns · 2 h ago"
    assert describe(head(turns=1, errors=2), NOW) == "Quel format ? · 1 turn · 2 h ago · ⚠️ 2 error(s)"
    assert describe(head(turns=0, errors=1), NOW) == "Quel format ? · 0 turns · 2 h ago · ⚠️ 1 error(s)"


def test_a_line_says_where_a_kept_original_goes_on() -> None:
    line = describe(head(errors=1, continued="20260916-120000-0000000a"), NOW)
    assert line == "Quel format ? · 3 turns · 2 h ago · continued in 20260916-120000-0000000a · ⚠️ 1 error(s)"


def test_nothing_in_a_file_breaks_the_line_or_commands_the_terminal() -> None:
    line = describe(head(title="a\x1b[2Jb\nc\u202ed", continued="x\n\x1b]0;y"), NOW)
    assert all(character.isprintable() for character in line)
    assert describe(head(title=""), NOW).startswith("(no question) · ")
    damaged = describe_damaged(Damaged("20260916-101530-4f2a9c1e", Path("x"), "it is\ntruncated \x1b[2J"))
    assert damaged == "damaged · 20260916-101530-4f2a9c1e · it is\\ntruncated \\x1b[2J"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-10 * 365 * 86400, "just now"),
        (-1, "just now"),
        (0, "just now"),
        (59, "just now"),
        (60, "1 min ago"),
        (3599, "59 min ago"),
        (3600, "1 h ago"),
        (86399, "23 h ago"),
        (86400, "1 day ago"),
        (6 * 86400, "6 days ago"),
        (7 * 86400, "1 week ago"),
        (29 * 86400, "4 weeks ago"),
        (30 * 86400, "1 month ago"),
        (364 * 86400, "12 months ago"),
        (365 * 86400, "1 year ago"),
        (3000 * 365 * 86400 // 2, "1,500 years ago"),
    ],
)
def test_an_age_is_in_words_and_never_negative(seconds: int, words: str) -> None:
    assert age(NOW - timedelta(seconds=seconds), NOW) == words


def test_an_age_is_between_instants_whatever_the_offsets() -> None:
    kathmandu = timezone(timedelta(hours=5, minutes=45))
    assert age((NOW - timedelta(minutes=5)).astimezone(kathmandu), NOW) == "5 min ago"
