"""Two consoles on one root: the second saver is told, nothing is overwritten, and it can take theirs or leave."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.consoles import Piped, piped
from tests.scripted_model import Script


@pytest.fixture
def snapshot_file(state_root: Path) -> Path:
    return state_root / "demo140" / "session.json"


REMEDY = "load takes what is there and gives up this conversation; quit leaves what is there."


def test_the_second_saver_is_told_and_can_load_theirs(tmp_path: Path, snapshot_file: Path) -> None:
    script = Script.of(tmp_path, "b1", "b2")
    with Piped("demo140") as first, Piped("demo140", script.option) as second:
        first.say("first.")
        first.until("(saved: revision 1")
        theirs = snapshot_file.read_bytes()
        second.say("second?")
        second.until("b1\n")
        told = second.until(REMEDY)
        assert told.startswith(
            f"error: {snapshot_file} was changed by another program or store: it holds revision 1 of lineage "
        )
        assert "this one last saw no file. Nothing was overwritten." in told
        second.say("save")
        second.until(REMEDY)
        assert snapshot_file.read_bytes() == theirs
        second.say("load")
        second.until("Loaded: 2 messages.")
        second.until("  conversation  changed    2 messages -> 2 messages, but not the same\n")
        second.say("third?")
        second.until("(saved: revision 2, 4 messages")
        assert second.ends() == 0
        first.say("fourth.")
        first.until("it holds revision 2, this one last saw revision 1. Nothing was overwritten.")
        first.until(REMEDY)
        assert first.ends() == 1
    assert script.requests()[1] == [
        ("user", "first."),
        ("assistant", "Noted. It is now message 1 of this conversation."),
        ("user", "third?"),
    ]


def test_a_load_of_another_continuation_of_the_same_session_is_a_change_in_the_ledger() -> None:
    piped("demo140", "start.")
    with Piped("demo140") as first, Piped("demo140") as second:
        first.say("first.")
        first.until("(saved: revision 2")
        second.say("second.")
        second.until(REMEDY)
        second.say("load")
        second.until("  conversation  changed    4 messages -> 4 messages, but not the same\n")
        second.until("  snapshot      unchanged  revision 2, 4 messages")
        assert (first.ends(), second.ends()) == (0, 0)


def test_quit_after_a_conflict_leaves_theirs_and_exits_1(snapshot_file: Path) -> None:
    with Piped("demo140") as first, Piped("demo140") as second:
        first.say("first.")
        first.until("(saved")
        theirs = snapshot_file.read_bytes()
        second.say("second.")
        second.until(REMEDY)
        second.say("quit")
        assert second.ends() == 1
        assert first.ends() == 0
    assert snapshot_file.read_bytes() == theirs


def test_what_one_console_forgets_the_others_save_does_not_bring_back(snapshot_file: Path) -> None:
    piped("demo140", "canary.")
    with Piped("demo140") as first, Piped("demo140") as second:
        first.say("forget")
        first.until("Snapshot deleted")
        second.say("second.")
        second.until("Noted. It is now message 3 of this conversation.\n")
        assert "it holds nothing, for it was deleted, this one last saw revision 1" in second.until(REMEDY)
        assert not snapshot_file.exists()
        second.say("load")
        second.until("There is no snapshot at")
        second.say("third.")
        second.until("(saved: revision 1, 2 messages")
        first.say("fourth.")
        first.until(REMEDY)
        assert (first.ends(), second.ends()) == (1, 0)
    assert b"canary" not in snapshot_file.read_bytes()


def test_a_file_that_was_put_there_by_hand_is_a_conflict_and_not_overwritten(snapshot_file: Path) -> None:
    with Piped("demo140") as console:
        console.say("one.")
        console.until("(saved")
        sound = snapshot_file.read_bytes()
        snapshot_file.write_bytes(b"damaged while the console ran")
        console.say("two.")
        console.until(f"error: {snapshot_file} is refused: ")
        assert snapshot_file.read_bytes() == b"damaged while the console ran"
        snapshot_file.write_bytes(sound)
        console.say("three.")
        console.until("(saved: revision 2, 6 messages")
        assert console.ends() == 0


def test_while_one_console_forgets_the_other_saves_or_is_told_and_the_file_is_whole_or_gone(
    snapshot_file: Path,
) -> None:
    with Piped("demo140") as saver, Piped("demo140") as forgetter:
        for number in range(20):
            saver.say(f"statement {number}.")
            saver.say("load")
            forgetter.say("forget")
        saver.ends()
        assert forgetter.ends() == 0
    saved, told = saver.seen.count("(saved: revision "), saver.seen.count(REMEDY)
    assert saved + told == 20
    assert piped("demo140").status == 0
    assert [path.name for path in snapshot_file.parent.glob(".*.tmp")] == []
