"""The lines of the most common messages, without asking the framework to look at each of forty fields.

What such a content looks like and how it is serialised is taken from the framework itself, once a process, from an
example that the framework rebuilds unchanged; a content that differs from its example in anything but its texts is none
of these, and serialised as usual.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_framework import Content, Message


def plain_line_form(message: Message) -> dict[str, Any] | None:
    """Return what :func:`maf_memory.lines.line_form` returns for a plain message; ``None`` where it is not plain."""
    examples = _examples()
    if type(message) is not examples.message:
        return None
    values = vars(message)
    if values.keys() != examples.fields or values["additional_properties"] or type(values["contents"]) is not list:
        return None
    form: dict[str, Any] = {}
    for name, value in values.items():
        if name == "contents":
            contents = [_plain_content(content, examples) for content in value]
            if None in contents:
                return None
            form[name] = contents
        elif name in _SERIALISED and value is not None:
            if type(value) is not str:
                return None
            form[name] = value
    return form


_SERIALISED = frozenset({"role", "author_name", "message_id"})


@dataclass(frozen=True, slots=True)
class _Example:
    """One content: its fields with empty texts, which of them are texts, and its line form."""

    values: dict[str, Any]
    texts: tuple[str, ...]
    form: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Examples:
    message: type[Message]
    fields: frozenset[str]
    content: type[Content]
    contents: dict[str, _Example]


@functools.cache
def _examples() -> _Examples:
    from agent_framework import Content, Message

    contents: dict[str, _Example] = {
        str(content.type): _example(content, texts)
        for content, texts in (
            (Content.from_text(""), ("text",)),
            (Content.from_function_call("", "", arguments=""), ("call_id", "name", "arguments")),
            (Content.from_function_result("", result=""), ("call_id", "result")),
        )
        if Content.from_dict(content.to_dict()) == content
    }
    return _Examples(Message, frozenset(vars(Message("user", []))), Content, contents)


def _example(content: Content, texts: tuple[str, ...]) -> _Example:
    form = content.to_dict()
    del form["additional_properties"]
    form.pop("items", None)
    return _Example({**vars(content), "items": None}, texts, form)


def _plain_content(content: Any, examples: _Examples) -> dict[str, Any] | None:
    example = examples.contents.get(content.type) if type(content) is examples.content else None
    if example is None:
        return None
    values = {**vars(content), "raw_representation": None}  # what a provider sent is never serialised
    form = example.form.copy()
    for name in example.texts:
        text = values[name]
        if type(text) is not str:
            return None
        form[name], values[name] = text, ""
    if "result" in form and not _repeats(values, form["result"], examples):
        return None
    return form if values == example.values else None


def _repeats(values: dict[str, Any], result: str, examples: _Examples) -> bool:
    """Whether the ``items`` of a result are its text once more; if so, they are taken out of ``values``."""
    items, values["items"] = values["items"], None
    if type(items) is not list or len(items) != 1:
        return False
    form = _plain_content(items[0], examples)
    return form is not None and form["type"] == "text" and form["text"] == result
