"""A save that fails says so, keeps the answer on the screen and the old file intact, and decides the exit status."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.consoles import Piped, files_under, needs_posix, piped, unprivileged
from tests.terminals import Terminal

needs_prlimit = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux can fill another process's disk by a limit"
)


@pytest.fixture
def snapshot_file(state_root: Path) -> Path:
    return state_root / "demo140" / "session.json"


@contextmanager
def full_disk(process_id: int, size: int) -> Iterator[None]:
    """Let no file of the process grow beyond ``size`` bytes, as on a disk that is full."""
    import resource

    soft, hard = resource.prlimit(process_id, resource.RLIMIT_FSIZE)
    resource.prlimit(process_id, resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        with suppress(ProcessLookupError):  # it may have ended on its full disk
            resource.prlimit(process_id, resource.RLIMIT_FSIZE, (soft, hard))


@needs_prlimit
def test_a_full_disk_keeps_the_answer_and_the_old_file_and_a_later_save_makes_it_good(
    state_root: Path, snapshot_file: Path
) -> None:
    with Piped("demo140") as console:
        console.say("module=Reporting")
        console.until("(saved: revision 1")
        before = files_under(state_root)
        with full_disk(console.process.pid, 500):
            console.say("Which module?")
            console.until('"module=Reporting" (message 1 of this conversation)\n')
            assert console.until("The old file is as it was.").startswith(f"error: {snapshot_file} was not saved: ")
            console.say("save")
            console.until("The old file is as it was.")
            console.say("where")
            assert "4 messages, in this process; not saved" in console.until("state root")
        assert files_under(state_root) == before
        console.say("save")
        console.until("Saved: revision 2, 4 messages")
        assert console.ends() == 0
    assert "found again: 4 messages" in piped("demo140").err


@needs_prlimit
def test_the_next_answer_that_is_saved_makes_an_earlier_failure_good(snapshot_file: Path) -> None:
    with Piped("demo140") as console:
        with full_disk(console.process.pid, 50):
            console.say("one.")
            console.until("was not saved")
        assert not snapshot_file.exists()
        console.say("two.")
        console.until("(saved: revision 1, 4 messages")
        assert console.ends() == 0


@needs_prlimit
def test_a_failure_that_is_never_made_good_is_exit_1_in_a_pipe_and_on_a_terminal_where_it_is_red(
    snapshot_file: Path,
) -> None:
    with Piped("demo140") as console, full_disk(console.process.pid, 50):
        console.say("one.")
        console.until("was not saved")
        assert console.ends() == 1
    with Terminal("demo140", TERM="xterm") as terminal:
        terminal.until(terminal.prompt)
        with full_disk(terminal.process.pid, 50):
            shown = terminal.says("one.")
            assert "Noted." in shown
            assert f"\x1b[31merror: {snapshot_file} was not saved: File too large." in shown
            terminal.press("quit\n")
            assert terminal.ends()[0] == 1
    assert not snapshot_file.exists()


@needs_posix
def test_a_folder_that_became_read_only_stops_saves_and_verbs_and_loses_nothing(
    state_root: Path, snapshot_file: Path
) -> None:
    piped("demo140", "one.")
    before = files_under(state_root)
    snapshot_file.parent.chmod(0o500)
    try:
        run = piped("demo140", "two.", "forget", "where", before=unprivileged())
    finally:
        snapshot_file.parent.chmod(0o700)
    assert run.status == 1
    assert "Noted. It is now message 3 of this conversation." in run.out
    assert [error.split(str(snapshot_file))[1] for error in run.errors] == [
        " was not saved: Permission denied. The old file is as it was.",
        " was not deleted: Permission denied. The file is as it was.",
    ]
    assert "conversation  4 messages, in this process; not saved" in run.out
    assert files_under(state_root) == before


@needs_prlimit
def test_a_context_that_cannot_be_written_is_one_error_and_changes_neither_value_nor_dialogue(state_root: Path) -> None:
    with Piped("demo130") as console:
        console.say("canary is here.")
        console.until("Noted.")
        before = files_under(state_root)
        with full_disk(console.process.pid, 10):
            for line in ("setctx Paris", "reset"):
                console.say(line)
                console.until("was not saved: File too large. The old file is as it was.\n")
        console.say("Where is the canary?")
        console.until('"canary is here." (message 1 of this conversation)')
        assert console.ends() == 1
        assert files_under(state_root) == before
