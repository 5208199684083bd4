"""A signal that ends the window ends it in order: what was done is kept, and the terminal is as it was."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.consoles import PATIENCE, needs_posix
from tests.mm.brain import files
from tests.mm.terminal.slow_start import SlowStart
from tests.mm.terminal.windows import ENTER, Window, conversations, recorded, scripted, session_of

pytestmark = needs_posix

RUN = {"calls": [{"name": "run_command", "arguments": {"command": "echo $$ > started; exec sleep 100"}}]}
BROKEN_OFF = "[The turn broke off: it was interrupted."
ENDING = [("SIGTERM", 143), ("SIGHUP", 129)]

each_ending = pytest.mark.parametrize(("name", "status"), ENDING)


def end(window: Window, name: str, status: int) -> None:
    """Send the signal, and see that the window ends as it should."""
    window.process.send_signal(signal.Signals[name])
    assert window.ends() == status
    assert window.is_restored
    assert "Error" not in window.everything


def texts_of(file: Path) -> list[str]:
    """The texts of a conversation's file, without the instructions."""
    messages = recorded(file)["messages"][1:]
    return [content["text"] for one in messages for content in one["contents"] if content["type"] == "text"]


@each_ending
def test_at_the_prompt_with_a_line_begun(tmp_path: Path, name: str, status: int) -> None:
    scripted(tmp_path)
    with Window(tmp_path) as window:
        window.prompt().press("some words")
        window.prompt("> some words")
        end(window, name, status)
    assert files(tmp_path) == []


@each_ending
def test_during_a_turn_what_was_shown_and_the_turns_before_it_are_kept(tmp_path: Path, name: str, status: int) -> None:
    scripted(tmp_path, "First.", {"stream": ["Half an ans", {"hang": True}]})
    with Window(tmp_path) as window:
        window.ask("One")
        window.press(f"Two{ENTER}")
        window.wait("Half an ans")
        end(window, name, status)
        (file,) = files(tmp_path)
        assert session_of(window.everything) == file.stem
    *kept, note = texts_of(file)
    assert kept == ["One", "First.", "Two", "Half an ans"]
    assert note.startswith(BROKEN_OFF)


@each_ending
def test_during_a_command_which_ends_too(tmp_path: Path, name: str, status: int) -> None:
    scripted(tmp_path, "First.", RUN)
    with Window(tmp_path) as window:
        window.ask("One")
        window.press(f"Two{ENTER}")
        window.wait("once, always, no:").press(f"o{ENTER}")
        window.wait(lambda _: (tmp_path / "started").exists() and (tmp_path / "started").read_text().endswith("\n"))
        end(window, name, status)
    assert not is_running(int((tmp_path / "started").read_text()))
    (file,) = files(tmp_path)
    *kept, note = texts_of(file)
    assert kept == ["One", "First.", "Two"]
    assert note.startswith(BROKEN_OFF)


def test_told_twice_while_a_command_ends_slowly_the_turn_is_saved_to_its_end(tmp_path: Path) -> None:
    stubborn = "trap 'echo > asked' TERM; echo > started; while :; do sleep 0.02; done"
    scripted(tmp_path, {"calls": [{"name": "run_command", "arguments": {"command": stubborn}}]})
    with Window(tmp_path) as window:
        window.prompt().press(f"Go{ENTER}")
        window.wait("once, always, no:").press(f"o{ENTER}")
        window.wait(lambda _: (tmp_path / "started").exists())
        window.process.send_signal(signal.SIGHUP)
        window.wait(lambda _: (tmp_path / "asked").exists())
        end(window, "SIGHUP", 129)
    (file,) = files(tmp_path)
    assert texts_of(file)[-1].startswith(BROKEN_OFF)


@each_ending
@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_where_a_permission_is_asked_nothing_runs(tmp_path: Path, name: str, status: int, term: str) -> None:
    scripted(tmp_path, RUN)
    with Window(tmp_path, TERM=term) as window:
        window.wait(lambda one: one.screen.display[one.screen.cursor.y].rstrip() == ">")
        window.press("Go\n" if term == "dumb" else f"Go{ENTER}")
        window.wait("once, always, no:")
        end(window, name, status)
    assert not (tmp_path / "started").exists()
    (file,) = files(tmp_path)
    assert texts_of(file)[0] == "Go"


@each_ending
async def test_in_the_picker_which_leaves_nothing_on_the_screen(tmp_path: Path, name: str, status: int) -> None:
    await conversations(tmp_path, "the first one", "the second one")
    before = {file: file.read_bytes() for file in files(tmp_path)}
    scripted(tmp_path)
    with Window(tmp_path) as window:
        window.prompt().press(f"/sessions{ENTER}")
        window.wait("Enter opens")
        end(window, name, status)
        assert "Enter opens" not in window.everything
    assert {file: file.read_bytes() for file in files(tmp_path)} == before


@each_ending
def test_while_a_conversation_is_opened_at_the_start(tmp_path: Path, name: str, status: int) -> None:
    scripted(tmp_path)
    slow = SlowStart("mm.assembly", tmp_path)
    with Window(tmp_path, "--resume", "2026", start=slow.start) as window:
        window.wait(slow.reached).wait("finds the earlier ones")
        window.process.send_signal(signal.Signals[name])
        slow.let_go()
        assert window.ends() == status
        assert window.is_restored


def is_running(process: int) -> bool:
    """Whether a process is there after a moment in which it may end; one that waits to be buried has ended."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            os.kill(process, 0)
            stat = Path(f"/proc/{process}/stat")
            if sys.platform == "linux" and stat.read_text().rpartition(") ")[2].startswith("Z"):
                return False
        except (ProcessLookupError, FileNotFoundError):
            return False
        time.sleep(0.02)
    return True
