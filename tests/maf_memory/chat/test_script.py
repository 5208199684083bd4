"""A script is read whole before the first question; a malformed one is one line that names the entry."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maf_memory.chat.script import Call, Calls, Delay, Failure, Hang, Reply, Text, parse_replies, read_script
from maf_memory.errors import ChatUnavailable


def refused(path: Path) -> str:
    with pytest.raises(ChatUnavailable) as error:
        read_script(path)
    message = str(error.value)
    assert "\n" not in message
    assert str(path) in message
    return message.replace(str(path), "FILE")


def test_every_form_of_a_reply_is_read(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    document = {
        "replies": [
            "a",
            {"text": "b", "message_id": "m2"},
            {"stream": ["c", {"delay": 0.5}, {"error": "lost"}]},
            {"stream": ["d", {"hang": True}]},
            {"calls": [{"name": "add", "arguments": {"a": 1}, "id": "c1"}, {"name": "now"}]},
            {"calls": [{"name": "x", "arguments": "{"}]},
            {"empty": True},
            {"hang": True, "delay": 1},
        ],
        "record": "requests.jsonl",
    }  # fmt: skip
    script.write_text(json.dumps(document), encoding="utf-8-sig")  # as Windows editors save it
    replies, record = read_script(script)
    assert replies == (
        Reply((Text("a"),)),
        Reply((Text("b"),), "m2"),
        Reply((Text("c"), Delay(0.5), Failure("lost"))),
        Reply((Text("d"), Hang())),
        Reply((Calls((Call("add", {"a": 1}, "c1"), Call("now", {}, None))),)),
        Reply((Calls((Call("x", "{", None),)),)),
        Reply(()),
        Reply((Delay(1.0), Hang())),
    )
    assert record == tmp_path / "requests.jsonl"


def test_a_list_of_replies_is_a_script(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('["a"]')
    assert read_script(script) == ((Reply((Text("a"),)),), None)


ENTRY = "text, stream, calls, error, empty, hang"
PART = "calls, error, delay, hang"


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (1, "the document must be an object with any of replies, record, not a number"),
        ({}, "the document needs 'replies', a list"),
        ({"replies": "a"}, "the document needs 'replies', a list"),
        ({"replies": [], "recrod": "x"}, "the document: unknown key 'recrod'; the known ones are replies, record"),
        ({"replies": [], "record": 1}, "the document: 'record' must be a text, not a number"),
        (["a", None], f"reply 2 must be an object with any of {ENTRY}, delay, message_id, not null"),
        ([{"txt": "a"}], f"reply 1: unknown key 'txt'; the known ones are {ENTRY}, delay, message_id"),
        ([{}], f"reply 1 needs exactly one of {ENTRY}; it has none"),
        ([{"text": "a", "hang": True}], f"reply 1 needs exactly one of {ENTRY}; it has text, hang"),
        ([{"text": None}], "reply 1: 'text' must be a text, not null"),
        ([{"text": "a", "message_id": 3}], "reply 1: 'message_id' must be a text, not a number"),
        ([{"error": ["a"]}], "reply 1: 'error' must be a text, not a list"),
        ([{"empty": False}], "reply 1: 'empty' must be true"),
        ([{"hang": 1}], "reply 1: 'hang' must be true"),
        *(
            ([{"text": "a", "delay": delay}], "reply 1: 'delay' must be a number of seconds, not negative")
            for delay in (-1, True, "1", float("nan"), float("inf"))
        ),
        ([{"stream": "a"}], "reply 1: 'stream' must be a list"),
        (["a", {"stream": ["b", 1]}], f"reply 2, part 2 must be an object with any of {PART}, not a number"),
        (
            [{"stream": [{"delay": 1, "hang": True}]}],
            f"reply 1, part 1 needs exactly one of {PART}; it has delay, hang",
        ),
        ([{"calls": []}], "reply 1: 'calls' must be a list of at least one call"),
        ([{"calls": {"name": "add"}}], "reply 1: 'calls' must be a list of at least one call"),
        ([{"calls": [True]}], "reply 1, call 1 must be an object with any of name, arguments, id, not true or false"),
        ([{"calls": [{"name": ""}]}], "reply 1, call 1: 'name' is missing"),
        ([{"calls": [{"name": "a", "arguments": [1]}]}], "reply 1, call 1: 'arguments' must be an object or a string"),
    ],
)
def test_a_malformed_entry_is_named(tmp_path: Path, document: Any, reason: str) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(document))
    assert refused(script) == f"The script FILE is malformed: {reason}."


def test_a_file_that_is_not_a_script_is_one_line(tmp_path: Path) -> None:
    script = tmp_path / "un été.json"
    assert refused(script) == "The script FILE cannot be read: No such file or directory."
    script.write_bytes(b'["\xff"]')
    assert refused(script) == "The script FILE is not UTF-8 (byte 2)."
    script.write_bytes(b'["a",]')
    assert refused(script).startswith("The script FILE is not JSON: ")
    script.write_bytes(b"")
    assert refused(script).startswith("The script FILE is not JSON: ")
    script.write_bytes(b"[" * 200_000)
    assert refused(script).startswith("The script FILE is not JSON: ")
    script.write_bytes(b"[" + b"9" * 5000 + b"]")
    assert refused(script).startswith("The script FILE is not JSON: ")


def test_a_folder_is_not_a_script(tmp_path: Path) -> None:
    assert refused(tmp_path).startswith("The script FILE cannot be read: ")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["text", "stream", "calls", "error", "empty", "hang", "delay", "name", "arguments", "id"]),
            inner,
            max_size=2,
        )
    ),
)


@settings(deadline=None)
@given(st.lists(JSON, max_size=4))
def test_any_list_is_either_a_script_or_named_as_malformed(replies: list[Any]) -> None:
    try:
        parsed = parse_replies(replies)
    except ValueError as error:
        assert str(error).startswith("reply ")  # noqa: PT017 - either outcome is right
    else:
        assert len(parsed) == len(replies)
        assert parse_replies(parsed) == parsed
