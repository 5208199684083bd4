"""Ctrl-C and Ctrl-D at each moment; the ordinary ones of a turn stand with the turns."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.consoles import needs_posix
from tests.mm.brain import files
from tests.mm.terminal.slow_start import SlowStart
from tests.mm.terminal.windows import (
    BACKSPACE,
    CTRL_C,
    CTRL_D,
    ENTER,
    UP,
    Window,
    conversations,
    last_question,
    recorded,
    requests,
    scripted,
)

pytestmark = needs_posix

RUN = {"calls": [{"name": "run_command", "arguments": {"command": "echo ran > started; sleep 100"}}]}


@pytest.mark.parametrize("module", ["typer", "mm.agent_yaml", "prompt_toolkit", "mm.terminal.completing"])
def test_ctrl_c_before_the_first_prompt_leaves_in_silence(tmp_path: Path, module: str) -> None:
    scripted(tmp_path)
    slow = SlowStart(module, tmp_path)
    with Window(tmp_path, start=slow.start) as window:
        slow.wait()
        window.press(CTRL_C)
        window.wait("^C")
        slow.let_go()
        assert window.ends() == 130
        assert window.is_restored
        assert window.seen.strip().startswith("^C")
        assert "Error" not in window.everything
    assert files(tmp_path) == []


def test_ctrl_c_while_the_window_still_loads_gives_the_question_back(tmp_path: Path) -> None:
    scripted(tmp_path, "One.")
    slow = SlowStart("mm.assembly", tmp_path)
    with Window(tmp_path, start=slow.start) as window:
        window.prompt().press(f"Typed early{ENTER}")
        window.wait(slow.reached).wait(lambda one: one.at_prompt() is None)
        window.press(CTRL_C)
        window.wait("Stopped.").prompt()
        assert requests(tmp_path) == []
        assert files(tmp_path) == []
        slow.let_go()
        window.press(UP)
        window.prompt("> Typed early").press(ENTER)
        window.wait("One.").prompt()
    assert last_question(tmp_path) == "Typed early"


def test_ctrl_c_while_a_conversation_is_opened_at_the_start_leaves(tmp_path: Path) -> None:
    scripted(tmp_path)
    slow = SlowStart("mm.assembly", tmp_path)
    with Window(tmp_path, "--resume", "2026", start=slow.start) as window:
        window.wait(slow.reached).wait("finds the earlier ones")
        window.press(CTRL_C)
        window.wait("Stopped.")
        slow.let_go()
        assert window.ends() == 1
        assert window.is_restored


def test_a_question_typed_before_the_first_prompt_is_asked(tmp_path: Path) -> None:
    scripted(tmp_path, "One.")
    slow = SlowStart("prompt_toolkit", tmp_path)
    with Window(tmp_path, start=slow.start) as window:
        slow.wait()
        window.press("Typed early\n")
        window.wait("Typed early")
        slow.let_go()
        window.wait("One.").prompt()
    assert last_question(tmp_path) == "Typed early"


def test_ctrl_c_during_a_command_ends_it_and_the_file_says_that_it_may_have_run(tmp_path: Path) -> None:
    scripted(tmp_path, RUN, "Two.")
    with Window(tmp_path) as window:
        window.prompt().press(f"Go{ENTER}")
        window.wait("once, always, no:").press(f"o{ENTER}")
        window.wait(lambda _: (tmp_path / "started").exists())
        window.press(CTRL_C)
        window.wait("Stopped. What was done until then is kept").prompt()
        (file,) = files(tmp_path)
        results = [
            content["result"]
            for message in recorded(file)["messages"]
            for content in message["contents"]
            if content["type"] == "function_result"
        ]
        assert results == ["interrupted; may have run"]
        window.ask("More")
        assert "Two." in window.seen


def test_ctrl_c_where_a_permission_is_asked_by_plain_lines_stops_the_turn(tmp_path: Path) -> None:
    scripted(tmp_path, RUN, "Two.")
    with Window(tmp_path, TERM="dumb") as window:
        window.wait(lambda one: one.lines[-1] == ">").press("Go\n")
        window.wait("once, always, no:").press(CTRL_C)
        window.wait("Stopped.").wait(lambda one: one.lines[-1] == ">").press("More\n")
        window.wait("Two.").wait(lambda one: one.lines[-1] == ">")
        assert window.is_restored
    assert not (tmp_path / "started").exists()


async def test_ctrl_c_in_the_picker_leaves_the_list_and_not_the_window(tmp_path: Path) -> None:
    await conversations(tmp_path, "the first one", "the second one")
    scripted(tmp_path, "One.")
    with Window(tmp_path) as window:
        window.prompt().press(f"/sessions{ENTER}")
        window.wait("Enter opens").press(CTRL_C)
        window.prompt()
        assert "Enter opens" not in window.everything
        window.ask("still here")
        assert "One." in window.seen
    assert len(files(tmp_path)) == 3


def test_ctrl_d_leaves_an_empty_prompt_and_no_line_that_holds_text(tmp_path: Path) -> None:
    scripted(tmp_path)
    with Window(tmp_path) as window:
        window.prompt().press(f"some{CTRL_D} words")
        window.prompt("> some words").press(f"{BACKSPACE * len('some words')}")
        window.prompt().press(CTRL_D)
        assert window.ends() == 0
        assert window.is_restored
    assert files(tmp_path) == []
