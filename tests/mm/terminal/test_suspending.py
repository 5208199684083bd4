"""Ctrl-Z and ``fg`` in a shell with job control: what was going on goes on."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.consoles import needs_posix
from tests.mm.terminal.windows import CTRL_C, CTRL_D, CTRL_Z, ENTER, Window, last_question, scripted

pytestmark = [needs_posix, pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")]

BASH = ("-c", "import os; os.execvp('bash', ['bash', '--norc', '--noprofile', '-i'])")
RUN = {"calls": [{"name": "run_command", "arguments": {"command": "echo ran > started"}}]}


def in_a_shell(project: Path) -> Window:
    """A shell in which ``mm`` was started."""
    window = Window(project, start=BASH, PS1="shell$ ", HISTFILE="/dev/null")
    window.wait("shell$").press(f"{sys.executable} -W error -m mm{ENTER}")
    return window.prompt()


def suspended(window: Window) -> None:
    """Press Ctrl-Z, and wait for the shell's prompt."""
    window.press(CTRL_Z)
    window.wait("Stopped  ").wait(lambda one: one.lines[-1] == "shell$")


def leave(window: Window) -> None:
    """Leave ``mm``, then the shell, which says how ``mm`` ended."""
    window.prompt().press(CTRL_D)
    window.wait(lambda one: one.lines[-1] == "shell$").press(f"echo ended $?; exit{ENTER}")
    assert window.ends() == 0
    assert "\nended 0\n" in window.everything


def test_a_line_begun_is_there_again(tmp_path: Path) -> None:
    scripted(tmp_path, "One.")
    with in_a_shell(tmp_path) as window:
        window.press("first half")
        window.prompt("> first half")
        suspended(window)
        window.press(f"fg{ENTER}")
        window.prompt("> first half").press(" and more")
        window.prompt("> first half and more").press(ENTER)
        window.wait("One.")
        leave(window)
    assert last_question(tmp_path) == "first half and more"


def test_a_turn_goes_on_and_what_is_typed_stands_in_no_answer(tmp_path: Path) -> None:
    scripted(tmp_path, {"stream": ["Half an ans", {"hang": True}]}, "Two.")
    with in_a_shell(tmp_path) as window:
        window.press(f"Go{ENTER}")
        window.wait("Half an ans")
        suspended(window)
        window.press(f"fg{ENTER}")
        window.wait(lambda one: one.everything.count("-m mm") == 3 and not one.echoes)
        window.press("unseen")
        window.press(CTRL_C)
        window.wait("Stopped. What was done until then is kept").prompt()
        assert "unseen" not in window.everything
        window.ask("More")
        assert "Two." in window.seen
        leave(window)


def test_a_permission_is_asked_again(tmp_path: Path) -> None:
    scripted(tmp_path, RUN, "One.")
    with in_a_shell(tmp_path) as window:
        window.press(f"Go{ENTER}")
        window.wait("once, always, no:")
        suspended(window)
        assert not (tmp_path / "started").exists()
        window.press(f"fg{ENTER}")
        window.wait(lambda one: one.lines[-1].endswith("once, always, no:")).press(f"o{ENTER}")
        window.wait("One.")
        leave(window)
    assert (tmp_path / "started").exists()
