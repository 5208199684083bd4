"""«maf-memory sessions delete» asks first, deletes what was continued too, and says what it did not reach."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.consoles import needs_posix
from tests.maf_command.session_runs import CONTINUED, LOGS, ORDERS, SEARCH, damage, file_of, on_terminal, sessions, told


def kept(project: Path) -> list[str]:
    return sorted(path.stem for path in (project / ".mm" / "sessions").glob("*.json"))


def test_what_changed_and_what_did_not_is_said(project: Path) -> None:
    run = sessions("delete", CONTINUED, "--yes", cwd=project)
    assert (run.status, run.err) == (0, "")
    assert run.out == (
        "Deleted.\n"
        f"  session       changed    {CONTINUED}: 1 turn, revision 1 -> none\n"
        f"  continued     changed    {ORDERS}: 2 turns, revision 1 -> none\n"
        "  others        unchanged  2 sessions\n"
        "Not erased by this:\n"
        "  exports, backups and other copies, and the history of git\n"
        "  the errors and questions that other sessions quote, and this terminal's own scrollback\n"
        "  what the provider of a model or a tool logged or kept\n"
        "  the disk's freed pages: a deleted file may still stand there\n"
    )
    assert kept(project) == [LOGS, SEARCH]


def test_a_session_that_was_continued_is_deleted_without_its_successor(project: Path) -> None:
    assert told("delete", ORDERS, "--yes", cwd=project)["deleted"] == [ORDERS]
    assert kept(project) == [CONTINUED, LOGS, SEARCH]


def test_without_a_terminal_nothing_is_deleted_unless_yes_is_given(project: Path) -> None:
    run = sessions("delete", LOGS, cwd=project, typed="y\n")
    assert (run.status, run.out) == (1, "")
    assert run.err == "error: Nothing was deleted: there is no terminal to ask on. Add --yes to delete it.\n"
    assert len(kept(project)) == 4


def test_a_damaged_session_can_be_deleted(project: Path) -> None:
    damage(file_of(project, LOGS), lambda content: content[:-300])
    run = sessions("delete", LOGS, "--yes", cwd=project)
    assert run.status == 0
    assert f"  session       changed    {LOGS}: damaged -> none\n" in run.out
    assert kept(project) == [ORDERS, CONTINUED, SEARCH]


def test_json_names_what_was_deleted_and_what_that_does_not_erase(project: Path) -> None:
    report = told("delete", CONTINUED, "--yes", cwd=project)
    assert report["deleted"] == [ORDERS, CONTINUED]
    assert report["left"] == 2
    assert any("provider" in line for line in report["not_erased"])


@needs_posix
@pytest.mark.parametrize(
    ("keys", "status", "left"), [("y\n", 0, 2), ("n\n", 1, 4), ("\n", 1, 4), ("\x04", 1, 4), ("\x03", 130, 4)]
)
def test_on_a_terminal_it_asks_with_what_would_go_and_only_a_yes_deletes(
    project: Path, keys: str, status: int, left: int
) -> None:
    ended, shown = on_terminal("delete", CONTINUED, cwd=project, columns=120, keys=keys, waits_for="for good? [y/N]: ")
    assert ended == status
    assert f"{CONTINUED}  Where should the shop keep its orders?\n  1 turn, revision 1\n" in shown
    assert f"{ORDERS}  Where should the shop keep its orders?\n  2 turns, revision 1\n" in shown
    assert "Delete these 2 for good? [y/N]: " in shown
    assert ("Nothing was deleted." in shown) == (left == 4)
    assert len(kept(project)) == left


@needs_posix
def test_a_session_that_goes_on_while_the_question_stands_is_not_deleted(project: Path) -> None:
    def goes_on() -> None:
        damage(file_of(project, LOGS), lambda content: content.replace(b'"revision": 3', b'"revision": 4', 1))

    ended, shown = on_terminal(
        "delete", LOGS, cwd=project, columns=200, keys="y\n", waits_for="for good? [y/N]: ", meanwhile=goes_on
    )
    assert ended == 1
    assert f"{LOGS} was changed while you were asked; nothing was deleted." in shown
    assert len(kept(project)) == 4
