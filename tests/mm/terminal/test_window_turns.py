"""A turn in the window: what is drawn, and what Ctrl-C does."""

from __future__ import annotations

import json
from pathlib import Path

from tests.consoles import needs_posix
from tests.mm.brain import files
from tests.mm.terminal.windows import (
    CTRL_C,
    CTRL_D,
    CTRL_O,
    ENTER,
    UP,
    Window,
    last_question,
    requests,
    scripted,
    session_of,
)

pytestmark = needs_posix


def test_a_launch_says_who_answers_and_how_to_find_the_old_ones_and_leaves_no_trace(tmp_path: Path) -> None:
    with Window(tmp_path) as window:
        window.prompt()
        assert "mini-me in " in window.seen
        assert "offline: not a model" in window.seen
        assert "No agent.yaml here: an offline stand-in answers. mm init writes one." in window.seen
        assert "This is a new conversation: /sessions finds the earlier ones" in window.seen
        assert "new conversation · 0 turns · offline" in window.lines[-1]
        window.press(CTRL_D)
        assert window.ends() == 0
        assert "--resume" not in window.everything
    assert [*tmp_path.iterdir()] == []


def test_an_answer_streams_once_as_the_model_wrote_it_and_the_way_back_is_told(tmp_path: Path) -> None:
    scripted(tmp_path, {"stream": ["# Hel", "lo\n\nIt is **", "so**.\n```py\nco", "de\n```\n- en", "d"]})
    with Window(tmp_path) as window:
        window.ask("Tell me")
        shown = window.everything
        assert "> Tell me\n# Hello\n\nIt is **so**.\n```py\ncode\n```\n- end\n" in shown
        assert shown.count("Hello") == 1
        (file,) = files(tmp_path)
        assert f"{file.stem} · 1 turn · script scripted" in window.lines[-1]
        window.press(CTRL_D)
        assert window.ends() == 0
        assert window.lines[-1] == f"Go on with: mm --resume {file.stem}"


def test_what_was_shown_while_it_streamed_is_there_before_the_rest_comes(tmp_path: Path) -> None:
    scripted(tmp_path, {"stream": ["the first half", {"hang": True}]})
    with Window(tmp_path) as window:
        window.prompt().press(f"Go{ENTER}")
        window.wait("the first half")


