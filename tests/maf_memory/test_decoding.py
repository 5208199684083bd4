"""Strict decoding accepts exactly one JSON document and says in which place anything else goes wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maf_memory.decoding import check_fields, decode_json
from maf_memory.errors import FileRefused

STEADY = settings(derandomize=True, deadline=None)
PATH = Path("/state/file.json")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@STEADY
@given(VALUES, st.booleans(), st.sampled_from([None, 2]))
def test_what_json_writes_is_read_back(value: Any, ascii_only: bool, indent: int | None) -> None:
    content = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()
    again = decode_json(content, PATH)
    assert again == value
    assert json.dumps(again) == json.dumps(value), "true is not 1, and 1 is not 1.0"


@STEADY
@given(st.binary(max_size=60))
def test_any_bytes_are_decoded_or_refused_in_one_line(content: bytes) -> None:
    try:
        decode_json(content, PATH)
    except FileRefused as error:
        assert str(error).isprintable()  # noqa: PT017 - a refusal is one of two right outcomes


@STEADY
@given(VALUES, st.data())
def test_any_strict_part_of_an_object_is_refused(value: Any, data: st.DataObject) -> None:
    content = json.dumps({"value": value}).encode()
    cut = data.draw(st.integers(0, len(content) - 1))
    with pytest.raises(FileRefused, match=r"truncated|it is empty"):
        decode_json(content[:cut], PATH)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b'{"a": 1}\n{"b": 2}', "it goes on after its end, at line 2 column 1"),
        (b'{"a": 1', "it is truncated: it ends at line 1 column 8, unfinished"),
        (b'{"a": tru', "it is truncated: it ends at line 1 column 7, unfinished"),
        (b'{"a": "\\u12', "it is truncated"),
        (b'{"a": "\\', "it is truncated"),
        (b'{\n"a": tro}', "it is not JSON at line 2 column 6"),
        (b'{"a": "\\q and more text"}', "it is not JSON at line 1 column 8"),
        (b'{"a": {"b": 1, "b": 1}}', 'it repeats the key "b"'),
        (b'[{"": 1, "": 1}]', 'it repeats the key ""'),
        (b"[-1e400]", "it holds a number that is too large"),
        (b"[NaN]", "it holds NaN, which is not JSON"),
        (b"\xff", "it is not UTF-8 at byte 0"),
        (b'"\0"', "it holds NUL bytes, the first at byte 1"),
        (b"\x0c", "it holds only white space"),
    ],
)
def test_the_place_is_named(content: bytes, found: str) -> None:
    with pytest.raises(FileRefused) as caught:
        decode_json(content, PATH, expected="one document")
    assert found in caught.value.found
    assert (caught.value.path, caught.value.expected) == (PATH, "one document")


def test_nesting_that_fits_is_decoded_and_deeper_is_refused_without_a_crash() -> None:
    assert decode_json(b"[" * 400 + b"]" * 400, PATH)
    for depth in (2_000, 100_000, 1_000_000):
        for opened, closed in ((b"[", b"]"), (b'{"a":', b"}")):
            with pytest.raises(FileRefused, match="it nests too deeply"):
                decode_json(opened * depth + b"1" + closed * depth, PATH)


def test_a_paired_surrogate_escape_is_one_character() -> None:
    assert decode_json(b'"\\ud83d\\ude42"', PATH) == "🙂"
    for lone in (b'"\\ude42\\ud83d"', b'"\\ud83d"', b'"\\ud83d\\ud83d\\ude42"', b'{"\\ud83d": 1}', b'["\\uDFFF"]'):
        with pytest.raises(FileRefused, match="it holds a lone surrogate"):
            decode_json(lone, PATH)


def test_a_backslash_before_what_looks_like_a_surrogate_escape_is_text() -> None:
    assert decode_json(b'"\\\\ud83d"', PATH) == "\\ud83d"


@pytest.mark.parametrize(
    ("found", "problem"),
    [
        ([], "it is a list"),
        ({}, "it has no field 'count'"),
        ({"count": True, "name": ""}, "'count' is true or false"),
        ({"count": 1, "name": 1}, "'name' is an integer"),
        ({"count": 1, "name": None, "b": 1, "a": 2}, 'it has the unknown field "a", "b"'),
    ],
)
def test_fields_are_exactly_the_wanted_ones_each_of_its_type(found: object, problem: str) -> None:
    with pytest.raises(FileRefused) as caught:
        check_fields(found, {"count": int, "name": (str, type(None))}, PATH)
    assert caught.value.found == problem


def test_an_object_with_the_wanted_fields_is_returned() -> None:
    fields = {"name": None, "count": 0}
    assert check_fields(fields, {"count": int, "name": (str, type(None))}, PATH) is fields
