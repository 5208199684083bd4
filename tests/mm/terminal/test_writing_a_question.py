"""Writing in the window: lines, pastes, and completion."""

from __future__ import annotations

from pathlib import Path

from tests.consoles import needs_posix
from tests.mm.terminal.windows import (
    ALT_ENTER,
    BACKSPACE,
    DOWN,
    ENTER,
    ESCAPE,
    TAB,
    UP,
    Window,
    last_question,
    pasted,
    scripted,
)

pytestmark = needs_posix


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


def test_escape_and_other_keys_do_no_harm(tmp_path: Path) -> None:
    scripted(tmp_path, "One.")
    with Window(tmp_path) as window:
        window.prompt().press(f"{ESCAPE}[24~{ESCAPE}[5~{DOWN}{DOWN}{ENTER}")
        window.prompt()
        window.ask("still here")
    assert last_question(tmp_path) == "still here"
