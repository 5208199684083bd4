"""The most common messages to their lines and back, without asking the framework to look at each of forty fields.

What such a content looks like and how it is serialised is taken from the framework itself, once a process, from an
example that the framework rebuilds unchanged; a content that differs from its example in anything but its texts is none
of these, and left to the framework.
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


def plain_message(form: dict[str, Any], *, full: bool = False) -> Message | None:
    """Return what the framework rebuilds from the form of a plain message; ``None`` where it is not plain.

    ``form`` is a line of a session file that was checked to be a message; or ``full``, as the framework serialises it.
    """
    if not form.keys() <= _SERIALISED_ANYWHERE or form.get("additional_properties", _EMPTY) != _EMPTY:
        return None
    examples = _examples()
    contents: list[Content] = []
    for content_form in form["contents"]:
        content = _rebuilt(content_form, examples, full=full)
        if content is None:
            return None
        contents.append(content)
    author, message_id = form.get("author_name"), form.get("message_id")
    return examples.message(form["role"], contents, author_name=author, message_id=message_id)


_SERIALISED = frozenset({"role", "author_name", "message_id"})
_SERIALISED_ANYWHERE = _SERIALISED | {"type", "contents", "additional_properties"}
_EMPTY: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class _Example:
    """One content: its fields with empty texts, which of them are texts, and its line form.

    ``fixed`` is what the form holds beside its type and its texts, ``full`` how many fields the full form has.
    """

    values: dict[str, Any]
    texts: tuple[str, ...]
    form: dict[str, Any]
    fixed: tuple[tuple[str, Any], ...]
    full: int


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
        if vars(Content.from_dict(content.to_dict())) == vars(content) and _is_shared_safely(vars(content))
    }
    return _Examples(Message, frozenset(vars(Message("user", []))), Content, contents)


def _example(content: Content, texts: tuple[str, ...]) -> _Example:
    form = content.to_dict()
    full = len(form)
    del form["additional_properties"]
    form.pop("items", None)
    fixed = tuple((name, value) for name, value in form.items() if name not in texts and name != "type")
    return _Example({**vars(content), "items": None}, texts, form, fixed, full)


def _is_shared_safely(values: dict[str, Any]) -> bool:
    """Whether nothing in an example can be changed in place but what each content gets for itself."""
    own = ("additional_properties", "items")
    return all(value is None or isinstance(value, (str, bool)) for name, value in values.items() if name not in own)


def _rebuilt(form: dict[str, Any], examples: _Examples, *, full: bool) -> Content | None:
    example = examples.contents.get(form["type"])
    if example is None or len(form) != (example.full if full else len(example.form)):
        return None
    values = example.values.copy()
    values["additional_properties"] = {}
    for name in example.texts:
        text = values[name] = form.get(name)
        if type(text) is not str:
            return None
    for name, value in example.fixed:
        if form.get(name, form) is not value:  # zero equals false, and is another value
            return None
    if full and form.get("additional_properties") != _EMPTY:
        return None
    if "result" in example.texts:
        values["items"] = _rebuilt_items(form, examples, full=full)
        if values["items"] is None:
            return None
    content = object.__new__(examples.content)
    content.__dict__ = values
    return content


def _rebuilt_items(form: dict[str, Any], examples: _Examples, *, full: bool) -> list[Content] | None:
    """Return the ``items`` of a result where they are its text once more."""
    text = {"type": "text", "text": form["result"]}
    if full and form.get("items") != [{**text, "additional_properties": _EMPTY}]:
        return None
    item = _rebuilt(text, examples, full=False)
    return None if item is None else [item]


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
