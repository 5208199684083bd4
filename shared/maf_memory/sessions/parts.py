"""The texts and the attachments inside a framework's content, whatever shape a provider gave it.

A loaded file was checked as JSON, not as the framework's types: a field may hold any JSON value, and is still shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from maf_memory.decoding import decode_json
from maf_memory.errors import FileRefused
from maf_memory.sessions.items import Attachment
from maf_memory.text import sound

if TYPE_CHECKING:
    from agent_framework import Content

CALLS = frozenset(
    {
        "function_call",
        "code_interpreter_tool_call",
        "computer_tool_call",
        "image_generation_tool_call",
        "mcp_server_tool_call",
        "search_tool_call",
        "shell_tool_call",
    }
)
RESULTS = frozenset({"function_result", *(kind.replace("_call", "_result") for kind in CALLS - {"function_call"})})
ATTACHED = frozenset({"data", "uri", "hosted_file"})

_UNTOLD = {"type", "call_id", "id", "additional_properties", "annotations", "informational_only", "exception", "hosted"}


def text_of(value: object) -> str:
    """Return a value as a reader sees it: a text as it is, nothing for ``None``, anything else as indented JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    for indent in (2, None):  # with an indent the encoder is pure Python and nests less deeply
        try:
            return json.dumps(value, ensure_ascii=False, indent=indent, default=_plain)
        except (RecursionError, ValueError):
            continue
    return "(nested too deeply to be shown)"


def _plain(value: object) -> object:
    to_dict = getattr(value, "to_dict", None)
    if callable(to_dict):
        return to_dict()
    return dict(value) if isinstance(value, Mapping) else str(value)


def without_type(content: Content) -> str:
    """Return all that a content says beside its type and its ids, as text."""
    told = {name: value for name, value in content.to_dict().items() if name not in _UNTOLD}
    return text_of(next(iter(told.values()))) if len(told) == 1 else text_of(told) if told else ""


def parameters(value: object) -> dict[str, str] | None:
    """Return what a tool was called with, name by name, or ``None`` where it is not one sound JSON object."""
    if isinstance(value, str):
        try:
            value = decode_json(sound(value).encode(), Path("arguments"))
        except FileRefused:
            return None
    if not isinstance(value, Mapping):
        return None
    return {str(name): text_of(one) for name, one in value.items()}


def called_with(content: Content) -> object:
    """Return what a call gave to its tool: a text or a mapping."""
    if content.type in {"function_call", "mcp_server_tool_call"}:
        return content.arguments
    if content.type == "shell_tool_call" and isinstance(content.commands, list):
        return "\n".join(text_of(command) for command in content.commands)
    if content.type == "code_interpreter_tool_call" and content.inputs:
        if isinstance(content.inputs, (list, tuple)) and all(hasattr(one, "to_dict") for one in content.inputs):
            return texts_and_attachments(content.inputs, turn=0)[0]
        return text_of(content.inputs)
    return without_type(content)


def tool_of(content: Content) -> str:
    """Return the name of the tool that a call or a result belongs to."""
    if content.type in {"function_call", "function_result"}:
        return text_of(content.name)
    return text_of(content.tool_name) or str(content.type).partition("_tool_")[0].replace("_", " ")


def brought(content: Content, *, turn: int) -> tuple[str, tuple[Attachment, ...]]:
    """Return what a result says: its text, and the images and files in it."""
    for many in (content.items, content.outputs, content.output):
        if isinstance(many, (list, tuple)) and many and all(hasattr(one, "to_dict") for one in many):
            return texts_and_attachments(many, turn=turn)
    if content.type == "function_result":
        return text_of(content.result), ()
    return without_type(content), ()


def texts_and_attachments(contents: Iterable[Any], *, turn: int) -> tuple[str, tuple[Attachment, ...]]:
    """Return the texts, one under the other, and the attachments among what a tool was given or brought."""
    texts: list[str] = []
    attached: list[Attachment] = []
    for content in contents:
        if content.type in ATTACHED:
            attached.append(attachment(content, turn=turn, by="tool"))
        elif content.type == "shell_command_output":
            texts += [text_of(content.stdout), text_of(content.stderr)]
            if content.timed_out or content.exit_code:
                texts.append("timed out" if content.timed_out else f"exit code {content.exit_code}")
        else:
            texts.append(text_of(content.text) if content.type == "text" else without_type(content))
    return "\n".join(text for text in texts if text), tuple(attached)


def attachment(content: Content, *, turn: int, by: str) -> Attachment:
    """Return the item for a content of a type in :data:`ATTACHED`."""
    uri = text_of(content.uri) or None
    properties = content.additional_properties
    name = text_of(content.name or properties.get("filename") or properties.get("name"))
    return Attachment(
        turn=turn,
        by=by,
        media_type=text_of(content.media_type) or None,
        name=name or None,
        uri=uri,
        file_id=text_of(content.file_id) or None,
        size=_held(uri),
    )


def _held(uri: str | None) -> int | None:
    """How many bytes a ``data:`` address holds itself, without decoding what may be large."""
    if uri is None or uri[:5].lower() != "data:":
        return None
    head, _, data = uri.partition(",")
    if head.lower().endswith(";base64"):
        return len(data) * 3 // 4 - data[-2:].count("=")
    return len(unquote_to_bytes(sound(data)))
