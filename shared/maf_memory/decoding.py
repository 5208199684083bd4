"""Strict decoding: a file is either exactly what the program writes, or refused with a reason.

The standard library accepts duplicate keys (the last one wins), ``NaN``, ``1e999`` (as infinity) and lone
surrogates, and raises other exceptions than its own for deep nesting and long numbers. Each of these is refused
here, with the same sentence shape.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from maf_memory.errors import FileRefused
from maf_memory.text import one_line

MAXIMUM_DEPTH = 500
"""How deeply a document may nest, in containers."""

_BOM = b"\xef\xbb\xbf"
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")

JSON_NAMES: Mapping[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a text",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


class _Refusal(Exception):
    """What is wrong, raised from inside the parser's hooks."""


def decode_json(content: bytes, path: Path, *, expected: str = "one whole JSON document") -> Any:
    """Return the value of the one JSON document in ``content``.

    Raises:
        FileRefused: ``content`` is empty, not UTF-8, starts with a byte order mark, holds NUL bytes, is truncated or
            followed by other bytes, repeats a key, holds ``NaN``, an infinity or a lone surrogate, or nests too deeply.
    """

    def refuse(found: str, cause: Exception | None = None) -> NoReturn:
        raise FileRefused(path, found, expected) from cause

    if not content.strip():
        refuse("it is empty" if not content else "it holds only white space")
    if content.startswith(_BOM):
        refuse("it starts with a byte order mark")
    if b"\0" in content:
        refuse(f"it holds NUL bytes, the first at byte {content.index(0)}")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        refuse(f"it is not UTF-8 at byte {error.start}", error)
    try:
        value = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_no_constant, parse_float=_finite)
        if nests_too_deeply(value):
            raise _Refusal("it nests too deeply")
        if _SURROGATE_ESCAPE.search(content):
            _refuse_lone_surrogates(value)
    except json.JSONDecodeError as error:
        refuse(_syntax(error, text), error)
    except _Refusal as error:
        refuse(str(error))
    except RecursionError as error:
        refuse("it nests too deeply", error)
    except ValueError as error:  # the standard library's limit on the digits of an integer
        refuse("it holds a number with too many digits", error)
    return value


def nests_too_deeply(value: object, maximum: int = MAXIMUM_DEPTH) -> bool:
    """Whether a value is nested so deeply that not every Python could read it: the parsers' own limits differ."""
    level: list[Any] = [value]
    for _ in range(maximum):
        level = [
            inner
            for outer in level
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _Refusal(f"it repeats the key {one_line(json.dumps(key))}")
            seen.add(key)
    return found


def _no_constant(name: str) -> NoReturn:
    raise _Refusal(f"it holds {name}, which is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise _Refusal("it holds a number that is too large")
    return number


def _refuse_lone_surrogates(value: object) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise _Refusal("it holds a lone surrogate, which is not text") from None


def _syntax(error: json.JSONDecodeError, text: str) -> str:
    where = f"line {error.lineno} column {error.colno}"
    if error.msg == "Extra data":
        return f"it goes on after its end, at {where}"
    rest = text[error.pos :].strip()
    cut_word = any(word.startswith(rest) for word in ("true", "false", "null", "-"))  # and nothing at all, too
    cut_escape = error.msg.startswith("Invalid \\") and len(rest) < len("\\u0000")
    if cut_word or cut_escape or error.msg.startswith("Unterminated string"):
        return f"it is truncated: it ends at {where}, unfinished"
    return f"it is not JSON at {where}"


def check_fields(
    found: object, wanted: Mapping[str, type | tuple[type, ...]], path: Path, *, what: str = "it"
) -> dict[str, Any]:
    """Return ``found`` when it is an object with exactly the ``wanted`` fields, each of its type.

    ``true`` is not an integer. ``what`` names the object in the message.

    Raises:
        FileRefused: it is no object, a field is missing or unknown, or has another type.
    """
    if type(found) is not dict:
        raise FileRefused(path, f"{what} is {_name(type(found))}", "an object")
    for field, types in wanted.items():
        kinds = types if isinstance(types, tuple) else (types,)
        if field in found and type(found[field]) in kinds:
            continue
        expected = " or ".join(_name(kind) for kind in kinds)
        if field not in found:
            raise FileRefused(path, f"{what} has no field {field!r}", expected)
        raise FileRefused(path, f"{field!r} is {_name(type(found[field]))}", expected)
    if len(found) > len(wanted):
        unknown = sorted(set(found) - set(wanted))
        names = ", ".join(one_line(json.dumps(field)) for field in unknown[:3])
        raise FileRefused(path, f"{what} has the unknown field {names}", f"only {', '.join(wanted)}")
    return found


def _name(kind: type) -> str:
    return JSON_NAMES.get(kind, kind.__name__)
