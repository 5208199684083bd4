"""Demo140 keeps the session itself: loaded at start, saved after every answer, deleted by four names."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from demo140.demo import VERBS
from tests.consoles import Piped, files_under, ledger_rows, needs_posix, piped
from tests.scripted_model import Script
from tests.terminals import Terminal


@pytest.fixture
def snapshot_file(state_root: Path) -> Path:
    return state_root / "demo140" / "session.json"


def header(snapshot_file: Path) -> dict[str, object]:
    """The envelope without its session."""
    return {key: value for key, value in json.loads(snapshot_file.read_bytes()).items() if key != "session"}


def test_the_conversation_is_saved_after_every_answer_and_loaded_at_the_next_start(
    tmp_path: Path, snapshot_file: Path
) -> None:
    script = Script.of(tmp_path, "a1", "a2")
    with Piped("demo140", script.option) as first:
        first.say("module=Reporting")
        first.until("(saved: revision 1, 2 messages, ")
        assert header(snapshot_file)["revision"] == 1
        first.say("two?")
        first.until("(saved: revision 2, 4 messages, ")
        first.process.kill()  # the window is closed without quit

    script = Script.of(tmp_path, "a3")
    second = piped("demo140", "Which module did we discuss?", "quit", options=[script.option])
    assert "conversation  found again: 4 messages, from revision 2 of the snapshot" in second.err
    assert script.requests()[0] == [
        ("user", "module=Reporting"),
        ("assistant", "a1"),
        ("user", "two?"),
        ("assistant", "a2"),
        ("user", "Which module did we discuss?"),
    ]
    kept = header(snapshot_file)
    assert (kept["version"], kept["instruction_version"], kept["revision"]) == (1, "memory-1.1", 3)


def test_the_same_question_with_the_same_answer_twice_is_four_messages_after_a_restart(tmp_path: Path) -> None:
    script = Script.of(tmp_path, "yes", "yes", "a3")
    piped("demo140", "yes", "yes", options=[script.option])
    script = Script.of(tmp_path, "a3")
    run = piped("demo140", "three?", options=[script.option])
    assert "found again: 4 messages" in run.err
    assert script.requests()[0][:4] == [("user", "yes"), ("assistant", "yes")] * 2


@pytest.mark.parametrize("verb", VERBS)
def test_each_of_the_four_verbs_deletes_the_snapshot_and_replaces_the_active_history(
    verb: str, tmp_path: Path, snapshot_file: Path
) -> None:
    script = Script.of(tmp_path, "a1", "a2")
    with Piped("demo140", script.option) as console:
        console.say("one?")
        console.until("(saved: revision 1, 2 messages")
        first_lineage = header(snapshot_file)["lineage"]
        console.say(verb)
        said = re.sub(r"[\d,]+ bytes", "N bytes", console.until("  context       unchanged  none\n"))
        assert said.endswith(
            "Snapshot deleted; an empty session starts.\n"
            "  conversation  changed    2 messages -> empty\n"
            "  snapshot      changed    revision 1, 2 messages, N bytes -> none\n"
        )
        assert not snapshot_file.exists()
        console.say(verb)
        assert "There was no snapshot; an empty session starts" in console.until("  context       unchanged  none\n")
        console.say("two?")
        console.until("(saved: revision 1, 2 messages")
        assert header(snapshot_file)["lineage"] != first_lineage
        assert console.ends() == 0
    assert script.requests()[1] == [("user", "two?")]


def test_after_forget_quit_restart_and_load_nothing_comes_back(tmp_path: Path, state_root: Path) -> None:
    piped("demo140", "canary-140 is here.", "forget", "quit")
    script = Script.of(tmp_path / "elsewhere", "a1")
    run = piped("demo140", "load", "Where is canary-140?", "quit", options=[script.option])
    assert "conversation  new: no snapshot was found" in run.err
    assert f"There is no snapshot at {state_root / 'demo140' / 'session.json'}: an empty session starts." in run.out
    assert script.requests()[0] == [("user", "Where is canary-140?")]
    assert not [name for name, content in files_under(state_root).items() if b"canary-140 is" in content]


def test_newsession_then_load_no_longer_restores() -> None:
    run = piped("demo140", "module=Reporting", "newsession", "load", "Which module?")
    assert "No word of your question is in what I was sent: no context, and an empty conversation." in run.out


def test_load_without_a_file_says_so_and_starts_an_empty_session(tmp_path: Path, snapshot_file: Path) -> None:
    script = Script.of(tmp_path, "a1", "a2")
    with Piped("demo140", script.option) as console:
        console.say("one?")
        console.until("(saved")
        snapshot_file.unlink()
        console.say("load")
        console.until("There is no snapshot at")
        assert "conversation  changed    2 messages -> empty" in console.until("context ")
        console.say("two?")
        console.until("(saved: revision 1, 2 messages")
        assert console.ends() == 0
    assert script.requests()[1] == [("user", "two?")]


def test_save_and_load_write_and_read_on_demand_and_the_ledger_tells_what_changed(snapshot_file: Path) -> None:
    run = piped("demo140", "save", "module=Reporting", "save", "load")
    sizes = re.findall(r"([\d,]+) bytes\.", run.out)
    empty, full = sizes[0], sizes[1]
    assert f"Saved: revision 1, 0 messages, {empty} bytes." in run.out
    assert f"Saved: revision 3, 2 messages, {full} bytes.\n" in run.out
    assert full.replace(",", "") == str(snapshot_file.stat().st_size)
    automatic = re.search(r"saved: (revision 2, 2 messages, [\d,]+ bytes)", run.err)
    assert automatic
    assert ledger_rows(run.out) == [
        {
            "conversation": "unchanged empty",
            "snapshot": f"changed none -> revision 1, 0 messages, {empty} bytes",
            "context": "unchanged none",
        },
        {
            "conversation": "unchanged 2 messages",
            "snapshot": f"changed {automatic[1]} -> revision 3, 2 messages, {full} bytes",
            "context": "unchanged none",
        },
        {
            "conversation": "unchanged 2 messages",
            "snapshot": f"unchanged revision 3, 2 messages, {full} bytes",
            "context": "unchanged none",
        },
    ]


def test_a_saved_session_of_no_messages_is_loaded_again_as_one() -> None:
    piped("demo140", "save")
    assert "found again: 0 messages, from revision 1" in piped("demo140").err


def test_load_of_a_refused_file_keeps_the_conversation_and_stops_automatic_saves_until_one_of_the_verbs(
    tmp_path: Path, snapshot_file: Path
) -> None:
    script = Script.of(tmp_path, "a1", "a2", "a3")
    with Piped("demo140", script.option) as console:
        console.say("one?")
        console.until("(saved: revision 1")
        snapshot_file.write_bytes(b'{"version": 1')
        console.say("load")
        console.until("error: ")
        console.until(
            "This conversation is kept, and saved no more. Repair it and load again, or delete it with newsession"
        )
        console.say("two?")
        console.until("Not saved: the snapshot was refused when it was loaded.")
        assert snapshot_file.read_bytes() == b'{"version": 1'
        console.say("where")
        assert "4 messages, in this process; not saved" in console.until("state root")
        console.say("save")
        console.until("error: ")
        assert snapshot_file.read_bytes() == b'{"version": 1'
        console.say("deletesession")
        assert "changed    refused -> none" in console.until("context ")
        console.say("three?")
        console.until("(saved: revision 1, 2 messages")
        console.ends()
    assert script.requests()[1] == [("user", "one?"), ("assistant", "a1"), ("user", "two?")]
    assert script.requests()[2] == [("user", "three?")]


@needs_posix
def test_an_answer_after_a_refused_load_that_no_verb_made_good_is_exit_1_on_a_terminal(snapshot_file: Path) -> None:
    piped("demo140", "one.")
    with Terminal("demo140") as terminal:
        terminal.until(terminal.prompt)
        snapshot_file.write_bytes(b"damaged")
        said = terminal.says("load")
        assert "Repair it and load again, or delete it with newsession, reset, deletesession or forget." in said
        assert "Noted. It is now message 3 of this conversation." in terminal.says("two.")
        terminal.press("quit\n")
        status, last_words = terminal.ends()
        assert (status, "The last answer was never saved." in last_words) == (1, True)
    assert snapshot_file.read_bytes() == b"damaged"


def test_a_context_of_demo130_is_not_touched_by_forgetting_a_session() -> None:
    piped("demo130", "setctx module=Reporting")
    run = piped("demo140", "one.", "forget")
    assert ledger_rows(run.out)[0]["context"] == "unchanged 16 characters"
    assert "context: module=Reporting" in piped("demo130", "showctx").out


def test_where_shows_the_file_its_size_its_versions_and_its_time(snapshot_file: Path) -> None:
    run = piped("demo140", "module=Reporting", "where")
    kept = header(snapshot_file)
    expected = [
        "  conversation  2 messages, in this process",
        f"  snapshot      {snapshot_file}",
        f"                {snapshot_file.stat().st_size:,} bytes, version 1, instructions memory-1.1",
        f"                revision 1 of lineage {kept['lineage']}, saved {kept['saved_at']}",
        f"                2 messages, {kept['framework']}",
    ]
    assert "\n".join(expected) in run.out


def test_help_lists_every_command_and_says_that_the_four_verbs_are_one() -> None:
    run = piped("demo140", "help")
    for usage in ("save", "load", *VERBS, "where", "help", "quit"):
        assert f"\n  {usage} " in run.out
    assert run.out.count("one behaviour, four names") == 3
    assert "newsession, reset, deletesession and forget do the same thing" in run.out


def test_a_question_may_hold_a_lone_surrogate_a_nul_and_a_line_separator_and_comes_back(tmp_path: Path) -> None:
    script = Script.of(tmp_path, "lone \ud800 surrogate", "a2")
    first = piped("demo140", b"a\xff b\x00 c\xe2\x80\xa8d\n", options=[script.option])
    assert (first.status, first.errors) == (0, [])
    script = Script.of(tmp_path, "a2")
    piped("demo140", "two?", options=[script.option])
    assert script.requests()[0][:2] == [("user", "a\ufffd b\0 c\u2028d"), ("assistant", "lone \ufffd surrogate")]


def test_a_save_that_meets_a_conflict_does_not_make_an_answer_unsaved_that_was_saved() -> None:
    with Piped("demo140") as first:
        first.say("one.")
        first.until("(saved: revision 1")
        piped("demo140", "two.")
        first.say("save")
        first.until("error: ")
        first.say("where")
        assert "not saved" not in first.until("state root")
        first.ends()
    assert "never saved" not in first.seen


@needs_posix
def test_a_snapshot_that_cannot_be_read_now_is_never_advised_to_be_destroyed(snapshot_file: Path) -> None:
    piped("demo140", "one.")
    before = snapshot_file.read_bytes()
    limited = "import resource, runpy; resource.setrlimit(resource.RLIMIT_NOFILE, (7, 7)); "
    limited += "runpy.run_module('demo140', run_name='__main__')"
    run = subprocess.run(
        [sys.executable, "-c", f"import maf_console.start, demo140.demo; {limited}"],
        input="load\n",
        capture_output=True,
        encoding="utf-8",
    )
    assert "Too many open files" in run.stderr
    assert "reset-state" not in run.stderr
    assert "delete it" not in run.stderr
    assert snapshot_file.read_bytes() == before
