"""The picker of conversations: what its keys do, in a terminal of any size, and that it leaves nothing behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.consoles import needs_posix
from tests.mm.brain import conversation_of, drawn, files
from tests.mm.terminal.windows import CTRL_C, CTRL_D, DOWN, ENTER, ESCAPE, UP, Window, scripted

pytestmark = needs_posix


async def kept(project: Path, number: int) -> list[str]:
    """As many conversations, ``question 1`` the newest; their ids."""
    conversation, _ = conversation_of(project, ["an answer"])
    await drawn(conversation.ask("the question"))
    path = conversation.keeper.path
    text = path.read_text(encoding="utf-8")
    path.unlink()
    record = json.loads(text)
    ids = [f"20200101-{place:06}-0000000a" for place in range(number)]
    for place, name in enumerate(ids):
        moved = text.replace(record["id"], name).replace("the question", f"question {place + 1} of them")
        moved = moved.replace(f'"updated": "{record["updated"]}"', f'"updated": "{2020 - place}-01-01T00:00:00Z"')
        path.with_name(f"{name}.json").write_text(moved, encoding="utf-8")
    return ids


def continued(project: Path, session: str, successor: str) -> None:
    """Mark a conversation as one that went on in another one."""
    path = project / ".mm" / "sessions" / f"{session}.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    record["continued_in"] = successor
    path.write_text(json.dumps(record), encoding="utf-8")


def chosen(window: Window) -> str:
    """The row that is chosen."""
    rows = [line for line in window.lines if line.startswith("> ") and not line.startswith("> /")]
    return rows[-1] if rows else ""


def choose(window: Window, title: str) -> None:
    window.wait(lambda one: title in chosen(one))


def stems(project: Path) -> set[str]:
    return {path.stem for path in files(project)}


@pytest.mark.parametrize("key", [ESCAPE, "q", CTRL_C, CTRL_D])
async def test_the_picker_is_left_without_a_choice_and_a_question_of_it_too(tmp_path: Path, key: str) -> None:
    ids = await kept(tmp_path, 2)
    scripted(tmp_path, "One.")
    with Window(tmp_path) as window:
        window.prompt().press(f"/sessions{ENTER}")
        window.wait("Enter opens").press("d")
        window.wait("for good?").press(key)
        window.wait("Enter opens").press(key)
        window.prompt()
        assert "question 1" not in window.everything
        window.ask("still here")
        window.press(CTRL_D)
        assert window.ends() == 0
    assert {*ids} < stems(tmp_path)


async def test_more_conversations_than_rows_are_scrolled_through(tmp_path: Path) -> None:
    ids = await kept(tmp_path, 40)
    scripted(tmp_path)
    with Window(tmp_path, rows=12) as window:
        window.prompt().press(f"/sessions{ENTER}")
        window.wait("Enter opens").press(UP)
        choose(window, "question 1 ")
        for _ in range(25):
            window.press(DOWN)
        choose(window, "question 26 ")
        assert sum("of them" in line for line in window.lines) >= 8
        window.press(DOWN * 30)
        choose(window, "question 40 ")
        window.resize(100, 6)
        window.wait(lambda one: "question 40 " in chosen(one) and "Enter opens" in one.lines[-1])
        window.press(UP)
        choose(window, "question 39 ")
        window.press(ENTER)
        window.prompt()
        window.press(CTRL_D)
        window.ends()
        assert f"--resume {ids[38]}" in window.everything


@pytest.mark.parametrize(("columns", "rows"), [(20, 6), (40, 8), (24, 24)])
async def test_a_narrow_terminal_shows_a_row_for_each_and_the_whole_question_before_it_deletes(
    tmp_path: Path, columns: int, rows: int
) -> None:
    ids = await kept(tmp_path, 3)
    scripted(tmp_path)
    with Window(tmp_path, columns=columns, rows=rows) as window:
        window.wait(lambda one: one.screen.display[one.screen.cursor.y].rstrip() == ">").press("/sessions")
        window.wait(lambda one: one.screen.display[one.screen.cursor.y].rstrip() == "> /sessions").press(ENTER)
        window.wait(lambda one: one.said("Esc leaves")).press(DOWN)
        window.wait(lambda one: chosen(one).startswith(">  2")).press("d")
        window.wait(lambda one: one.said("y deletes, any other key keeps it"))
        assert chosen(window).startswith(">  2"), "what is asked about is seen"
        window.press("y")
        window.wait(lambda one: one.said(f"{ids[1]} is deleted.")).press("q")
        window.wait(lambda one: one.screen.display[one.screen.cursor.y].rstrip() == ">")
    assert stems(tmp_path) == {ids[0], ids[2]}


async def test_the_conversation_at_hand_and_what_it_came_from_are_not_deleted_under_it(tmp_path: Path) -> None:
    ids = await kept(tmp_path, 3)
    continued(tmp_path, ids[1], ids[0])
    continued(tmp_path, ids[2], ids[1])
    scripted(tmp_path)
    with Window(tmp_path) as window:
        window.ask(f"/resume {ids[2]}")
        window.press(f"/sessions{ENTER}")
        window.wait("Enter opens").press("d")
        window.wait("This continues the conversation at hand; /new leaves it first.").press(f"y{DOWN}{DOWN}")
        choose(window, "question 3 ")
        window.press("d")
        window.wait("This is the conversation at hand; /new leaves it first.").press("y")
        window.wait("Enter opens").press("q")
        window.ask("/new")
        assert stems(tmp_path) == {*ids}
        window.press(f"/sessions{ENTER}")
        window.wait("Enter opens").press("d")
        window.wait("Delete “question 1 of them” and 2 conversations that it continues for good?").press("y")
        window.prompt()
    assert files(tmp_path) == []


async def test_a_damaged_file_is_shown_with_its_reason_and_cannot_be_opened_but_deleted(tmp_path: Path) -> None:
    (whole, torn) = await kept(tmp_path, 2)
    path = tmp_path / ".mm" / "sessions" / f"{torn}.json"
    path.write_bytes(path.read_bytes()[:200])
    scripted(tmp_path)
    with Window(tmp_path) as window:
        window.prompt().press(f"/sessions{ENTER}")
        window.wait(f"damaged · {torn} · ").press(DOWN)
        choose(window, "damaged")
        window.press(ENTER)
        window.wait("It cannot be opened: ").press("d")
        window.wait(f"Delete “{torn}” for good?").press("n")
        window.wait("Enter opens").press("d")
        window.wait("for good?").press("y")
        window.wait(f"{torn} is deleted.").press("q")
        window.prompt()
    assert stems(tmp_path) == {whole}


async def test_a_conversation_that_was_deleted_elsewhere_is_said_to_be_gone(tmp_path: Path) -> None:
    ids = await kept(tmp_path, 3)
    scripted(tmp_path, "One.")
    with Window(tmp_path) as window:
        window.prompt().press(f"/sessions{ENTER}")
        window.wait("Enter opens")
        for path in files(tmp_path)[:2]:
            path.unlink()
        window.press("d")
        window.wait("for good?").press("y")
        window.wait(f"Error: No session {ids[0]} in this project.")
        assert "question 3" in chosen(window), "the list was read again"
        files(tmp_path)[0].unlink()
        window.press("d")
        window.wait("for good?").press("y")
        window.wait(f"Error: No session {ids[2]} in this project.").press(ENTER)
        window.wait(f"Error: No session {ids[2]}").prompt()
        window.ask("go on")
        assert "One." in window.seen


async def test_titles_of_any_script_keep_their_rows_apart_and_command_nothing(tmp_path: Path) -> None:
    titles = ["早い" * 60, "שלום עולם " * 20, "a\x1b[2J\x1b]0;owned\x07b\nc", "👩‍👩‍👧‍👦" * 40]
    for title in titles:
        conversation, _ = conversation_of(tmp_path, ["ok"])
        await drawn(conversation.ask(title))
    scripted(tmp_path)
    with Window(tmp_path, columns=50) as window:
        window.prompt().press(f"/sessions{ENTER}")
        window.wait("Enter opens")
        assert [line[2:4].strip() for line in window.lines if line[2:4].strip().isdigit()] == ["1", "2", "3", "4"]
        assert b"\x1b[2J\x1b]0;" not in window.raw
        window.press("q")
        window.prompt()
