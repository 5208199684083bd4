"""Ctrl-C, Ctrl-D, SIGTERM: what a person or a system does to stop, and what is true afterwards."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.consoles import FLUSHING, PROGRAMS, Piped, files_under, interrupt, needs_posix, piped
from tests.scripted_model import Script
from tests.terminals import Terminal

pytestmark = needs_posix


def test_ctrl_c_at_the_prompt_says_how_to_leave_and_ctrl_d_leaves() -> None:
    with Terminal("demo130") as terminal:
        terminal.until(terminal.prompt)
        terminal.press("\x03")
        terminal.until("quit leaves (or Ctrl-D).\n")
        terminal.until(terminal.prompt)
        terminal.press("canary half a line\x03")
        terminal.until("quit leaves (or Ctrl-D).\n")
        terminal.until(terminal.prompt)
        assert "context: (none)" in terminal.says("showctx")
        terminal.press("\x04")
        status, rest = terminal.ends()
        assert (status, rest.strip()) == (0, "")


@pytest.mark.parametrize("program", PROGRAMS)
def test_an_interrupt_during_an_answer_in_a_pipe_is_exit_130_and_keeps_nothing(
    program: str, tmp_path: Path, state_root: Path
) -> None:
    script = Script.of(tmp_path, {"stream": ["half an answer", {"hang": True}]})
    with Piped(program, script.option) as console:
        console.say("canary?")
        console.until("half an answer")
        interrupt(console.process)
        console.until("\nInterrupted: the turn ended, and nothing of it is kept.\n")
        assert console.process.wait() == 130
        console.ends()
    assert not [name for name, content in files_under(state_root).items() if b"canary" in content]


def test_an_interrupt_while_a_pipe_is_waited_for_is_exit_130_without_a_word() -> None:
    with Piped("demo140") as console:
        console.say("showctx")  # a hint: the console is past its start, and waits for the next line
        console.until("help lists the commands here.\n")
        interrupt(console.process)
        assert console.process.wait() == 130
        console.ends()
        assert console.seen.endswith("help lists the commands here.\n")


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """A path; while a file is there, every flush of a console with a slow disk waits."""
    return tmp_path / "gate"


def test_an_interrupt_during_a_save_waits_for_it_and_says_how_it_ended(gate: Path) -> None:
    with Terminal("demo140", MAF_TEST_SLOW_DISK=str(gate)) as terminal:
        terminal.until(terminal.prompt)
        gate.touch()
        terminal.press("one.\n")
        terminal.until("Noted. It is now message 1 of this conversation.\n")
        terminal.until(FLUSHING)
        terminal.press("\x03")
        terminal.until("^C")
        gate.unlink()
        terminal.until("Interrupted: the answer was complete and is saved.\n")
        terminal.until(terminal.prompt)
        assert "2 messages, in this process\n" in terminal.says("where")
        terminal.press("quit\n")
        assert terminal.ends()[0] == 0
    assert "found again: 2 messages" in piped("demo140").err


@pytest.mark.parametrize("presses", [1, 2], ids=["once", "twice"])
def test_an_interrupted_command_is_finished_so_that_disk_and_dialogue_tell_one_story(
    presses: int, tmp_path: Path, state_root: Path, gate: Path
) -> None:
    script = Script.of(tmp_path, "a1", "a2")
    with Terminal("demo130", script.option, MAF_TEST_SLOW_DISK=str(gate)) as terminal:
        terminal.until(terminal.prompt)
        terminal.says("one?")
        gate.touch()
        terminal.press("setctx Paris\n")
        terminal.until(FLUSHING)
        terminal.press("\x03")
        terminal.until("^C")
        if presses == 2:
            terminal.press_until("\x03", "Waiting for the disk; one more Ctrl-C leaves at once.\n")
        gate.unlink()
        shown = terminal.until(terminal.prompt)
        assert "Context replaced; an empty session starts." in shown
        assert "conversation  changed    2 messages -> empty" in shown
        terminal.says("two?")
        terminal.press("quit\n")
        assert terminal.ends()[0] == 0
    kept = json.loads((state_root / "demo130" / "agent-state.json").read_bytes())
    assert kept["entries"] == {"context": "Paris"}
    assert ("user", "one?") not in script.requests()[1]


@pytest.mark.parametrize("presses", [1, 2], ids=["once", "twice"])
def test_an_interrupted_command_that_fails_tells_its_failure(presses: int, gate: Path) -> None:
    with Terminal("demo130", MAF_TEST_SLOW_DISK=str(gate)) as terminal:
        terminal.until(terminal.prompt)
        terminal.says("setctx Tours")
        gate.touch()
        terminal.press("setctx Paris\n")
        terminal.until(FLUSHING)
        terminal.press("\x03")
        terminal.until("^C")
        if presses == 2:
            terminal.press_until("\x03", "Waiting for the disk; one more Ctrl-C leaves at once.\n")
        gate.write_text("fail", encoding="utf-8")
        assert "agent-state.json was not saved: " in terminal.until(terminal.prompt)
        assert terminal.says("showctx") == "context: Tours\n"


def test_a_third_ctrl_c_leaves_at_once_when_the_disk_does_not_answer(gate: Path, state_root: Path) -> None:
    piped("demo130", "setctx Tours")
    before = files_under(state_root)
    with Terminal("demo130", MAF_TEST_SLOW_DISK=str(gate)) as terminal:
        terminal.until(terminal.prompt)
        gate.touch()
        terminal.press("setctx Paris\n")
        terminal.until(FLUSHING)
        terminal.press("\x03")
        terminal.until("^C")
        terminal.press_until("\x03", "one more Ctrl-C leaves at once.\n")
        terminal.press("\x03")
        assert terminal.ends()[0] == 130
    assert "context: Tours\n" in piped("demo130", "showctx").out
    assert files_under(state_root) == before


def test_a_forget_that_is_interrupted_in_a_pipe_is_finished_and_the_next_line_is_not_read(
    gate: Path, state_root: Path
) -> None:
    piped("demo140", "canary.")
    with Piped("demo140", MAF_TEST_SLOW_DISK=str(gate)) as console:
        gate.touch()
        console.say("forget")
        console.say("canary again.")
        console.until(FLUSHING)
        interrupt(console.process)
        gate.unlink()
        console.until("Snapshot deleted; an empty session starts")
        assert console.process.wait() == 130
        console.ends()
        assert "Noted" not in console.seen
    assert not [name for name, content in files_under(state_root).items() if b"canary" in content]


def test_sigterm_during_an_answer_ends_the_console_and_the_snapshot_is_whole(tmp_path: Path, state_root: Path) -> None:
    piped("demo140", "one.")
    before = files_under(state_root)
    script = Script.of(tmp_path, {"stream": ["half an answer", {"hang": True}]})
    with Piped("demo140", script.option) as console:
        console.say("canary?")
        console.until("half an answer")
        console.process.send_signal(signal.SIGTERM)
        assert console.process.wait() == -signal.SIGTERM
    assert files_under(state_root) == before
    assert "found again: 2 messages" in piped("demo140").err
