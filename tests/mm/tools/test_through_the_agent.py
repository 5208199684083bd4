"""Each tool works where it is used: called by a model, asked for by a person, in a conversation that is kept."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from mm.config import TOOL_NAMES, Config
from mm.events import PermissionWanted, ToolFinished
from mm.permission import Decision
from mm.tools import project_tools
from tests.mm.brain import conversation_of, drawn, files, told
from tests.mm.tools.calling import is_gone, pid_in, put, until

CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("read_file", {"path": "notes.md"}, "[notes.md, 2 lines]\none\ntwo"),
    ("list_files", {"pattern": "*.md"}, "[1 file matches *.md in the project folder]\nnotes.md"),
    ("search_text", {"text": "two"}, "[1 line in 1 file of the project folder]\nnotes.md:2: two"),
    ("write_file", {"path": "new.md", "content": "new\n"}, "new.md is written: a new file of 4 bytes."),
    ("edit_file", {"path": "notes.md", "old": "two", "new": "2"}, "notes.md is changed: +1 -1 lines."),
    ("run_command", {"command": "cat notes.md | head -1"}, "exit status 0\none\n"),
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    put(tmp_path, "notes.md", "one\ntwo\n")
    return tmp_path


@pytest.mark.parametrize(("name", "arguments", "result"), CALLS)
async def test_a_model_calls_the_tool_and_gets_its_result(
    project: Path, name: str, arguments: dict[str, Any], result: str
) -> None:
    replies = [{"calls": [{"name": name, "arguments": arguments}]}, "done"]
    conversation, client = conversation_of(project, replies, *project_tools(project, Config()))
    events = await drawn(conversation.ask("Do it"), Decision.ONCE)
    asked = [event for event in events if isinstance(event, PermissionWanted)]
    assert bool(asked) == (name in ("write_file", "edit_file", "run_command"))
    assert [event.output for event in events if isinstance(event, ToolFinished)] == [result]
    assert told(conversation)[-3:] == [f"call {name}", f"result {result}", "assistant done"]
    assert {tool.name for tool in client.requests[0].options["tools"]} == set(TOOL_NAMES)
    (file,) = files(project)
    assert result in json.loads(file.read_text(encoding="utf-8"))["messages"][-2]["contents"][0]["result"]


async def test_a_failure_reaches_the_model_as_text(project: Path) -> None:
    replies = [{"calls": [{"name": "read_file", "arguments": {"path": "../x"}}]}, "done"]
    conversation, client = conversation_of(project, replies, *project_tools(project, Config()))
    (finished,) = [event for event in await drawn(conversation.ask("Go")) if isinstance(event, ToolFinished)]
    assert not finished.succeeded
    assert client.requests[1].messages[-1].contents[0].result == (
        "Error: ../x is outside the project folder. Only files inside it can be used."
    )


@pytest.mark.parametrize("arguments", [{}, {"path": 3}, {"path": "a", "first": "x"}])
async def test_arguments_that_do_not_fit_are_told_to_the_model(project: Path, arguments: dict[str, Any]) -> None:
    replies = [{"calls": [{"name": "read_file", "arguments": arguments}]}, "done"]
    conversation, client = conversation_of(project, replies, *project_tools(project, Config()))
    await drawn(conversation.ask("Go"))
    result = client.requests[1].messages[-1].contents[0].result
    assert result.startswith("Error: Invalid arguments for 'read_file'")
    assert next(iter({"path", "first"} & set(result.replace("\\n", " ").split())))


async def test_nothing_is_written_without_permission(project: Path) -> None:
    replies = [{"calls": [{"name": "edit_file", "arguments": {"path": "notes.md", "old": "one", "new": "1"}}]}, "ok"]
    conversation, _ = conversation_of(project, replies, *project_tools(project, Config()))
    events = await drawn(conversation.ask("Go"), Decision.NO)
    (asked,) = [event for event in events if isinstance(event, PermissionWanted)]
    assert "-one\n+1\n two" in asked.permission.preview
    assert (project / "notes.md").read_text(encoding="utf-8") == "one\ntwo\n"


async def test_what_decides_what_the_agent_may_do_is_asked_for_each_time(project: Path) -> None:
    """An "always" for writing is none for the hooks and tools that agent.yaml allows from the next start on."""
    write = [
        {"calls": [{"name": "write_file", "arguments": {"path": path, "content": f"{content}\n"}}]}
        for path, content in [("a", "1"), ("b", "2"), ("agent.yaml", "name: x"), ("./agent.yaml", "name: y")]
    ]
    conversation, _ = conversation_of(project, [*write, "ok"], *project_tools(project, Config()))
    events = await drawn(conversation.ask("Go"), Decision.ALWAYS)
    asked = [event.permission.arguments["path"] for event in events if isinstance(event, PermissionWanted)]
    assert asked == ["a", "agent.yaml", "./agent.yaml"]
    assert (project / "agent.yaml").read_text(encoding="utf-8") == "name: y\n"


async def test_a_file_that_changes_while_the_person_decides_is_not_written(project: Path) -> None:
    replies = [{"calls": [{"name": "edit_file", "arguments": {"path": "notes.md", "old": "one", "new": "1"}}]}, "ok"]
    conversation, _ = conversation_of(project, replies, *project_tools(project, Config()))
    turn = conversation.ask("Go")
    outputs = []
    async for event in turn:
        if isinstance(event, PermissionWanted):
            put(project, "notes.md", "one\nmine\n")
            event.permission.answer(Decision.ONCE)
        if isinstance(event, ToolFinished):
            outputs.append(event.output)
    assert outputs[0].startswith("Error: notes.md is not written: the file changed since")
    assert (project / "notes.md").read_text(encoding="utf-8") == "one\nmine\n"


async def test_edits_that_a_model_makes_at_once_are_all_made(project: Path) -> None:
    edits = [{"path": "notes.md", "old": "one", "new": "1"}, {"path": "notes.md", "old": "two", "new": "2"}]
    replies = [{"calls": [{"name": "edit_file", "arguments": edit} for edit in edits]}, "ok"]
    conversation, _ = conversation_of(project, replies, *project_tools(project, Config()))
    await drawn(conversation.ask("Go"), Decision.ONCE)
    assert (project / "notes.md").read_text(encoding="utf-8") == "1\n2\n"


async def test_a_turn_that_is_stopped_leaves_no_process(project: Path) -> None:
    command = "sh -c 'sleep 600 & echo $! > pid; wait' | cat"
    replies = [{"calls": [{"name": "run_command", "arguments": {"command": command}}]}]
    conversation, _ = conversation_of(project, replies, *project_tools(project, Config()))
    turn = conversation.ask("Go")
    drawing = asyncio.ensure_future(drawn(turn, Decision.ONCE))
    await until(lambda: pid_in(project / "pid"))
    turn.cancel()
    await drawing
    assert is_gone(pid_in(project / "pid") or 0)
