"""MCP servers that an editor passes: real processes, whose tools a model calls, and what is said of the others."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import run
from typing import Any

import pytest
from acp.schema import HttpHeader, HttpMcpServer, SseMcpServer

from mm.acp.mcp_servers import McpServers, connected
from mm.config import TOOL_NAMES
from mm.events import PermissionWanted, ToolFinished
from mm.permission import Decision
from tests.consoles import environment
from tests.mm.acp.editors import allowing, editor, scripted
from tests.mm.acp.mcp_programs import HANGING, WELCOME, by_hand, server, with_tools
from tests.mm.brain import conversation_of, drawn, told
from tests.mm.tools.calling import call, is_gone, pid_in, until

LIMIT = 400
SECRET = "sk-verysecret-0123456789"


@asynccontextmanager
async def connecting(project: Path, *servers: Any, patience: float = 60.0) -> AsyncIterator[McpServers]:
    here = await connected(servers, project, LIMIT, patience=patience)
    try:
        yield here
    finally:
        await here.close()


def has_ended(project: Path, name: str) -> bool:
    """Whether a process that was there is no more."""
    pid = pid_in(project / f"{name}.pid")
    assert pid is not None
    return is_gone(pid)


def tools(here: McpServers) -> dict[str, Any]:
    return {spec.name: spec for spec in here.specs}


def test_a_session_without_servers_does_not_load_the_package(tmp_path: Path) -> None:
    program = (
        "import asyncio, pathlib, sys\n"
        "from mm.acp.mcp_servers import connected\n"
        "here = asyncio.run(connected((), pathlib.Path.cwd(), 400))\n"
        "asyncio.run(here.close())\n"
        "print(here.specs, here.refused, 'mcp' in sys.modules, 'acp' in sys.modules)\n"
    )
    ended = run([sys.executable, "-c", program], cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("[] [] False False\n", "")


def test_without_the_package_each_server_is_refused_with_the_command_that_installs_it(tmp_path: Path) -> None:
    program = (
        "import asyncio, pathlib, sys\n"
        "sys.modules['mcp'] = None\n"
        "from acp.schema import McpServerStdio\n"
        "from mm.acp.mcp_servers import connected\n"
        "given = [McpServerStdio(name=name, command='notes', args=[], env=[]) for name in 'ab']\n"
        "print(*asyncio.run(connected(given, pathlib.Path.cwd(), 400)).refused, sep='\\n')\n"
    )
    ended = run([sys.executable, "-c", program], cwd=tmp_path, env=environment(), capture_output=True, text=True)
    why = "is not connected: the package for it is not installed. Run pip install 'maf-memory[mcp]', and start mini-me"
    assert ended.stdout.splitlines() == [f"The MCP server {name} (notes) {why} again." for name in "ab"]
    assert ended.stderr == ""


async def test_a_model_calls_a_tool_after_a_person_allowed_it(tmp_path: Path) -> None:
    async with connecting(tmp_path, with_tools("sums")) as here:
        replies = [{"calls": [{"name": "sums_add", "arguments": {"first": 40, "second": 2}}]}, "42."]
        conversation, client = conversation_of(tmp_path, replies, *here.specs)
        events = await drawn(conversation.ask("40 + 2?"), Decision.ONCE)
    (asked,) = [event.permission for event in events if isinstance(event, PermissionWanted)]
    assert asked.title == "sums: add"
    assert asked.preview == (
        'sums: add\n{\n  "first": 40,\n  "second": 2\n}\n\n'
        "Runs in this MCP server, which can do whatever this user can, anywhere."
    )
    assert told(conversation)[-3:] == ["call sums_add", "result 42", "assistant 42."]
    (offered,) = [tool for tool in client.requests[0].options["tools"] if tool.name == "sums_add"]
    assert offered.description == "Add two numbers."
    assert offered.parameters()["required"] == ["first", "second"]


async def test_a_server_runs_in_the_project_with_its_variables_and_without_the_key_of_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    async with connecting(tmp_path, with_tools("here")) as here:
        assert await call(tools(here), "here_about") == f"here in {tmp_path} None"
        long = await call(tools(here), "here_about", length=5000)
        assert len(long) == LIMIT
        assert "were cut here. Ask for less, to see it." in long
        passed = await call(tools(here), "here_echo", session="a", options={"b": [1]})
        assert passed == "a {'b': [1]}"
        assert {(spec.kind, spec.asks) for spec in here.specs} == {("other", True)}
        (line,) = here.refused
        assert line == (
            f"The tool gateway of the MCP server here ({sys.executable}) is left out: the framework does not pass on "
            "an argument named tool_name."
        )


async def test_two_servers_with_the_same_tools_are_told_apart(tmp_path: Path) -> None:
    async with connecting(tmp_path, with_tools("my tools"), with_tools("my_tools")) as here:
        assert await call(tools(here), "my_tools_about") == f"my tools in {tmp_path} None"
        assert await call(tools(here), "my_tools_about_2") == f"my_tools in {tmp_path} None"
        assert tools(here)["my_tools_about_2"].title({}) == "my_tools: about"


async def test_names_are_ones_that_a_model_can_call(tmp_path: Path) -> None:
    long = "n" * 80
    odd = by_hand("日本\n", WELCOME, None, "a.b c", f"{long}1", f"{long}2")
    like_ours = by_hand("read", WELCOME, None, "file")
    async with connecting(tmp_path, odd, like_ours, by_hand(long, WELCOME, None, "x")) as here:
        names = [spec.name for spec in here.specs]
        titles = [spec.title({}) for spec in here.specs]
    assert names == ["mcp_a_b-c", f"mcp_{long[:60]}", f"mcp_{long[:58]}_2", "read_file_2", f"{long[:30]}_x"]
    assert "read_file" in TOOL_NAMES
    assert all(title.isprintable() for title in titles)


async def test_what_a_server_calls_an_error_begins_with_error(tmp_path: Path) -> None:
    said = {"result": {"content": [{"type": "text", "text": "no such note"}], "isError": True}}
    refused = {"error": {"code": -32602, "message": "which note?"}}
    image = {"result": {"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]}}
    given = [by_hand("a", WELCOME, said, "t"), by_hand("b", WELCOME, refused, "t"), by_hand("c", WELCOME, image, "t")]
    async with connecting(tmp_path, *given) as here:
        answers = [await call(tools(here), name) for name in ("a_t", "b_t", "c_t")]
    assert answers == ["Error: no such note", "Error: which note?", "[image/png, which is no text]"]


async def test_each_server_that_cannot_be_used_is_one_line_without_secrets_and_the_others_work(tmp_path: Path) -> None:
    header = HttpHeader(name="Authorization", value=SECRET)
    failing = {"error": {"code": -32001, "message": f"the key {SECRET} is wrong"}}
    given = [
        HttpMcpServer(type="http", name="web", url=f"https://example.org/{SECRET}", headers=[header]),
        SseMcpServer(type="sse", name="stream", url=f"https://example.org/{SECRET}", headers=[header]),
        server("missing", SECRET, command="/nowhere/x", KEY=SECRET),
        server("brief", "-c", f"'{SECRET}'", KEY=SECRET),
        by_hand("angry", failing),
        by_hand("odd", {"result": {"protocolVersion": SECRET}}),
        by_hand("good", WELCOME, {"result": {"content": [{"type": "text", "text": "yes"}]}}, "ask"),
        by_hand("good"),
    ]
    async with connecting(tmp_path, *given) as here:
        assert await call(tools(here), "good_ask") == "yes"
    shown = [line.replace(sys.executable, "python") for line in here.refused]
    assert [line.removeprefix("The MCP server ").removesuffix(" in the editor's settings.") for line in shown] == [
        "web is not connected: mini-me connects servers over stdio, and this one is reached over http.",
        "stream is not connected: mini-me connects servers over stdio, and this one is reached over sse.",
        "missing (/nowhere/x) is not connected: its command cannot be started (No such file or directory). Correct it",
        "brief (python) is not connected: it ended before it had answered. What it wrote is in the log of mini-me.",
        "angry (python) is not connected: it answered with an error (code -32001).",
        "odd (python) is not connected: it does not keep to the protocol (ValidationError).",
        "good (python) is not connected: another one has the same name. Rename one of them",
    ]


async def test_servers_that_hang_cost_one_patience_together_and_are_ended_with_their_children(tmp_path: Path) -> None:
    import mm.acp.mcp_server  # noqa: F401 - loading it is not what is measured

    begun = asyncio.get_running_loop().time()
    given = [server(name, "-c", HANGING, NAME=name) for name in ("one", "two", "three")]
    here = await connected(given, tmp_path, LIMIT, patience=2)
    assert asyncio.get_running_loop().time() - begun < 5
    assert [line.rpartition(": ")[2] for line in here.refused] == ["it did not answer within 2 s."] * 3
    await here.close()
    assert all(has_ended(tmp_path, name) for name in ("one", "two", "three", "child of one"))


async def test_a_server_that_dies_fails_its_calls_and_the_conversation_goes_on(tmp_path: Path) -> None:
    async with connecting(tmp_path, with_tools("weak"), with_tools("strong")) as here:
        calls = [{"name": "weak_die"}, {"name": "weak_add", "arguments": {"first": 1, "second": 1}}]
        calls.append({"name": "strong_add", "arguments": {"first": 1, "second": 1}})
        replies = [*({"calls": [one]} for one in calls), "Done.", "Still here."]
        conversation, _ = conversation_of(tmp_path, replies, *here.specs)
        events = await drawn(conversation.ask("Go"), Decision.ONCE)
        await drawn(conversation.ask("And now?"))
    gone = "Error: the MCP server weak has ended. Go on without it; it starts again when the person opens the session"
    outputs = [event.output for event in events if isinstance(event, ToolFinished)]
    assert outputs == [f"{gone} again.", f"{gone} again.", "2"]
    assert told(conversation)[-1] == "assistant Still here."


async def test_a_call_that_is_cancelled_leaves_the_server_at_work(tmp_path: Path) -> None:
    async with connecting(tmp_path, with_tools("slow")) as here:
        waiting = asyncio.create_task(call(tools(here), "slow_wait"))
        await until(lambda: pid_in(tmp_path / "waiting.pid"))
        waiting.cancel()
        await asyncio.wait([waiting])
        assert waiting.cancelled()
        assert await call(tools(here), "slow_add", first=1, second=2) == "3"


async def test_closing_ends_the_processes_once_from_whichever_task(tmp_path: Path) -> None:
    here = await connected([with_tools("one"), with_tools("two")], tmp_path, LIMIT, patience=60)
    waiting = asyncio.create_task(call(tools(here), "one_wait"))
    await until(lambda: pid_in(tmp_path / "waiting.pid"))
    await asyncio.gather(*(asyncio.create_task(here.close()) for _ in range(3)))
    await here.close()
    assert has_ended(tmp_path, "one")
    assert has_ended(tmp_path, "two")
    assert (await waiting).startswith("Error: the MCP server one has ended.")
    assert (await call(tools(here), "two_add", first=1, second=2)).startswith("Error: the MCP server two has ended.")


async def test_an_opening_that_is_cancelled_leaves_no_process(tmp_path: Path) -> None:
    given = [with_tools("ready"), server("hanging", "-c", HANGING, NAME="hanging")]
    opening = asyncio.create_task(connected(given, tmp_path, LIMIT, patience=60))
    await until(lambda: pid_in(tmp_path / "ready.pid") and pid_in(tmp_path / "hanging.pid"))
    opening.cancel()
    await asyncio.wait([opening])
    assert opening.cancelled()
    assert all(has_ended(tmp_path, name) for name in ("ready", "hanging", "child of hanging"))


async def test_what_a_preview_shows_commands_no_terminal(tmp_path: Path) -> None:
    async with connecting(tmp_path, by_hand("a", WELCOME, None, "t")) as here:
        shown = tools(here)["a_t"].preview({"text": "é\n\x1b[2J\u202e", "more": json.loads('"\\ud800"')})
    assert shown.split("\n")[1:5] == ["{", '  "text": "é\\n\\u001b[2J\\u202e",', '  "more": "\\ud800"', "}"]


def test_an_editor_sees_the_call_and_the_refusal_and_its_end_ends_the_servers(tmp_path: Path) -> None:
    project = tmp_path / "project"
    summed = {"calls": [{"name": "sums_add", "arguments": {"first": 40, "second": 2}}]}
    scripted(project, summed, "It is 42.")
    given = [with_tools("sums").model_dump(), server("missing", command="/nowhere/x").model_dump()]
    with editor(project) as one:
        one.decide = allowing()
        session = one.new(mcpServers=given)
        assert one.prompt(session, "40 + 2?") == "end_turn"
        assert one.text().endswith("It is 42.")
        shown = json.dumps(one.seen)
        assert "The MCP server missing (/nowhere/x) is not connected: its command cannot be started" in shown
        assert '"title": "sums: add"' in shown
        assert one.leave() == 0
    assert has_ended(project, "sums")
