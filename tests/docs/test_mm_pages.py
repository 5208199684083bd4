"""The pages of mini-me name every key with its default, every event, ending and limit; their lines are played."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from mm.agent_yaml import ALL_KEYS, read_config
from mm.attachments import IMAGES, MAXIMUM_IMAGE, MAXIMUM_TEXT
from mm.config import DEFAULT_INSTRUCTIONS, TOOL_NAMES, Config, Hook
from mm.events import (
    ErrorShown,
    Event,
    Notice,
    Outcome,
    PermissionWanted,
    Text,
    ToolFinished,
    ToolKind,
    ToolStarted,
    TurnEnded,
)
from mm.hooks import _FIELDS, MAXIMUM_OUTPUT, run_hooks
from mm.line.drawing import Json, as_json
from mm.line.one_turn import STATUS
from mm.permission import Decision, Permission
from mm.terminal.commands import KEYS
from mm.terminal.pasting import LONG_LINES, LONG_TEXT
from tests.mm.brain import conversation_of, drawn, files, spec_of, told

from .terminal_page import ROOT

USE = (ROOT / "docs" / "mm.md").read_text(encoding="utf-8")
CONFIGURATION = (ROOT / "docs" / "mm-configuration.md").read_text(encoding="utf-8")
PROSE = " ".join(f"{USE}{CONFIGURATION}".split())
"""Both pages without regard to where their lines break."""


def _rows(page: str, *heading: str) -> list[list[str]]:
    """The rows of the table whose first heading cells these are."""
    after = page.split(f"\n| {' | '.join(heading)} |", 1)[1].split("\n\n", 1)[0]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in after.split("\n")[2:]]


def _code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def _read(tmp_path: Path, text: str) -> Config:
    (tmp_path / "agent.yaml").write_text(text, encoding="utf-8")
    return replace(read_config(tmp_path), source=None)


def test_the_table_of_keys_is_complete_and_in_the_order_of_the_file() -> None:
    assert [_code(row[0])[0] for row in _rows(CONFIGURATION, "key")] == list(ALL_KEYS)


@pytest.mark.parametrize("row", _rows(CONFIGURATION, "key"), ids=lambda row: row[0].strip("`"))
def test_the_default_of_a_key_is_what_stands_in_the_table(row: list[str], tmp_path: Path) -> None:
    key, default = _code(row[0])[0], row[1]
    written = {
        "instructions": DEFAULT_INSTRUCTIONS,
        "tools": f"[{', '.join(TOOL_NAMES)}]",
        "none": None,
    }.get(key if key in {"instructions", "tools"} else default, default.strip("`"))
    if written is None:
        assert (
            getattr(Config().model, {"baseURL": "base_url"}.get(key.partition(".")[2], key.partition(".")[2])) is None
        )
        return
    outer, _, inner = key.partition(".")
    assert _read(tmp_path, f"{outer}: {{{inner}: {written}}}\n" if inner else f"{outer}: {written}\n") == Config()


def test_the_page_quotes_the_default_instructions_and_names_the_tools() -> None:
    quoted = " ".join(line.removeprefix("> ") for line in CONFIGURATION.split("\n") if line.startswith("> "))
    assert quoted == DEFAULT_INSTRUCTIONS
    (tools,) = [row[2] for row in _rows(CONFIGURATION, "key") if row[0] == "`tools`"]
    assert _code(tools) == list(TOOL_NAMES)


@pytest.mark.parametrize("example", re.findall(r"```yaml\n(.*?)```", CONFIGURATION, re.DOTALL))
def test_an_example_of_a_configuration_can_be_read(example: str, tmp_path: Path) -> None:
    assert _read(tmp_path, example) != Config()


async def test_a_hook_gets_the_fields_of_the_table_and_may_answer_with_those_of_the_other(tmp_path: Path) -> None:
    hook = Hook(
        (sys.executable, "-c", "import json, sys; print(json.dumps({'block': ' '.join(json.load(sys.stdin))}))")
    )
    blocked = (await run_hooks([hook], "x", project=tmp_path, session_id="y")).blocked or ""
    assert [_code(row[0])[0] for row in _rows(CONFIGURATION, "field", "what it is")] == blocked.split()
    assert {_code(row[0])[0] for row in _rows(CONFIGURATION, "field", "what it does")} == _FIELDS
    assert f"more than {MAXIMUM_OUTPUT // 1024} KB" in PROSE
    assert f"({Hook(()).timeout:g} s unless set)" in PROSE


async def test_the_table_of_events_has_each_with_its_fields() -> None:
    permission = Permission("c1", "t", "t x", {}, "would do x")
    samples: list[Event] = [
        Text("x"),
        ToolStarted("c1", "t", "read", "t x", {}),
        PermissionWanted(permission),
        ToolFinished("c1", "x", succeeded=True),
        Notice("x"),
        ErrorShown("x"),
        TurnEnded(Outcome.ANSWERED),
    ]
    assert {type(one) for one in samples} == set(get_args(Event))
    written = [_written(one) for one in samples]
    assert {_code(name)[0]: _code(fields) for name, fields in _rows(USE, "`event`")} == {
        one["event"]: [name for name in one if name != "event"] for one in written
    }
    kinds = ", ".join(get_args(ToolKind)[:-1])
    assert f"`kind` is one of {kinds} and {get_args(ToolKind)[-1]};" in PROSE


def _written(event: Event) -> Mapping[str, Any]:
    import io
    import json

    lines = io.StringIO()
    Json(lines).draw(event)
    written: dict[str, Any] = json.loads(lines.getvalue())
    assert written.items() >= as_json(event).items()
    return written


def test_the_table_of_exit_statuses_has_every_outcome() -> None:
    told_of = {_code(outcome)[0]: int(status) for status, outcome, _ in _rows(USE, "exit status") if outcome}
    assert told_of == {outcome.value: status for outcome, status in STATUS.items()}


def test_the_table_of_keys_has_those_that_the_help_names() -> None:
    assert [row[0] for row in _rows(USE, "key")] == [key for key, _ in KEYS]


def test_the_limits_of_what_is_attached_and_pasted_are_on_the_page() -> None:
    assert f"Text up to {MAXIMUM_TEXT // 1024} KB" in PROSE
    assert f"up to {MAXIMUM_IMAGE // 1024**2} MB" in PROSE
    (names,) = re.findall(r"images \(([\w, ]+)\)", PROSE)
    assert {f"image/{name.lower()}" for name in names.split(", ")} == IMAGES
    assert f"A paste of {LONG_LINES} lines or {LONG_TEXT:,} characters" in PROSE


async def test_what_compact_and_new_do_is_what_the_table_says(tmp_path: Path) -> None:
    """Each row of the table in turn; the rows are counted, so that a new one needs its lines here."""
    assert len(_rows(USE, "what", "`/compact`", "`/new`")) == 8

    async def touch() -> str:
        return "done"

    call = {"calls": [{"name": "touch", "arguments": {}}]}
    replies = [call, "One.", {"error": "down"}, "Two.", "Three.", "The summary.", call, "Four.", call, "Five."]
    conversation, client = conversation_of(tmp_path, replies, spec_of(touch, asks=True))
    await drawn(conversation.ask("First"), Decision.ALWAYS)
    for question in ("Lost", "Second", "Third"):
        await drawn(conversation.ask(question))
    (file,) = files(tmp_path)
    before = file.read_text(encoding="utf-8")
    await drawn(conversation.compact())
    after = file.read_text(encoding="utf-8")
    assert '"First"' in before.split('"messages"')[1]
    assert '"First"' not in after.split('"messages"')[1].split('"errors"')[0]
    assert told(conversation)[2:] == ["user Second", "assistant Two.", "user Third", "assistant Three."]
    assert conversation.keeper.record.title == "First"
    assert len(conversation.keeper.record.errors) == 1
    await drawn(conversation.ask("Fourth"))  # nobody answers: it is allowed still
    assert "The summary." in client.requests[-1].messages[0].text

    kept = file.read_bytes()
    conversation.begin_anew()
    await drawn(conversation.ask("Fifth"), Decision.NO)
    assert file.read_bytes() == kept
    assert len(files(tmp_path)) == 2
    assert told(conversation)[0] == "user Fifth"
    assert "refused this call" in told(conversation)[2]
    assert conversation.keeper.record.title == "Fifth"
    assert len(conversation.keeper.record.errors) == 0
    (hit,) = (await conversation.keeper.search("summary")).hits
    assert hit.kind == "summary"
