"""What of a recorded message is searched, and who is taken to have said it.

Searched: the text of questions and answers, a tool call's name and arguments, a tool's result, and the body of a
summary. Not searched: the system prompt; the model's reasoning, which weighs what it then did not say; data and links;
earlier searches, which hold all the words and nothing new; and what a program wrote for its own sake: the context of a
hook, the marker of a blocked prompt, a note, the acknowledgement of a summary and its header line (the first of
several). A program's mark decides, never the wording.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from maf_memory.authorship import INSTRUCTIONS, program_kind
from maf_memory.text import sound

if TYPE_CHECKING:
    from agent_framework import Message

SUMMARY = "summary"
NOT_SEARCHED = frozenset({INSTRUCTIONS, "context", "blocked", "note", "acknowledgement"})
"""The kinds of what a program writes that tell nothing of the project; a kind that nobody knows here is searched."""

SEARCH_TOOL = "search_memory"
"""The tool by which a model searches: found again, its calls and results would stand before what they once found."""

_TEXTS = frozenset({"text", "name", "tool_name", "call_id"})

GLUE = frozenset("(): ,[]{}")
"""What stands between the parts of a call as it is searched, and so may not stand there in the file."""


class StoredContent(msgspec.Struct, gc=False):
    """A part of a stored message, as far as it is searched."""

    type: str
    text: str | None = None
    name: str | None = None
    tool_name: str | None = None
    call_id: str | None = None
    arguments: msgspec.Raw = msgspec.Raw()
    result: msgspec.Raw = msgspec.Raw()
    output: msgspec.Raw = msgspec.Raw()
    inputs: msgspec.Raw = msgspec.Raw()
    outputs: msgspec.Raw = msgspec.Raw()
    items: msgspec.Raw = msgspec.Raw()
    commands: msgspec.Raw = msgspec.Raw()
    function_call: msgspec.Raw = msgspec.Raw()


class StoredMessage(msgspec.Struct, gc=False):
    """A stored message, as far as it is searched."""

    role: str
    contents: list[StoredContent]
    additional_properties: dict[str, Any] | None = None

    @property
    def kind(self) -> str | None:
        """The kind of what a program wrote, or ``None`` for anybody else's message."""
        return program_kind(self.additional_properties) if self.additional_properties else None

    @property
    def is_question(self) -> bool:
        """Whether a person asked it."""
        return self.role == "user" and self.kind is None


def stored(messages: Iterable[Message | Mapping[str, Any]]) -> list[StoredMessage]:
    """Return messages of the framework, or their serialised form, as they would be read from a file."""
    dumped = [plain(message if isinstance(message, Mapping) else message.to_dict()) for message in messages]
    return msgspec.json.decode(msgspec.json.encode(dumped, enc_hook=str), type=list[StoredMessage])


def plain(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the message without what is no text where one is expected: kinds that nobody searches may hold that."""
    contents = [
        {name: value for name, value in content.items() if name not in _TEXTS or isinstance(value, str)}
        for content in message["contents"]
    ]
    return {**message, "contents": contents}


def searched_text(message: StoredMessage) -> str:
    """Return what of the message is searched; empty where nothing is."""
    if message.role == "system":
        return ""
    contents = message.contents
    if len(contents) == 1 and not message.additional_properties:
        return _text_of(contents[0])
    kind = message.kind
    if kind in NOT_SEARCHED:
        return ""
    text = "\n".join(filter(None, map(_text_of, contents)))
    return text.partition("\n")[2] if kind == SUMMARY and "\n" in text else text


def is_found_before(messages: Sequence[StoredMessage], place: int) -> bool:
    """Whether the message at that index holds nothing but what earlier searches brought."""
    message = messages[place]
    if message.role != "tool" or any(part.type != "function_result" for part in message.contents):
        return False
    wanted = {part.call_id for part in message.contents}
    while wanted and place > 0:
        place -= 1
        for part in messages[place].contents:  # the nearest call counts: some servers give ids again
            if part.type == "function_call" and part.call_id in wanted:
                if part.name != SEARCH_TOOL:
                    return False
                wanted.discard(part.call_id)
        if messages[place].role == "user":
            break
    return not wanted


def answer_to(messages: Sequence[StoredMessage], question: int) -> str | None:
    """Return the text on which the turn of the question at that index ended, or ``None`` where none came."""
    answer = None
    for place in range(question + 1, len(messages)):
        message = messages[place]
        if message.is_question:
            break
        if message.role == "assistant" and message.kind is None:
            said = "\n".join(part.text for part in message.contents if part.type == "text" and part.text)
            answer = said if said.strip() else answer
    return answer


def _text_of(content: StoredContent) -> str:
    match content.type:
        case "text":
            return content.text or ""
        case "function_call" if content.name == SEARCH_TOOL:
            return ""
        case "function_call" | "search_tool_call" | "mcp_server_tool_call":
            return f"{content.name or content.tool_name or ''}({_shown(content.arguments)})"
        case "function_result" | "search_tool_result":
            return _shown(content.result) or _texts_in(content.items)
        case "function_approval_request" if bytes(content.function_call):
            return _text_of(msgspec.json.decode(content.function_call, type=StoredContent))
        case "mcp_server_tool_result":
            return _texts_in(content.output)
        case "shell_tool_call":
            return _shown(content.commands)
        case "code_interpreter_tool_call":
            return _texts_in(content.inputs)
        case "code_interpreter_tool_result" | "shell_tool_result":
            return _texts_in(content.outputs)
    return ""


def _shown(raw: msgspec.Raw) -> str:
    r"""Return a call's arguments, or a result, as they read once the escapes of JSON inside JSON are gone.

    The framework writes what a tool returns as JSON in ASCII: ``{"city": "Z\u00fcrich"}`` is to be found by its name.
    """
    value = _value(raw)
    if not isinstance(value, str):
        return _said(value)
    if not value.startswith(("{", "[")):
        return value
    try:
        return sound(_said(_loads(value)))
    except (ValueError, RecursionError):
        return value  # no JSON after all, or the half of one


def _texts_in(raw: msgspec.Raw) -> str:
    """Return the texts of contents inside a content."""
    value = _value(raw)
    if not isinstance(value, list):
        return _said(value)
    found = [part.get(name) for part in value if isinstance(part, dict) for name in ("text", "stdout", "stderr")]
    return "\n".join(text for text in found if isinstance(text, str) and text)


_decode_text = msgspec.json.Decoder(str).decode


def _value(raw: msgspec.Raw) -> Any:
    data = bytes(raw)
    if not data:
        return None
    return _decode_text(data) if data.startswith(b'"') else _loads(data.decode())


_loads = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str).decode
"""Decodes JSON and leaves numbers as they are written, which is how they are found."""


def _said(value: Any) -> str:
    """Return a JSON value as it reads without its quotes and outermost brackets."""
    match value:
        case None:
            return ""
        case dict():
            return ", ".join(f"{key}: {_inner(item)}" for key, item in value.items())
        case list():
            return ", ".join(map(_inner, value))
        case True | False:
            return str(value).lower()
    return str(value)


def _inner(value: Any) -> str:
    match value:
        case None:
            return "null"
        case dict():
            return f"{{{_said(value)}}}"
        case list():
            return f"[{_said(value)}]"
    return _said(value)
