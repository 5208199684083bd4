"""What makes a list of serialised messages a conversation that a model can be sent.

The framework's own decoding checks little: an unknown kind of content is dropped in silence, a wrong type crashes at
the next run, and a tool call without its result makes most servers refuse the conversation for ever after.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

ROLES = frozenset({"system", "user", "assistant", "tool"})

_TEXTS_OF = {
    "text": ("text",),
    "function_call": ("call_id", "name"),
    "function_result": ("call_id",),
}
"""The fields that must be texts, by kind of content."""


class NotAConversation(ValueError):
    """A list of messages is not a conversation; the message says which one, counted from 1, and why."""


def check_messages(messages: object) -> None:
    """Accept a list of serialised messages in which every tool call has its result or waits for approval.

    Raises:
        NotAConversation: with the number of the message and what is wrong with it.
    """
    if type(messages) is not list:
        raise NotAConversation("its messages are not a list")
    for number, message in enumerate(messages, start=1):
        problem = _problem_of(message)
        if problem is not None:
            raise NotAConversation(f"message {number} {problem}")
    _check_calls(messages)


def _problem_of(message: Any) -> str | None:
    if type(message) is not dict or message.get("type") != "message":
        return "is not a message"
    role = message.get("role")
    if type(role) is not str or role not in ROLES:
        return f"has the role {json.dumps(role)[:40]}"
    if type(message.get("message_id")) not in (str, type(None)):
        return "has an id that is not a text"
    contents = message.get("contents")
    if type(contents) is not list:
        return "has no list of contents"
    for content in contents:
        if type(content) is not dict or type(content.get("type")) is not str:
            return "has a content that is not one"
        for field in _TEXTS_OF.get(content["type"], ()):
            if type(content.get(field)) is not str:
                return f"has a {content['type']} whose {field} is not a text"
    return None


def _contents(messages: list[dict[str, Any]]) -> Iterable[tuple[int, dict[str, Any]]]:
    for number, message in enumerate(messages, start=1):
        for content in message["contents"]:
            yield number, content


def _check_calls(messages: list[dict[str, Any]]) -> None:
    open_calls: dict[str, tuple[int, str]] = {}
    awaiting: set[object] = set()
    for number, content in _contents(messages):
        match content["type"]:
            case "function_call" if not content.get("informational_only"):
                open_calls[content["call_id"]] = (number, content["name"])
            case "function_result":
                open_calls.pop(content["call_id"], None)
            case "function_approval_request" if type(content.get("function_call")) is dict:
                awaiting.add(content["function_call"].get("call_id"))
    for call_id, (number, name) in open_calls.items():
        if call_id not in awaiting:
            raise NotAConversation(f"message {number} calls the tool {name!r} and no result follows")
