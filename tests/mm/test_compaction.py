"""Compaction: a summary in the place of old turns, in memory and in the file; whatever fails changes nothing."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from agent_framework import Content, Message

from maf_memory.conversation import check_messages
from mm.compaction import HEADER, compacted, estimated_tokens
from mm.config import Compaction, Model
from mm.errors import CompactionFailed
from tests.mm.brain import CONFIG, conversation_of, drawn, files, outline, spec_of, told

TWO = Compaction(keep_turns=1)


async def look() -> str:
    """Look."""
    return "found"


async def short(text: str) -> str:
    assert text
    return "In short."


async def test_old_turns_become_a_summary_and_the_file_says_the_same_as_memory(tmp_path: Path) -> None:
    script = ["1", "2", "3", "They spoke of ports.", "4"]
    conversation, client = conversation_of(tmp_path, script, compaction=TWO)
    for question in ("First port?", "Second?", "Third?"):
        await drawn(conversation.ask(question))
    events = outline(await drawn(conversation.compact()))
    assert events == ["notice The conversation was compacted: 6 messages became 4.", "answered"]
    expected = [f"user {HEADER}\nThey spoke of ports.", "assistant Understood. I go on from this summary."]
    assert told(conversation) == [*expected, "user Third?", "assistant 3"]
    (file,) = files(tmp_path)
    record = json.loads(file.read_text(encoding="utf-8"))
    texts = [message["contents"][0]["text"] for message in record["messages"]][1:]
    assert texts == [line.split(" ", 1)[1] for line in told(conversation)]
    assert record["title"] == "First port?", "the title stays"
    assert record["messages"][1]["additional_properties"] == {"written_by": "mm", "kind": "summary"}
    await drawn(conversation.ask("Fourth?"))
    assert client.requests[-1].messages[0].text.endswith("They spoke of ports.")


async def test_the_summary_is_made_from_what_was_said_and_done(tmp_path: Path) -> None:
    script = [{"calls": [{"name": "look", "arguments": {}}]}, "1", "2", "S"]
    conversation, client = conversation_of(tmp_path, script, spec_of(look), compaction=TWO)
    await drawn(conversation.ask("a"))
    await drawn(conversation.ask("b"))
    await drawn(conversation.compact())
    asked = client.requests[-1].messages[-1].text
    assert "user: a\ntool call: look {}\ntool result: found\nassistant: 1" in asked
    assert "user: b" not in asked


@pytest.mark.parametrize("reply", [{"empty": True}, {"error": "the server is gone"}, {"text": " \n"}])
async def test_a_failed_or_empty_summary_changes_nothing_is_recorded_and_the_conversation_goes_on(
    tmp_path: Path, reply: Any
) -> None:
    conversation, _ = conversation_of(tmp_path, ["1", "2", reply, "3"], compaction=TWO)
    await drawn(conversation.ask("a"))
    await drawn(conversation.ask("b"))
    before = told(conversation)
    events = outline(await drawn(conversation.compact()))
    assert events[0].startswith("error ")
    assert events[1] == "failed"
    assert told(conversation) == before
    (file,) = files(tmp_path)
    record = json.loads(file.read_text(encoding="utf-8"))
    (error,) = record["errors"]
    assert error["kind"] == "compaction"
    assert len(record["messages"]) == 5
    assert outline(await drawn(conversation.ask("c"))) == ["text 3", "answered"]


async def test_a_cancelled_summary_changes_nothing_and_is_no_error(tmp_path: Path) -> None:
    conversation, client = conversation_of(tmp_path, ["1", "2", {"hang": True}], compaction=TWO)
    await drawn(conversation.ask("a"))
    await drawn(conversation.ask("b"))
    before = told(conversation), files(tmp_path)[0].read_bytes()
    turn = conversation.compact()
    while len(client.requests) < 3:  # noqa: ASYNC110 - the turn has no event before its end
        await asyncio.sleep(0)
    turn.cancel()
    assert outline(await drawn(turn)) == ["cancelled"]
    assert (told(conversation), files(tmp_path)[0].read_bytes()) == before


async def test_it_happens_by_itself_when_the_conversation_is_long(tmp_path: Path) -> None:
    small = Compaction(threshold=0.5, context_size=1_000, keep_turns=1)
    conversation, _ = conversation_of(tmp_path, ["1" * 2_200, "2", "S", "3"], compaction=small)
    await drawn(conversation.ask("a"))
    await drawn(conversation.ask("b"))
    events = outline(await drawn(conversation.ask("c")))
    assert events == ["notice The conversation was compacted: 4 messages became 4.", "text 3", "answered"]
    assert told(conversation)[0].endswith("\nS")


async def test_the_original_is_kept_when_it_is_wanted_marked_as_continued(tmp_path: Path) -> None:
    conversation, _ = conversation_of(tmp_path, ["1", "2", "S"], compaction=replace(TWO, keep_original=True))
    await drawn(conversation.ask("a"))
    await drawn(conversation.ask("b"))
    events = outline(await drawn(conversation.compact()))
    page = await conversation.keeper.sessions()
    (original,) = [head for head in page.heads if head.continued_in]
    assert events[0] == f"notice The conversation as it was is kept as {original.id}."
    assert original.continued_in == conversation.keeper.record.id
    assert original.turns == 2
    await conversation.keeper.delete(conversation.keeper.record.id)
    assert not files(tmp_path), "it is deleted together with its successor"


async def test_what_a_summary_leaves_out_is_told(tmp_path: Path) -> None:
    small = Compaction(context_size=1_000, keep_turns=0)
    conversation, _ = conversation_of(tmp_path, ["1" * 10_000, "S"], compaction=small)
    await drawn(conversation.ask("a"))
    events = outline(await drawn(conversation.compact()))
    assert events[0].startswith("notice The summary is made from the beginning and the end: 7,2")
    assert "compaction.contextSize" in events[0]
    assert events[-1] == "answered"


async def test_the_offline_stand_in_says_that_a_summary_needs_a_model(tmp_path: Path) -> None:
    conversation, _ = conversation_of(tmp_path, ["1"], config=replace(CONFIG, model=Model()))
    await drawn(conversation.ask("a"))
    assert outline(await drawn(conversation.compact()))[0].startswith("notice A summary needs a model")


async def test_a_call_is_never_parted_from_its_result() -> None:
    messages: list[Message] = []
    for turn in range(6):
        call = f"c{turn}"
        messages += [
            Message("user", [f"q{turn}"]),
            Message("assistant", [Content.from_function_call(call, "look", arguments="{}")]),
            Message("tool", [Content.from_function_result(call, result="x")]),
            Message("assistant", ["done"]),
        ]
    for keep in range(7):
        new = await compacted(messages, short, keep_turns=keep)
        if new is not None:
            check_messages([message.to_dict() for message in new])
            assert sum(message.text.startswith("q") for message in new) == keep


async def test_a_summary_alone_is_not_summarised_again() -> None:
    once = await compacted([Message("user", ["a"]), Message("assistant", ["b"])], short, keep_turns=0)
    assert once is not None
    assert await compacted(once, short, keep_turns=0) is None


async def test_a_conversation_that_is_longer_than_the_model_takes_can_still_be_summarised() -> None:
    asked = []

    async def summarise(text: str) -> str:
        asked.append(text)
        return "In short."

    messages = [Message("user", [f"first {'x' * 20_000}"]), Message("assistant", [f"{'y' * 20_000} last"])]
    left: list[int] = []
    assert await compacted(messages, summarise, keep_turns=0, context_size=1_000, left_out=left.append)
    assert len(asked[0]) < 4_000
    assert left[0] == pytest.approx(37_200, abs=100)
    assert "user: first xxx" in asked[0]
    assert "[…]" in asked[0]
    assert asked[0].endswith("yyy last")


async def test_an_empty_summary_is_refused() -> None:
    async def nothing(text: str) -> str:
        return text[:0] + "  "

    with pytest.raises(CompactionFailed, match="came back empty"):
        await compacted([Message("user", ["a"])], nothing, keep_turns=0)


def test_the_length_is_estimated_from_what_would_be_sent() -> None:
    assert estimated_tokens([Message("user", ["x" * 400])]) == pytest.approx(100, abs=5)
    output = Message("tool", [Content.from_function_result("c", result="x" * 20_000)])
    assert estimated_tokens([output]) == pytest.approx(5_000, abs=5), "a long output is sent whole"
    assert estimated_tokens([Message("user", [Content.from_data(b"x" * 1_000_000, "image/png")])]) == 1_000


async def test_what_a_question_and_its_instructions_take_counts_too(tmp_path: Path) -> None:
    small = Compaction(threshold=0.5, context_size=1_000, keep_turns=0)
    for question, instructions in (("x" * 2_100, "Be brief."), ("x", "y" * 2_100)):
        script = ["1", "S", "2"]
        conversation, _ = conversation_of(tmp_path, script, compaction=small, instructions=instructions)
        conversation.keeper.put([Message("user", ["a"]), Message("assistant", ["1"])])
        events = outline(await drawn(conversation.ask(question)))
        assert events[0].startswith("notice The conversation was compacted")
