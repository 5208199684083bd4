"""What the page of the sessions promises of the window, in a terminal: what ↑ brings back, and what it never does."""

from __future__ import annotations

import json
from pathlib import Path

from tests.consoles import needs_posix
from tests.mm.brain import files
from tests.mm.terminal.windows import CTRL_D, ENTER, UP, Window, requests, scripted

pytestmark = needs_posix


def test_commands_are_not_recalled_and_no_file_holds_them(tmp_path: Path) -> None:
    scripted(tmp_path, "One.")
    with Window(tmp_path) as window:
        window.ask("the question")
        window.ask("/where")
        window.ask("/help")
        window.press(UP)
        window.prompt("> the question")
    assert not any("/where" in path.read_text(encoding="utf-8") for path in files(tmp_path))


def test_a_question_that_failed_is_recalled_until_the_next_one_and_is_in_no_conversation(tmp_path: Path) -> None:
    scripted(tmp_path, "One.", {"error": "the server is gone"}, "Three.")
    with Window(tmp_path) as window:
        window.ask("first")
        window.ask("lost")
        assert "Error: The question got no answer: the server is gone" in window.everything.replace("\n", "")
        window.press(UP)
        window.prompt("> lost").press(UP)
        window.prompt("> first").press("\x03")
        window.ask("third")
        window.press(UP)
        window.prompt("> third").press(UP)
        window.prompt("> first")
    (file,) = files(tmp_path)
    record = json.loads(file.read_text(encoding="utf-8"))
    texts = [one["contents"][0]["text"] for one in record["messages"][1:]]
    assert texts == ["first", "One.", "third", "Three."]
    assert record["errors"][0]["question"] == "lost"


def test_what_goes_with_one_question_is_a_usage_error_for_the_window(tmp_path: Path) -> None:
    for option in ("--json", "--yes"):
        with Window(tmp_path, option) as window:
            assert window.ends() == 2
            assert "it goes with -p" in window.everything


def test_a_failed_resume_is_shown_as_it_is_recorded_and_waits_for_the_first_question(tmp_path: Path) -> None:
    scripted(tmp_path, "One.")
    with Window(tmp_path) as window:
        window.ask("/resume 19990101")
        assert files(tmp_path) == []
        window.ask("/errors")
        window.ask("Hi")
        window.press(CTRL_D)
        window.ends()
        shown = window.everything.replace("\n", "")
    (file,) = files(tmp_path)
    (error,) = json.loads(file.read_text(encoding="utf-8"))["errors"]
    assert error["kind"] == "resume"
    assert f"Error: {error['line']}".replace(" ", "") in shown.replace(" ", "")
    assert "19990101" not in json.dumps(requests(tmp_path))


def test_compact_replaces_old_turns_and_the_conversation_goes_on(tmp_path: Path) -> None:
    scripted(tmp_path, "One.", "Two.", "They counted.", "Three.", more="compaction: {keepTurns: 1}\n")
    with Window(tmp_path) as window:
        window.ask("first")
        window.ask("second")
        window.ask("/compact")
        assert "The conversation was compacted: 4 messages became 4." in window.seen
        window.ask("third")
        window.press(UP)
        window.prompt("> third").press(UP)
        window.prompt("> second").press(UP + "x")
        window.prompt("> secondx").press("\x03")
        window.prompt().press(f"/quit{ENTER}")
        assert window.ends() == 0
    sent = [one["contents"][0]["text"] for one in requests(tmp_path)[-1]["messages"]]
    assert sent[0].endswith("They counted.")
    assert sent[2:] == ["second", "Two.", "third"]


def test_a_blocked_question_is_told_and_its_marker_is_not_recalled(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(
        'import json, sys\nif "secret" in json.load(sys.stdin)["prompt"]: print(json.dumps({"block": "no secrets"}))\n',
        encoding="utf-8",
    )
    scripted(tmp_path, "One.", "Two.", more="hooks: {preGeneration: [python3 hook.py]}\n")
    with Window(tmp_path) as window:
        window.ask("plain")
        window.ask("my secret")
        assert "The question was not sent: no secrets" in window.seen
        window.ask("plain again")
        window.press(UP)
        window.prompt("> plain again").press(UP)
        window.prompt("> plain")
    assert "my secret" not in files(tmp_path)[0].read_text(encoding="utf-8")
