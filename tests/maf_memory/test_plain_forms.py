"""The short way to the line of a plain message gives what the framework's own serialisation gives."""

from __future__ import annotations

import json

import pytest
from agent_framework import Content, Message
from hypothesis import given
from hypothesis import strategies as st

from maf_memory import lines
from maf_memory.lines import encoded, line_form, message_of
from maf_memory.plain_forms import plain_line_form


class OwnMessage(Message):
    """A message of a program that serialises it in its own way."""


def result(text: str, **more: object) -> Content:
    return Content.from_function_result("c1", result=text, **more)  # type: ignore[arg-type]


PLAIN = [
    Message("user", ["what?\0\u2028"], message_id="m1"),
    Message("user", []),
    Message("system", ["rules"], author_name="me"),
    Message("assistant", ["a", Content.from_function_call("c1", "look", arguments='{"at": 1}')], message_id="m2"),
    Message("tool", [result("seen")]),
    Message("tool", [result("")]),
    Message("assistant", [Content.from_text("x", raw_representation=object())], raw_representation=object()),
]
OTHER = [
    Message("user", ["x"], additional_properties={"written_by": "mm", "kind": "note"}),
    Message("assistant", [Content.from_function_call("c1", "look", arguments={"at": 1})]),
    Message("assistant", [Content.from_function_call("c1", "look", arguments="{}", hosted=True)]),
    Message("assistant", [Content.from_text("x", additional_properties={"k": 1})]),
    Message("assistant", [Content.from_text("x", annotations=[{"type": "citation"}])]),
    Message("assistant", [Content.from_text_reasoning(text="hm")]),
    Message("tool", [result("seen", exception="boom")]),
    Message("tool", [result("seen", additional_properties={"k": 1})]),
    Message("user", [Content.from_uri("https://example.org/x.png", media_type="image/png")]),
    OwnMessage("user", ["x"]),
]


def in_the_long_way(message: Message, monkeypatch: pytest.MonkeyPatch) -> str:
    with monkeypatch.context() as patched:
        patched.setattr(lines, "plain_line_form", lambda _: None)
        return json.dumps(line_form(message))


@pytest.mark.parametrize("message", PLAIN)
def test_a_plain_message_gets_the_line_that_the_framework_gives_it(
    message: Message, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert plain_line_form(message) is not None
    assert json.dumps(plain_line_form(message)) == in_the_long_way(message, monkeypatch)


@pytest.mark.parametrize("message", PLAIN)
def test_the_framework_rebuilds_a_plain_message_unchanged(message: Message) -> None:
    rebuilt = message_of(line_form(message))
    assert rebuilt.to_dict() == message.to_dict()
    assert [vars(content).keys() for content in rebuilt.contents] == [vars(one).keys() for one in message.contents]


@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=6, max_size=6))
def test_no_text_is_changed_on_the_way_through_a_line(texts: list[str]) -> None:
    said, call, name, arguments, result_text, message_id = texts
    for message in (
        Message(
            "assistant", [said, Content.from_function_call(call, name, arguments=arguments)], message_id=message_id
        ),
        Message("tool", [Content.from_function_result(call, result=result_text)], author_name=name),
    ):
        assert plain_line_form(message) is not None
        assert message_of(json.loads(encoded(line_form(message)))).to_dict() == message.to_dict()


@pytest.mark.parametrize("message", OTHER)
def test_a_message_with_anything_else_in_it_is_left_to_the_framework(
    message: Message, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert plain_line_form(message) is None
    assert json.dumps(line_form(message)) == in_the_long_way(message, monkeypatch)


def test_a_result_whose_items_say_something_else_is_left_to_the_framework() -> None:
    content = result("seen")
    content.items = [Content.from_text("other")]
    assert plain_line_form(Message("tool", [content])) is None
