"""Everything that the framework can put into a conversation is saved, and comes back the same."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from agent_framework import AgentSession, Content, Message

from maf_memory.conversation import KINDS
from maf_memory.errors import FileRefused, SaveFailed
from maf_memory.lines import MessageLines
from maf_memory.payload import framework_version, frozen, restored, serialised
from tests.maf_memory.samples import session_of, snapshot_store, talked, texts, user

PATH = Path("/state/session.json")
CALL = Content.from_function_call("call-1", "add", arguments={"a": [1, {"b": None}]})

CONTENTS: dict[str, Callable[[], Content]] = {
    "text": lambda: Content.from_text("é", additional_properties={"deep": {"none": None}}),
    "text_reasoning": lambda: Content.from_text_reasoning(text="thinking", protected_data="opaque"),
    "data": lambda: Content.from_data(b"\0\xff", "image/png"),
    "uri": lambda: Content.from_uri("https://example.org/a.png", media_type="image/png"),
    "error": lambda: Content.from_error(message="no", error_code="1", error_details="more"),
    "function_call": lambda: CALL,
    "function_result": lambda: Content.from_function_result("call-1", result={"sum": [1, 2.5]}),
    "usage": lambda: Content.from_usage({"input_token_count": 3, "output_token_count": 1}),
    "hosted_file": lambda: Content.from_hosted_file("file-1"),
    "hosted_vector_store": lambda: Content.from_hosted_vector_store("store-1"),
    "code_interpreter_tool_call": lambda: Content.from_code_interpreter_tool_call(
        call_id="c", inputs=[Content.from_text("print()")]
    ),
    "code_interpreter_tool_result": lambda: Content.from_code_interpreter_tool_result(
        call_id="c", outputs=[Content.from_text("1"), Content.from_uri("data:,x", media_type="text/plain")]
    ),
    "image_generation_tool_call": lambda: Content.from_image_generation_tool_call(image_id="i"),
    "image_generation_tool_result": lambda: Content.from_image_generation_tool_result(
        image_id="i", outputs=Content.from_data(b"x", "image/png")
    ),
    "mcp_server_tool_call": lambda: Content.from_mcp_server_tool_call("m", "tool", server_name="s", arguments={"a": 1}),
    "mcp_server_tool_result": lambda: Content.from_mcp_server_tool_result("m", output=[Content.from_text("x")]),
    "function_approval_request": lambda: Content.from_function_approval_request("approval-1", CALL),
    "function_approval_response": lambda: Content.from_function_approval_response(True, "approval-1", CALL),
    "oauth_consent_request": lambda: Content.from_oauth_consent_request("https://example.org/consent"),
}


def test_the_samples_are_of_known_kinds() -> None:
    assert set(CONTENTS) <= KINDS
    for kind, make in CONTENTS.items():
        assert make().type == kind


@pytest.mark.parametrize("kind", CONTENTS)
async def test_each_kind_of_content_survives_a_restart(state_root: Path, kind: str) -> None:
    contents = [CONTENTS[kind]()]
    messages = [user("question"), Message("assistant", contents, message_id="a", author_name="ada")]
    if kind == "function_call":
        messages.append(Message("tool", [CONTENTS["function_result"]()], message_id="t"))
    if kind == "function_result":
        messages.insert(1, Message("assistant", [CALL], message_id="c"))
    session = session_of(*messages)
    await snapshot_store(state_root).save(session)
    again = await snapshot_store(state_root).load()
    assert again is not None
    assert again.to_dict() == session.to_dict()


def test_a_value_that_only_brings_a_warning_is_refused_with_and_without_warnings_as_errors() -> None:
    session = talked("x")
    session.state["app"] = b"bytes"
    with pytest.raises(SaveFailed, match="unsupported type 'bytes'"):
        serialised(session, PATH, MessageLines())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        payload = serialised(session, PATH, MessageLines())
    assert payload.rest["state"]["app"] == b"bytes", "the framework lets it pass; the proof of the bytes refuses it"


def test_what_cannot_be_copied_is_refused_before_the_save_begins() -> None:
    session = AgentSession()
    session.state["app"] = (number for number in range(1))
    with pytest.raises(SaveFailed, match=r"could not be read back .*The old file is as it was\."):
        frozen(session, PATH)


def test_a_session_is_restored_with_what_it_holds() -> None:
    payload = talked("one", "two").to_dict()
    session = restored(payload, framework_version(), PATH)
    assert session.to_dict() == payload
    assert texts(session) == ["one", "You said: one", "two", "You said: two"]


def test_a_version_string_that_breaks_the_line_stays_in_it() -> None:
    payload = talked("one").to_dict()
    payload["state"]["app"] = {"type": "message", "bad\nkey": 1}
    with pytest.raises(FileRefused) as caught:
        restored(payload, "a\nb\x1b", PATH)
    assert str(caught.value).isprintable()
