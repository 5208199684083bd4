"""«trace TEXT» names every place that still holds a text, and what it cannot see; forgetting leaves some behind."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from agent_framework import AgentSession, Content, Message

from maf_console.places import Places
from maf_console.tracing import traced
from tests.consoles import piped


def test_after_forget_a_value_set_in_demo130_is_still_found(state_root: Path) -> None:
    piped("demo130", "setctx module=Reporting")
    before = piped("demo140", "module=Reporting", "trace reporting").out
    assert "  demo130/agent-state.json:4  the context store of demo130\n" in before
    assert "  demo140/session.json:9      the snapshot of demo140\n" in before
    assert "In this process:\n  the conversation: message 1\n" in before

    after = piped("demo140", "forget", "trace Reporting").out
    assert "demo130/agent-state.json:4  the context store of demo130" in after
    assert "session.json:" not in after
    assert str(state_root) in after


def test_after_reset_in_demo130_the_snapshot_of_demo140_still_holds_it() -> None:
    piped("demo130", "setctx module=Reporting")
    piped("demo140", "module=Reporting")
    out = piped("demo130", "reset", "trace Reporting").out
    assert "agent-state.json:" not in out
    assert "demo140/session.json:9  the snapshot of demo140" in out


def test_what_a_killed_save_left_and_another_program_s_file_are_named_for_what_they_are(state_root: Path) -> None:
    piped("demo140", "hello")
    (state_root / "demo140" / ".session.json.0123456789abcdef.tmp").write_text('{"cut": "a canar', encoding="utf-8")
    (state_root / "notes.txt").write_text("one\ncanary\n", encoding="utf-8")
    out = piped("demo130", "trace CANAR").out
    assert "demo140/.session.json.0123456789abcdef.tmp:1  left over from a killed save" in out
    assert "notes.txt:2                                   not of these demos" in out


def test_nothing_found_is_said_and_never_called_a_secure_erasure() -> None:
    out = piped("demo140", "hello", "trace canary").out
    assert "  no file holds it\n" in out
    assert "no message of the conversation holds it" in out
    assert "Not seen from here, and not erased by any command:" in out
    for blind in ("provider", "backups", "freed pages"):
        assert blind in out


async def test_the_result_of_a_tool_call_is_part_of_the_conversation(tmp_path: Path) -> None:
    session = AgentSession()
    result = Content.from_function_result("call", result='{"city": "Zürich"}')
    session.state["in_memory"] = {"messages": [Message("user", ["where?"]), Message("tool", [result])]}
    assert "the conversation: message 2\n" in await traced(Places(tmp_path), "zürich", session)


async def test_a_secret_that_is_looked_for_is_repeated_nowhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "notes").write_text("my key is sk-canary-4711", encoding="utf-8")
    with caplog.at_level(logging.DEBUG):
        out = await traced(Places(tmp_path), "sk-canary-4711", AgentSession())
    assert "notes:1" in out
    assert "canary" not in out + caplog.text


def test_trace_sends_nothing_and_writes_nothing(state_root: Path) -> None:
    piped("demo140", "hello")
    before = {path: path.read_bytes() for path in state_root.rglob("*") if path.is_file()}
    piped("demo140", "trace sk-canary-4711", "where")
    assert {path: path.read_bytes() for path in state_root.rglob("*") if path.is_file()} == before


def test_an_editor_s_swap_file_is_not_called_ours(state_root: Path) -> None:
    piped("demo140", "canary")
    swap = state_root / "demo140" / ".session.json.swp"
    swap.write_bytes((state_root / "demo140" / "session.json").read_bytes())
    out = piped("demo130", "trace canary").out
    assert "demo140/.session.json.swp:9  not of these demos" in out


async def test_letters_with_and_without_their_accents_are_found(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("cafe\u0301", encoding="utf-8")
    for text in ("cafe", "caf\u00e9", "CAFE\u0301"):
        assert "notes:1" in await traced(Places(tmp_path), text)


async def test_a_text_that_was_made_sound_is_looked_for_as_it_was_stored(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("caf\ufffdzz", encoding="utf-8")
    assert "notes:1" in await traced(Places(tmp_path), "caf\udce9zz")
