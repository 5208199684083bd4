"""A text is found wherever it still stands under the root, whatever its JSON escaping, with file and line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maf_memory.trace import BLIND, Place, folded, holds, trace

LAYERS = [
    pytest.param(lambda text: text, id="as it stands"),
    pytest.param(lambda text: json.dumps(text, ensure_ascii=False), id="as JSON"),
    pytest.param(json.dumps, id="as ASCII JSON"),
    pytest.param(lambda text: json.dumps(json.dumps({"arguments": text})), id="as JSON inside JSON"),
    pytest.param(lambda text: json.dumps(text).replace("/", "\\/"), id="with escaped slashes"),
    pytest.param(lambda text: json.dumps(text).upper().replace("\\U", "\\u"), id="in capitals"),
    pytest.param(lambda text: '{"cut": ' + json.dumps(text), id="in a cut file"),
]


@pytest.mark.parametrize("write", LAYERS)
@pytest.mark.parametrize("text", ["module=Reporting", "Zürich", 'a "quoted" \\ path', "a/b", "🦊 fox", "日本語"])
def test_a_text_is_found_under_every_escaping(tmp_path: Path, write: object, text: str) -> None:
    assert callable(write)
    (tmp_path / "file.json").write_text(f"first line\n{write(text)}\n", encoding="utf-8")
    assert trace(tmp_path, text) == ([Place(tmp_path / "file.json", 2)], [])


def test_composition_and_case_make_no_difference(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("ZU\u0308RICH", encoding="utf-8")
    assert trace(tmp_path, "zürich")[0] == [Place(tmp_path / "a", 1)]


def test_every_file_counts_also_a_temporary_one_and_another_program_s(tmp_path: Path) -> None:
    for name in ("demo130/agent-state.json", "demo140/.session.json.0123456789abcdef.tmp", "notes.txt", "a/b/c"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("nothing\nthe canary\n\nthe canary again")
    places, unread = trace(tmp_path, "canary")
    assert [(place.path.name, place.line) for place in places] == [
        (name, line)
        for name in ("c", "agent-state.json", ".session.json.0123456789abcdef.tmp", "notes.txt")
        for line in (2, 4)
    ]
    assert unread == []


def test_bytes_that_are_not_text_are_searched_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00canary\x00\n")
    assert trace(tmp_path, "canary")[0] == [Place(tmp_path / "binary", 1)]


def test_a_missing_root_holds_nothing(tmp_path: Path) -> None:
    assert trace(tmp_path / "missing", "canary") == ([], [])


def test_a_blank_text_is_refused_because_it_stands_everywhere(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="text to look for"):
        trace(tmp_path, "  ")


@pytest.mark.skipif(os.name != "posix", reason="makes a link and a pipe as POSIX has them")
def test_a_link_and_a_pipe_are_named_and_not_read(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("canary")
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(outside)
    os.mkfifo(root / "pipe")
    places, unread = trace(root, "canary")
    assert places == []
    assert [(found.path.name, found.why) for found in unread] == [
        ("link", "a link, which is not followed"),
        ("pipe", "not a regular file"),
    ]


def test_what_it_cannot_see_is_said() -> None:
    said = " ".join(BLIND)
    for word in ("provider", "backups", "freed pages"):
        assert word in said


@settings(deadline=None, derandomize=True)
@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1), st.integers(0, 3))
def test_any_text_is_found_under_up_to_three_layers(text: str, layers: int) -> None:
    line = text
    for _ in range(layers):
        line = json.dumps(line)
    assert holds(line, folded(text))
