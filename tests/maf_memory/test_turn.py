"""A turn that brings an answer is recorded whole; one that does not leaves the session as it was."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from agent_framework import Agent, AgentSession, ContextProvider, InMemoryHistoryProvider, tool

from maf_memory.chat.scripted import ScriptedChatClient
from maf_memory.checkpoint import history_of
from maf_memory.errors import EmptyAnswer, TurnFailed, TurnUnderWay
from maf_memory.snapshot import SnapshotStore
from maf_memory.turn import ask


def agent_of(client: ScriptedChatClient, *, tools: Any = None, providers: Any = ()) -> Agent:
    return Agent(client, "Answer.", tools=tools, context_providers=[InMemoryHistoryProvider(), *providers])


def texts_of(session: AgentSession) -> list[str]:
    return [message.text for message in history_of(session)]


async def test_an_answer_is_shown_piece_by_piece_and_recorded_with_its_question() -> None:
    session, shown = AgentSession(), []
    answer = await ask(
        agent_of(ScriptedChatClient([{"stream": ["It is ", "Reporting."]}])), session, "Which?", on_text=shown.append
    )
    assert shown == ["It is ", "Reporting."]
    assert (answer.text, answer.added) == ("It is Reporting.", 2)
    assert texts_of(session) == ["Which?", "It is Reporting."]


async def test_the_same_turn_five_times_leaves_ten_messages_each_with_an_id_of_its_own() -> None:
    agent, session = agent_of(ScriptedChatClient(["pong"] * 5)), AgentSession()
    for _ in range(5):
        await ask(agent, session, "ping")
    ids = [message.message_id for message in history_of(session)]
    assert texts_of(session) == ["ping", "pong"] * 5
    assert None not in ids
    assert len(set(ids)) == 10


@pytest.mark.parametrize(
    "reply",
    [
        {"error": "the model is gone"},
        {"stream": ["half an ans", {"error": "the line was cut"}]},
        {"empty": True},
        {"text": " \n\t"},
    ],
    ids=["refused", "cut", "empty", "blank"],
)
async def test_a_turn_without_an_answer_leaves_the_session_exactly_as_it_was(reply: Any) -> None:
    client = ScriptedChatClient(["Noted.", reply, "Later."])
    agent, session = agent_of(client), AgentSession()
    await ask(agent, session, "module=Reporting")
    session.state["mine"] = {"counted": [1, 2]}
    before = session.to_dict()

    with pytest.raises(TurnFailed, match="The conversation is as it was before the question"):
        await ask(agent, session, "Which module?")
    assert session.to_dict() == before

    await ask(agent, session, "And now?")
    sent = [message.text for message in client.requests[-1].messages]
    assert sent == ["module=Reporting", "Noted.", "And now?"]


async def test_a_failure_is_one_line_and_keeps_its_cause() -> None:
    with pytest.raises(TurnFailed) as caught:
        await ask(agent_of(ScriptedChatClient([{"error": "first line\nsecond line"}])), AgentSession(), "Hello")
    assert str(caught.value) == (
        "The question got no answer: first line. The conversation is as it was before the question."
    )
    assert caught.value.__cause__ is not None


async def test_an_empty_answer_has_its_own_error() -> None:
    with pytest.raises(EmptyAnswer, match="empty answer"):
        await ask(agent_of(ScriptedChatClient([{"empty": True}])), AgentSession(), "Hello")


async def test_a_cancelled_turn_is_raised_as_cancelled_and_leaves_the_session_as_it_was() -> None:
    agent, session = agent_of(ScriptedChatClient(["Noted.", {"stream": ["half", {"hang": True}]}])), AgentSession()
    await ask(agent, session, "module=Reporting")
    before, seen = session.to_dict(), asyncio.Event()

    task = asyncio.create_task(ask(agent, session, "Which?", on_text=lambda _: seen.set()))
    await seen.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert session.to_dict() == before


class Restless(ContextProvider):
    """Changes its part of the state before every run, as providers may."""

    async def before_run(self, *, state: dict[str, Any], **_: Any) -> None:
        state["runs"] = state.get("runs", 0) + 1
        state.setdefault("seen", []).append("before")


async def test_what_a_provider_changed_before_a_failed_run_is_taken_back_too() -> None:
    client = ScriptedChatClient(["one", {"error": "no"}])
    agent, session = agent_of(client, providers=[Restless("restless")]), AgentSession()
    await ask(agent, session, "first")
    with pytest.raises(TurnFailed):
        await ask(agent, session, "second")
    assert session.state["restless"] == {"runs": 1, "seen": ["before"]}


async def test_a_screen_that_fails_is_not_taken_for_a_failing_model() -> None:
    def broken(_: str) -> None:
        raise BrokenPipeError("nobody reads")

    session = AgentSession()
    with pytest.raises(BrokenPipeError, match="nobody reads"):
        await ask(agent_of(ScriptedChatClient(["Hello."])), session, "Hello", on_text=broken)
    assert texts_of(session) == []


async def test_lone_surrogates_become_replacement_characters_on_both_sides() -> None:
    client, session, shown = ScriptedChatClient(["an\udcffswer"]), AgentSession(), []
    await ask(agent_of(client), session, "que\ud800stion", on_text=shown.append)
    assert texts_of(session) == ["que�stion", "an�swer"]
    assert shown == ["an�swer"]


async def test_a_tool_that_returns_a_lone_surrogate_does_not_make_the_session_unsaveable() -> None:
    @tool
    async def look() -> str:
        """Look."""
        return "found \ud800"

    client, session = ScriptedChatClient([{"calls": [{"name": "look", "arguments": {}}]}, "Done."]), AgentSession()
    await ask(agent_of(client, tools=[look]), session, "Look")
    session_text = str(session.to_dict())
    assert "found �" in session_text
    session_text.encode("utf-8")


async def test_tools_that_run_before_silence_are_an_empty_answer() -> None:
    ran: list[str] = []

    @tool
    async def look() -> str:
        """Look."""
        ran.append("look")
        return "found"

    client = ScriptedChatClient([{"calls": [{"name": "look", "arguments": {}}]}, {"empty": True}])
    session = AgentSession()
    with pytest.raises(EmptyAnswer):
        await ask(agent_of(client, tools=[look]), session, "Look")
    assert ran == ["look"]
    assert texts_of(session) == []


async def test_a_request_for_approval_is_an_ending_and_not_an_empty_answer() -> None:
    @tool(approval_mode="always_require")
    async def erase() -> str:
        """Erase."""
        raise AssertionError("nobody approved")

    client, session = ScriptedChatClient([{"calls": [{"name": "erase", "arguments": {}}]}]), AgentSession()
    answer = await ask(agent_of(client, tools=[erase]), session, "Erase it")
    kinds = [content.type for message in history_of(session) for content in message.contents]
    assert answer.text == ""
    assert "function_approval_request" in kinds


async def test_a_second_question_before_the_answer_is_refused_and_loses_nothing() -> None:
    client = ScriptedChatClient([{"stream": ["one", {"delay": 0.05}, " answer"]}, "two"])
    agent, session, begun = agent_of(client), AgentSession(), asyncio.Event()
    first = asyncio.create_task(ask(agent, session, "one?", on_text=lambda _: begun.set()))
    await begun.wait()
    with pytest.raises(TurnUnderWay):
        await ask(agent, session, "two?")
    await first
    assert texts_of(session) == ["one?", "one answer"]
    await ask(agent, session, "two?")
    assert texts_of(session)[2:] == ["two?", "two"]


@pytest.mark.parametrize("blank", ["", " \t\n"])
async def test_a_blank_question_is_the_caller_s_mistake_and_is_not_sent(blank: str) -> None:
    client = ScriptedChatClient([])
    with pytest.raises(ValueError, match="a question is needed"):
        await ask(agent_of(client), AgentSession(), blank)
    assert client.requests == []


async def test_a_call_of_a_tool_that_is_not_there_is_no_answer_and_is_not_kept(tmp_path: Path) -> None:
    client = ScriptedChatClient(["Noted.", {"calls": [{"name": "add", "arguments": {"a": 1}}]}, "Later."])
    agent, session = agent_of(client), AgentSession()
    await ask(agent, session, "module=Reporting")
    before = session.to_dict()
    with pytest.raises(TurnFailed, match="calls the tool 'add' and no result follows"):
        await ask(agent, session, "Add one")
    assert session.to_dict() == before
    await ask(agent, session, "And now?")
    await SnapshotStore(tmp_path / "session.json", instruction_version="1").save(session)
