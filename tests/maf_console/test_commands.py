"""What a line is: a command, a question, or advice that sends nothing."""

from __future__ import annotations

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from maf_console.commands import Advice, Call, Command, Question, help_text, one_letter_away, read_line


async def _nothing(_: str) -> None:
    """Do nothing."""


COMMANDS = (
    Command("setctx", "replace the context", _nothing, text="TEXT", is_word=False),
    Command("trace", "find a text", _nothing, text="TEXT"),
    Command("reset", "empty the store", _nothing),
    Command("quit", "leave", _nothing),
)
ELSEWHERE = ("forget", "tell NAME")

words = st.text(string.ascii_lowercase, min_size=1, max_size=7)


def read(line: str) -> Call | Question | Advice | None:
    return read_line(line, COMMANDS, elsewhere=ELSEWHERE, program="demo999")


@pytest.mark.parametrize("line", ["reset", "RESET", "Reset", "  reset  ", "\treset\t", "reset\r"])
def test_a_command_is_a_whole_line_whatever_its_case_and_the_blanks_around_it(line: str) -> None:
    assert read(line) == Call(COMMANDS[2])


@pytest.mark.parametrize(
    "line", ["reset my password", "quit now?", "please reset", "reset reset", "forget it", "setctx=x"]
)
def test_a_line_that_only_begins_with_a_command_is_a_question(line: str) -> None:
    assert read(line) == Question(line)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("setctx module=Reporting", "module=Reporting"),
        ("  SetCtx   two  words ", "two  words"),
        ("setctx\tmodule Reporting", "module Reporting"),
        ("setctx \t a\tb", "a\tb"),
        ("setctx reset", "reset"),
        ("setctx setctx", "setctx"),
    ],
)
def test_setctx_takes_the_rest_of_the_line_as_its_text(line: str, text: str) -> None:
    assert read(line) == Call(COMMANDS[0], text)


@pytest.mark.parametrize("line", ["setctx", "setctx ", " SETCTX\t \t"])
def test_a_command_that_lacks_its_text_is_a_usage_line(line: str) -> None:
    assert read(line) == Advice("usage: setctx TEXT")


@pytest.mark.parametrize("line", ["", " ", "\t \t", "\r"])
def test_an_empty_line_is_nothing(line: str) -> None:
    assert read(line) is None


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("rest", "reset"),
        ("resett", "reset"),
        ("reser", "reset"),
        ("reste", "reset"),
        ("RESRT", "reset"),
        ("quit.", "quit"),
        ("quit?", "quit"),
        ("setcx module=Reporting", "setctx TEXT"),
        ("setcxt", "setctx TEXT"),
    ],
)
def test_one_letter_away_from_a_command_is_a_hint_and_is_not_sent(line: str, meant: str) -> None:
    advice = read(line)
    assert isinstance(advice, Advice)
    assert advice.text.startswith(f"Did you mean {meant}? Nothing was sent.")


@pytest.mark.parametrize("line", ["rest well", "quiet please", "resets everything", "rset it", "Track my order"])
def test_more_words_make_a_near_miss_of_an_ordinary_word_a_question(line: str) -> None:
    assert read(line) == Question(line)


@pytest.mark.parametrize(
    ("line", "name"), [("forget", "forget"), (" FORGET ", "forget"), ("tell Ada", "tell"), ("tell", "tell")]
)
def test_a_command_of_the_other_program_is_a_hint_that_names_it(line: str, name: str) -> None:
    assert read(line) == Advice(f"{name} is a command of demo999. Nothing was sent; help lists the commands here.")


@given(words, words)
@example("reset", "rseet")
@example("ab", "ba")
@example("a", "")
@example("aa", "a")
@example("abab", "baba")
def test_one_letter_away_is_an_edit_distance_of_one_with_neighbours_that_may_swap(word: str, name: str) -> None:
    assert one_letter_away(word, name) == (_distance(word, name) == 1)


@given(words, st.data())
def test_every_single_slip_of_the_finger_is_one_letter_away(name: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(name)))
    letter = data.draw(st.sampled_from(string.ascii_lowercase))
    slips = [name[:at] + letter + name[at:], name[:at] + name[at + 1 :], name[:at] + letter + name[at + 1 :]]
    slips.append(name[:at] + name[at : at + 2][::-1] + name[at + 2 :])
    for slip in slips:
        assert slip == name or one_letter_away(slip, name)


@given(st.text())
def test_every_line_is_read_and_a_question_is_the_line_without_the_blanks_around_it(line: str) -> None:
    match read(line):
        case Question(text):
            assert text == line.strip()
            assert text
        case None:
            assert not line.strip()
        case Call(command, text):
            assert line.split()[0].lower() == command.name
            assert bool(text) == (command.text is not None)
        case Advice(text):
            assert "\n" not in text


def test_the_help_page_has_one_line_a_command_then_what_every_other_line_is() -> None:
    assert help_text(COMMANDS, "Anything else is a question.").split("\n") == [
        "Commands (each is a whole line):",
        "  setctx TEXT  replace the context",
        "  trace TEXT   find a text",
        "  reset        empty the store",
        "  quit         leave",
        "Anything else is a question.",
    ]


def _distance(first: str, second: str) -> int:
    """The optimal string alignment distance, by its plain recurrence."""
    rows = [[max(i, j) if min(i, j) == 0 else 0 for j in range(len(second) + 1)] for i in range(len(first) + 1)]
    for i in range(1, len(first) + 1):
        for j in range(1, len(second) + 1):
            same = first[i - 1] == second[j - 1]
            rows[i][j] = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (not same))
            if i > 1 and j > 1 and first[i - 1] == second[j - 2] and first[i - 2] == second[j - 1]:
                rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
    return rows[-1][-1]
