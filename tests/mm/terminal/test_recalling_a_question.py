"""Earlier questions brought back with ↑, in the window."""

from __future__ import annotations

import json
from pathlib import Path

from tests.consoles import needs_posix
from tests.mm.brain import conversation_of, drawn, files
from tests.mm.terminal.windows import (
    BACKSPACE,
    CTRL_C,
    CTRL_D,
    DOWN,
    ENTER,
    UP,
    Window,
    last_question,
    requests,
    scripted,
)

pytestmark = needs_posix


async def asked_before(project: Path, *questions: str) -> str:
    """An earlier conversation of the project; its id is returned."""
    conversation, _ = conversation_of(project, ["ok"] * len(questions))
    for question in questions:
        await drawn(conversation.ask(question))
    return conversation.keeper.record.id


async def test_up_recalls_this_conversation_then_the_others_newest_first(tmp_path: Path) -> None:
    await asked_before(tmp_path, "oldest", "old")
    newer = await asked_before(tmp_path, "newer")
    path = next(one for one in files(tmp_path) if one.stem == newer)
    path.write_text(path.read_text().replace('"updated": "20', '"updated": "21'), encoding="utf-8")
    before = {one: one.read_bytes() for one in files(tmp_path)}
    scripted(tmp_path, "One.", "Two.")
    with Window(tmp_path) as window:
        window.ask("this first")
        window.ask("this second")
        window.press("a draft")
        window.prompt("> a draft")
        for question in ("this second", "this first", "newer", "old", "oldest"):
            window.press(UP)
            window.prompt(f"> {question}")
        window.press(UP)
        window.press(DOWN)
        window.prompt("> old")
        for question in ("newer", "this first", "this second", "a draft"):
            window.press(DOWN)
            window.prompt(f"> {question}")
        window.press(f"{UP}{UP}{UP}")
        window.prompt("> newer").press(CTRL_C)
        window.prompt().press(CTRL_D)
        assert window.ends() == 0
    assert {one: one.read_bytes() for one in before} == before
    assert {one.name for one in (tmp_path / ".mm").iterdir()} <= {"sessions", ".gitignore", ".lock"}, "no history"


async def test_up_leaves_out_what_mm_wrote_itself_and_what_went_on_elsewhere(tmp_path: Path) -> None:
    session = await asked_before(tmp_path, "real")
    gone_on = await asked_before(tmp_path, "copied")
    for path in files(tmp_path):
        record = json.loads(path.read_text(encoding="utf-8"))
        if path.stem == session:
            for kind in ("summary", "blocked", "context", "note"):
                mark = {"written_by": "mm", "kind": kind}
                content = [{"type": "text", "text": f"mm's {kind}"}]
                record["messages"].append({"role": "user", "contents": content, "additional_properties": mark})
        if path.stem == gone_on:
            record["continued_in"] = session
        path.write_text(json.dumps(record), encoding="utf-8")
    scripted(tmp_path)
    with Window(tmp_path) as window:
        window.prompt().press(UP)
        window.prompt("> real").press(f"{UP}{UP}{BACKSPACE}")
        window.prompt("> rea")


async def test_without_sessions_nothing_is_recalled_and_the_commands_name_the_key(tmp_path: Path) -> None:
    await asked_before(tmp_path, "kept before")
    scripted(tmp_path, "One.", more="sessions: {enabled: false}\n")
    with Window(tmp_path) as window:
        window.prompt()
        assert "Sessions are off (sessions.enabled): nothing is kept." in window.seen
        window.ask("Hi")
        window.press(f"{UP}x")
        window.prompt("> x").press(BACKSPACE)
        window.ask("/sessions")
        window.ask("/resume 1")
        assert window.everything.count("Error: Sessions are off in this project: set sessions.enabled to true") == 2
        window.press(CTRL_D)
        assert window.ends() == 0
        assert "--resume" not in window.everything
    assert len(files(tmp_path)) == 1


def test_a_recalled_question_with_its_files_is_sent_as_it_stands(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("content with @agent.yaml", encoding="utf-8")
    scripted(tmp_path, "One.", "Two.")
    with Window(tmp_path) as window:
        window.ask("see @notes.md")
        first = last_question(tmp_path)
        window.press(UP)
        window.wait("content with @agent.yaml").press(ENTER)
        window.wait("Two.").prompt()
    assert first == last_question(tmp_path)
    assert first.count("[attached file:") == 1


def test_a_question_whose_file_is_refused_comes_back(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"x" * 300_000)
    scripted(tmp_path, "never")
    with Window(tmp_path) as window:
        window.ask("see @big")
        assert "Error: big was not attached" in window.seen
        window.press(UP)
        window.prompt("> see @big")
    assert requests(tmp_path) == []


def test_up_goes_up_the_rows_of_a_long_line_before_it_recalls(tmp_path: Path) -> None:
    scripted(tmp_path, "One.")
    with Window(tmp_path, columns=40) as window:
        window.ask("earlier")
        window.press("x" * 60)
        window.wait(lambda one: one.screen.cursor.x == 24)
        row = window.screen.cursor.y
        window.press(UP)
        window.wait(lambda one: one.screen.cursor.y == row - 1 and "x" * 30 in one.seen)
        window.press(UP)
        window.prompt("> earlier")
