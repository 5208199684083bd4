"""Whatever an editor, or what is no editor, writes to ``mm acp``: it answers in one line, and goes on."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.consoles import environment
from tests.mm.acp.editors import Message, RawEditor, editor, scripted

UNKNOWN = "20260101-000000-00000000"
PARSE, REQUEST, METHOD, PARAMETER, SESSION = -32700, -32600, -32601, -32602, -32002


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RawEditor]:
    """One process for all probes: each of them has to leave it alive."""
    project = tmp_path_factory.mktemp("wire") / "project"
    scripted(project)
    with editor(project) as started:
        yield started
        assert started.leave() == 0
        assert "Traceback" not in started.errors.read_text(encoding="utf-8")


def answers(opened: RawEditor, content: bytes, count: int = 1) -> list[Message]:
    """Return all that a probe is answered; a list asked for after it shows that the process lives."""
    before = len(opened.seen)
    alive = opened.request("session/list", cwd=str(opened.project))
    opened.send_bytes(content + b"\n")
    opened.send(alive)
    while len(found := [one for one in opened.seen[before:] if "method" not in one]) <= count:
        opened.next()
    (listed,) = [one for one in found if one["id"] == alive["id"]]
    assert listed["result"] == {"sessions": []}
    return [one for one in found if one is not listed]


def request(method: Any, params: Any = None, number: Any = "probe") -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()


@pytest.mark.parametrize(
    ("junk", "code"),
    [
        (b"hello", PARSE),
        (b"GET / HTTP/1.1", PARSE),
        (b"\x00\x01\xff\xfe", PARSE),
        (b'{"jsonrpc":"2.0","id":1,"method":"session/\xff"}', PARSE),
        (b'{"jsonrpc":"2.0","id":NaN,"method":"session/list"}', PARSE),
        (b'{"jsonrpc":"2.0","id":1,"method":"session/list","params":{"cursor":Infinity}}', PARSE),
        (b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"session/list"}', PARSE),
        (b"[" * 100_000, PARSE),
        (b'{"a":' * 100_000, PARSE),
        (b"[" * 100_000 + b"]" * 100_000, PARSE),
        (b"{", PARSE),
        (b"[]", REQUEST),
        (b'[{"jsonrpc":"2.0","id":1,"method":"session/list"}]', REQUEST),
        (b"null", REQUEST),
        (b"17", REQUEST),
        (b'"session/list"', REQUEST),
        (b"{}", REQUEST),
        (b'{"id":1.5,"method":"session/list"}', REQUEST),
        (b'{"id":true,"method":"session/list"}', REQUEST),
        (b'{"id":[1],"method":"session/list"}', REQUEST),
        (b'{"id":{},"method":"session/list"}', REQUEST),
        (b" " * (40 * 1024 * 1024) + b"x", REQUEST),
    ],
    ids=lambda value: repr(value[:20]) if isinstance(value, bytes) else None,
)
def test_what_is_no_message_is_answered_in_one_line_without_an_id(opened: RawEditor, junk: bytes, code: int) -> None:
    (answer,) = answers(opened, junk)
    assert (answer["id"], answer["error"]["code"]) == (None, code)
    assert "\n" not in answer["error"]["message"]
    assert len(answer["error"]["message"]) < 300


@pytest.mark.parametrize("content", [b"", b"\n\n\r\n \t", b'{"method":"no/such"}', b'{"method":"session/cancel"}',
    b'{"method":"session/cancel","params":[1]}', b'{"method":"session/cancel","params":{"sessionId":"x"}}',
    b'{"method":5}',
    b'{"id":99,"result":{}}', b'{"id":"x","result":{}}', b'{"id":99,"error":7}', b'{"id":0,"error":{}}',
    b'{"id":-1,"error":{"code":"x","message":[1]}}', b'{"id":' + b"9" * 300 + b',"result":null}'])  # fmt: skip
def test_what_asks_for_nothing_is_answered_with_nothing(opened: RawEditor, content: bytes) -> None:
    assert answers(opened, content, 0) == []


@pytest.mark.parametrize("number", [0, -1, 2**70, "", "text", "\0", "é" * 50_000, None])
def test_an_id_comes_back_as_it_was(opened: RawEditor, number: int | str | None) -> None:
    (answer,) = answers(opened, request("session/list", {}, number))
    assert (answer["id"], answer["result"]) == (number, {"sessions": []})


def test_one_id_for_several_requests_is_answered_each_time_and_a_surrogate_is_made_sound(opened: RawEditor) -> None:
    twice = request("session/list", {}) + b"\n" + request("no/such", {})
    assert {"result" in one for one in answers(opened, twice, 2)} == {True, False}
    (answer,) = answers(opened, request("session/list", {}, "\ud800"))
    assert answer["id"] == "?"


@pytest.mark.parametrize("params", [[], [1], "text", 5, True])
def test_parameters_are_one_object(opened: RawEditor, params: Any) -> None:
    (answer,) = answers(opened, request("session/list", params))
    assert (answer["id"], answer["error"]["code"]) == ("probe", PARAMETER)


WHOLE: dict[str, dict[str, Any]] = {
    "initialize": {"protocolVersion": 1},
    "session/new": {"cwd": "/nowhere", "mcpServers": []},
    "session/load": {"cwd": "/nowhere", "mcpServers": [], "sessionId": UNKNOWN},
    "session/resume": {"cwd": "/nowhere", "sessionId": UNKNOWN},
    "session/list": {},
    "session/close": {"sessionId": UNKNOWN},
    "session/delete": {"sessionId": UNKNOWN},
    "session/prompt": {"sessionId": UNKNOWN, "prompt": []},
}
WRONG: dict[str, list[Any]] = {
    "protocolVersion": [-1, 2**20],  # of other types the protocol's library makes a version
    "cwd": [5, True, [], {}],
    "mcpServers": [5, "x", {}],  # what is no server in a list, the protocol's library leaves out
    "sessionId": [5, None, True, [], {}],
    "prompt": [5, "text", None, {}, [5], [{}], [{"type": "no"}], [{"type": "text"}], [{"type": "text", "text": 5}]],
    "cursor": [5, [], {}, "never given", "é", "\ud800"],
}
OPTIONAL = {"session/list": ["cwd", "cursor"], "session/resume": ["mcpServers"]}


@pytest.mark.parametrize("method", WHOLE)
def test_a_parameter_of_a_wrong_type_is_named_in_one_line(opened: RawEditor, method: str) -> None:
    whole = WHOLE[method]
    for name in (*whole, *OPTIONAL.get(method, ())):
        for value in WRONG[name]:
            (answer,) = answers(opened, request(method, {**whole, name: value}))
            error = answer["error"]
            assert error["code"] == PARAMETER, (name, value, error)
            assert name in error["message"]
            assert "\n" not in error["message"]
            assert "http" not in error["message"]
            assert "pydantic" not in json.dumps(error)


@pytest.mark.parametrize("method", [name for name, whole in WHOLE.items() if whole])
def test_a_parameter_that_is_missing_is_named(opened: RawEditor, method: str) -> None:
    for content in (request(method), request(method, {})):
        (answer,) = answers(opened, content)
        assert answer["error"]["code"] == PARAMETER
        assert any(f"{method}: {name}: Field required" == answer["error"]["message"] for name in WHOLE[method])


@pytest.mark.parametrize("method", ["session/load", "session/resume", "session/prompt", "session/close"])
@pytest.mark.parametrize(
    "text", ["../../etc/passwd", "/etc/passwd", "\0", "", "\ud800", "a" * 1_000_000, UNKNOWN + "\n"]
)
def test_an_id_shaped_by_an_attacker_is_unknown(opened: RawEditor, method: str, text: str) -> None:
    params = {**WHOLE[method], "cwd": str(opened.project), "sessionId": text}
    (answer,) = answers(opened, request(method, params))
    code = answer["error"]["code"]
    assert code == (PARAMETER if text == "\ud800" and code != SESSION else SESSION)
    assert len(json.dumps(answer)) < 3000
    assert not (opened.project / ".mm").exists()


def test_a_method_that_nobody_knows_is_refused_by_its_code(opened: RawEditor) -> None:
    for method in ("", "session", "session/cancel", "../list", "\0", "\ud800", "__class__"):
        (answer,) = answers(opened, request(method, {}))
        assert answer["error"]["code"] == METHOD
    for other in (b"5", b"[]", b"{}", b"true"):
        (answer,) = answers(opened, b'{"id":"probe","method":' + other + b"}")
        assert (answer["id"], answer["error"]["code"]) == ("probe", REQUEST)


def test_a_busy_session_refuses_a_prompt_and_is_closed_in_order(tmp_path: Path) -> None:
    project = tmp_path / "project"
    scripted(project, {"hang": True})
    with editor(project) as opened:
        session = opened.new()
        asked = {"sessionId": session, "prompt": [{"type": "text", "text": "Hello?"}]}
        first, second = opened.request("session/prompt", **asked), opened.request("session/prompt", **asked)
        opened.send(first, second)
        assert opened.response(second["id"])["error"]["code"] == REQUEST
        load = {"sessionId": session, "cwd": str(project), "mcpServers": []}
        assert opened.refusal("session/load", **load)["code"] == REQUEST
        close = opened.request("session/close", sessionId=session)
        opened.send(close)
        ended = [opened.until(lambda one: "method" not in one) for _ in range(2)]
        assert {one["id"]: one["result"] for one in ended} == {
            first["id"]: {"stopReason": "cancelled"},
            close["id"]: {},
        }
        assert opened.refusal("session/prompt", **asked)["code"] == SESSION
        assert opened.load(session) == []


LOUD = """
import atexit, os, subprocess, sys
def say(when):
    print("printed", when)
    sys.__stdout__.write("written " + when + "\\n")
print("printed at the start")
atexit.register(say, "at the end")
atexit.register(os.write, 1, b"to the descriptor\\n")
atexit.register(subprocess.run, ["echo", "by a child"])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="starts echo")
def test_what_a_library_prints_never_reaches_the_editor(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(LOUD, encoding="utf-8")
    environ = environment()
    environ["PYTHONPATH"] = os.pathsep.join([str(tmp_path), environ["PYTHONPATH"]])
    with editor(tmp_path / "project", environ=environ) as opened:
        assert opened.leave() == 0
        with pytest.raises(AssertionError, match="has ended"):
            opened.next()
    said = opened.errors.read_text(encoding="utf-8")
    for line in ("printed at the start", "printed at the end", "written at the end", "to the descriptor", "by a child"):
        assert line in said
