"""Nothing is hidden that a full scan finds: the fast search against decoding every file and folding every character."""
# ruff: noqa: RUF001 - letters that look alike are what is tested

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from maf_memory.sessions.folding import clusters, fold
from maf_memory.sessions.matching import Matcher
from maf_memory.sessions.query import Query, parse_query
from maf_memory.sessions.search_files import search_files
from maf_memory.sessions.searched import searched_text, stored
from maf_memory.sessions.sieve import Sieve
from tests.maf_memory.sessions.search_samples import Form, as_written, document, said, session_id

STEADY = settings(derandomize=True, deadline=None)

LETTERS = st.sampled_from(
    "aeiosftz EOSK \n\t\"\\/(){}[]:,?'-0\0\x1c\x7f\u0085"
    "\u00a0\u2028\u00ad\u200d\ufe0f\u0301\u0308\u0327\u0338\u0345\u3099\u093c"
    "éÉèœŒæßẞØİıﬁﬃＡａ①ſKЙйёЕеΣςσᾳかがガｶﾞ가각ᄀ\u1161\u11a8กำ库数🦊’“‐…½"
)
CHUNKS = st.sampled_from(
    ["da\u00adta", "e\u0301te", "ÉTÉ", "œuf", "oeuf", "ﬁn", "d\u200da", "data", "ｶﾞ", "か\u3099", "Й"]
)
TEXTS = st.lists(LETTERS | CHUNKS, max_size=10).map("".join) | st.text(max_size=6)
ESCAPED = {
    "as written": as_written,
    "indented": lambda whole: json.dumps(whole, ensure_ascii=False, indent=2).encode(),
    "compact": lambda whole: json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode(),
    "in ASCII": lambda whole: json.dumps(whole).encode(),
    "in ASCII, in capitals": lambda whole: re.sub(
        r"\\u[0-9a-f]{4}", lambda found: "\\u" + found[0][2:].upper(), json.dumps(whole)
    ).encode(),
    "with escaped slashes": lambda whole: json.dumps(whole, ensure_ascii=False).replace("/", "\\/").encode(),
    "with every letter escaped": lambda whole: re.sub(
        r'(?<="text": ")[^"\\]*', lambda found: json_escaped(found[0]), json.dumps(whole, ensure_ascii=False)
    ).encode(),
    "fields in another order": lambda whole: json.dumps(dict(sorted(whole.items())), ensure_ascii=False).encode(),
}
"""How the same document may stand in a file."""


def json_escaped(text: str) -> str:
    units = text.encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def call(name: str, arguments: object) -> Form:
    return {"role": "assistant", "contents": [{"type": "function_call", "name": name, "arguments": arguments}]}


def result(value: object) -> Form:
    return {"role": "tool", "contents": [{"type": "function_result", "result": value}]}


MESSAGES = st.one_of(
    TEXTS.map(lambda text: said("user", text)),
    st.lists(TEXTS, min_size=2, max_size=3).map(lambda texts: said("assistant", *texts)),
    st.tuples(TEXTS, st.dictionaries(TEXTS, TEXTS | st.integers() | st.booleans(), max_size=2)).map(
        lambda drawn: call(drawn[0], json.dumps(drawn[1], ensure_ascii=len(drawn[0]) % 2 == 0))
    ),
    st.tuples(TEXTS, st.dictionaries(TEXTS, TEXTS | st.floats(0, 9), max_size=2) | TEXTS).map(
        lambda drawn: call(*drawn)
    ),
    st.dictionaries(TEXTS, st.lists(TEXTS, max_size=2), max_size=2).map(lambda value: result(json.dumps(value))),
    TEXTS.map(result),
    TEXTS.map(lambda text: said("user", text, kind="summary")),
    TEXTS.map(lambda text: said("user", text, kind="context")),
)


@st.composite
def queries(draw: st.DrawFn, texts: list[str]) -> Query:
    """Words that are parts of the texts, or near them, or not; and phrases."""
    parts = st.sampled_from(texts or [""]).flatmap(
        lambda text: st.tuples(st.integers(0, len(text)), st.integers(1, 5)).map(lambda at: text[at[0] : at[0] + at[1]])
    )
    near = parts | parts.map(fold) | parts.map(str.swapcase) | CHUNKS | CHUNKS.map(fold) | TEXTS
    words = draw(st.lists(near | near.map('"{}"'.format), min_size=1, max_size=3))
    text = " ".join(words)
    try:
        return parse_query(text)
    except ValueError:
        assume(False)
        raise


def slowly_folded(text: str) -> str:
    return "".join(map(fold, clusters(text)))


def full_scan(messages: list[list[Form]], query: Query) -> dict[tuple[str, int], tuple[str, ...]]:
    found = {}
    for number, forms in enumerate(messages):
        for place, message in enumerate(stored(forms), start=1):
            text = slowly_folded(searched_text(message))
            words = tuple(word.text for word in query.words if re.search(word.pattern, text))
            if words:
                found[session_id(number), place] = words
    return found


@STEADY
@given(st.data(), st.lists(st.lists(MESSAGES, max_size=4), min_size=1, max_size=3))
def test_the_search_finds_exactly_what_a_full_scan_finds(data: st.DataObject, messages: list[list[Form]]) -> None:
    texts = [text for forms in messages for message in stored(forms) if (text := searched_text(message))]
    query = data.draw(queries(texts))
    expected = full_scan(messages, query)
    write = ESCAPED[data.draw(st.sampled_from(sorted(ESCAPED)))]
    contents = {session_id(number): write(document(number, forms)) for number, forms in enumerate(messages)}
    found = search_files(
        list(contents), query, path_of=lambda name: Path(f"{name}.json"), read=contents.__getitem__, limit=100
    )
    assert not found.unread
    assert {(hit.session_id, hit.number): hit.words for hit in found.hits} == expected
    assert found.matched == len(expected)


@pytest.mark.parametrize("write", ESCAPED.values(), ids=ESCAPED)
@pytest.mark.parametrize("query", ["donnees", '"base de données"', "log/slog", "ガソリン", "данные", 'sa"id', "🦊"])
def test_a_word_is_found_however_its_file_is_written(write: Any, query: str) -> None:
    text = 'La BASE\nde données\tdans log/slog, ｶﾞｿﾘﾝ, ДАННЫЕ, sa"id 🦊'
    content = write(document(1, [said("user", text), *[said("user", "nothing")] * 3]))
    found = search_files(
        [session_id(1)], parse_query(query), path_of=lambda name: Path(f"{name}.json"), read=lambda _: content
    )
    assert [(hit.number, hit.excerpt) for hit in found.hits] == [(1, text)]


@STEADY
@given(st.lists(TEXTS, min_size=1, max_size=4), st.data())
def test_folding_only_what_matters_finds_the_same_words(texts: list[str], data: st.DataObject) -> None:
    query = data.draw(queries(texts))
    slow = {
        place: words
        for place, text in enumerate(map(slowly_folded, texts))
        if (words := [number for number, word in enumerate(query.words) if re.search(word.pattern, text)])
    }
    assert dict(sorted(Matcher(query.words).words_in(texts).items())) == slow


@pytest.mark.parametrize("query", ["zorglub", "数据库", "данные", "base de données | database | storage"])
@pytest.mark.parametrize("text", ["plain", "“so” — … ✓ 🦊", "déjà vu, où ? naïf"])
def test_a_file_without_the_words_is_put_aside_without_being_decoded(query: str, text: str) -> None:
    words = parse_query(query).words
    assert Sieve(words, Matcher(words)).opened(as_written(document(1, [said("user", text)]))) is None
