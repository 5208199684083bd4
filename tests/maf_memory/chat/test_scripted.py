"""The scripted model does what its script says, and remembers what it was sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from agent_framework import Agent, AgentSession, Message
from agent_framework.exceptions import ChatClientException

from maf_memory.chat.scripted import ScriptedChatClient
from maf_memory.errors import ChatUnavailable

AgentFor = Callable[..., Agent]


def stored(session: AgentSession) -> list[Message]:
    return session.state.get("in_memory", {}).get("messages", [])


async def test_replies_come_in_their_order_streamed_or_whole(agent_for: AgentFor) -> None:
    agent = agent_for(ScriptedChatClient(["one", {"stream": ["tw", "o"]}, {"text": "three", "delay": 0}]))
    assert (await agent.run("a")).text == "one"
    assert [update.text async for update in agent.run("b", stream=True)] == ["tw", "o"]
    assert (await agent.run("c")).text == "three"


async def test_an_exhausted_script_says_how_many_replies_it_had(agent_for: AgentFor) -> None:
    agent = agent_for(ScriptedChatClient(["one"]))
    await agent.run("a")
    with pytest.raises(ChatClientException, match=r"^The script has no reply to request 2: its 1 reply is used\.$"):
        await agent.run("b")
    with pytest.raises(ChatClientException, match=r"no reply to request 1: its 0 replies are used\.$"):
        await agent_for(ScriptedChatClient([])).run("a")


async def test_an_error_comes_after_the_parts_before_it(agent_for: AgentFor) -> None:
    agent = agent_for(ScriptedChatClient([{"stream": ["half", {"error": "the connection was lost"}]}]))
    session = agent.create_session()
    seen: list[str] = []

    async def read() -> None:
        async for update in agent.run("a", stream=True, session=session):
            seen.append(update.text)  # noqa: PERF401 - a comprehension would lose what came before the error

    with pytest.raises(ChatClientException, match="the connection was lost"):
        await read()
    assert seen == ["half"]
    assert stored(session) == []


async def test_a_hang_ends_only_when_it_is_cancelled(agent_for: AgentFor) -> None:
    agent = agent_for(ScriptedChatClient([{"stream": ["half", {"hang": True}]}]))
    session = agent.create_session()
    shown = asyncio.Event()

    async def read() -> None:
        async for _ in agent.run("a", stream=True, session=session):
            shown.set()

    reading = asyncio.create_task(read())
    await shown.wait()
    done, _ = await asyncio.wait([reading], timeout=0.05)
    assert not done
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert stored(session) == []


async def test_an_empty_answer_has_no_content(agent_for: AgentFor) -> None:
    agent = agent_for(ScriptedChatClient([{"empty": True}]))
    assert [update async for update in agent.run("a", stream=True)] == []


async def test_tool_calls_run_and_the_next_reply_answers(agent_for: AgentFor) -> None:
    async def add(a: int, b: int) -> str:
        """Add two numbers."""
        await asyncio.sleep(0)
        return str(a + b)

    calls = [
        {"name": "add", "arguments": {"a": 1, "b": 2}},
        {"name": "add", "arguments": '{"a": 3, "b": 4}', "id": "x"},
    ]
    client = ScriptedChatClient([{"calls": calls}, "3 and 7"])
    agent = agent_for(client, tools=[add])
    session = agent.create_session()
    assert (await agent.run("a", stream=True, session=session).get_final_response()).text == "3 and 7"
    results = client.requests[1].messages[-1].contents
    assert [(content.call_id, content.result) for content in results] == [("call-1-1", "3"), ("x", "7")]
    assert [message.role for message in stored(session)] == ["user", "assistant", "tool", "assistant"]


async def test_answers_carry_ids_only_when_the_script_gives_them(agent_for: AgentFor) -> None:
    agent = agent_for(ScriptedChatClient(["one", {"stream": ["tw", "o"], "message_id": "m2"}]))
    session = agent.create_session()
    await agent.run("a", session=session)
    await agent.run("b", session=session)
    ids = [(message.text, message.message_id) for message in stored(session) if message.role == "assistant"]
    assert ids == [("one", None), ("two", "m2")]


async def test_without_ids_the_framework_takes_a_repeated_turn_for_a_replay(agent_for: AgentFor) -> None:
    """A script without ids really exercises the loss; ids on the questions alone prevent it."""
    agent = agent_for(ScriptedChatClient(["pong"] * 4))
    lost, kept = agent.create_session(), agent.create_session()
    for number in range(2):
        await agent.run("ping", session=lost)
        await agent.run([Message("user", ["ping"], message_id=str(number))], session=kept)
    assert len(stored(lost)) == 2
    assert len(stored(kept)) == 4


async def test_every_request_is_remembered_with_instructions_and_tools(agent_for: AgentFor) -> None:
    client = ScriptedChatClient(["one", "two"])
    agent = agent_for(client, context="module=Reporting")
    session = agent.create_session()
    await agent.run("a", session=session)
    await agent.run("b", session=session)
    assert [[message.role for message in request.messages] for request in client.requests] == [
        ["user", "user"],
        ["user", "assistant", "user", "user"],
    ]
    assert client.requests[0].options["instructions"] == "You are a support agent."


async def test_requests_are_recorded_beside_the_script_one_line_each(tmp_path: Path, agent_for: AgentFor) -> None:
    async def look(at: str) -> str:
        """Look at something."""
        return at

    script = tmp_path / "script.json"
    script.write_text('{"replies": ["one", "two"], "record": "requests.jsonl"}')
    for question in ("a\u2028b", "lone \ud800"):
        agent = agent_for(ScriptedChatClient.from_file(script), context="module=Reporting", tools=[look])
        await agent.run(question)
    lines = (tmp_path / "requests.jsonl").read_bytes().split(b"\n")
    assert lines.pop() == b""
    recorded = [json.loads(line) for line in lines]
    assert [request["messages"][-1]["contents"][0]["text"] for request in recorded] == ["a\u2028b", "lone \ud800"]
    assert recorded[0]["messages"][0]["additional_properties"]["_attribution"]["source_id"] == "agent_state"
    assert recorded[0]["options"]["tools"] == ["look"]


async def test_a_request_is_on_disk_before_its_reply_starts(tmp_path: Path, agent_for: AgentFor) -> None:
    record = tmp_path / "requests.jsonl"
    agent = agent_for(ScriptedChatClient([{"stream": ["half", {"hang": True}]}], record))
    stream = agent.run("a", stream=True)
    await anext(aiter(stream))
    assert record.read_bytes().count(b"\n") == 1


def test_a_record_that_cannot_be_written_is_refused_at_the_start(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('{"replies": [], "record": "no such folder/requests.jsonl"}')
    with pytest.raises(ChatUnavailable) as refused:
        ScriptedChatClient.from_file(script)
    record = tmp_path / "no such folder" / "requests.jsonl"
    assert str(refused.value) == f"The script {script} cannot record to {record}: No such file or directory."


def test_a_malformed_reply_is_named_to_the_programmer() -> None:
    with pytest.raises(ValueError, match=r"^reply 2: unknown key 'txt'"):
        ScriptedChatClient(["a", {"txt": "b"}])
