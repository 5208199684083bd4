"""A list of conversations, of which one is picked or deleted with keys."""

from __future__ import annotations

from pathlib import Path

from tests.consoles import needs_posix
from tests.mm.brain import files
from tests.mm.terminal.windows import (
    CTRL_D,
    DOWN,
    ENTER,
    ESCAPE,
    UP,
    Window,
    conversations,
    requests,
    scripted,
    session_of,
)

pytestmark = needs_posix


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


async def test_a_damaged_conversation_is_listed_with_the_reason_and_does_not_open(tmp_path: Path) -> None:
    (whole,) = await conversations(tmp_path, "whole")
    (tmp_path / ".mm" / "sessions" / "20260101-000000-aaaaaaaa.json").write_text("{", encoding="utf-8")
    scripted(tmp_path)
    with Window(tmp_path) as window:
        window.prompt().press(f"/sessions{ENTER}")
        window.wait("damaged · 20260101-000000-aaaaaaaa · ").press(f"{DOWN}{ENTER}")
        window.wait("It cannot be opened: ").press(f"{UP}{ENTER}")
        window.wait("answer to whole").prompt()
        assert whole in window.lines[-1]


async def test_the_conversation_at_hand_is_not_deleted(tmp_path: Path) -> None:
    scripted(tmp_path, "One.")
    with Window(tmp_path) as window:
        window.ask("Hi")
        window.press(f"/sessions{ENTER}")
        window.wait("Enter opens").press("d")
        window.wait("This is the conversation at hand; /new leaves it first.").press("y")
        window.wait("Enter opens").press(ESCAPE)
        window.prompt()
    assert len(files(tmp_path)) == 1


async def test_a_list_that_is_longer_than_the_terminal_follows_the_chosen_row(tmp_path: Path) -> None:
    ids = await conversations(tmp_path, *(f"question {number}" for number in range(12)))
    scripted(tmp_path)
    with Window(tmp_path, columns=60, rows=8) as window:
        window.prompt().press(f"/sessions{ENTER}")
        window.wait("Enter opens")
        assert sum(" · 1 turn · " in line for line in window.lines) == 6
        window.press(DOWN * 11)
        window.wait("question 0 ").press(ENTER)
        window.wait("answer to question 0").prompt()
        assert ids[0] in window.lines[-1]


async def test_what_a_title_holds_commands_no_terminal(tmp_path: Path) -> None:
    await conversations(tmp_path, "\x1b]0;owned\x07\x1b[2Jevil \u202eltr\x9b31m")
    scripted(tmp_path)
    with Window(tmp_path) as window:
        window.prompt().press(f"/sessions{ENTER}")
        window.wait("Enter opens").press(ENTER)
        window.wait("answer to").prompt()
        for command in (b"\x1b]0;", b"\x1b[2J", "\x9b".encode(), b"\x07", "\u202e".encode()):
            assert command not in window.raw
