"""The commands of the window."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from mm.config import Config
from mm.terminal.registry import commands
from tests.consoles import needs_posix
from tests.mm.brain import conversation_of, drawn, files
from tests.mm.terminal.windows import (
    CTRL_D,
    DOWN,
    ENTER,
    ESCAPE,
    UP,
    Window,
    last_question,
    requests,
    scripted,
    session_of,
)

pytestmark = needs_posix


async def conversations(project: Path, *questions: str) -> list[str]:
    """One conversation for each question, the last one newest; their ids."""
    ids = []
    for place, question in enumerate(questions):
        conversation, _ = conversation_of(project, [f"answer to {question}"])
        await drawn(conversation.ask(question))
        path = conversation.keeper.path
        record = json.loads(path.read_text(encoding="utf-8"))
        changed = record["updated"].replace(record["updated"][:4], str(1990 + place), 1)
        path.write_text(path.read_text(encoding="utf-8").replace(record["updated"], changed), encoding="utf-8")
        ids.append(conversation.keeper.record.id)
    return ids


async def test_sessions_picks_with_the_arrow_keys_and_reports_what_it_opened(tmp_path: Path) -> None:
    first, second = await conversations(tmp_path, "the first one", "the second one")
    scripted(tmp_path, "More.")
    with Window(tmp_path) as window:
        window.prompt().press(f"/sessions{ENTER}")
        window.wait("Enter opens")
        rows = [line for line in window.lines if " · 1 turn · " in line]
        assert [row[:2] for row in rows] == ["> ", "  "]
        assert "the second one" in rows[0]
        window.press(DOWN)
        window.wait(lambda one: any(line.startswith(">  2") for line in one.lines)).press(ENTER)
        window.wait("answer to the first one").prompt()
        assert "the first one · 1 turn · 1990-" in window.seen
        assert "> the first one" in window.seen
        assert "Enter opens" not in window.everything, "the picker leaves nothing"
        window.ask("go on")
        window.press(CTRL_D)
        window.ends()
        assert session_of(window.everything) == first
    texts = [one["contents"][0]["text"] for one in requests(tmp_path)[-1]["messages"]]
    assert texts == ["the first one", "answer to the first one", "go on"]
    assert second in {one.stem for one in files(tmp_path)}


async def test_a_conversation_is_deleted_after_a_yes_only(tmp_path: Path) -> None:
    first, second = await conversations(tmp_path, "to keep", "to delete")
    scripted(tmp_path)
    with Window(tmp_path) as window:
        window.prompt().press(f"/sessions{ENTER}")
        window.wait("Enter opens").press("d")
        window.wait("Delete “to delete” for good?").press("x")
        window.wait("Enter opens")
        assert len(files(tmp_path)) == 2
        window.press("d")
        window.wait("for good?").press("y")
        window.wait("is deleted").press(ESCAPE)
        window.prompt()
        assert [one.stem for one in files(tmp_path)] == [first]
        window.press(f"/sessions{ENTER}")
        window.wait("to keep").press("d")
        window.wait("for good?").press("y")
        window.prompt()
    assert files(tmp_path) == []
    assert second != first


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


def test_an_unknown_word_names_the_nearest_and_a_path_is_a_question(tmp_path: Path) -> None:
    scripted(tmp_path, "A path.", "A folder.")
    with Window(tmp_path) as window:
        window.ask("/sesions")
        assert "Error: There is no command /sesions. Did you mean /sessions?" in window.seen
        window.ask("/new now")
        assert "Error: /new takes nothing after it." in window.seen
        window.ask("/memory words")
        assert "Error: /memory is off in this project: set memory.command to true" in window.seen
        assert requests(tmp_path) == []
        window.ask("/tmp/x is full")
        assert last_question(tmp_path) == "/tmp/x is full"
        window.ask("/tmp is full")
        assert last_question(tmp_path) == "/tmp is full"


def test_ask_has_no_tools_and_is_recorded_as_asked(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("content", encoding="utf-8")
    scripted(tmp_path, "Forty-two.")
    with Window(tmp_path) as window:
        window.ask("/ask what is it @notes.md")
        assert "Forty-two." in window.seen
        window.press(UP)
        window.wait("[asked what is it @notes.md]")
    assert requests(tmp_path)[0]["options"]["tool_choice"] == "none"
    assert last_question(tmp_path) == "[asked what is it @notes.md]\n[attached file: notes.md]\ncontent"


async def test_memory_finds_earlier_conversations_where_its_key_is_on(tmp_path: Path) -> None:
    (only,) = await conversations(tmp_path, "Quel format pour les logs ?")
    scripted(tmp_path, more="memory: {command: true}\n")
    with Window(tmp_path) as window:
        window.ask("/memory format logs")
        assert f"/resume {only})" in window.said
        assert "answered: answer to Quel format" in window.seen
        window.ask("/memory |")
        assert "Error: Nothing was searched" in window.seen


def test_export_writes_a_private_page_and_never_over_a_file(tmp_path: Path) -> None:
    scripted(tmp_path, "One.")
    with Window(tmp_path) as window:
        window.ask("/export")
        assert "Error: There is nothing to export yet." in window.seen
        window.ask("Hi <b>")
        window.ask("/export page.html")
        assert "readable by you alone" in window.said
        window.ask("/export page.html")
        assert "it is there already" in window.said
        window.ask("/export said.md")
        window.ask("/export")
    page = tmp_path / "page.html"
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert "Hi &lt;b&gt;" in page.read_text(encoding="utf-8")
    assert "Hi" in (tmp_path / "said.md").read_text(encoding="utf-8")
    assert (tmp_path / f"{files(tmp_path)[0].stem}.html").exists()


def test_where_names_the_files_and_their_sizes(tmp_path: Path) -> None:
    scripted(tmp_path, "One.")
    with Window(tmp_path, columns=300) as window:
        window.ask("/where")
        assert "(not written yet)" in window.seen
        window.ask("Hi")
        window.ask("/where")
        (file,) = files(tmp_path)
        assert f"{file} ({file.stat().st_size:,} bytes)" in window.seen
        assert f"{file.parent} (1 file, {file.stat().st_size:,} bytes)" in window.seen


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


def test_help_has_each_command_with_its_docstring_and_quit_leaves(tmp_path: Path) -> None:
    scripted(tmp_path)
    with Window(tmp_path, columns=140, rows=50) as window:
        window.ask("/help")
        for name, one in commands(Config()).items():
            assert one.help == (one.run.__doc__ or "").partition("\n")[0]
            assert one.help.endswith(".")
            assert any(line.startswith(name) and line.endswith(one.help) for line in window.lines), name
        assert "/memory" not in window.seen, "it exists only with its key"
        window.press(f"/quit{ENTER}")
        assert window.ends() == 0


@pytest.mark.parametrize("columns", [36, 60, 80])
def test_help_breaks_no_word_on_a_narrow_terminal(tmp_path: Path, columns: int) -> None:
    scripted(tmp_path, more="memory: {command: true}\n")
    with Window(tmp_path, columns=columns, rows=30) as window:
        window.ask("/help")
        words = " ".join(window.everything.split())
        for one in commands(Config(memory_command=True)).values():
            assert f"{one.usage} {one.help}" in words


def test_what_a_killed_save_left_is_removed_and_told(tmp_path: Path) -> None:
    scripted(tmp_path, "One.")
    with Window(tmp_path) as window:
        window.ask("Hi")
        window.press(CTRL_D)
        window.ends()
    (file,) = files(tmp_path)
    from maf_memory import leftovers

    left = file.parent / leftovers.new_name(file.name)
    left.write_text("half", encoding="utf-8")
    with Window(tmp_path) as window:
        window.prompt()
        assert f"Removed what a killed save left: {left.name}" in window.said
    assert not left.exists()
