"""The short ways from a plain message to its line and back give what the framework's own serialisation gives."""

from __future__ import annotations

import json

import pytest
from agent_framework import Content, Message
from hypothesis import given
from hypothesis import strategies as st

from maf_memory import lines
from maf_memory.lines import encoded, from_full_form, full_form, line_form, message_of
from maf_memory.plain_forms import plain_line_form, plain_message


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


def fields(message: Message | None) -> object:
    """Return all that a message and its contents hold, in the order in which they hold it."""
    assert message is not None
    contents = [(type(one), list(vars(one).items())) for one in message.contents]
    items = [[list(vars(item).items()) for item in one.items or ()] for one in message.contents]
    return type(message), list(vars(message).items()), contents, items


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


@pytest.mark.parametrize("message", PLAIN)
def test_a_plain_message_is_rebuilt_field_by_field_as_the_framework_does_it(message: Message) -> None:
    line, full = line_form(message), full_form(message)
    assert fields(plain_message(line)) == fields(message_of(line))
    assert fields(plain_message(full, full=True)) == fields(from_full_form(full))


def test_what_is_changed_in_a_rebuilt_message_changes_no_other_one() -> None:
    form = line_form(Message("tool", [result("seen")]))
    changed = plain_message(form)
    assert changed is not None
    changed.additional_properties["k"] = 1
    changed.contents[0].additional_properties["k"] = 1
    assert changed.contents[0].items is not None
    changed.contents[0].items[0].additional_properties["k"] = 1
    changed.contents[0].items.append(Content.from_text("more"))
    assert fields(plain_message(form)) == fields(message_of(form))


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
        line = json.loads(encoded(line_form(message)))
        assert message_of(line).to_dict() == message.to_dict()
        assert fields(plain_message(line)) == fields(message_of(line))


@pytest.mark.parametrize("message", OTHER)
def test_a_message_with_anything_else_in_it_is_left_to_the_framework(
    message: Message, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert plain_line_form(message) is None
    assert json.dumps(line_form(message)) == in_the_long_way(message, monkeypatch)


@pytest.mark.parametrize("message", [message for message in OTHER if type(message) is Message])
def test_a_form_with_anything_else_in_it_is_left_to_the_framework(message: Message) -> None:
    assert plain_message(line_form(message)) is None
    assert plain_message(full_form(message), full=True) is None


CALL = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}", "hosted": False}


@pytest.mark.parametrize(
    "content",
    [
        {"type": "text"},
        {"type": "text", "text": None},
        {"type": "text", "text": "x", "additional_properties": {}},
        {"type": "text", "texts": "x"},
        {**CALL, "hosted": 0},
        {**CALL, "hosted": None},
        {**CALL, "hosted": True},
        {name: value for name, value in CALL.items() if name != "hosted"},
        {"type": "function_result", "call_id": "c1", "result": 1},
        {"type": "function_result", "call_id": "c1", "result": "x", "items": None},
        {"type": "text_reasoning", "text": "x"},
    ],
    ids=str,
)
def test_a_line_that_is_not_quite_plain_is_left_to_the_framework(content: dict[str, object]) -> None:
    assert plain_message({"role": "assistant", "contents": [content]}) is None


@pytest.mark.parametrize(
    "change",
    [
        {"items": None},
        {"items": []},
        {"items": [{"type": "text", "text": "other", "additional_properties": {}}]},
        {"items": [{"type": "text", "text": "seen", "additional_properties": {"k": 1}}]},
        {"items": [{"type": "text", "text": "seen", "additional_properties": {}}] * 2},
        {"additional_properties": None},
        {"additional_properties": 0},
        {"exception": None},
    ],
    ids=str,
)
def test_a_full_form_that_is_not_quite_plain_is_left_to_the_framework(change: dict[str, object]) -> None:
    form = full_form(Message("tool", [result("seen")]))
    assert plain_message(form, full=True) is not None
    form["contents"][0] |= change
    assert plain_message(form, full=True) is None


@pytest.mark.parametrize("more", [{"additional_properties": 0}, {"additional_properties": {"k": 1}}, {"text": "x"}])
def test_a_message_with_another_field_is_left_to_the_framework(more: dict[str, object]) -> None:
    assert plain_message({"role": "user", "contents": [], **more}) is None


def test_a_result_whose_items_say_something_else_is_left_to_the_framework() -> None:
    content = result("seen")
    content.items = [Content.from_text("other")]
    assert plain_line_form(Message("tool", [content])) is None
