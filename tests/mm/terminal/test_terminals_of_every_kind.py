"""Terminals of every size and kind: narrow, resized, without colours, dumb."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.consoles import needs_posix
from tests.mm.terminal.windows import CTRL_C, CTRL_D, ENTER, Window, last_question, scripted

pytestmark = needs_posix


def test_the_window_follows_the_size_of_its_terminal(tmp_path: Path) -> None:
    scripted(tmp_path, "One.")
    with Window(tmp_path, columns=100) as window:
        window.prompt().press("a question of some length")
        window.prompt("> a question of some length")
        window.resize(30, 12)
        window.wait(lambda one: any(line.endswith("…") and "turns" in line for line in one.lines))
        window.resize(120, 30)
        window.wait("new conversation · 0 turns · script scripted").press(ENTER)
        window.wait("One.").prompt()
    assert last_question(tmp_path) == "a question of some length"


@pytest.mark.parametrize(("columns", "rows"), [(20, 6), (40, 4), (12, 3)])
def test_a_small_terminal_is_enough(tmp_path: Path, columns: int, rows: int) -> None:
    scripted(tmp_path, "A whole answer that is longer than a row.")
    with Window(tmp_path, columns=columns, rows=rows) as window:
        window.wait(lambda one: one.screen.display[one.screen.cursor.y].rstrip() == ">").press("Hi")
        window.wait(lambda one: one.screen.display[one.screen.cursor.y].rstrip() == "> Hi").press(ENTER)
        window.wait(
            lambda one: (
                "longer" in one.everything.replace("\n", "") and one.screen.display[one.screen.cursor.y].rstrip() == ">"
            )
        )
        assert "too small" not in window.everything
        window.press(CTRL_D)
        assert window.ends() == 0


def test_no_color_leaves_the_words_and_takes_the_colours(tmp_path: Path) -> None:
    scripted(tmp_path, "```\ncode\n```", {"error": "gone"})
    with Window(tmp_path, NO_COLOR="1") as window:
        window.ask("Hi")
        window.ask("Fail")
        assert "Error: " in window.seen
        colours = {cell.fg for row in window.screen.buffer.values() for cell in row.values()}
        assert colours == {"default"}


def test_a_dumb_terminal_gets_plain_lines(tmp_path: Path) -> None:
    scripted(tmp_path, {"calls": [{"name": "run_command", "arguments": {"command": "echo ran"}}]}, "Done.", "Two.")
    with Window(tmp_path, TERM="dumb") as window:
        window.wait(lambda one: one.lines[-1] == ">").press("Go\n")
        window.wait("once, always, no:").press("o\n")
        window.wait("Done.").wait(lambda one: one.lines[-1] == ">").press("/sessions\n")
        window.wait("/resume NUMBER opens one.").wait(lambda one: one.lines[-1] == ">").press(CTRL_C)
        window.wait("once more").wait(lambda one: one.lines[-1] == ">").press("/nonsense\n")
        window.wait("Error: There is no command /nonsense.").wait(lambda one: one.lines[-1] == ">").press(CTRL_D)
        assert window.ends() == 0
        assert b"\x1b" not in window.raw
        assert "Go on with: mm --resume" in window.seen
        assert "Allow it? once, always, no: o\nDone." in window.seen  # what is answered is seen
