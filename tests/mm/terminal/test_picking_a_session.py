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
