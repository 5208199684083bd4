"""Each message is encoded once, and what is reused is what would be written anew."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from agent_framework import Content, Message
from hypothesis import given
from hypothesis import strategies as st

from maf_memory.conversation import NotAConversation
from maf_memory.lines import SEPARATOR, MessageLines, full_form, line_form, message_of


class Counted:
    """The form of a message, and which messages it was asked for."""

    def __init__(self) -> None:
        self.asked: list[Message] = []

    def __call__(self, message: Message) -> dict[str, Any]:
        self.asked.append(message)
        return full_form(message)


def said(text: str, role: str = "user") -> Message:
    return Message(role, [text], message_id=text)


def call(name: str) -> Message:
    return Message("assistant", [Content.from_function_call(name, "look", arguments="{}")], message_id=f"call {name}")


def result(name: str) -> Message:
    return Message("tool", [Content.from_function_result(name, result="seen")], message_id=f"result {name}")


def anew(messages: list[Message]) -> Sequence[bytes]:
    return MessageLines().take(messages)


def test_a_line_is_the_message_as_one_line_of_json() -> None:
    (line,) = anew([said("a\nb\u2028c")])
    assert b"\n" not in line
    assert json.loads(line) == said("a\nb\u2028c").to_dict()


def test_what_was_encoded_is_not_encoded_again_but_for_one_line_that_is_watched() -> None:
    form = Counted()
    lines = MessageLines(form)
    messages = [said(str(number)) for number in range(50)]
    lines.take(messages)
    form.asked.clear()
    new = said("new")
    assert lines.take([*messages, new]) == anew([*messages, new])
    assert len(form.asked) == 2, "the watched one and the new one"
    assert form.asked[1] is new


def test_messages_that_move_keep_their_lines() -> None:
    form = Counted()
    lines = MessageLines(form)
    messages = [said(str(number)) for number in range(10)]
    lines.take(messages)
    form.asked.clear()
    compacted = [said("summary"), *messages[7:]]
    assert lines.take(compacted) == anew(compacted)
    assert len(form.asked) == 2


def test_a_message_changed_in_place_is_found_within_as_many_saves_as_there_are_messages() -> None:
    lines = MessageLines()
    messages = [said(str(number)) for number in range(5)]
    lines.take(messages)
    messages[3].contents[0].text = "changed"
    seen = [lines.take(messages) == anew(messages) for _ in range(5)]
    assert seen[-1]


def test_a_message_that_became_unsaveable_in_place_is_named() -> None:
    lines = MessageLines()
    messages = [said("one")]
    lines.take(messages)
    messages[0].contents[0].text = "\ud800"
    with pytest.raises(UnicodeEncodeError):
        lines.take(messages)


def test_a_call_that_loses_its_result_is_refused_although_its_line_is_known() -> None:
    lines = MessageLines()
    messages = [said("q"), call("c"), result("c"), said("a", "assistant")]
    lines.take(messages)
    with pytest.raises(NotAConversation, match="message 2 calls the tool 'look' and no result follows"):
        lines.take([*messages[:2], messages[3]])
    assert lines.take(messages) == anew(messages), "a refusal forgets nothing"


def test_a_content_that_the_framework_rebuilds_with_another_value_is_refused() -> None:
    message = said("x")
    message.contents[0].informational_only = True  # it is set again from the kind alone for some kinds
    message.contents[0].type = "text"
    message.contents[0].text = None
    with pytest.raises(NotAConversation):
        anew([message])


def test_a_value_that_json_changes_in_silence_is_refused() -> None:
    message = said("x")
    message.additional_properties["number"] = float("nan")
    with pytest.raises(ValueError, match="message 1 holds a value that JSON cannot hold"):
        anew([message])


@given(st.lists(st.lists(st.integers(0, 7), max_size=12), max_size=8))
def test_any_list_of_the_same_messages_gives_the_lines_that_encoding_anew_gives(picks: list[list[int]]) -> None:
    pool = [said(str(number)) for number in range(8)]
    lines = MessageLines()
    for pick in picks:
        messages = [pool[number] for number in pick]
        assert lines.take(messages) == anew(messages)
        assert lines.questions == len(messages)


FORMS = {
    "a text": said("x"),
    "a call": call("c"),
    "a result": result("c"),
    "a result without items": Message("tool", [Content("function_result", call_id="c", result="seen")]),
    "a result with other items": Message(
        "tool", [Content("function_result", call_id="c", result="seen", items=[Content.from_text("other")])]
    ),
    "a result that is an image": Message(
        "tool", [Content("function_result", call_id="c", items=[Content.from_uri("https://x.test/a.png")])]
    ),
    "properties": Message("user", ["x"], additional_properties={"written_by": "mm", "kind": "note"}),
    "no contents": Message("assistant", []),
    "an author": Message("user", ["x"], author_name="Ada"),
}


@pytest.mark.parametrize("what", FORMS)
def test_the_form_of_a_session_file_brings_the_message_back(what: str) -> None:
    message = FORMS[what]
    form = line_form(message)
    assert next(iter(form)) == "role", "a reader sees first who speaks"
    before = json.dumps(form)
    assert message_of(form).to_dict() == message.to_dict()
    assert json.dumps(form) == before
    around = [message, result("c")] if what == "a call" else [message]
    assert MessageLines(line_form, message_of, kind=None).take(around)


def test_the_form_of_a_session_file_names_the_result_of_a_tool_once() -> None:
    assert json.dumps(line_form(result("c"))).count("seen") == 1


@pytest.mark.parametrize("kept", [0, 1, 299, 300])
def test_what_is_kept_as_one_piece_is_never_more_than_what_stays(kept: int) -> None:
    lines = MessageLines()
    messages = [said(f"question {number}") for number in range(300)]
    lines.take(messages)
    assert lines.joined.count == 300
    changed = [*messages[:kept], said("another")]
    taken = lines.take(changed)
    joined = lines.joined
    assert joined.count in {0, 300}
    assert bytes(joined.content) == SEPARATOR.join(taken[: joined.count])


def test_a_line_that_changed_in_place_is_not_written_from_the_kept_piece() -> None:
    lines = MessageLines()
    messages = [said(f"question {number}") for number in range(300)]
    lines.take(messages)
    assert lines.joined.count == 300
    for message in messages:
        message.contents = said("changed").contents
    taken = lines.take(messages)
    assert bytes(lines.joined.content) == SEPARATOR.join(taken)
