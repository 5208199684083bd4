"""What editors stumble over in a turn, asked of the real process: calls, titles, new conversations, cancels."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path

import pytest

from tests.mm.acp.editors import Message, RawEditor, allowing, editor, scripted


def edit(old: str, new: str) -> Message:
    return {"calls": [{"name": "edit_file", "arguments": {"path": "a.txt", "old": old, "new": new}}]}


def kinds(updates: list[Message]) -> list[str]:
    return [update["sessionUpdate"] for update in updates]


def asked(opened: RawEditor, *, since: int = 0) -> list[Message]:
    return [one for one in opened.seen[since:] if one.get("method") == "session/request_permission"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n", encoding="utf-8")
    return folder


def test_the_input_and_output_of_a_call_are_objects_live_and_replayed(project: Path) -> None:
    calls = [
        {"name": "read_file", "arguments": {"path": "a.txt"}},
        {"name": "read_file", "arguments": "no object"},
        {"name": "nothing_like_it", "arguments": "[1]"},
    ]
    scripted(project, {"calls": calls}, "Done.")
    with editor(project) as opened:
        session = opened.new()
        opened.prompt(session, "Read a.txt")
        live = [one for one in opened.updates() if "toolCallId" in one]
        replayed = [one for one in opened.load(session) if "toolCallId" in one]
    assert len(replayed) == 3
    for update in (*live, *replayed):
        assert isinstance(update.get("rawInput", {}), dict)
        assert isinstance(update.get("rawOutput", {}), dict)
        assert update["status"] in {"pending", "in_progress", "completed", "failed"}
    assert [one["status"] for one in replayed] == ["completed", "failed", "failed"]
    assert all("rawInput" in one and "rawOutput" in one for one in replayed)


def test_a_call_that_a_kill_interrupted_is_replayed_as_failed_and_never_run_again(project: Path) -> None:
    command = "echo x >> started; sleep 30"
    scripted(project, {"calls": [{"name": "run_command", "arguments": {"command": command}}]})
    with editor(project) as opened:
        opened.decide = allowing()
        session = opened.new()
        text = [{"type": "text", "text": "Run it"}]
        opened.send(opened.request("session/prompt", sessionId=session, prompt=text))
        opened.until(lambda one: one.get("params", {}).get("update", {}).get("status") == "in_progress")
        patience = time.monotonic() + 30
        while not (project / "started").exists():
            assert time.monotonic() < patience
            time.sleep(0.01)
    with editor(project) as opened:
        replayed = opened.load(session)
        assert kinds(replayed) == ["user_message_chunk", "tool_call"]
        assert (replayed[1]["status"], replayed[1]["rawInput"]) == ("failed", {"command": command})
        assert not asked(opened), "nothing is asked on replay"
    assert (project / "started").read_text(encoding="utf-8") == "x\n"


def test_a_title_and_a_time_with_its_offset_are_told_before_the_prompt_is_answered(project: Path) -> None:
    scripted(project, "Yes.")
    with editor(project) as opened:
        session = opened.new()
        link = {"type": "resource_link", "uri": (project / "a.txt").as_uri(), "name": "a.txt"}
        opened.prompt(session, link, "  Is this\nsound? ")
        assert "result" in opened.seen[-1]
        (info,) = [one for one in opened.updates() if one["sessionUpdate"] == "session_info_update"]
        assert info["title"] == "Is this sound?"
        (listed,) = opened.ask("session/list", cwd=str(project))["sessions"]
        assert (listed["sessionId"], listed["title"]) == (session, "Is this sound?")
        for updated in (info["updatedAt"], listed["updatedAt"]):
            assert datetime.fromisoformat(updated).utcoffset() is not None


def always_then_new(opened: RawEditor) -> tuple[str, int]:
    """Allow edits always, begin a new conversation, and return the session with how many messages came before."""
    opened.decide = allowing("always")
    session = opened.new()
    opened.prompt(session, "Two.")
    opened.prompt(session, "Three.")
    assert len(asked(opened)) == 1
    before = len(opened.seen)
    assert opened.prompt(session, "/new") == "end_turn"
    return session, before


def test_a_new_conversation_keeps_the_id_asks_again_and_the_past_one_is_never_spoken_of(project: Path) -> None:
    scripted(project, edit("one", "two"), "Done.", edit("two", "three"), "Done.", edit("three", "four"), "Done.")
    with editor(project) as opened:
        session, before = always_then_new(opened)
        opened.prompt(session, "Four.")
        assert len(asked(opened, since=before)) == 1, "what was allowed went with the old conversation"
        told = {one["params"]["sessionId"] for one in opened.seen if "method" in one}
        assert told == {session}
        titles = {one["title"]: one["sessionId"] for one in opened.ask("session/list", cwd=str(project))["sessions"]}
        assert titles.keys() == {"Two.", "Four."}
        assert titles["Four."] == session
        assert len(opened.load(titles["Two."])) == 6


def test_a_kill_after_a_new_conversation_leaves_the_past_one_whole(project: Path) -> None:
    scripted(project, edit("one", "two"), "Done.", edit("two", "three"), "Done.")
    with editor(project) as opened:
        session, _ = always_then_new(opened)
    with editor(project) as opened:
        (past,) = opened.ask("session/list", cwd=str(project))["sessions"]
        assert past["sessionId"] != session
        assert kinds(opened.load(past["sessionId"])) == ["user_message_chunk", "tool_call", "agent_message_chunk"] * 2
        assert opened.load(session) == []


def test_a_cancel_answers_the_prompt_as_cancelled_and_closes_the_call_that_was_open(project: Path) -> None:
    scripted(project, edit("one", "two"), "Never asked for.")
    with editor(project) as opened:
        opened.decide = lambda _: None
        session = opened.new()
        request = opened.request("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "Two."}])
        opened.send(request)
        opened.until(lambda one: one.get("method") == "session/request_permission")
        opened.send({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}})
        assert opened.response(request["id"])["result"] == {"stopReason": "cancelled"}
        statuses = [one["status"] for one in opened.updates() if "toolCallId" in one]
        assert statuses[-1] == "failed"
        before = len(opened.seen)
        replayed = [one for one in opened.load(session) if "toolCallId" in one]
        assert [one["status"] for one in replayed] == ["failed"]
        assert not asked(opened, since=before)
    assert (project / "a.txt").read_text(encoding="utf-8") == "one\n"


def test_a_prompt_and_its_cancel_in_one_write_end_as_a_later_cancel_without_an_answer_does(project: Path) -> None:
    scripted(project, "One.", {"hang": True}, *["More."] * 2)
    with editor(project) as opened:
        session = opened.new()
        opened.prompt(session, "First?")
        before = opened.load(session)
        prompt = opened.request("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "Second?"}])
        opened.send(prompt, {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}})
        assert opened.response(prompt["id"])["result"] == {"stopReason": "cancelled"}
        assert opened.load(session) == before, "nothing was shown and nothing ran: the conversation is as it was"
    with editor(project) as opened:
        assert opened.load(session) == before


def test_a_cancel_without_a_prompt_stops_no_later_one(project: Path) -> None:
    scripted(project, "One.")
    with editor(project) as opened:
        session = opened.new()
        prompt = opened.request("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "First?"}])
        opened.send({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}, prompt)
        assert opened.response(prompt["id"])["result"] == {"stopReason": "end_turn"}
