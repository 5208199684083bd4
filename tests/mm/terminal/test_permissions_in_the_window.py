"""What asks before it runs, and how a person answers."""

from __future__ import annotations

from pathlib import Path

from tests.consoles import needs_posix
from tests.mm.terminal.windows import CTRL_C, CTRL_D, ENTER, Window, requests, scripted

pytestmark = needs_posix

WRITE = {"calls": [{"name": "write_file", "arguments": {"path": "made", "content": "x\ny\n"}}]}
RUN = {"calls": [{"name": "run_command", "arguments": {"command": "echo ran"}}]}


def test_a_change_shows_its_diff_and_waits_for_a_yes(tmp_path: Path) -> None:
    scripted(tmp_path, WRITE, "Written.", WRITE, "As you like.")
    with Window(tmp_path) as window:
        window.prompt().press(f"Go{ENTER}")
        window.wait("once, always, no:")
        assert "write_file made (2 lines): may it run?" in window.seen
        assert "  +x\n  +y\n" in window.seen
        assert not (tmp_path / "made").exists()
        window.press(f"perhaps{ENTER}")
        window.wait("Write once (or o)").wait(lambda one: one.lines[-1].endswith("no:"))
        window.press(f"once{ENTER}")
        window.wait("Written.").prompt()
        assert (tmp_path / "made").read_text(encoding="utf-8") == "x\ny\n"
        (tmp_path / "made").unlink()
        window.press(f"Again{ENTER}")
        window.wait(lambda one: one.seen.count("once, always, no:") > 2 and one.lines[-1].endswith("no:"))
        window.press(f"n{ENTER}")
        window.wait("As you like.").prompt()
        assert "write_file failed: the person refused this call" in window.everything
    assert not (tmp_path / "made").exists()


def test_always_holds_for_this_conversation_and_not_for_a_new_one(tmp_path: Path) -> None:
    scripted(tmp_path, RUN, "One.", RUN, "Two.", RUN, "Three.")
    with Window(tmp_path) as window:
        window.prompt().press(f"Go{ENTER}")
        window.wait("once, always, no:").press(f"a{ENTER}")
        window.wait("One.").prompt()
        window.ask("Again")
        assert window.everything.count("once, always, no:") == 1
        window.ask("/new")
        window.press(f"Anew{ENTER}")
        window.wait(lambda one: one.everything.count("once, always, no:") == 2)


def test_keys_that_were_typed_before_the_question_do_not_answer_it(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    (tmp_path / "hook.py").write_text(
        f"import os, time\nopen({str(tmp_path / 'waits')!r}, 'w').close()\n"
        f"while not os.path.exists({str(gate)!r}): time.sleep(0.01)\nprint('{{}}')\n",
        encoding="utf-8",
    )
    scripted(tmp_path, RUN, "Done.", more="hooks: {preGeneration: [{command: [python3, hook.py], timeout: 30s}]}\n")
    with Window(tmp_path) as window:
        window.prompt().press(f"Go{ENTER}")
        window.wait(lambda _: (tmp_path / "waits").exists())
        window.press(f"a{ENTER}")
        gate.touch()
        window.wait("once, always, no:")
        window.press(f"x{ENTER}")
        window.wait("Write once (or o)")
        assert "no: a" not in window.seen
        window.press(CTRL_C)
        window.wait("Stopped").prompt()


def test_ctrl_c_at_the_question_stops_the_turn_and_nothing_runs(tmp_path: Path) -> None:
    scripted(tmp_path, WRITE, "never")
    with Window(tmp_path) as window:
        window.prompt().press(f"Go{ENTER}")
        window.wait("once, always, no:").press(CTRL_C)
        window.wait("Stopped.").prompt()
    assert not (tmp_path / "made").exists()
    assert len(requests(tmp_path)) == 1


def test_an_edit_shows_what_goes_and_what_comes(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("one\ntwo\nthree\n", encoding="utf-8")
    edit = {"path": "notes.md", "old": "two", "new": "2"}
    scripted(tmp_path, {"calls": [{"name": "edit_file", "arguments": edit}]}, "Edited.")
    with Window(tmp_path) as window:
        window.prompt().press(f"Go{ENTER}")
        window.wait("once, always, no:")
        assert "  -two\n  +2\n" in window.seen
        rows = {line: row for row, line in enumerate(window.lines)}
        assert window.screen.buffer[rows["  -two"]][2].fg == "red"
        assert window.screen.buffer[rows["  +2"]][2].fg == "green"
        assert (tmp_path / "notes.md").read_text(encoding="utf-8") == "one\ntwo\nthree\n"
        window.press(f"y{ENTER}")
        window.wait("Edited.").prompt()
    assert (tmp_path / "notes.md").read_text(encoding="utf-8") == "one\n2\nthree\n"


def test_a_command_is_shown_exactly_and_that_nothing_confines_it(tmp_path: Path) -> None:
    evil = {"calls": [{"name": "run_command", "arguments": {"command": "echo a\n\x1b[2J\x1b[1A echo \u202eb"}}]}
    scripted(tmp_path, evil, "As you like.")
    with Window(tmp_path) as window:
        window.prompt().press(f"Go{ENTER}")
        window.wait("once, always, no:")
        assert window.said("It is not sandboxed: it can do whatever this user can, anywhere.")
        assert "  echo a\n  \\x1b[2J\\x1b[1A echo \\u202eb\n" in window.seen
        assert b"\x1b[2J" not in window.raw
        assert "\u202e".encode() not in window.raw
        window.press(CTRL_D)
        window.wait("As you like.").prompt()


def test_what_is_allowed_always_stays_allowed_when_another_model_answers(tmp_path: Path) -> None:
    scripted(tmp_path, RUN, "One.")
    with Window(tmp_path) as window:
        window.prompt().press(f"Go{ENTER}")
        window.wait("once, always, no:").press(f"always{ENTER}")
        window.wait("One.").prompt()
        window.ask("/model other")
        window.ask("Again")
        assert window.everything.count("once, always, no:") == 1
        assert window.everything.count("One.") == 2
