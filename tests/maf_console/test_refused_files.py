"""A damaged or mismatched file ends the start in one line and stays as it is; only --reset-state destroys it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from agent_framework import AgentSession, Message

from demo130.__main__ import main as main130
from demo140.__main__ import main as main140
from maf_console.loop import START_REMEDY
from maf_console.places import INSTRUCTION_VERSION, Places
from maf_memory.context import ContextStore
from maf_memory.root import open_root
from maf_memory.snapshot import SnapshotStore
from tests.consoles import PROGRAMS, Piped, Run, files_under, needs_posix, piped


@pytest.fixture
async def both() -> Places:
    """A root in which both files exist and are sound."""
    places = Places(open_root())
    await ContextStore(places.context).set("module=Reporting")
    session = AgentSession()
    messages = [Message("user", ["one?"], message_id="m1"), Message("assistant", ["a1"], message_id="m2")]
    session.state["in_memory"] = {"messages": messages}
    await SnapshotStore(places.snapshot, instruction_version=INSTRUCTION_VERSION).save(session)
    return places


def own_file(places: Places, program: str) -> Path:
    return places.context if program == "demo130" else places.snapshot


Refuses = Callable[[str, Path], str]


@pytest.fixture
def refused(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Refuses:
    """Starts a console in this process and returns its error; checks what every refusal has in common."""

    def start(program: str, path: Path) -> str:
        before = path.read_bytes() if path.is_file() else None
        monkeypatch.setattr(sys, "argv", [program])
        status = {"demo130": main130, "demo140": main140}[program]()
        out, err = capfd.readouterr()
        check_refusal(Run(status, out, err), path)
        assert (path.read_bytes() if path.is_file() else None) == before
        return err

    return start


def check_refusal(run: Run, path: Path) -> None:
    assert (run.status, run.out) == (1, "")
    assert "Type help" not in run.err
    assert run.errors == [run.err.splitlines()[-1]]
    assert f"{path} is refused: " in run.errors[0]
    assert run.errors[0].endswith(START_REMEDY)


def with_field(name: str, value: object) -> Callable[[bytes], bytes]:
    return lambda content: json.dumps({**json.loads(content), name: value}).encode()


def without_field(name: str) -> Callable[[bytes], bytes]:
    return lambda content: json.dumps({k: v for k, v in json.loads(content).items() if k != name}).encode()


DAMAGE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda _: b"", "it is empty"),
    "truncated": (lambda content: content[:-9], ""),
    "trailing bytes": (lambda content: content + b"{}", ""),
    "a block of NUL": (lambda content: content[:20] + b"\0" * 512, "NUL"),
    "a byte order mark": (lambda content: b"\xef\xbb\xbf" + content, "byte order mark"),
    "not UTF-8": (lambda content: content.replace(b'"version"', b'"ver\xffsion"'), "UTF-8"),
    "a number that is none": (with_field("version", float("nan")), "NaN"),
    "a key twice": (lambda content: content.replace(b"{", b'{"version": 1, ', 1), "repeats the key"),
    "nested too deep": (lambda _: b"[" * 100_000, "deep"),
    "true for 1": (with_field("version", True), "version"),
    "no version": (without_field("version"), "version"),
    "a newer version": (with_field("version", 2), "version 2"),
    "an unknown field": (with_field("surprise", 1), "surprise"),
    "another document": (lambda _: b"[]", ""),
}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_one_error_and_exit_1(both: Places, refused: Refuses, program: str, damage: str) -> None:
    path = own_file(both, program)
    spoil, reason = DAMAGE[damage]
    path.write_bytes(spoil(path.read_bytes()))
    assert reason in refused(program, path)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_real_process_reads_no_question_past_a_damaged_file(both: Places, program: str) -> None:
    path = own_file(both, program)
    path.write_bytes(b'{"version": 1, "entr')
    check_refusal(piped(program, "reset", "a question", "save"), path)
    assert path.read_bytes() == b'{"version": 1, "entr'


@pytest.mark.parametrize(
    ("entries", "reason"),
    [({"context": 1}, "not a text"), ({"context": " "}, "white space"), ({"context": "x" * 4097}, "4096"), ([], "")],
)
def test_a_context_that_setctx_would_not_accept_is_refused(
    both: Places, refused: Refuses, entries: object, reason: str
) -> None:
    both.context.write_bytes(with_field("entries", entries)(both.context.read_bytes()))
    assert reason in refused("demo130", both.context)


def test_a_snapshot_of_other_instructions_is_refused_and_both_versions_are_named(
    both: Places, refused: Refuses
) -> None:
    both.snapshot.write_bytes(both.snapshot.read_bytes().replace(b"memory-1.1", b"memory-1.0"))
    error = refused("demo140", both.snapshot)
    assert "it was written by instructions memory-1.0; this program runs memory-1.1" in error


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user"},
        "text",
        {
            "type": "message",
            "role": "assistant",
            "contents": [{"type": "function_call", "call_id": "c1", "name": "add", "arguments": "{}"}],
            "message_id": "m3",
            "additional_properties": {},
        },
    ],
    ids=["no contents", "not an object", "a call without its result"],
)
def test_a_message_that_is_not_one_is_refused(both: Places, refused: Refuses, message: object) -> None:
    document = json.loads(both.snapshot.read_bytes())
    document["session"]["state"]["in_memory"]["messages"].append(message)
    both.snapshot.write_text(json.dumps(document), encoding="utf-8")
    refused("demo140", both.snapshot)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_sound_file_that_somebody_laid_out_again_is_still_accepted(both: Places, program: str) -> None:
    path = own_file(both, program)
    path.write_text(json.dumps(json.loads(path.read_bytes()), indent=4), encoding="utf-8")
    run = piped(program)
    assert run.status == 0
    assert "found again: " in run.err


@needs_posix
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_link_or_a_folder_in_the_place_of_the_file_is_refused(
    both: Places, refused: Refuses, program: str, tmp_path: Path
) -> None:
    path = own_file(both, program)
    target = tmp_path / "target.json"
    path.rename(target)
    path.symlink_to(target)
    sound = target.read_bytes()
    assert "symbolic link" in refused(program, path)
    assert (path.is_symlink(), target.read_bytes()) == (True, sound)
    path.unlink()
    path.mkdir()
    assert "not a regular file" in refused(program, path)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_damaged_file_of_the_other_demo_stops_nothing_and_where_tells_of_it(both: Places, program: str) -> None:
    other = own_file(both, PROGRAMS[1 - PROGRAMS.index(program)])
    other.write_bytes(b"{")
    run = piped(program, "where", "reset")
    assert run.status == 0
    assert f"{other}\n                refused: " in run.out
    assert "unchanged  refused" in run.out
    assert other.read_bytes() == b"{"


@pytest.mark.parametrize("option", ["--reset-state", "--reset-state=true"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_reset_state_destroys_this_demos_own_file_prints_its_path_and_leaves_the_others(
    both: Places, program: str, option: str
) -> None:
    (both.root / "foreign.txt").write_text("mine", encoding="utf-8")
    path = own_file(both, program)
    path.write_bytes(b"damaged")
    before = files_under(both.root)
    run = piped(program, options=[option])
    assert run.status == 0
    assert f"--reset-state: destroyed {path}\n" in run.err
    assert "found again" not in run.err
    after = files_under(both.root)
    own = str(path.relative_to(both.root))
    assert after.pop(own, b"") != before.pop(own)
    assert after == before


@pytest.mark.parametrize("program", PROGRAMS)
def test_reset_state_without_a_file_says_that_there_was_nothing(state_root: Path, program: str) -> None:
    run = piped(program, options=["--reset-state"])
    assert run.status == 0
    assert f"--reset-state: nothing to destroy at {own_file(Places(state_root), program)}\n" in run.err


@pytest.mark.parametrize("program", PROGRAMS)
def test_reset_state_false_does_nothing_and_any_other_value_is_a_usage_error(both: Places, program: str) -> None:
    before = files_under(both.root)
    assert "found again" in piped(program, options=["--reset-state=false"]).err
    run = piped(program, options=["--reset-state=yes"])
    assert (run.status, run.out) == (2, "")
    assert run.err.startswith("usage: ")
    assert files_under(both.root) == before


@pytest.mark.parametrize("program", PROGRAMS)
def test_nothing_is_destroyed_when_the_chat_cannot_be_used(both: Places, program: str) -> None:
    before = files_under(both.root)
    assert piped(program, options=["--reset-state", "--chat=nobody"]).status == 1
    assert files_under(both.root) == before


def test_a_context_damaged_during_the_run_stops_the_question_and_every_change(both: Places) -> None:
    with Piped("demo130") as console:
        both.context.write_bytes(b"damaged")
        for line in ("Which module?", "showctx", "setctx Paris", "reset"):
            console.say(line)
            console.until("error: ")
            console.until("is refused")
        assert console.ends() == 1
        assert both.context.read_bytes() == b"damaged"
