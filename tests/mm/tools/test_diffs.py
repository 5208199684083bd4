"""A diff shows every changed line, harmless to a terminal, in bounded time and length."""

from __future__ import annotations

import difflib
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mm.tools.diffs import diff, harmless

LINES = st.lists(st.sampled_from(["a", "b", "c", "", "long line", "a "]), max_size=30)


@given(LINES, LINES)
def test_it_is_the_unified_diff_of_the_whole_texts(old: list[str], new: list[str]) -> None:
    before, after = "".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new)
    found = diff(before, after, "f")
    body = found.text.splitlines()[2:]
    assert [line for line in body if line.startswith("-")].__len__() == found.removed
    assert [line for line in body if line.startswith("+")].__len__() == found.added
    assert found.added - found.removed == len(new) - len(old)
    assert patched(before, found.text) == after


def patched(before: str, text: str) -> str:
    """What a reader of the diff makes of it."""
    lines = before.splitlines(keepends=True)
    made, at = [], 0
    for line in text.splitlines()[2:]:
        if line.startswith("@@"):
            start, _, count = line.split()[1][1:].partition(",")
            begin = int(start) - (count != "0")
            made += lines[at:begin]
            at = begin
        elif line.startswith("+"):
            made.append(line[1:] + "\n")
        else:
            assert lines[at] == line[1:] + "\n"
            made += [lines[at]] if line.startswith(" ") else []
            at += 1
    return "".join([*made, *lines[at:]])


def test_the_numbers_count_from_the_beginning_of_the_file() -> None:
    lines = [f"{number}\n" for number in range(1, 1001)]
    changed = [*lines[:499], "new\n", *lines[500:]]
    assert diff("".join(lines), "".join(changed), "f").text.splitlines()[2:] == (
        ["@@ -497,7 +497,7 @@", " 497", " 498", " 499", "-500", "+new", " 501", " 502", " 503"]
    )
    expected = [*difflib.unified_diff(lines, changed, "f", "f", n=3)]
    assert expected[2] == "@@ -497,7 +497,7 @@\n"


def test_a_missing_line_end_is_shown() -> None:
    assert diff("a\n", "a", "f").text.splitlines()[3:] == ["-a", "+a", "\\ No newline at end of file"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\n" * 200_000, "b\n" * 200_000),
        ("".join(f"{number}\n" for number in range(50_000)), "".join(f"{-number}\n" for number in range(50_000))),
        ("a\nb\n" * 50_000, "b\na\n" * 50_000),
        ("x" * 3_000_000, "y" * 3_000_000),
        ("".join(f"{number % 500}\n" for number in range(999)), "".join(f"{number % 499}\n" for number in range(999))),
    ],
)
def test_large_changes_are_shown_in_time_and_bounded(before: str, after: str) -> None:
    begun = time.monotonic()
    found = diff(before, after, "f")
    assert time.monotonic() - begun < 5
    assert len(found.text.splitlines()) < 450
    assert len(found.text) < 250_000


def test_what_is_not_shown_is_counted() -> None:
    found = diff(None, "a\n" * 1000, "f")
    assert found.added == 1000
    assert found.text.endswith("\n[601 more lines of the diff are not shown]")


def test_nothing_in_a_diff_commands_a_terminal_or_hides_a_line() -> None:
    found = diff("a\n", "\x1b[2K\rb\u202eevil\u200b\x07\tc\n", "na\x1bme")
    assert "+\\x1b[2K\\rb\\u202eevil\\u200b\\x07\tc" in found.text
    assert "+++ na\\x1bme" in found.text


def test_a_long_line_is_cut_and_says_how_much() -> None:
    assert harmless("x" * 600, 500) == "x" * 500 + "… [100 more characters]"


def test_the_tool_patch_makes_the_same_of_it(tmp_path: Path) -> None:
    import shutil

    if shutil.which("patch") is None:
        pytest.skip("patch is not here")
    before = "".join(f"line {number}\n" for number in range(100))
    after = before.replace("line 50\n", "").replace("line 90\n", "ninety\nand more\n").replace("line 2\n", "two\n")
    (tmp_path / "f").write_text(before, encoding="utf-8")
    patch = diff(before, after, "f").text + "\n"
    subprocess.run(["patch", "-s", "f"], input=patch, cwd=tmp_path, check=True, text=True)
    assert (tmp_path / "f").read_text(encoding="utf-8") == after
