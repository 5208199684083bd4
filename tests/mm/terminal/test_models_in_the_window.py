"""Who answers in the window: another model, no tools, a summary."""

from __future__ import annotations

import json
from pathlib import Path

from tests.consoles import needs_posix
from tests.mm.brain import files
from tests.mm.terminal.windows import CTRL_C, ENTER, UP, Window, last_question, recorded, requests, scripted

pytestmark = needs_posix


def test_ask_has_no_tools_and_is_recorded_as_asked(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("content", encoding="utf-8")
    scripted(tmp_path, "Forty-two.")
    with Window(tmp_path) as window:
        window.ask("/ask what is it @notes.md")
        assert "Forty-two." in window.seen
        question = recorded(files(tmp_path)[0])["messages"][1]["contents"][0]["text"]
        assert question == "[asked what is it @notes.md]"
        window.press(UP)
        window.wait("[asked what is it @notes.md]")
    assert requests(tmp_path)[0]["options"]["tool_choice"] == "none"
    assert last_question(tmp_path) == "[asked what is it @notes.md]\n[attached file: notes.md]\ncontent"


def test_tools_and_model_say_what_answers_and_a_model_is_changed_for_one_conversation(tmp_path: Path) -> None:
    scripted(tmp_path, "One.", "Two.")
    with Window(tmp_path) as window:
        window.ask("/tools")
        assert "read_file     Read a text file" in window.seen
        assert "run_command   asks first · " in window.seen
        window.ask("first")
        window.ask("/model other")
        assert "script other" in window.lines[-1]
        window.ask("second")
        (file,) = files(tmp_path)
        record = json.loads(file.read_text(encoding="utf-8"))
        assert (record["model"], record["turns"]) == ("other", 2)
        window.ask("/new")
        assert "script scripted" in window.lines[-1]
        window.ask("/model openai")
        assert "Error: " in window.seen


def test_compact_says_that_the_stand_in_is_no_model(tmp_path: Path) -> None:
    with Window(tmp_path) as window:
        window.ask("/compact")
        assert "A summary needs a model" in window.seen


def test_another_model_is_recorded_as_last_used_and_new_and_resume_come_back_to_the_configured_one(
    tmp_path: Path,
) -> None:
    scripted(tmp_path, "One.")
    with Window(tmp_path) as window:
        window.ask("/model other")
        window.ask("first")
        (file,) = files(tmp_path)
        assert recorded(file)["model"] == "other"
        window.ask("/new")
        assert "script scripted" in window.lines[-1]
        window.ask("/model third")
        window.ask(f"/resume {file.stem}")
        assert f"{file.stem} · 1 turn · script scripted" in window.lines[-1]
        assert recorded(file)["model"] == "other", "nothing is written before the next turn"
        window.ask("second")
    assert recorded(file)["model"] == "scripted"


def test_a_model_that_cannot_answer_changes_nothing(tmp_path: Path) -> None:
    scripted(tmp_path, "One.")
    with Window(tmp_path, OPENAI_API_KEY=None, OPENAI_BASE_URL=None, OPENAI_CHAT_COMPLETION_MODEL=None) as window:
        window.ask("/model openai")
        assert "Error: " in window.seen
        window.ask("/model nobody at all")
        assert "Error: There is no provider nobody: it is one of offline, openai, script." in window.seen
        assert "script scripted" in window.lines[-1]
        window.ask("/model offline")
        assert window.lines[-1].endswith(" · offline")
        window.ask("/model qwen")
        assert "Error: The offline stand-in has no models. Write /model openai qwen." in window.seen


def test_the_status_names_the_model_that_only_the_environment_names(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(
        "model: {provider: openai, baseURL: http://127.0.0.1:9/v1}\n", encoding="utf-8"
    )
    with Window(tmp_path, OPENAI_CHAT_COMPLETION_MODEL="qwen3.5-4b") as window:
        window.prompt()
        assert "new conversation · 0 turns · openai qwen3.5-4b" in window.lines[-1]


def test_compact_replaces_the_old_turns_and_the_file_says_what_memory_says(tmp_path: Path) -> None:
    scripted(tmp_path, "A one.", "A two.", "A three.", "Two things were decided.", "A four.")
    with Window(tmp_path) as window:
        window.ask("/compact")
        assert "There is nothing to compact" in window.seen
        for question in ("Q one", "Q two", "Q three"):
            window.ask(question)
        window.ask("/compact")
        assert "The conversation was compacted: 6 messages became 6." in window.seen
        assert "Two things were decided." not in window.seen
        (file,) = files(tmp_path)
        _, *messages = recorded(file)["messages"]
        window.ask("Q four")
        window.press(UP * 4)
        window.prompt("> Q two")
    texts = [message["contents"][0]["text"] for message in messages]
    assert texts[0].endswith("Two things were decided.")
    assert texts[2:] == ["Q two", "A two.", "Q three", "A three."]
    sent = [message["contents"][0]["text"] for message in requests(tmp_path)[-1]["messages"]]
    assert sent == [*texts, "Q four"]
    assert recorded(file)["title"] == "Q one"


def test_a_summary_that_does_not_come_is_an_error_and_changes_nothing(tmp_path: Path) -> None:
    scripted(tmp_path, "A one.", {"empty": True}, {"error": "gone"}, "A two.", more="compaction: {keepTurns: 0}\n")
    with Window(tmp_path) as window:
        window.ask("Q one")
        (file,) = files(tmp_path)
        before = recorded(file)["messages"]
        window.ask("/compact")
        assert "Error: The summary came back empty. The conversation is as it was." in window.seen
        window.ask("/compact")
        assert "Error: No summary came: " in window.seen
        record = recorded(file)
        assert record["messages"] == before
        assert [error["kind"] for error in record["errors"]] == ["compaction", "compaction"]
        window.ask("Q two")
        assert "A two." in window.seen


def test_a_summary_that_is_stopped_changes_nothing_and_is_no_error(tmp_path: Path) -> None:
    scripted(tmp_path, "A one.", {"error": "gone"}, {"hang": True}, "A two.", more="compaction: {keepTurns: 0}\n")
    with Window(tmp_path) as window:
        window.ask("Q one")
        window.ask("Q lost")
        (file,) = files(tmp_path)
        before = recorded(file)
        window.press(f"/compact{ENTER}")
        window.wait(lambda _: len(requests(tmp_path)) == 3).press(CTRL_C)
        window.wait("Stopped. The conversation is as it was.").prompt()
        assert recorded(file) == before
        window.ask("Q two")
        assert "A two." in window.seen
