"""Failures: one line, redacted before it is shown, recorded beside the conversation and never read by the model."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from maf_memory.errors import MafMemoryError, UnknownSession
from maf_memory.sessions.journal import MAXIMUM_RECORDS
from mm.config import Compaction, Model
from mm.conversation import Conversation
from mm.events import Notice, Outcome
from mm.keeper import Keeper
from tests.mm.brain import CONFIG, conversation_of, drawn, files, outline, spec_of, told

KEY = "hunter-two-and-a-half"
FULL = "/dev/full"


async def look() -> str:
    """Look."""
    return "found"


def recorded(project: Path) -> dict[str, Any]:
    (file,) = files(project)
    record: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return record


def with_key(project: Path, replies: list[Any]) -> Conversation:
    """A conversation that knows a key, as the program does that read it from the environment."""
    made, client = conversation_of(project, replies)
    return Conversation(made.keeper, CONFIG, client, [], secrets=(KEY,))


async def test_the_models_key_is_taken_out_before_the_line_is_shown_and_out_of_the_raw_error(tmp_path: Path) -> None:
    conversation = with_key(tmp_path, [{"error": f"401 for {KEY} and sk-abcdefghijklmnopqrstuvwx1234"}])
    events = outline(await drawn(conversation.ask(f"Is {KEY} right?\nIt should be.")))
    assert KEY not in events[0]
    assert "sk-abcdefgh" not in events[0]
    (error,) = recorded(tmp_path)["errors"]
    assert events[0] == f"error {error['line']}"
    assert KEY not in json.dumps(error)
    assert error["question"].startswith("Is ")
    assert "should" not in error["question"], "its first line"


@pytest.mark.skipif(os.name != "posix", reason="modes")
async def test_a_line_is_redacted_also_where_its_record_cannot_be_saved(tmp_path: Path) -> None:
    conversation = with_key(tmp_path, [{"error": f"401 for {KEY}"}, "back"])
    (tmp_path / ".mm").write_text("a file where the folder should be", encoding="utf-8")
    events = outline(await drawn(conversation.ask("Q")))
    assert events[0].startswith("error The question got no answer: 401 for ")
    assert KEY not in "".join(events)
    assert events[1].startswith("error "), "that it could not be saved is told, too"
    assert events[2] == "failed"
    (tmp_path / ".mm").unlink()
    await drawn(conversation.ask("R"))
    assert len(recorded(tmp_path)["errors"]) == 1, "and the record is written with the next save"


async def test_a_failed_resume_is_written_with_the_first_question(tmp_path: Path) -> None:
    conversation, client = conversation_of(tmp_path, ["hi"])
    with pytest.raises(UnknownSession) as caught:
        await conversation.resume("1999")
    assert files(tmp_path) == []
    await drawn(conversation.ask("Hello"))
    (error,) = recorded(tmp_path)["errors"]
    assert (error["kind"], error["turns"], error["question"]) == ("resume", 0, "")
    assert error["line"] == str(caught.value)
    assert "1999" not in str([message.to_dict() for message in client.requests[0].messages])


async def test_a_failed_resume_is_written_at_once_beside_a_conversation_that_has_a_file(tmp_path: Path) -> None:
    conversation, _ = conversation_of(tmp_path, ["hi"])
    await drawn(conversation.ask("Hello"))
    with pytest.raises(MafMemoryError, match="No session") as caught:
        await conversation.resume("sk-abcdefghijklmnopqrstuvwx1234")
    (error,) = recorded(tmp_path)["errors"]
    assert "sk-abcdefgh" not in error["line"]
    assert error["line"] == str(caught.value), "what is shown is what was recorded"
    assert told(conversation) == ["user Hello", "assistant hi"], "the conversation goes on as it was"


async def test_a_summary_that_fails_by_itself_names_the_question_that_waited_which_is_then_answered(
    tmp_path: Path,
) -> None:
    small = Compaction(threshold=0.5, context_size=1_000, keep_turns=1)
    conversation, _ = conversation_of(tmp_path, ["1" * 2_200, "2", {"empty": True}, "3"], compaction=small)
    await drawn(conversation.ask("a"))
    await drawn(conversation.ask("b"))
    events = outline(await drawn(conversation.ask("Which port?\nI forgot.")))
    assert events[0].startswith("error The summary came back empty.")
    assert events[1:] == ["text 3", "answered"]
    (error,) = recorded(tmp_path)["errors"]
    assert (error["kind"], error["question"], error["turns"]) == ("compaction", "Which port?", 2)


async def test_a_long_conversation_of_few_turns_is_not_nagged_about(tmp_path: Path) -> None:
    small = Compaction(threshold=0.5, context_size=1_000, keep_turns=5)
    conversation, _ = conversation_of(tmp_path, ["1" * 2_200, "2"], compaction=small)
    await drawn(conversation.ask("a"))
    assert outline(await drawn(conversation.ask("b"))) == ["text 2", "answered"]


async def test_a_threshold_that_is_off_or_not_reached_compacts_nothing(tmp_path: Path) -> None:
    for compaction in (Compaction(None, 1_000, keep_turns=0), Compaction(0.5, 1_000, keep_turns=0)):
        replies = ["1" * 1_900, "2"]
        conversation, client = conversation_of(tmp_path, replies, compaction=compaction, instructions="Be brief.")
        await drawn(conversation.ask("a"))
        assert outline(await drawn(conversation.ask("b"))) == ["text 2", "answered"]
        assert len(client.requests) == 2


async def test_a_compaction_leaves_the_errors_whole_and_the_model_never_reads_them(tmp_path: Path) -> None:
    script = ["1", {"error": "the server is gone"}, "2", "S", "3"]
    conversation, client = conversation_of(tmp_path, script, compaction=Compaction(keep_turns=1))
    for question in ("a", "b", "c"):
        await drawn(conversation.ask(question))
    before = recorded(tmp_path)["errors"]
    await drawn(conversation.compact())
    await drawn(conversation.ask("d"))
    assert recorded(tmp_path)["errors"] == before
    assert len(before) == 1
    assert not any("server is gone" in message.text for request in client.requests for message in request.messages)


async def test_of_two_hundred_and_one_failures_the_oldest_is_gone(tmp_path: Path) -> None:
    conversation, _ = conversation_of(tmp_path, [{"error": "gone"}] * (MAXIMUM_RECORDS + 1))
    for number in range(MAXIMUM_RECORDS + 1):
        await drawn(conversation.ask(f"question {number}"))
    errors = recorded(tmp_path)["errors"]
    assert len(errors) == MAXIMUM_RECORDS
    assert (errors[0]["question"], errors[-1]["question"]) == ("question 1", f"question {MAXIMUM_RECORDS}")


async def test_a_failed_answer_that_kept_something_is_no_question_without_a_trace(tmp_path: Path) -> None:
    conversation, _ = conversation_of(tmp_path, [{"stream": ["Half ", {"error": "cut"}]}])
    assert outline(await drawn(conversation.ask("Q")))[-1] == "failed"
    assert conversation.unanswered is None


async def test_what_a_first_try_had_done_is_saved_when_the_second_one_is_stopped(tmp_path: Path) -> None:
    script = [{"stream": ["I look.", {"calls": [{"name": "nope", "arguments": {}}]}]}, {"hang": True}]
    conversation, client = conversation_of(tmp_path, script)
    turn = conversation.ask("Go")
    async for event in turn:
        if isinstance(event, Notice):
            while len(client.requests) < 2:  # noqa: ASYNC110 - the second try has no event yet
                await asyncio.sleep(0)
            turn.cancel()
    assert turn.outcome is Outcome.CANCELLED
    assert told(conversation)[:2] == ["user Go", "assistant I look."]
    again = Keeper(tmp_path, CONFIG)
    await again.resume(conversation.keeper.record.id)
    assert [message.text for message in again.messages] == [message.text for message in conversation.keeper.messages]
    assert conversation.unanswered is None


async def test_a_model_that_calls_an_unknown_tool_beside_others_without_end_is_given_up(tmp_path: Path) -> None:
    call = {"calls": [{"name": "nope", "arguments": {}}]}
    conversation, client = conversation_of(tmp_path, [call] * 60, spec_of(look))
    events = outline(await drawn(conversation.ask("Go")))
    assert events[-1] in ("failed", "answered")
    assert len(client.requests) < 15


async def test_with_sessions_off_no_failure_summary_or_block_writes_anything(tmp_path: Path) -> None:
    config = replace(
        CONFIG, sessions_enabled=False, compaction=Compaction(keep_original=True, keep_turns=0), model=Model("openai")
    )
    conversation, _ = conversation_of(tmp_path, ["1", {"error": "gone"}, "S", "2"], config=config)
    await drawn(conversation.ask("a"))
    await drawn(conversation.ask("b"))
    assert outline(await drawn(conversation.compact()))[-1] == "answered"
    await drawn(conversation.ask("c"))
    with pytest.raises(MafMemoryError, match=r"sessions\.enabled"):
        await conversation.resume("x")
    assert not os.listdir(tmp_path)
