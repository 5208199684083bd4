"""The ending that keeps what was done: the question, the calls with their results, the text so far, and a note."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from agent_framework import Agent, AgentSession, InMemoryHistoryProvider, tool

from maf_memory.chat.scripted import ScriptedChatClient
from maf_memory.checkpoint import history_of
from maf_memory.errors import TurnFailed
from maf_memory.kept import INTERRUPTED, KeepWhatWasDone
from maf_memory.snapshot import SnapshotStore
from maf_memory.turn import ask


def agent_of(replies: list[Any], *tools: Any) -> Agent:
    client = ScriptedChatClient(replies)
    return Agent(client, "Answer.", tools=list(tools), context_providers=[InMemoryHistoryProvider()])


def calls(*names: str) -> dict[str, Any]:
    return {"calls": [{"name": name, "arguments": {}, "id": f"call-{name}"} for name in names]}


def outline(session: AgentSession) -> list[tuple[str, str, str]]:
    """Role, kind and text of every content."""
    return [
        (message.role, content.type, str(content.result if content.type == "function_result" else content.text or ""))
        for message in history_of(session)
        for content in message.contents
    ]


@tool
async def look() -> str:
    """Look."""
    return "found"


async def test_a_failure_before_anything_was_shown_or_done_leaves_no_trace() -> None:
    session = AgentSession()
    with pytest.raises(TurnFailed, match="The conversation is as it was"):
        await ask(agent_of([{"error": "no"}]), session, "Hello", ending=KeepWhatWasDone())
    assert outline(session) == []


async def test_the_text_so_far_stays_and_is_closed_by_a_note_that_says_who_wrote_it() -> None:
    session = AgentSession()
    reply = {"stream": ["The port ", "is", {"error": "the line was cut"}]}
    with pytest.raises(TurnFailed, match="What was done until then is kept"):
        await ask(agent_of([reply]), session, "Which port?", ending=KeepWhatWasDone(written_by="mm"))
    question, text, note = history_of(session)
    assert (question.text, text.text) == ("Which port?", "The port is")
    assert note.role == "user"
    assert "the line was cut" in note.text
    assert note.additional_properties == {"written_by": "mm", "kind": "note"}
    assert len({message.message_id for message in (question, text, note)} - {None}) == 3


async def test_a_call_that_ran_keeps_its_result_when_the_model_fails_afterwards() -> None:
    session = AgentSession()
    with pytest.raises(TurnFailed):
        await ask(agent_of([calls("look"), {"error": "no"}], look), session, "Look", ending=KeepWhatWasDone())
    assert outline(session)[:3] == [
        ("user", "text", "Look"),
        ("assistant", "function_call", ""),
        ("tool", "function_result", "found"),
    ]


async def test_of_two_parallel_calls_the_finished_one_keeps_its_result_and_the_running_one_may_have_run() -> None:
    session = AgentSession()

    @tool
    async def quick() -> str:
        """Finish at once."""
        return "quick result"

    @tool
    async def slow() -> str:
        """Never finish."""
        await asyncio.Event().wait()
        return "never"

    agent, ending = agent_of([calls("quick", "slow")], quick, slow), KeepWhatWasDone()
    task = asyncio.create_task(ask(agent, session, "Both", ending=ending))
    while ending._calls.unanswered.get("call-quick", INTERRUPTED) == INTERRUPTED:  # noqa: ASYNC110 - the framework offers nothing to wait for
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    results = [text for _, kind, text in outline(session) if kind == "function_result"]
    assert sorted(results) == sorted(["quick result", INTERRUPTED])
    assert "it was interrupted" in history_of(session)[-1].text


async def test_a_call_that_never_started_is_dropped() -> None:
    session = AgentSession()
    half = {"stream": ["Let me look. ", {"calls": [{"name": "look", "arguments": '{"pa'}]}, {"error": "cut"}]}
    with pytest.raises(TurnFailed):
        await ask(agent_of([half], look), session, "Look", ending=KeepWhatWasDone())
    assert [kind for _, kind, _ in outline(session)] == ["text", "text", "text"]


@pytest.mark.parametrize("name", ["nowhere", "exactly"])
async def test_a_call_that_the_framework_answered_itself_stays_with_its_result(name: str) -> None:
    """As of a tool that is not there, or of arguments that do not fit: no result may stand without its call."""

    @tool
    async def exactly(count: int) -> str:
        """Take a number."""
        return str(count)

    session = AgentSession()
    with pytest.raises(TurnFailed):
        await ask(agent_of([calls(name), {"error": "no"}], exactly), session, "Go", ending=KeepWhatWasDone())
    assert [kind for _, kind, _ in outline(session)] == ["text", "function_call", "function_result", "text"]
    assert outline(session)[2][2].startswith("Error")


async def test_ids_that_a_server_gives_again_belong_to_the_nearest_call() -> None:
    """Each answer of some servers begins to count anew: the second call is another one than the first."""
    ending = KeepWhatWasDone()
    seen: list[list[str]] = []
    session = AgentSession()

    @tool
    async def watch() -> str:
        """Look at what would be saved now."""
        seen.append([str(one.result) for message in ending.so_far() for one in message.contents if one.result])
        return f"result {len(seen)}"

    replies = [calls("watch"), calls("watch"), {"error": "no"}]
    with pytest.raises(TurnFailed):
        await ask(agent_of(replies, watch), session, "Look", ending=ending)
    assert seen == [[INTERRUPTED], ["result 1", INTERRUPTED]]
    assert [text for _, kind, text in outline(session) if kind == "function_result"] == ["result 1", "result 2"]


async def test_of_calls_with_one_id_the_first_one_is_kept_so_that_the_conversation_can_be_saved(tmp_path: Path) -> None:
    ending = KeepWhatWasDone()
    session = AgentSession()
    kinds: list[list[str]] = []

    @tool
    async def watch() -> str:
        """Look at what would be saved now."""
        kinds.append([one.type for message in ending.so_far() for one in message.contents])
        return "seen"

    with pytest.raises(TurnFailed, match="repeats the id"):
        await ask(agent_of([calls("watch", "watch"), "Done."], watch), session, "Look", ending=ending)
    assert kinds[0] == ["function_call", "function_result"]
    assert [text for _, kind, text in outline(session) if kind != "function_call"][:3] == ["Look", "seen", "Done."]
    await SnapshotStore(tmp_path / "session.json", instruction_version="1").save(session)


async def test_a_call_with_an_id_from_before_that_never_started_is_dropped() -> None:
    session = AgentSession()
    half = {"stream": [calls("look"), {"error": "cut in the midst of the arguments"}]}
    with pytest.raises(TurnFailed):
        await ask(agent_of([calls("look"), half], look), session, "Look", ending=KeepWhatWasDone())
    assert [kind for _, kind, _ in outline(session)] == ["text", "function_call", "function_result", "text"]


async def test_what_is_kept_can_be_saved_and_loaded_and_is_sent_with_the_next_question(tmp_path: Path) -> None:
    store = SnapshotStore(tmp_path / "session.json", instruction_version="1")
    session = AgentSession()
    with pytest.raises(TurnFailed):
        await ask(agent_of([calls("look"), {"error": "no"}], look), session, "Look", ending=KeepWhatWasDone())
    await store.save(session)

    loaded = await SnapshotStore(store.path, instruction_version="1").load()
    assert loaded is not None
    agent = agent_of(["It was found."], look)
    await ask(agent, loaded, "And?", ending=KeepWhatWasDone())
    sent = agent.client.requests[0].messages
    assert [message.role for message in sent] == ["user", "assistant", "tool", "user", "user"]


async def test_a_turn_with_an_answer_is_recorded_as_ever() -> None:
    session = AgentSession()
    await ask(agent_of([calls("look"), "Found it."], look), session, "Look", ending=KeepWhatWasDone())
    assert [kind for _, kind, _ in outline(session)] == ["text", "function_call", "function_result", "text"]


async def test_an_ending_that_served_one_turn_is_not_taken_for_another() -> None:
    ending, session = KeepWhatWasDone(), AgentSession()
    await ask(agent_of(["one"]), session, "one?", ending=ending)
    with pytest.raises(RuntimeError, match="for one turn"):
        await ask(agent_of(["two"]), session, "two?", ending=ending)
    assert [kind for _, kind, _ in outline(session)] == ["text", "text"]
