"""Writing in the window: lines, pastes, completion, recall, and terminals of every size."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.consoles import needs_posix
from tests.mm.brain import conversation_of, drawn, files
from tests.mm.terminal.windows import (
    ALT_ENTER,
    BACKSPACE,
    CTRL_C,
    CTRL_D,
    DOWN,
    ENTER,
    ESCAPE,
    TAB,
    UP,
    Window,
    last_question,
    pasted,
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


def test_alt_enter_begins_a_line_and_enter_sends_them_all(tmp_path: Path) -> None:
    scripted(tmp_path, "Two lines.")
    with Window(tmp_path) as window:
        window.prompt().press(f"first{ALT_ENTER}second")
        window.prompt("  second").press(ENTER)
        window.wait("Two lines.").prompt()
        assert "> first\n  second\n" in window.everything
    assert last_question(tmp_path) == "first\nsecond"


def test_a_short_paste_keeps_its_lines_and_is_not_sent_by_them(tmp_path: Path) -> None:
    scripted(tmp_path, "Seen.")
    with Window(tmp_path) as window:
        window.prompt().press(pasted("one\r\ntwo\rthree"))
        window.prompt("  three").press(ENTER)
        window.wait("Seen.").prompt()
    assert last_question(tmp_path) == "one\ntwo\nthree"


def test_a_long_paste_shows_a_token_and_is_sent_whole(tmp_path: Path) -> None:
    scripted(tmp_path, "Seen.")
    long = "\n".join(f"line {number}" for number in range(120))
    with Window(tmp_path) as window:
        window.prompt().press(f"Look: {pasted(long)} and {pasted(long[::-1])}")
        window.prompt("> Look: [pasted 120 lines] and [pasted 120 lines #2]")
        window.press(BACKSPACE)
        window.prompt("> Look: [pasted 120 lines] and").press(ENTER)
        window.wait("Seen.").prompt()
        assert "line 77" not in window.everything
        window.press(UP)
        window.wait("line 119 and")
    assert last_question(tmp_path) == f"Look: {long} and "


def test_commands_are_completed_with_their_help(tmp_path: Path) -> None:
    scripted(tmp_path)
    with Window(tmp_path) as window:
        window.prompt().press("/se")
        window.wait("List the conversations of this project").press(TAB)
        window.prompt("> /sessions").press(ENTER)
        window.wait(lambda one: "List the" not in one.seen).press(ENTER)
        window.wait("No conversation is kept here yet")
        window.prompt().press("/mem")
        window.prompt("> /mem")
        assert "/memory" not in window.seen, "it exists only with its key"


def test_a_path_is_completed_and_its_file_goes_along(tmp_path: Path) -> None:
    (tmp_path / "some folder").mkdir()
    (tmp_path / "some folder" / "notes.md").write_text("the content", encoding="utf-8")
    (tmp_path / "other.txt").touch()
    scripted(tmp_path, "Read.")
    with Window(tmp_path) as window:
        window.prompt().press("See @so")
        window.wait("some folder/").press(TAB)
        window.prompt('> See @"some folder/').press(ENTER)
        window.wait(lambda one: "other.txt" not in one.seen).press("no")
        window.wait("notes.md").press(TAB)
        window.prompt('> See @"some folder/notes.md"').press(f"{ENTER}{ENTER}")
        window.wait("Read.").prompt()
    assert last_question(tmp_path) == (
        'See @"some folder/notes.md"\n[attached file: some folder/notes.md]\nthe content'
    )


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


def test_the_window_follows_the_size_of_its_terminal(tmp_path: Path) -> None:
    scripted(tmp_path, "One.")
    with Window(tmp_path, columns=100) as window:
        window.prompt().press("a question of some length")
        window.prompt("> a question of some length")
        window.resize(30, 12)
        window.wait(lambda one: any(line.endswith("…") and "turns" in line for line in one.lines))
        window.resize(120, 30)
        window.wait("new conversation · 0 turns · script scripted").press(ENTER)
        window.wait("One.").prompt()
    assert last_question(tmp_path) == "a question of some length"


@pytest.mark.parametrize(("columns", "rows"), [(20, 6), (40, 4), (12, 3)])
def test_a_small_terminal_is_enough(tmp_path: Path, columns: int, rows: int) -> None:
    scripted(tmp_path, "A whole answer that is longer than a row.")
    with Window(tmp_path, columns=columns, rows=rows) as window:
        window.wait(lambda one: one.screen.display[one.screen.cursor.y].rstrip() == ">").press("Hi")
        window.wait(lambda one: one.screen.display[one.screen.cursor.y].rstrip() == "> Hi").press(ENTER)
        window.wait(
            lambda one: (
                "longer" in one.everything.replace("\n", "") and one.screen.display[one.screen.cursor.y].rstrip() == ">"
            )
        )
        assert "too small" not in window.everything
        window.press(CTRL_D)
        assert window.ends() == 0


def test_no_color_leaves_the_words_and_takes_the_colours(tmp_path: Path) -> None:
    scripted(tmp_path, "```\ncode\n```", {"error": "gone"})
    with Window(tmp_path, NO_COLOR="1") as window:
        window.ask("Hi")
        window.ask("Fail")
        assert "Error: " in window.seen
        colours = {cell.fg for row in window.screen.buffer.values() for cell in row.values()}
        assert colours == {"default"}


def test_a_dumb_terminal_gets_plain_lines(tmp_path: Path) -> None:
    scripted(tmp_path, {"calls": [{"name": "run_command", "arguments": {"command": "echo ran"}}]}, "Done.", "Two.")
    with Window(tmp_path, TERM="dumb") as window:
        window.wait(lambda one: one.lines[-1] == ">").press("Go\n")
        window.wait("once, always, no:").press("o\n")
        window.wait("Done.").wait(lambda one: one.lines[-1] == ">").press("/sessions\n")
        window.wait("/resume NUMBER opens one.").wait(lambda one: one.lines[-1] == ">").press(CTRL_C)
        window.wait("once more").wait(lambda one: one.lines[-1] == ">").press("/nonsense\n")
        window.wait("Error: There is no command /nonsense.").wait(lambda one: one.lines[-1] == ">").press(CTRL_D)
        assert window.ends() == 0
        assert b"\x1b" not in window.raw
        assert "Go on with: mm --resume" in window.seen
        assert "Allow it? once, always, no: o\nDone." in window.seen  # what is answered is seen


def test_escape_and_other_keys_do_no_harm(tmp_path: Path) -> None:
    scripted(tmp_path, "One.")
    with Window(tmp_path) as window:
        window.prompt().press(f"{ESCAPE}[24~{ESCAPE}[5~{DOWN}{DOWN}{ENTER}")
        window.prompt()
        window.ask("still here")
    assert last_question(tmp_path) == "still here"
