"""The life of conversations in the window: a launch, /resume, /new, and the way back."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from maf_memory import leftovers
from tests.consoles import needs_posix
from tests.mm.brain import conversation_of, drawn, files
from tests.mm.terminal.windows import (
    ALT_ENTER,
    BACKSPACE,
    CTRL_C,
    CTRL_D,
    ENTER,
    UP,
    Window,
    conversations,
    recorded,
    requests,
    scripted,
)

pytestmark = needs_posix

LOOK = {"calls": [{"name": "read_file", "arguments": {"path": "notes.md"}}]}


async def test_resume_takes_a_number_a_prefix_or_an_id_and_says_what_is_wrong(tmp_path: Path) -> None:
    first, second = await conversations(tmp_path, "the first one", "the second one")
    scripted(tmp_path)
    with Window(tmp_path) as window:
        window.ask("/resume 2")
        assert "the first one · 1 turn" in window.seen
        window.ask("/resume 3")
        assert "Error: There is no conversation 3: /sessions lists 2." in window.seen
        window.ask(f"/resume {second}")
        assert "the second one · 1 turn" in window.seen
        window.ask("/resume 1999")
        assert "Error: No session 1999" in window.seen
        window.ask("/resume")
        assert "Error: /resume needs more: /resume ID|PREFIX|NUMBER." in window.seen
        window.ask(f"/resume {first[:-4]}")
        assert window.everything.count("the first one · 1 turn") == 2


async def test_a_report_tells_of_errors_and_errors_lists_them(tmp_path: Path) -> None:
    conversation, _ = conversation_of(tmp_path, ["fine", {"error": "gone"}])
    await drawn(conversation.ask("Q"))
    await drawn(conversation.ask("R"))
    scripted(tmp_path)
    with Window(tmp_path) as window:
        window.ask(f"/resume {conversation.keeper.record.id}")
        assert " · ⚠ 1 error(s)\n" in window.seen
        assert " · ⚠️ 1 error(s)".encode() in window.raw, "as the seed has it"
        window.ask("/errors")
        assert "asked: R" in window.seen


async def test_mm_resume_opens_the_window_in_that_conversation_or_not_at_all(tmp_path: Path) -> None:
    (only,) = await conversations(tmp_path, "the one")
    scripted(tmp_path)
    with Window(tmp_path, "--resume", only[:-3]) as window:
        window.prompt()
        assert "answer to the one" in window.seen
        assert f"{only} · 1 turn" in window.lines[-1]
    with Window(tmp_path, "--resume", "1999") as window:
        assert window.ends() == 1
        assert "No session 1999" in window.everything


def test_new_leaves_the_old_file_as_it_is_and_the_next_question_opens_another(tmp_path: Path) -> None:
    scripted(tmp_path, "One.", "Two.")
    with Window(tmp_path) as window:
        window.ask("first")
        (old,) = files(tmp_path)
        before = old.read_bytes()
        window.ask("/new")
        assert f"The old one opens with /resume {old.stem}." in window.seen
        assert "new conversation · 0 turns" in window.lines[-1]
        assert files(tmp_path) == [old]
        window.ask("second")
        assert len(files(tmp_path)) == 2
    assert old.read_bytes() == before


def test_what_a_killed_save_left_is_removed_and_told(tmp_path: Path) -> None:
    scripted(tmp_path, "One.")
    with Window(tmp_path) as window:
        window.ask("Hi")
        window.press(CTRL_D)
        window.ends()
    (file,) = files(tmp_path)
    left = file.parent / leftovers.new_name(file.name)
    left.write_text("half", encoding="utf-8")
    with Window(tmp_path) as window:
        window.prompt()
        assert window.said(f"Removed what a killed save left: {left.name}")
    assert not left.exists()


def test_a_launch_without_a_question_creates_nothing_at_all(tmp_path: Path) -> None:
    scripted(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with Window(tmp_path) as window:
        for command in ("/help", "/where", "/tools", "/model", "/sessions", "/errors", "/calls", "/new", "/compact"):
            window.ask(command)
        window.ask("/resume 1999")
        window.press(CTRL_D)
        assert window.ends() == 0
        assert "--resume" not in window.everything
    after = sorted(path for path in tmp_path.rglob("*") if path.name != "requests.jsonl")
    assert after == before


async def test_the_report_shows_title_turns_date_errors_and_the_last_exchange(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("read", encoding="utf-8")
    scripted(tmp_path, "First.", {"error": "gone"}, LOOK, "\n".join(f"line {number}" for number in range(40)))
    with Window(tmp_path, rows=60) as window:
        window.ask("One?")
        window.ask("Two?")
        window.prompt().press(f"Three{ALT_ENTER}and four?{ENTER}")
        window.wait("line 39").prompt()
    (file,) = files(tmp_path)
    date = recorded(file)["updated"][:16].replace("T", " ")
    scripted(tmp_path, "Go on.")
    with Window(tmp_path, rows=60) as window:
        window.ask(f"/resume {file.stem}")
        assert f"One? · 2 turns · {date} · ⚠ 1 error(s)\n> Three\n  and four?\nline 0\n" in window.seen
        assert "line 29\n[10 more lines: /export has them]\n" in window.seen
        assert "First." not in window.seen
        window.ask("And?")
    assert [one.stem for one in files(tmp_path)] == [file.stem]
    assert recorded(file)["turns"] == 3


async def test_after_resume_turns_go_to_that_file_under_todays_instructions_and_model(tmp_path: Path) -> None:
    first, second = await conversations(tmp_path, "the first one", "the second one")
    scripted(tmp_path, "More.", more="instructions: Be brief today.\n")
    other = next(one for one in files(tmp_path) if one.stem == second)
    before = other.read_bytes()
    with Window(tmp_path) as window:
        window.ask(f"/resume {first}")
        window.ask("go on")
        assert f"{first} · 2 turns · script scripted" in window.lines[-1]
    (request,) = requests(tmp_path)
    assert request["options"]["instructions"] == "Be brief today."
    record = recorded(next(one for one in files(tmp_path) if one.stem == first))
    assert record["messages"][0]["contents"][0]["text"] == "Be brief today."
    assert (record["provider"], record["model"]) == ("script", "scripted")
    assert record["turns"] == 2
    assert other.read_bytes() == before


async def test_a_prefix_of_several_names_them_and_nothing_changes(tmp_path: Path) -> None:
    first, second = await conversations(tmp_path, "the first one", "the second one")
    scripted(tmp_path)
    with Window(tmp_path, columns=200) as window:
        window.ask(f"/resume {first[:5]}")
        (line,) = [line for line in window.lines if line.startswith("Error: ")]
        assert first in line
        assert second in line
        assert "new conversation" in window.lines[-1]


def test_a_failed_resume_before_any_question_is_written_with_the_first_one(tmp_path: Path) -> None:
    scripted(tmp_path, "One.")
    with Window(tmp_path) as window:
        window.ask("/resume 20200101")
        window.ask("/resume 7")
        assert files(tmp_path) == []
        window.ask("/errors")
        assert " · resume · after 0 turns\n  No session 20200101 in " in window.seen
        window.ask("Hi")
    (file,) = files(tmp_path)
    record = recorded(file)
    assert [(error["kind"], error["turns"]) for error in record["errors"]] == [("resume", 0), ("resume", 0)]
    assert record["errors"][1]["line"] == "There is no conversation 7: /sessions lists 0."
    assert record["error_count"] == 2
    assert "No session" not in json.dumps(requests(tmp_path))


def test_the_way_back_that_is_told_on_leaving_leads_back(tmp_path: Path) -> None:
    scripted(tmp_path, "One.")
    (tmp_path / "the agent.yaml").write_bytes((tmp_path / "agent.yaml").read_bytes())
    (tmp_path / "agent.yaml").unlink()
    with Window(tmp_path, "--config", "the agent.yaml", columns=200) as window:
        window.ask("Hi")
        window.press(f"/quit{ENTER}")
        assert window.ends() == 0
        program, *arguments = shlex.split(window.lines[-1].removeprefix("Go on with: "))
    assert program == "mm"
    with Window(tmp_path, *arguments, columns=200) as window:
        window.prompt()
        assert "> Hi\nOne.\n" in window.seen
        window.ask("Again")
        window.press(CTRL_C)
        window.wait("once more").prompt().press(CTRL_C)
        assert window.ends() == 0
        assert shlex.split(window.lines[-1].removeprefix("Go on with: ")) == [program, *arguments]
    (file,) = files(tmp_path)
    assert recorded(file)["turns"] == 2


def test_with_sessions_off_nothing_is_kept_and_the_commands_name_the_key(tmp_path: Path) -> None:
    scripted(tmp_path, "One.", "Two.", more="sessions: {enabled: false}\nmemory: {command: true, tool: true}\n")
    with Window(tmp_path) as window:
        window.prompt()
        assert "Sessions are off (sessions.enabled): nothing is kept." in window.seen
        window.ask("Hi")
        window.press(f"{UP}x")
        window.prompt("> x").press(BACKSPACE)
        for command in ("/sessions", "/resume 1", "/resume 2026"):
            window.ask(command)
        assert window.everything.count("Error: Sessions are off in this project: set sessions.enabled to true") == 3
        window.ask("/memory words")
        assert "set sessions.enabled to true" in window.seen.split("/memory words")[1]
        window.ask("/where")
        assert "none are kept: sessions.enabled is false" in window.seen
        window.ask("/new")
        assert "This is a new conversation.\n" in window.seen
        window.press(CTRL_D)
        assert window.ends() == 0
        assert "--resume" not in window.everything
    assert not (tmp_path / ".mm").exists()
    assert "search_memory" not in json.dumps(requests(tmp_path))
