"""Each call is put into words for a person, whatever its arguments are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mm.config import TOOL_NAMES
from tests.mm.tools.calling import put, tools_of


def test_the_tools_are_those_that_the_configuration_names_in_its_order(tmp_path: Path) -> None:
    assert tuple(tools_of(tmp_path)) == TOOL_NAMES
    assert list(tools_of(tmp_path, tools=("run_command", "read_file"))) == ["run_command", "read_file"]
    assert tools_of(tmp_path, tools=()) == {}


def test_writing_and_running_ask_and_reading_does_not(tmp_path: Path) -> None:
    tools = tools_of(tmp_path)
    assert {name for name, spec in tools.items() if spec.asks} == {"write_file", "edit_file", "run_command"}
    assert {name: spec.kind for name, spec in tools.items()} == {
        "read_file": "read",
        "list_files": "search",
        "search_text": "search",
        "write_file": "edit",
        "edit_file": "edit",
        "run_command": "execute",
    }
    assert {spec.function.approval_mode for spec in tools.values()} == {"never_require"}


def test_each_argument_is_described_in_plain_types(tmp_path: Path) -> None:
    for spec in tools_of(tmp_path).values():
        schema = spec.function.parameters()
        assert len(spec.function.description) < 400
        for name, field in schema["properties"].items():
            assert field["type"] in ("string", "integer", "boolean"), name
            assert len(field["description"]) < 120
        assert set(schema) <= {"type", "properties", "required"}
        json.dumps(schema)


TITLES: list[tuple[str, dict[str, Any], str]] = [
    ("read_file", {"path": "notes.md"}, "read_file notes.md"),
    ("read_file", {"path": "notes.md", "first": 1, "last": 20}, "read_file notes.md (lines 1-20)"),
    ("read_file", {"path": "notes.md", "first": 5}, "read_file notes.md (lines 5-end)"),
    ("list_files", {}, "list_files ."),
    ("list_files", {"path": "src", "pattern": "*.py"}, "list_files src (*.py)"),
    ("search_text", {"text": "a b", "path": "src"}, 'search_text "a b" in src'),
    ("search_text", {"text": "a+", "regex": True, "pattern": "*.py"}, "search_text /a+/ in . (*.py)"),
    ("write_file", {"path": "a.md", "content": "one\ntwo"}, "write_file a.md (2 lines)"),
    ("write_file", {"path": "a.md", "content": ""}, "write_file a.md (0 lines)"),
    ("edit_file", {"path": "a.md", "old": "a", "new": "b"}, "edit_file a.md"),
    ("run_command", {"command": "pytest -q"}, "run_command pytest -q"),
    ("run_command", {"command": "a\n\x1b[2Jb"}, "run_command a\\n\\x1b[2Jb"),
    ("run_command", {"command": "x" * 500}, "run_command " + "x" * 107 + "…"),
    ("read_file", {"path": 3}, "read_file with arguments that do not fit: {'path': 3}"),
    ("read_file", {}, "read_file with arguments that do not fit: {}"),
]


@pytest.mark.parametrize(("name", "arguments", "title"), TITLES)
def test_a_title_is_one_harmless_line(tmp_path: Path, name: str, arguments: dict[str, Any], title: str) -> None:
    assert tools_of(tmp_path)[name].title(arguments) == title


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("\ud800\x1b\n"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
NAMES = st.sampled_from(
    ["path", "first", "last", "pattern", "text", "regex", "content", "old", "new", "all", "command", "timeout", "x"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.sampled_from(TOOL_NAMES), st.dictionaries(NAMES, VALUES, max_size=5))
def test_any_arguments_get_a_title_and_a_preview(tmp_path: Path, name: str, arguments: dict[str, Any]) -> None:
    spec = tools_of(tmp_path)[name]
    title = spec.title(arguments)
    assert title.startswith(f"{name} ")
    assert title.isprintable()
    assert len(title) <= 120
    preview = spec.preview(arguments)
    preview.encode("utf-8")
    assert not any(character < " " and character not in "\n\t" for character in preview)


def test_a_preview_of_arguments_that_do_not_fit_says_so(tmp_path: Path) -> None:
    put(tmp_path, "a.txt", "a")
    shown = tools_of(tmp_path)["edit_file"].preview({"path": "a.txt", "old": ["a"]})
    assert shown.startswith("This call cannot be done: its arguments do not fit the tool.\n")