def test_a_tool_call_is_one_line_and_can_be_unfolded(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("first\nsecond\n", encoding="utf-8")
    scripted(tmp_path, {"calls": [{"name": "read_file", "arguments": {"path": "notes.md"}}]}, "Read.")
    with Window(tmp_path, columns=60) as window:
        window.ask("Look")
        assert "> Look\n· read_file notes.md\nRead.\n" in window.everything
        assert "second" not in window.everything
        window.press(CTRL_O)
        window.wait("second").prompt()
        assert "path: notes.md" in window.seen


def test_a_call_is_cut_to_one_row_of_a_narrow_terminal(tmp_path: Path) -> None:
    scripted(tmp_path, {"calls": [{"name": "read_file", "arguments": {"path": "a/" * 60 + "b"}}]}, "Read.")
    with Window(tmp_path, columns=40) as window:
        window.prompt().press(f"Look{ENTER}")
        window.wait("Read.").prompt()
        rows = window.everything.split("\n")
        place = rows.index("> Look")
        assert rows[place + 1].startswith("· read_file a/a/")
        assert rows[place + 1].endswith("…")
        assert rows[place + 2].startswith("  read_file failed:")


def test_ctrl_c_stops_a_turn_and_what_was_done_stays(tmp_path: Path) -> None:
    scripted(tmp_path, {"stream": ["Half an ans", {"hang": True}]}, "Whole.")
    with Window(tmp_path) as window:
        window.prompt().press(f"Go{ENTER}")
        window.wait("Half an ans").press(CTRL_C)
        window.wait("Stopped. What was done until then is kept").prompt()
        window.ask("More")
        assert "Whole." in window.seen
    (file,) = files(tmp_path)
    record = json.loads(file.read_text(encoding="utf-8"))
    assert record["messages"][2]["contents"][0]["text"] == "Half an ans"
    assert record["errors"] == []


def test_a_question_that_was_stopped_before_anything_came_leaves_no_trace_and_comes_back(tmp_path: Path) -> None:
    scripted(tmp_path, {"hang": True}, "Now.")
    with Window(tmp_path) as window:
        window.prompt().press(f"Go on{ENTER}")
        window.wait(lambda _: len(requests(tmp_path)) == 1).press(CTRL_C)
        window.wait("Stopped. The question left no trace. ↑ brings it back.").prompt()
        assert files(tmp_path) == []
        window.press(UP)
        window.prompt("> Go on").press(ENTER)
        window.wait("Now.").prompt()
    assert last_question(tmp_path) == "Go on"


def test_ctrl_c_clears_a_line_and_on_an_empty_one_says_how_to_leave_and_then_leaves(tmp_path: Path) -> None:
    scripted(tmp_path)
    with Window(tmp_path) as window:
        window.prompt().press("some words")
        window.prompt("> some words").press(CTRL_C)
        window.prompt().press(CTRL_C)
        window.wait("Press Ctrl-C once more to leave, or Ctrl-D").prompt()
        window.press("x")
        window.prompt("> x").press(CTRL_C)
        window.prompt().press(CTRL_C)
        window.wait(lambda one: one.seen.count("once more") == 2).prompt()
        window.press(CTRL_C)
        assert window.ends() == 0


def test_a_failure_is_one_line_that_begins_with_error_and_is_red(tmp_path: Path) -> None:
    scripted(tmp_path, {"error": "the server is gone"})
    with Window(tmp_path) as window:
        window.ask("Hi")
        (place,) = [row for row, line in enumerate(window.screen.display) if line.startswith("Error: ")]
        assert "the server is gone" in window.screen.display[place]
        assert window.screen.buffer[place][0].fg == "red"
        window.ask("/errors")
        assert "generation" in window.seen
        assert "asked: Hi" in window.seen


def test_what_a_model_and_a_tool_say_commands_no_terminal(tmp_path: Path) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x9b"
    (tmp_path / "evil").write_text(evil, encoding="utf-8")
    scripted(tmp_path, {"calls": [{"name": "read_file", "arguments": {"path": "evil"}}]}, evil, {"error": evil})
    with Window(tmp_path) as window:
        window.ask("Go")
        window.press(CTRL_O)
        window.wait("path: evil").prompt()
        window.ask("Fail")
        for command in (b"\x1b]0;", b"\x1b[2J", b"\x1b[31mred", "\x9b".encode(), b"\x07"):
            assert command not in window.raw
        assert "␛]0;owned␇␛[2J␛[31mred" in window.everything


def test_a_closed_terminal_ends_the_turn_in_order_and_keeps_what_was_done(tmp_path: Path) -> None:
    scripted(tmp_path, {"stream": ["Half an ans", {"hang": True}]})
    with Window(tmp_path) as window:
        window.prompt().press(f"Go{ENTER}")
        window.wait("Half an ans")
        window.process.terminate()
        assert window.ends() == 143
        (file,) = files(tmp_path)
        assert session_of(window.everything) == file.stem
    assert "Half an ans" in file.read_text(encoding="utf-8")


def test_a_silent_model_is_given_up_in_one_red_line_that_is_recorded(tmp_path: Path) -> None:
    scripted(tmp_path, {"hang": True}, "Here.", more="watchdogTimeout: 0.3s\n")
    with Window(tmp_path) as window:
        window.ask("Hi")
        (row,) = [row for row, line in enumerate(window.screen.display) if line.startswith("Error: ")]
        line = window.screen.display[row].rstrip()
        assert line == "Error: The question got no answer: the model was silent for 0.3 s (watchdogTimeout)."
        assert window.screen.buffer[row][0].fg == "red"
        assert not window.screen.display[row + 1].strip()
        (file,) = files(tmp_path)
        (error,) = json.loads(file.read_text(encoding="utf-8"))["errors"]
        assert (error["kind"], error["question"], f"Error: {error['line']}") == ("generation", "Hi", line)
        window.press(UP)
        window.prompt("> Hi").press(ENTER)
        window.wait("Here.").prompt()


def test_without_colours_an_error_is_still_told_by_its_word(tmp_path: Path) -> None:
    scripted(tmp_path, {"error": "the server is gone"})
    with Window(tmp_path, NO_COLOR="1") as window:
        window.ask("Hi")
        (row,) = [row for row, line in enumerate(window.screen.display) if line.startswith("Error: ")]
        assert {cell.fg for cell in window.screen.buffer[row].values()} == {"default"}


def test_the_status_line_follows_the_session_its_turns_and_the_model(tmp_path: Path) -> None:
    scripted(tmp_path, "One.", "Two.")
    with Window(tmp_path) as window:
        window.prompt()
        assert window.lines[-1] == " new conversation · 0 turns · script scripted"
        window.ask("first")
        (file,) = files(tmp_path)
        assert window.lines[-1] == f" {file.stem} · 1 turn · script scripted"
        window.ask("second")
        assert window.lines[-1] == f" {file.stem} · 2 turns · script scripted"
        window.ask("/model other")
        assert window.lines[-1] == f" {file.stem} · 2 turns · script other"
