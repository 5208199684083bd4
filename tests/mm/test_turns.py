"""A turn, its events, its saving points and its endings."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from maf_memory.errors import TurnUnderWay
from maf_memory.sessions.files import FileSessions
from mm.events import Outcome, PermissionWanted, Text
from mm.permission import Decision
from mm.watchdog import Silent, Watchdog
from tests.mm.brain import conversation_of, drawn, files, outline, spec_of, told


async def look() -> str:
    """Look."""
    return "found"


async def test_an_answer_arrives_in_pieces_and_is_recorded_beside_the_project(tmp_path: Path) -> None:
    conversation, _ = conversation_of(tmp_path, [{"stream": ["Hel", "lo"]}])
    assert outline(await drawn(conversation.ask("Hi"))) == ["text Hel", "text lo", "answered"]
    (file,) = files(tmp_path)
    record = json.loads(file.read_text(encoding="utf-8"))
    assert [message["role"] for message in record["messages"]] == ["system", "user", "assistant"]
    assert (record["title"], record["turns"], record["model"]) == ("Hi", 1, "scripted")


async def test_a_launch_without_a_question_leaves_no_trace(tmp_path: Path) -> None:
    conversation, _ = conversation_of(tmp_path, [])
    await conversation.keeper.sweep()
    assert not os.listdir(tmp_path)


async def test_with_sessions_off_nothing_is_written_and_the_conversation_goes_on(tmp_path: Path) -> None:
    conversation, client = conversation_of(tmp_path, ["one", "two"], sessions_enabled=False)
    await drawn(conversation.ask("a"))
    await drawn(conversation.ask("b"))
    assert [message.text for message in client.requests[1].messages] == ["a", "one", "b"]
    assert not os.listdir(tmp_path)


async def test_before_a_tool_runs_the_file_says_that_it_may_have_run(tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []

    async def spy() -> str:
        """Look at the file."""
        (file,) = files(tmp_path)
        seen.append(json.loads(file.read_text(encoding="utf-8")))
        return "done"

    conversation, _ = conversation_of(tmp_path, [{"calls": [{"name": "spy", "arguments": {}}]}, "ok"], spec_of(spy))
    events = outline(await drawn(conversation.ask("Go")))
    assert events == ["started spy {}", "finished done", "text ok", "answered"]
    messages = seen[0]["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool"]
    assert messages[-1]["contents"][0]["result"] == "interrupted; may have run"
    again = await FileSessions.of_project(tmp_path).load(conversation.keeper.record.id)
    assert again.messages[3].contents[0].result == "done", "the real result replaces it"
    assert len(again.messages) == 5


async def test_a_person_is_asked_and_always_holds_for_the_conversation_only(tmp_path: Path) -> None:
    call = {"calls": [{"name": "look", "arguments": {}}]}
    conversation, _ = conversation_of(tmp_path, [call, "1", call, "2", call, "3"], spec_of(look, asks=True))
    events = await drawn(conversation.ask("a"), Decision.ALWAYS)
    (wanted,) = [event for event in events if isinstance(event, PermissionWanted)]
    assert wanted.permission.preview == "would do {}"
    assert "permission" not in outline(await drawn(conversation.ask("b")))
    conversation.begin_anew()
    assert "permission" in outline(await drawn(conversation.ask("c"), Decision.ONCE))


async def test_a_refusal_is_told_to_the_model_and_nothing_runs(tmp_path: Path) -> None:
    ran = []

    async def remove() -> str:
        """Remove."""
        ran.append(1)
        return "removed"

    script = [{"calls": [{"name": "remove", "arguments": {}}]}, "As you like."]
    conversation, client = conversation_of(tmp_path, script, spec_of(remove, asks=True))
    events = outline(await drawn(conversation.ask("Go"), Decision.NO))
    assert events[2].startswith("unfinished Error: the person refused this call")
    assert events[-1] == "answered"
    assert not ran
    assert "refused" in str(client.requests[1].messages[-1].contents[0].result)


async def test_a_cancel_while_a_person_is_asked_says_that_nothing_ran(tmp_path: Path) -> None:
    conversation, _ = conversation_of(
        tmp_path, [{"calls": [{"name": "look", "arguments": {}}]}], spec_of(look, asks=True)
    )
    turn = conversation.ask("Go")
    async for event in turn:
        if isinstance(event, PermissionWanted):
            turn.cancel()
    assert turn.outcome is Outcome.CANCELLED
    assert told(conversation)[:3] == [
        "user Go",
        "call look",
        "result not run: the turn ended before anybody allowed it",
    ]
    assert told(conversation)[3].startswith("user [The turn broke off: it was interrupted.")


async def test_a_failure_before_anything_was_shown_leaves_its_question_only_in_the_error(tmp_path: Path) -> None:
    conversation, client = conversation_of(tmp_path, [{"error": "no such model sk-abcdefghijklmnopqrstuvwx1234"}, "hi"])
    events = outline(await drawn(conversation.ask("Which port?")))
    assert len(events) == 2
    assert events[0].startswith("error The question got no answer: no such model")
    assert "abcdefgh" not in events[0]
    assert events[1] == "failed"
    assert conversation.unanswered == "Which port?"
    (file,) = files(tmp_path)
    record = json.loads(file.read_text(encoding="utf-8"))
    (error,) = record["errors"]
    assert (error["kind"], error["question"], error["model"]) == ("generation", "Which port?", "scripted")
    assert f"error {error['line']}" == events[0], "what is recorded is what was shown"
    assert [message["role"] for message in record["messages"]] == ["system"]
    assert record["title"] == "Which port?"
    await drawn(conversation.ask("Again"))
    assert [message.text for message in client.requests[1].messages] == ["Again"]
    assert json.loads(file.read_text(encoding="utf-8"))["title"] == "Again"


async def test_a_failure_after_something_was_shown_keeps_it_closed_by_a_note(tmp_path: Path) -> None:
    conversation, _ = conversation_of(tmp_path, [{"stream": ["The port is ", {"error": "cut"}]}])
    assert (await drawn(conversation.ask("Which port?")))[-1].outcome is Outcome.FAILED
    assert told(conversation)[:2] == ["user Which port?", "assistant The port is "]
    assert "cut" in told(conversation)[2]
    again = await FileSessions.of_project(tmp_path).load(conversation.keeper.record.id)
    assert len(again.messages) == 4
    assert len(again.errors) == 1


async def test_a_cancel_is_no_error_and_before_anything_was_shown_leaves_nothing(tmp_path: Path) -> None:
    conversation, _ = conversation_of(tmp_path, [{"hang": True}, {"stream": ["half", {"hang": True}]}])
    turn = conversation.ask("One")
    await asyncio.sleep(0)
    turn.cancel()
    assert outline(await drawn(turn)) == ["cancelled"]
    assert files(tmp_path) == []
    assert conversation.unanswered == "One"
    turn = conversation.ask("Two")
    async for event in turn:
        if isinstance(event, Text):
            turn.cancel()
    again = await FileSessions.of_project(tmp_path).load(conversation.keeper.record.id)
    assert len(again.errors) == 0
    assert [message.role for message in again.messages] == ["system", "user", "assistant", "user"]


async def test_the_watchdog_gives_up_on_a_silent_model_and_rests_while_a_tool_runs(tmp_path: Path) -> None:
    async def slow() -> str:
        """Take longer than the watchdog waits."""
        await asyncio.sleep(0.5)
        return "done"

    script = [{"calls": [{"name": "slow", "arguments": {}}]}, {"hang": True}]
    conversation, _ = conversation_of(tmp_path, script, spec_of(slow), watchdog_timeout=0.3)
    events = outline(await drawn(conversation.ask("Go")))
    assert events[:2] == ["started slow {}", "finished done"]
    assert events[2] == "error The question got no answer: the model was silent for 0.3 s (watchdogTimeout)."
    assert events[3] == "failed"
    assert told(conversation)[2] == "result done"
    assert "the model was silent for 0.3 s" in told(conversation)[3]


async def test_a_malformed_call_is_told_to_the_model_which_is_asked_again(tmp_path: Path) -> None:
    script = [{"calls": [{"name": "no_such_tool", "arguments": {}}]}, "Then without."]
    conversation, client = conversation_of(tmp_path, script)
    events = outline(await drawn(conversation.ask("Go")))
    assert events[-2:] == ["text Then without.", "answered"]
    assert "no_such_tool" in client.requests[1].messages[-1].text
    note = conversation.keeper.messages[1]
    assert note.additional_properties == {"written_by": "mm", "kind": "note"}
    assert conversation.keeper.turns == 1, "the note is no question"


@pytest.mark.parametrize("arguments", ['{"a": ', "[1]", {"b": 1}])
async def test_arguments_that_do_not_fit_are_an_error_that_says_what_fits(tmp_path: Path, arguments: object) -> None:
    async def add(a: int) -> str:
        """Add."""
        return str(a)

    script = [{"calls": [{"name": "add", "arguments": arguments}]}, "ok"]
    conversation, client = conversation_of(tmp_path, script, spec_of(add))
    events = outline(await drawn(conversation.ask("Go")))
    assert events[-1] == "answered"
    result = client.requests[1].messages[-1].contents[0].result
    assert result.startswith("Error: Invalid arguments for 'add'")
    assert "Field required" in result


async def test_a_tool_that_raises_tells_the_model_why(tmp_path: Path) -> None:
    async def divide() -> str:
        """Divide."""
        raise ZeroDivisionError("by nothing")

    conversation, client = conversation_of(
        tmp_path, [{"calls": [{"name": "divide", "arguments": {}}]}, "ok"], spec_of(divide)
    )
    assert "unfinished Error: by nothing" in outline(await drawn(conversation.ask("Go")))
    assert client.requests[1].messages[-1].contents[0].result == "Error: by nothing"


async def test_a_model_that_never_makes_a_sound_call_is_given_up(tmp_path: Path) -> None:
    conversation, client = conversation_of(tmp_path, [{"calls": [{"name": "nope", "arguments": {}}]}] * 5)
    assert (await drawn(conversation.ask("Go")))[-1].outcome is Outcome.FAILED
    assert len(client.requests) == 3
    assert told(conversation) == []


async def test_a_second_question_before_the_answer_is_refused(tmp_path: Path) -> None:
    conversation, _ = conversation_of(tmp_path, [{"hang": True}])
    turn = conversation.ask("One")
    with pytest.raises(TurnUnderWay):
        conversation.ask("Two")
    with pytest.raises(TurnUnderWay):
        conversation.begin_anew()
    turn.cancel()
    assert await turn.ended() is Outcome.CANCELLED
    assert outline(await drawn(turn)) == ["cancelled"]
    assert conversation.unanswered == "One", "a question that is cancelled in the same breath can be recalled"


async def test_a_screen_that_dies_loses_no_turn(tmp_path: Path) -> None:
    conversation, _ = conversation_of(tmp_path, [{"stream": ["a", "b"]}])
    turn = conversation.ask("Go")
    async for _ in turn:
        break
    assert await turn.ended() is Outcome.ANSWERED
    assert told(conversation) == ["user Go", "assistant ab"]
    assert len(files(tmp_path)) == 1


async def test_after_a_conflict_the_conversation_goes_on_as_its_own_and_nothing_is_lost(tmp_path: Path) -> None:
    conversation, _ = conversation_of(tmp_path, ["1", "2", "3"])
    await drawn(conversation.ask("a"))
    other, _ = conversation_of(tmp_path, ["theirs"])
    await other.resume(conversation.keeper.record.id)
    await drawn(other.ask("b"))
    events = outline(await drawn(conversation.ask("c")))
    assert "This conversation goes on as" in events[1]
    await drawn(conversation.ask("d"))
    texts = [
        [message.text for message in (await FileSessions.of_project(tmp_path).load(file.stem)).messages[1:]]
        for file in files(tmp_path)
    ]
    assert sorted(texts) == [["a", "1", "b", "theirs"], ["a", "1", "c", "2", "d", "3"]]


async def test_a_question_without_tools_is_sent_without_them(tmp_path: Path) -> None:
    conversation, client = conversation_of(tmp_path, ["ok"], spec_of(look))
    await drawn(conversation.ask("Just say", tools=False))
    assert client.requests[0].options["tool_choice"] == "none"


async def test_calls_made_at_once_are_saved_one_after_the_other_in_one_file(tmp_path: Path) -> None:
    """Also at the first question, whose file is not there yet."""
    seen: list[int] = []

    async def watch() -> str:
        """Look at the file."""
        (file,) = files(tmp_path)
        record = json.loads(file.read_text(encoding="utf-8"))
        seen.append(
            sum(one["type"] == "function_call" for message in record["messages"] for one in message["contents"])
        )
        return "seen"

    script = [{"calls": [{"name": "watch", "arguments": {}} for _ in range(5)]}, "ok"]
    conversation, _ = conversation_of(tmp_path, script, spec_of(watch))
    events = outline(await drawn(conversation.ask("Go")))
    assert [event for event in events if event.startswith("error")] == []
    assert len(seen) == 5
    assert seen == sorted(seen)
    assert seen[-1] == 5
    assert len(files(tmp_path)) == 1


async def test_a_watched_work_has_ended_before_its_end_is_told_also_when_it_is_stopped_as_it_is_given_up() -> None:
    ended = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.05)  # as a client that closes its connection
            ended.append(True)

    watchdog = Watchdog(0.01)
    watching = asyncio.ensure_future(watchdog.watch(work()))
    while not watchdog.has_bitten:  # noqa: ASYNC110 - nothing tells when it bites
        await asyncio.sleep(0)
    watching.cancel()
    with pytest.raises((Silent, asyncio.CancelledError)):
        await watching
    assert ended
