"""The screen: data never drives the terminal, and each kind of line goes to its stream."""

from __future__ import annotations

import errno
import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maf_console.screen import OutputLost, Screen, harmless


class FakeTerminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class FullDisk(io.StringIO):
    """A stream whose disk is full."""

    def write(self, _: str, /) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


@given(st.text(st.characters(codec=None), max_size=60))
def test_no_control_character_but_line_feed_and_tab_reaches_the_screen(text: str) -> None:
    shown = harmless(text)
    assert not [character for character in shown if unicodedata.category(character) == "Cc" and character not in "\n\t"]


@given(st.text(st.characters(exclude_categories=["Cc"]), max_size=60))
def test_text_without_control_characters_is_shown_as_it_is(text: str) -> None:
    assert harmless(text) == text


def test_escape_bell_delete_and_c1_are_made_visible() -> None:
    assert harmless("\x1b[2J \x07 \x7f \x00 \r \x9b") == "\u241b[2J \u2407 \u2421 \u2400 \u240d \\x9b"


def test_answers_and_results_go_to_one_stream_and_the_rest_to_the_other() -> None:
    out, err = io.StringIO(), io.StringIO()
    screen = Screen(out, err)
    screen.answer("Repo")
    screen.answer("rting")
    screen.notice("(saved)")
    screen.result("context: (none)")
    screen.error("It failed.")
    assert out.getvalue() == "Reporting\ncontext: (none)\n"
    assert err.getvalue() == "(saved)\nerror: It failed.\n"


def test_an_error_is_one_line_whatever_the_text_holds() -> None:
    err = io.StringIO()
    Screen(io.StringIO(), err).error("One\ntwo\r\nthree\u2028four\x1b[0m")
    assert err.getvalue() == "error: One two three four\u241b[0m\n"


@pytest.fixture
def coloured(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "")
    return monkeypatch


def test_an_error_is_red_on_a_terminal(coloured: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    err = FakeTerminal()
    Screen(io.StringIO(), err).error("It [red]failed[/red] :smile:.")
    assert err.getvalue() == "\x1b[31merror: It [red]failed[/red] :smile:.\x1b[0m\n"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_without_colour_no_escape_code_is_written(coloured: pytest.MonkeyPatch, name: str, value: str) -> None:
    coloured.setenv(name, value)
    err = FakeTerminal()
    Screen(io.StringIO(), err).error("It failed.")
    assert err.getvalue() == "error: It failed.\n"


def test_a_long_error_is_not_broken_into_lines(coloured: pytest.MonkeyPatch) -> None:
    coloured.setenv("COLUMNS", "40")
    err = FakeTerminal()
    Screen(io.StringIO(), err).error("word " * 100)
    assert err.getvalue().count("\n") == 1


def test_a_stream_that_takes_no_more_text_is_told_apart_from_every_other_failure() -> None:
    full = FullDisk()
    with pytest.raises(OutputLost) as lost:
        Screen(full, io.StringIO()).result("text")
    assert lost.value.stream is full
    assert lost.value.error.errno == errno.ENOSPC


class Narrow(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


def test_on_a_narrow_terminal_lines_break_at_words_and_keep_their_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    out = Narrow()
    text = f"Snapshot deleted.\n  snapshot  changed    revision 1, 2 messages, 762 bytes -> none\n  {'x' * 60}"
    Screen(out, Narrow()).result(text)
    assert out.getvalue() == (
        "Snapshot deleted.\n"
        "  snapshot  changed    revision 1, 2 messages, 762\n"
        "                       bytes -> none\n"
        f"  {'x' * 48}\n"
        f"  {'x' * 12}\n"
    )


def test_in_a_pipe_no_line_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    out = io.StringIO()
    Screen(out, io.StringIO()).result("word " * 40)
    assert out.getvalue() == "word " * 40 + "\n"
