"""Lines for a terminal: none is wider than it, and none that goes on begins where the program's own lines do."""

from __future__ import annotations

import io
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from maf_console.fitting import fitted
from maf_console.screen import Screen

OWN = "Answer to all: yes"
DATA = st.text(st.sampled_from("ab -\u00a0\t日本é🙂\u0301\u200d\ufe0f"), max_size=200)


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("indent", ["  ", "    "])
@pytest.mark.parametrize(
    "before",
    [
        "x" + "\u00a0" * 78,
        "x" * 78,
        "x" * 76,
        "x" * 2_500,
        "日本" * 40,
        "日" * 39,
        " " * 78,
        " " * 76,
        "x\t" * 11,
        "\u3000" * 39,
    ],
    ids=[
        "nbsp",
        "word",
        "to the margin",
        "long word",
        "cjk",
        "one row of cjk",
        "blanks",
        "fewer",
        "tabs",
        "wide blanks",
    ],
)
def test_no_data_comes_to_stand_where_the_programs_lines_begin(indent: str, before: str) -> None:
    rows = fitted(f"{indent}{before}{OWN}", 80).split("\n")
    assert all(row.startswith(indent) for row in rows)
    assert all(cell_len(row.expandtabs(8)) <= 80 for row in rows)
    assert OWN.replace(" ", "") in "".join(rows).replace(" ", "")


def test_what_goes_on_from_a_line_at_the_margin_is_indented() -> None:
    for title in ("x" * 78, "a title " * 9 + "and more", "日本" * 20):
        first, *rest = fitted(f"{title}{OWN}", 78).split("\n")
        assert not first.startswith(" ")
        assert rest
        assert all(row.startswith("  ") for row in rest)


@settings(derandomize=True, deadline=None)
@given(DATA, st.integers(8, 60), st.sampled_from(["", "  ", "    "]))
def test_every_row_fits_keeps_its_indent_and_nothing_but_blanks_is_lost(data: str, width: int, indent: str) -> None:
    rows = fitted(f"{indent}{data}", width).split("\n")
    assert all(cell_len(row.replace("\t", " " * 8)) <= width or len(rows) == 1 for row in rows)
    assert all(row.startswith(indent or "  ") for row in rows[1:] if row)
    assert "".join("".join(rows).split()) == "".join(data.split())


def test_a_long_line_takes_linear_time() -> None:
    started = time.process_time()
    for text in ("x" * 1_000_000, "日" * 500_000, "a " * 500_000, "\t" * 1_000_000):
        fitted(f"  {text}", 40)
    assert time.process_time() - started < 30


def test_a_terminal_narrower_than_a_table_keeps_the_margin_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    out = Terminal()
    Screen(out, Terminal()).result(f"Answer\n  {'x' * 28}{OWN}")
    assert [row[:2] for row in out.getvalue().splitlines()] == ["An", "  ", "  "]
