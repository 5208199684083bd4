"""Turns as an editor sees them: several at once, cancelled, allowed, refused, failed, and gone on with after a load."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.mm.acp.editors import Message, allowing, editor, scripted

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 16).decode()


def calling(name: str, **arguments: Any) -> Message:
    return {"calls": [{"name": name, "arguments": arguments}]}


def recorded(project: Path, *replies: Any) -> None:
    """Let a script answer that writes down each request that reaches the model."""
    scripted(project)
    script = {"replies": list(replies), "record": "requests.jsonl"}
    (project / "replies.json").write_text(json.dumps(script), encoding="utf-8")


def requests(project: Path) -> list[str]:
    path = project / "requests.jsonl"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def asking(session_id: str, question: str) -> dict[str, Any]:
    return {"sessionId": session_id, "prompt": [{"type": "text", "text": question}]}


def is_question(message: Message) -> bool:
    return message.get("method") == "session/request_permission"


def test_two_sessions_have_a_turn_each_and_neither_waits_for_the_other(tmp_path: Path) -> None:
    """One is silent until it is cancelled; meanwhile the other one is asked and answers."""
    project, other = tmp_path / "project", tmp_path / "other"
    scripted(project, {"stream": ["Begun", {"hang": True}]})
    scripted(other, "Done.")
    with editor(project) as e:
        slow, quick = e.new(), e.new(other)
        request = e.request("session/prompt", **asking(slow, "Wait"))
        e.send(request)
        e.until(lambda message: "Begun" in json.dumps(message))
        assert e.prompt(quick, "Be quick") == "end_turn"
        said = [one for one in e.updates(quick) if one["sessionUpdate"] == "agent_message_chunk"]
        assert [one["content"]["text"] for one in said] == ["Done."]
        e.send({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": slow}})
        assert e.response(request["id"])["result"]["stopReason"] == "cancelled"


def test_a_second_prompt_in_a_busy_session_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    project = tmp_path / "project"
    scripted(project, {"stream": ["Begun", {"hang": True}]})
    with editor(project) as e:
        session = e.new()
        request = e.request("session/prompt", **asking(session, "Wait"))
        e.send(request)
        e.until(lambda message: "Begun" in json.dumps(message))
        error = e.refusal("session/prompt", **asking(session, "Again"))
        assert error["message"] == "This session is already asked something. Wait for its answer, or cancel it."
        e.send({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}})
        assert e.response(request["id"])["result"]["stopReason"] == "cancelled"


def test_a_cancel_answers_the_open_permission_and_nothing_is_run(tmp_path: Path) -> None:
    project = tmp_path / "project"
    scripted(project, calling("write_file", path="new.txt", content="x"), "Never said.")
    with editor(project) as e:
        e.decide = lambda _: None
        session = e.new()
        request = e.request("session/prompt", **asking(session, "Write"))
        e.send(request)
        wanted = e.until(is_question)
        cancel = {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}
        e.send(cancel, {"jsonrpc": "2.0", "id": wanted["id"], "result": {"outcome": {"outcome": "cancelled"}}})
        assert e.response(request["id"])["result"]["stopReason"] == "cancelled"
        ends = [one["status"] for one in e.updates(session) if one["sessionUpdate"] == "tool_call_update"]
        assert ends == ["failed"]
    assert not (project / "new.txt").exists()


@pytest.mark.parametrize(("option", "asked"), [("always", 1), ("once", 2)])
def test_what_is_always_allowed_is_asked_once_and_what_is_allowed_once_again(
    tmp_path: Path, option: str, asked: int
) -> None:
    project = tmp_path / "project"
    one, two = (calling("write_file", path=f"{name}.txt", content=name) for name in ("a", "b"))
    scripted(project, one, "Done.", two, "Done.")
    with editor(project) as e:
        e.decide = allowing(option)
        session = e.new()
        assert [e.prompt(session, "One"), e.prompt(session, "Two")] == ["end_turn", "end_turn"]
        assert sum(map(is_question, e.seen)) == asked
    assert [(project / f"{name}.txt").read_text(encoding="utf-8") for name in ("a", "b")] == ["a", "b"]


def test_what_is_refused_does_not_run_and_the_model_goes_on(tmp_path: Path) -> None:
    project = tmp_path / "project"
    scripted(project, calling("write_file", path="new.txt", content="x"), "Then not.")
    with editor(project) as e:
        e.decide = allowing("no")
        session = e.new()
        assert e.prompt(session, "Write") == "end_turn"
        assert e.text() == "Then not."
    assert not (project / "new.txt").exists()


def test_a_change_is_shown_as_a_diff_with_absolute_places(tmp_path: Path) -> None:
    """Where it is asked, and again where the conversation is replayed."""
    project = tmp_path / "project"
    scripted(project, calling("edit_file", path="a.txt", old="two", new="three"), "Changed.")
    (project / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    with editor(project) as e:
        e.decide = allowing()
        session = e.new()
        e.prompt(session, "Edit it")
        where = str(project / "a.txt")
        diff = {"type": "diff", "path": where, "oldText": "two", "newText": "three"}
        (asked,) = [one["params"]["toolCall"] for one in e.seen if is_question(one)]
        assert asked["content"][-1] == diff
        shown = [one for one in [*e.updates(session), *e.load(session)] if one["sessionUpdate"] == "tool_call"]
        assert [(one["content"], one["locations"]) for one in shown] == [([diff], [{"path": where}])] * 2


def test_a_failed_turn_shows_its_line_ends_and_stands_in_the_errors(tmp_path: Path) -> None:
    project = tmp_path / "project"
    scripted(project, {"error": "no such model"})
    with editor(project) as e:
        session = e.new()
        assert e.prompt(session, "Ask") == "end_turn"
        line = e.text()
        assert line.startswith("Error: ")
        assert "no such model" in line
        before = len(e.seen)
        assert e.prompt(session, "/errors") == "end_turn"
        assert line.removeprefix("Error: ") in e.text(since=before)
        assert "(asked: Ask)" in e.text(since=before)


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
def test_in_a_fresh_process_the_model_gets_the_old_messages_and_results(tmp_path: Path, method: str) -> None:
    project = tmp_path / "project"
    recorded(project, calling("read_file", path="a.txt"), "Read.")
    (project / "a.txt").write_text("the word is fig\n", encoding="utf-8")
    with editor(project) as e:
        session = e.new()
        e.prompt(session, "Read a.txt")
    recorded(project, "Still known.")
    before = len(requests(project))
    with editor(project) as e:
        e.ask(method, sessionId=session, cwd=str(project), mcpServers=[])
        e.prompt(session, "And now?")
    (sent,) = requests(project)[before:]
    places = [sent.find(part) for part in ("Read a.txt", "the word is fig", "Read.", "And now?")]
    assert -1 not in places
    assert places == sorted(places)


def test_without_sessions_nothing_is_advertised_and_each_request_names_the_key(tmp_path: Path) -> None:
    project = tmp_path / "project"
    scripted(project, "Hello.", more="sessions: {enabled: false}\n")
    with editor(project) as e:
        offered = e.initialize()["agentCapabilities"]
        assert offered.get("loadSession", False) is False
        assert set(offered["sessionCapabilities"]) == {"close"}
        session = e.new()
        assert e.prompt(session, "Hi") == "end_turn"
        for method in ("session/load", "session/resume"):
            error = e.refusal(method, sessionId=session, cwd=str(project), mcpServers=[])
            assert "sessions.enabled" in error["message"]
        assert "sessions.enabled" in e.refusal("session/list", cwd=str(project))["message"]
    assert not (project / ".mm").exists()


def test_an_image_a_file_and_a_link_come_back_as_they_were_sent(tmp_path: Path) -> None:
    project = tmp_path / "project"
    scripted(project, "Seen.")
    uri = (project / "a.txt").as_uri()
    blocks: list[Message] = [
        {"type": "text", "text": "Look"},
        {"type": "image", "mimeType": "image/png", "data": PNG},
        {"type": "resource", "resource": {"uri": uri, "mimeType": "text/plain", "text": "one\ntwo\n"}},
        {"type": "resource_link", "uri": uri, "name": "a.txt"},
    ]
    with editor(project) as e:
        session = e.new()
        e.prompt(session, *blocks)
    with editor(project) as e:
        sent = [one for one in e.load(session) if one["sessionUpdate"] == "user_message_chunk"]
    assert [one["content"] for one in sent] == blocks
    assert len({one["messageId"] for one in sent}) == 1


@pytest.mark.parametrize(
    ("typed", "told"),
    [("/resume", "editor's own list of threads"), ("/resume 1", "editor's own list of threads"), ("/help", "/new")],
)
def test_a_command_that_is_typed_never_reaches_the_model(tmp_path: Path, typed: str, told: str) -> None:
    project = tmp_path / "project"
    recorded(project, "Never said.")
    with editor(project) as e:
        session = e.new()
        assert e.prompt(session, typed) == "end_turn"
        assert told in e.text()
    assert requests(project) == []


@pytest.mark.parametrize("is_on", [True, False])
def test_memory_is_offered_only_where_its_key_is_set(tmp_path: Path, is_on: bool) -> None:
    project = tmp_path / "project"
    scripted(project, "Hello.", more="memory: {command: true}\n" if is_on else "")
    with editor(project) as e:
        e.new()
        told = e.until(lambda message: "availableCommands" in json.dumps(message))
        names = [one["name"] for one in told["params"]["update"]["availableCommands"]]
    assert names == ["compact", "errors", "help", *(["memory"] if is_on else []), "new"]


def test_compact_without_a_model_says_so_and_changes_nothing(tmp_path: Path) -> None:
    project = tmp_path / "project"
    with editor(project) as e:
        session = e.new()
        e.prompt(session, "Hello")
        before = len(e.seen)
        assert e.prompt(session, "/compact") == "end_turn"
        assert "A summary needs a model" in e.text(since=before)
        assert len([one for one in e.load(session) if one["sessionUpdate"] == "user_message_chunk"]) == 1
