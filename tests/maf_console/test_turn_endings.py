"""A turn without a whole answer leaves nothing: not in the file, not in what the next question sends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.consoles import PROGRAMS, files_under, needs_posix, piped
from tests.scripted_model import Script
from tests.terminals import Terminal

ENDINGS: dict[str, tuple[Any, str]] = {
    "an error": ({"error": "no such model"}, "The question got no answer: no such model."),
    "an error in the middle": (
        {"stream": ["Half an ans", {"error": "the connection was lost"}]},
        "The question got no answer: the connection was lost.",
    ),
    "an empty answer": ({"empty": True}, "The model returned an empty answer."),
    "a blank answer": ({"text": " \n "}, "The model returned an empty answer."),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_turn_that_fails_is_told_in_one_line_and_nothing_of_it_is_kept(
    program: str, tmp_path: Path, state_root: Path
) -> None:
    script = Script.of(tmp_path, "a1", *(reply for reply, _ in ENDINGS.values()), "a2")
    lines = ["one?", *(f"canary-{number}" for number in range(len(ENDINGS))), "two?", "where"]
    run = piped(program, *lines, options=[script.option])
    assert run.status == 1
    assert run.errors == [
        f"error: {told} The conversation is as it was before the question." for _, told in ENDINGS.values()
    ]
    assert "Half an ans\n" in run.out
    assert script.requests()[-1] == [("user", "one?"), ("assistant", "a1"), ("user", "two?")]
    assert "conversation  4 messages" in run.out
    for name, content in files_under(state_root).items():
        assert b"canary" not in content, name
        assert b"Half an ans" not in content, name


def test_a_failed_turn_does_not_save_and_the_snapshot_stays_to_the_byte(tmp_path: Path, state_root: Path) -> None:
    piped("demo140", "one.")
    before = files_under(state_root)
    piped("demo140", "canary", options=[Script.of(tmp_path, {"error": "no"}).option])
    assert files_under(state_root) == before


def test_the_ledger_after_a_failed_first_turn_says_that_nothing_changed(tmp_path: Path) -> None:
    script = Script.of(tmp_path, {"error": "no"})
    run = piped("demo140", "one?", "forget", options=[script.option])
    assert run.out.count("unchanged") == 3


@needs_posix
@pytest.mark.parametrize("program", PROGRAMS)
def test_ctrl_c_during_an_answer_ends_the_turn_keeps_nothing_of_it_and_the_console_goes_on(
    program: str, tmp_path: Path, state_root: Path
) -> None:
    script = Script.of(tmp_path, "a1", {"stream": ["half an answer", {"hang": True}]}, {"hang": True}, "a2")
    with Terminal(program, script.option) as terminal:
        terminal.until(terminal.prompt)
        terminal.says("one?")
        terminal.press("canary-2?\n")
        terminal.until("half an answer")
        terminal.press("\x03")
        assert terminal.until("Interrupted: the turn ended, and nothing of it is kept.\n").startswith("^C")
        terminal.until(terminal.prompt)
        terminal.press("canary-3?\n")
        while len(script.requests()) < 3 or not terminal.waits():  # the request is recorded before the answer hangs
            pass
        terminal.press("\x03")
        terminal.until("Interrupted: the turn ended")
        terminal.until(terminal.prompt)
        assert "a2" in terminal.says("two?")
        terminal.press("quit\n")
        assert terminal.ends()[0] == 0
    assert script.requests()[-1] == [("user", "one?"), ("assistant", "a1"), ("user", "two?")]
    assert not [name for name, content in files_under(state_root).items() if b"canary" in content]
