"""What makes a list of serialised messages a conversation that a model can be sent.

The framework's own decoding checks little: an unknown kind of content is kept and never sent, a wrong type crashes at
the next run, and a tool call without its result makes most servers refuse the conversation for ever after.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from maf_memory.decoding import JSON_NAMES
from maf_memory.text import one_line

ROLES = frozenset({"system", "user", "assistant", "tool"})

KINDS = frozenset(
    {
        "text",
        "text_reasoning",
        "data",
        "uri",
        "error",
        "function_call",
        "function_result",
        "usage",
        "hosted_file",
        "hosted_vector_store",
        "code_interpreter_tool_call",
        "code_interpreter_tool_result",
        "image_generation_tool_call",
        "image_generation_tool_result",
        "mcp_server_tool_call",
        "mcp_server_tool_result",
        "search_tool_call",
        "search_tool_result",
        "shell_tool_call",
        "shell_tool_result",
        "shell_command_output",
        "computer_tool_call",
        "computer_tool_result",
        "function_approval_request",
        "function_approval_response",
        "oauth_consent_request",
    }
)
"""The framework's kinds of content (its ``ContentType``); a test compares the two."""

_MAYBE_TEXT = (str, type(None))
_Fields = tuple[tuple[str, tuple[type, ...]], ...]
_NO_FIELDS: _Fields = ()
_FIELDS_OF: Mapping[str, _Fields] = {
    "text": (("text", (str,)),),
    "text_reasoning": (("text", _MAYBE_TEXT),),
    "function_call": (("call_id", (str,)), ("name", (str,)), ("arguments", (str, dict, type(None)))),
    "function_result": (("call_id", (str,)),),
    "function_approval_request": (("id", (str,)), ("function_call", (dict,))),
    "function_approval_response": (("id", (str,)), ("function_call", (dict,))),
}
"""The types of the fields that the framework and its clients rely on, by kind of content."""


Event = tuple[str, str | None, str]
"""What a message does to the calls: ``call``, ``result``, ``asks`` or ``answers``; the call's id; the tool's name."""


class NotAConversation(ValueError):
    """A list of messages is not a conversation; the message says which one, counted from 1, and why."""


def check_messages(messages: object, *, kind: str | None = "message") -> list[tuple[Event, ...]]:
    """Accept serialised messages in which every tool call has its result or waits; return what each does to calls.

    ``kind`` is the ``type`` that each one names; a session file names none.

    Raises:
        NotAConversation: with the number of the message and what is wrong with it.
    """
    if type(messages) is not list:
        raise NotAConversation("its messages are not a list")
    events = [checked(message, number, kind=kind) for number, message in enumerate(messages, start=1)]
    calls = Calls()
    calls.take(events)
    calls.refuse_open()
    return events


def checked(message: Any, number: int, *, kind: str | None = "message") -> tuple[Event, ...]:
    """Accept one serialised message, whatever stands around it, and return what it does to the calls.

    Raises:
        NotAConversation: with ``number`` and what is wrong with it.
    """
    problem = _problem_of(message, kind)
    if problem is not None:
        raise NotAConversation(f"message {number} {problem}")
    events = [event for content in message["contents"] if content["type"] in _EVENTFUL and (event := _event(content))]
    return tuple(events) if events else ()


_EVENTFUL = frozenset({"function_call", "function_result", "function_approval_request", "function_approval_response"})


def _event(content: dict[str, Any]) -> Event | None:
    match content["type"]:
        case "function_call" if not content.get("informational_only"):
            return ("call", content["call_id"], content["name"])
        case "function_result":
            return ("result", content["call_id"], "")
        case "function_approval_request":
            return ("asks", content["function_call"].get("call_id"), "")
        case "function_approval_response":
            return ("answers", content["function_call"].get("call_id"), "")
    return None


class Calls:
    """The calls of a conversation that are open at a place in it, message after message."""

    __slots__ = ("_awaiting", "_number", "_open")

    def __init__(self) -> None:
        self._open: dict[str | None, tuple[int, str]] = {}
        self._awaiting: set[str | None] = set()
        self._number = 0

    def copy(self) -> Calls:
        """Return the same place, from which another conversation may go on."""
        other = Calls()
        other._open, other._awaiting, other._number = dict(self._open), set(self._awaiting), self._number
        return other

    def take(self, messages: Sequence[tuple[Event, ...]]) -> None:
        """Go on by messages, each given by its events.

        Raises:
            NotAConversation: a call repeats the id of one that is open.
        """
        for number, events in enumerate(messages, start=self._number + 1):
            for kind, call_id, name in events:
                if kind == "call":
                    if call_id in self._open:
                        raise NotAConversation(f"message {number} repeats the id of a call that has no result yet")
                    self._open[call_id] = (number, name)
                elif kind == "result":
                    self._open.pop(call_id, None)
                elif kind == "asks":
                    self._awaiting.add(call_id)
                else:
                    self._awaiting.discard(call_id)
        self._number += len(messages)

    def refuse_open(self) -> None:
        """Accept the end of the conversation here.

        Raises:
            NotAConversation: a call has neither a result nor a pending approval.
        """
        for call_id, (number, name) in self._open.items():
            if call_id not in self._awaiting:
                tool = one_line(repr(name), 40)
                raise NotAConversation(f"message {number} calls the tool {tool} and no result follows")


def _problem_of(message: Any, kind: str | None) -> str | None:
    if type(message) is not dict or message.get("type") != kind:
        return "is not a message"
    role = message.get("role")
    if type(role) is not str or role not in ROLES:
        return f"has the role {one_line(json.dumps(role), 40)}"
    if type(message.get("message_id")) not in _MAYBE_TEXT:
        return "has an id that is not a text"
    if type(message.get("author_name")) not in _MAYBE_TEXT:
        return "has an author that is not a text"
    contents = message.get("contents")
    if type(contents) is not list:
        return "has no list of contents"
    for content in contents:
        problem = _problem_of_content(content)
        if problem is not None:
            return problem
    return None


def _are_annotations(value: Any) -> bool:
    return value is None or (type(value) is list and all(type(one) is dict for one in value))


def _problem_of_content(content: Any) -> str | None:
    kind = content.get("type") if type(content) is dict else None
    if type(kind) is not str:
        return "has a content that is not one"
    if kind not in KINDS:
        return f"has a content of the unknown kind {one_line(json.dumps(kind), 40)}"
    for field, types in _FIELDS_OF.get(kind, _NO_FIELDS):
        if type(content.get(field)) not in types:
            return f"has a {kind} whose {field} is not {JSON_NAMES[types[0]]}"
    if "annotations" in content and not _are_annotations(content["annotations"]):
        return f"has a {kind} whose annotations are not a list of objects"
    call = content.get("function_call")
    return None if call is None else _problem_of_content(call)
