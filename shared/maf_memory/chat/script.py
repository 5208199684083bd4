"""The script format: what a scripted model will answer, request after request.

A script is a JSON document::

    {
      "replies": [
        "A whole answer.",
        {"text": "The same, written out.", "message_id": "m2"},
        {"stream": ["Part by ", "part", {"delay": 0.1}, "."]},
        {"stream": ["Half an ans", {"error": "the connection was lost"}]},
        {"stream": ["And then noth", {"hang": true}]},
        {"calls": [{"name": "add", "arguments": {"a": 1, "b": 2}, "id": "c1"}]},
        {"error": "no such model"},
        {"empty": true},
        {"hang": true},
        {"text": "A late answer.", "delay": 0.5}
      ],
      "record": "requests.jsonl"
    }

Each request takes the next reply. A list of replies alone is a script too.

``text``        one piece of text (a bare string is the same)
``stream``      parts in order: strings, and objects with one of ``calls``, ``error``, ``delay``, ``hang``
``calls``       tool calls made at once; ``arguments`` is an object, or a string sent as it is; ``id`` is optional
``error``       the request, or the rest of the stream, fails with this message
``empty``       an answer without any content
``hang``        nothing more comes until the request is cancelled
``delay``       seconds to wait first, beside any of these
``message_id``  the id of the answer's messages; without it they carry none, like those of many servers
``record``      a file to which each request is appended as one JSON line; relative to the script's folder

A tool call is a request of its own: after its result the next reply is taken.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from maf_memory.errors import ChatUnavailable

_KINDS = ("text", "stream", "calls", "error", "empty", "hang")
_PARTS = ("calls", "error", "delay", "hang")


class Call(NamedTuple):
    """A tool call; ``id`` is ``None`` where the script gives none."""

    name: str
    arguments: Mapping[str, Any] | str
    id: str | None


class Text(NamedTuple):
    """A piece of text."""

    text: str


class Calls(NamedTuple):
    """Tool calls that are made at once."""

    calls: tuple[Call, ...]


class Failure(NamedTuple):
    """The end of an answer by an error."""

    message: str


class Delay(NamedTuple):
    """A wait, in seconds."""

    seconds: float


class Hang(NamedTuple):
    """A wait that only a cancellation ends."""


Step = Text | Calls | Failure | Delay | Hang


class Reply(NamedTuple):
    """The steps of one answer."""

    steps: tuple[Step, ...]
    message_id: str | None = None


class Script(NamedTuple):
    """The replies of a script file, and the file to which requests are recorded."""

    replies: tuple[Reply, ...]
    record: Path | None


def read_script(path: Path) -> Script:
    """Return the script in a JSON file.

    Raises :class:`ChatUnavailable`, naming the file and the entry, when it cannot be read or is malformed.
    """
    try:
        document = json.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise ChatUnavailable(f"The script {path} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise ChatUnavailable(f"The script {path} is not UTF-8 (byte {error.start}).") from error
    except (ValueError, RecursionError) as error:  # RecursionError: nested too deep
        raise ChatUnavailable(f"The script {path} is not JSON: {error}.") from error
    try:
        return _script(document, path.parent)
    except ValueError as error:
        raise ChatUnavailable(f"The script {path} is malformed: {error}.") from error


def parse_replies(replies: Sequence[Any]) -> tuple[Reply, ...]:
    """Return the replies of a decoded script; :class:`ValueError` names the first malformed one.

    A :class:`Reply` stays as it is.
    """
    return tuple(
        reply if isinstance(reply, Reply) else _reply(reply, f"reply {number}")
        for number, reply in enumerate(replies, start=1)
    )


def _script(document: object, folder: Path) -> Script:
    if isinstance(document, list):
        return Script(parse_replies(document), None)
    whole = _object(document, "the document", ("replies", "record"))
    replies = whole.get("replies")
    if not isinstance(replies, list):
        raise ValueError("the document needs 'replies', a list")
    record = _text(whole, "record", "the document")
    return Script(parse_replies(replies), None if record is None else folder / record)


def _reply(value: object, place: str) -> Reply:
    if isinstance(value, str):
        return Reply((Text(value),))
    entry = _object(value, place, (*_KINDS, "delay", "message_id"))
    kind = _only(entry, _KINDS, place)
    if kind == "stream":
        parts = entry["stream"]
        if not isinstance(parts, list):
            raise ValueError(f"{place}: 'stream' must be a list")
        steps = tuple(_part(part, f"{place}, part {number}") for number, part in enumerate(parts, start=1))
    elif kind == "empty":
        _true(entry, "empty", place)
        steps = ()
    else:
        steps = (_step(entry, kind, place),)
    if "delay" in entry:
        steps = (_step(entry, "delay", place), *steps)
    return Reply(steps, _text(entry, "message_id", place))


def _part(value: object, place: str) -> Step:
    if isinstance(value, str):
        return Text(value)
    entry = _object(value, place, _PARTS)
    return _step(entry, _only(entry, _PARTS, place), place)


def _step(entry: Mapping[str, Any], kind: str, place: str) -> Step:
    match kind:
        case "text":
            return Text(_text(entry, "text", place) or "")
        case "calls":
            return Calls(tuple(_calls(entry["calls"], place)))
        case "error":
            return Failure(_text(entry, "error", place) or "")
        case "delay":
            return Delay(_seconds(entry["delay"], place))
        case _:
            _true(entry, "hang", place)
            return Hang()


def _calls(value: object, place: str) -> Iterator[Call]:
    if not isinstance(value, list) or not value:
        raise ValueError(f"{place}: 'calls' must be a list of at least one call")
    for number, item in enumerate(value, start=1):
        where = f"{place}, call {number}"
        call = _object(item, where, ("name", "arguments", "id"))
        name = _text(call, "name", where)
        arguments = call.get("arguments", {})
        if not name:
            raise ValueError(f"{where}: 'name' is missing")
        if not isinstance(arguments, dict | str):
            raise ValueError(f"{where}: 'arguments' must be an object or a string")
        yield Call(name, arguments, _text(call, "id", where))


def _object(value: object, place: str, keys: Sequence[str]) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{place} must be an object with any of {', '.join(keys)}, not {_kind(value)}")
    for key in value:
        if key not in keys:
            raise ValueError(f"{place}: unknown key {key!r}; the known ones are {', '.join(keys)}")
    return value


def _only(entry: Mapping[str, Any], kinds: Sequence[str], place: str) -> str:
    given = [kind for kind in kinds if kind in entry]
    if len(given) != 1:
        raise ValueError(f"{place} needs exactly one of {', '.join(kinds)}; it has {', '.join(given) or 'none'}")
    return given[0]


def _text(entry: Mapping[str, Any], key: str, place: str) -> str | None:
    value = entry.get(key)
    if key in entry and not isinstance(value, str):
        raise ValueError(f"{place}: {key!r} must be a text, not {_kind(value)}")
    return value


def _true(entry: Mapping[str, Any], key: str, place: str) -> None:
    if entry[key] is not True:
        raise ValueError(f"{place}: {key!r} must be true")


def _seconds(value: object, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError(f"{place}: 'delay' must be a number of seconds, not negative")
    return float(value)


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
        case _:
            return "an object"
