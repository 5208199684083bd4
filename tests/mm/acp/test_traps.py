"""What editors stumble over, asked of the real process: the order of messages, the codes of errors, what is routed."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.mm.acp.editors import Message, editor, scripted

UNKNOWN = "20260101-000000-00000000"


def sessions(project: Path) -> list[Path]:
    return sorted((project / ".mm" / "sessions").glob("*.json"))


def kinds(updates: list[Message]) -> list[str]:
    return [update["sessionUpdate"] for update in updates]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n", encoding="utf-8")
    return folder


def test_a_load_sends_the_whole_conversation_before_its_response_and_a_resume_sends_none(project: Path) -> None:
    scripted(project, "Four.", "Nine.")
    with editor(project) as opened:
        session = opened.new()
        opened.prompt(session, "Two squared?")
        opened.prompt(session, "Three squared?")
        assert "user_message_chunk" not in kinds(opened.updates()), "a live question is the editor's own"
        chunks = ["user_message_chunk", "agent_message_chunk"] * 2
        assert kinds(opened.load(session)) == chunks
        opened.ask("session/list", cwd=str(project))
        late = len(opened.seen)
        opened.ask("session/resume", sessionId=session, cwd=str(project), mcpServers=[])
        opened.ask("session/list", cwd=str(project))
        told = {"available_commands_update", "session_info_update", "usage_update"}
        assert set(kinds(opened.updates(since=late))) <= told


def test_nothing_is_sent_for_a_session_before_the_response_that_gives_its_id(project: Path) -> None:
    scripted(project)
    with editor(project) as opened:
        requests = [opened.request("session/new", cwd=str(project), mcpServers=[]) for _ in range(5)]
        opened.send(*requests)
        known: set[str] = set()
        told: set[str] = set()
        while len(told) < len(requests):
            message = opened.next()
            if message.get("method") == "session/update":
                assert message["params"]["sessionId"] in known
                told.add(message["params"]["sessionId"])
            else:
                known.add(message["result"]["sessionId"])


@pytest.mark.parametrize("method", ["session/load", "session/resume", "session/prompt", "session/close"])
@pytest.mark.parametrize("unknown", [UNKNOWN, "no id at all", "../../a"])
def test_an_unknown_id_is_told_with_its_code_and_nothing_is_created(project: Path, method: str, unknown: str) -> None:
    scripted(project)
    before = sorted(project.rglob("*"))
    with editor(project) as opened:
        error = opened.refusal(method, sessionId=unknown, cwd=str(project), mcpServers=[], prompt=[])
        assert (error["code"], error["data"]) == (-32002, {"sessionId": unknown})
    assert sorted(project.rglob("*")) == before


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
@pytest.mark.parametrize("damage", ["", "{", '{"messages": "not found"}'])
def test_a_damaged_session_is_refused_as_what_it_is_and_stays_to_the_byte(
    project: Path, method: str, damage: str
) -> None:
    scripted(project)
    with editor(project) as opened:
        session = opened.new()
        (file,) = sessions(project)
        file.write_text(damage, encoding="utf-8")
        error = opened.refusal(method, sessionId=session, cwd=str(project), mcpServers=[])
        assert error["code"] == -32603
        assert file.name in error["message"]
        assert "not found" not in error["message"].lower()
        assert "no session" not in error["message"].lower()
    assert file.read_text(encoding="utf-8") == damage


@pytest.mark.parametrize("method", ["session/new", "session/load", "session/resume", "session/list"])
@pytest.mark.parametrize("cwd", ["project", ".", "", "~", "/a\0b"])
def test_a_folder_that_is_not_absolute_is_a_bad_parameter(project: Path, method: str, cwd: str) -> None:
    with editor(project) as opened:
        error = opened.refusal(method, sessionId=UNKNOWN, cwd=cwd, mcpServers=[])
        assert error["code"] == -32602
        assert error["message"].startswith("cwd must be an absolute path")
    assert not sessions(project)


def test_a_name_of_a_folder_that_the_system_cannot_take_is_refused_in_one_line(project: Path) -> None:
    scripted(project)
    with editor(project) as opened:
        opened.new()
        error = opened.refusal("session/new", cwd="/" + "a" * 5000, mcpServers=[])
        assert error["code"] == -32602
        assert error["message"].startswith("cwd cannot be used: File name too long")
        error = opened.refusal("session/load", sessionId=UNKNOWN, cwd="/" + "a" * 5000, mcpServers=[])
        assert (error["code"], error["data"]) == (-32603, {"parameter": "cwd"})
    assert "Traceback" not in opened.errors.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "inner", [None, b"", b"[]", b"{}", b'["yesterday", "x"]', b'["2026-01-01T00:00:00", "x"]', b"5"]
)
def test_a_cursor_that_was_never_given_is_a_bad_parameter(project: Path, inner: bytes | None) -> None:
    cursor = "né" if inner is None else base64.urlsafe_b64encode(inner).decode()
    with editor(project) as opened:
        error = opened.refusal("session/list", cwd=str(project), cursor=cursor)
        assert (error["code"], error["data"]) == (-32602, {"parameter": "cursor"})


def test_an_id_of_another_project_is_unknown_here_even_while_it_is_open_there(project: Path) -> None:
    other = project.parent / "other"
    scripted(project, "Here.")
    scripted(other)
    with editor(project) as opened:
        session = opened.new()
        for method in ("session/load", "session/resume"):
            error = opened.refusal(method, sessionId=session, cwd=str(other), mcpServers=[])
            assert (error["code"], error["data"]) == (-32002, {"sessionId": session})
        assert not (other / ".mm").exists()
        assert opened.prompt(session, "Where are you?") == "end_turn", "it is still open where it is"
    assert json.loads(sessions(project)[0].read_text(encoding="utf-8"))["cwd"] == str(project)


def test_a_session_without_a_question_is_loaded_after_a_kill_and_stands_in_no_list(project: Path) -> None:
    scripted(project, "I am here.")
    with editor(project) as opened:
        session = opened.new()
    assert [file.stem for file in sessions(project)] == [session]
    with editor(project) as opened:
        assert opened.ask("session/list", cwd=str(project)) == {"sessions": []}
        assert opened.load(session) == []
        assert opened.prompt(session, "Are you there?") == "end_turn"


@pytest.mark.parametrize(
    "method", ["session/fork", "session/set_mode", "session/set_config_option", "authenticate", "x"]
)
def test_a_method_that_is_not_there_is_never_answered_with_success(project: Path, method: str) -> None:
    wanted: dict[str, Any] = {"cwd": str(project), "modeId": "x", "methodId": "x", "configId": "x", "value": "x"}
    scripted(project)
    with editor(project) as opened:
        for session in (opened.new(), UNKNOWN):
            assert opened.refusal(method, sessionId=session, mcpServers=[], **wanted)["code"] == -32601


def test_what_is_advertised_is_routed(project: Path) -> None:
    scripted(project, "Yes.", "Yes.")
    with editor(project) as opened:
        told = opened.initialize()["agentCapabilities"]
        assert told["loadSession"] is True
        assert told["sessionCapabilities"].keys() == {"list", "resume", "close", "delete"}
        for method in ("session/close", "session/delete"):
            session = opened.new()
            opened.prompt(session, "Hello?")
            assert opened.ask(method, sessionId=session) == {}
            assert opened.refusal("session/prompt", sessionId=session, prompt=[])["code"] == -32002
        (kept,) = opened.ask("session/list", cwd=str(project))["sessions"]
        assert [file.stem for file in sessions(project)] == [kept["sessionId"]]


@pytest.mark.parametrize("name", ["_meta", "field_meta"])
def test_what_an_editor_adds_for_itself_moves_no_session(project: Path, name: str) -> None:
    elsewhere = project.parent / "elsewhere"
    elsewhere.mkdir()
    scripted(project, "Yes.")
    added: dict[str, Any] = {
        name: {"cwd": str(elsewhere), "sessionId": UNKNOWN, "session_id": UNKNOWN, "prompt": [], "x": 1}
    }
    with editor(project) as opened:
        session = opened.new(**added)
        asks: Message = {"sessionId": session, "prompt": [{"type": "text", "text": "Hello?"}]}
        assert opened.ask("session/prompt", **asks, **added) == {"stopReason": "end_turn"}
        opened.ask("session/load", sessionId=session, cwd=str(project), mcpServers=[], **added)
        (listed,) = opened.ask("session/list", cwd=str(project), **added)["sessions"]
        assert (listed["sessionId"], listed["cwd"]) == (session, str(project))
    assert [file.stem for file in sessions(project)] == [session]
    assert not [*elsewhere.iterdir()]
