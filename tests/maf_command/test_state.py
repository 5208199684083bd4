"""«maf-memory where» and «trace» read the state root from outside the demos, and change nothing in it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.consoles import piped


def command(*arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "maf_command", *arguments],
        input=typed,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )


def test_where_and_trace_tell_what_both_demos_left(state_root: Path) -> None:
    piped("demo130", "setctx module=Reporting")
    piped("demo140", "module=Reporting")
    (state_root / "notes.txt").write_text("about Reporting\n", encoding="utf-8")
    before = {path: path.read_bytes() for path in state_root.rglob("*") if path.is_file()}

    where = command("where")
    assert where.returncode == 0
    assert f"  snapshot      {state_root / 'demo140' / 'session.json'}\n" in where.stdout
    assert "instructions memory-1.1" in where.stdout
    assert "not of these demos, left alone: notes.txt" in where.stdout

    kept = json.loads(command("where", "--json").stdout)
    assert kept["context"]["holds"] == "16 characters"
    assert kept["snapshot"]["holds"].startswith("revision 1, 2 messages, ")
    assert kept["others"] == ["notes.txt"]

    found = json.loads(command("trace", "-", "--json", typed="REPORTING\n").stdout)
    assert [(place["path"], place["line"]) for place in found["places"]] == [
        ("demo130/agent-state.json", 4),
        ("demo140/session.json", 9),
        ("notes.txt", 1),
    ]
    assert {path: path.read_bytes() for path in state_root.rglob("*") if path.is_file()} == before


def test_a_root_that_is_not_there_holds_nothing_and_is_not_created(state_root: Path) -> None:
    assert "no file holds it" in command("trace", "canary").stdout
    assert "no file; demo140 writes it" in command("where").stdout
    assert not state_root.exists()


def test_trace_repeats_neither_the_text_nor_the_line_that_holds_it(state_root: Path) -> None:
    state_root.mkdir()
    (state_root / "notes.txt").write_text("key sk-canary-4711\n", encoding="utf-8")
    done = command("trace", "sk-canary-4711")
    assert "notes.txt:1" in done.stdout
    assert "canary" not in done.stdout + done.stderr


def test_a_blank_text_is_a_usage_error() -> None:
    done = command("trace", "-", typed="\n")
    assert done.returncode == 2
    assert "a text to look for is needed" in done.stderr


def test_a_refused_snapshot_is_described_as_refused(state_root: Path) -> None:
    (state_root / "demo140").mkdir(parents=True)
    (state_root / "demo140" / "session.json").write_bytes(b"damaged")
    done = command("where")
    assert done.returncode == 0
    assert "refused: it is not JSON" in done.stdout
