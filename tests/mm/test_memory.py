"""Earlier conversations are found by words, by the model and by a person, without what the model already has."""

from __future__ import annotations

from pathlib import Path

import pytest

from maf_memory.chat.scripted import ScriptedChatClient
from maf_memory.sessions.found import Found
from maf_memory.sessions.searched import SEARCH_TOOL
from mm.conversation import Conversation
from mm.errors import SessionsDisabled
from mm.keeper import Keeper
from mm.memory import DESCRIPTION, NAME, NO_HIT, memory_tool, told
from tests.mm.brain import CONFIG, conversation_of, drawn, outline


async def remembered(project: Path) -> None:
    earlier, _ = conversation_of(project, ["On utilise log/slog.", "SQLite, for its single file."])
    await drawn(earlier.ask("Quel format pour les logs ?"))
    await drawn(earlier.ask("Where does the storage live?"))


def with_memory(project: Path, replies: list[object]) -> tuple[Conversation, ScriptedChatClient]:
    client = ScriptedChatClient(replies)
    keeper = Keeper(project, CONFIG)
    return Conversation(keeper, CONFIG, client, [memory_tool(keeper.search)]), client


async def test_the_model_finds_a_question_with_the_answer_on_which_its_turn_ended(tmp_path: Path) -> None:
    await remembered(tmp_path)
    call = {"calls": [{"name": "search_memory", "arguments": {"words": "format logs"}}]}
    conversation, client = with_memory(tmp_path, [call, "slog."])
    events = outline(await drawn(conversation.ask("What did we decide on logging?")))
    assert events[0] == "started search_memory format logs"
    result = client.requests[1].messages[-1].contents[0].result
    assert "the person: Quel format pour les logs ?" in result
    assert "answered: On utilise log/slog." in result
    assert "/resume 20" in result


async def test_alternatives_find_what_was_said_in_other_words(tmp_path: Path) -> None:
    await remembered(tmp_path)
    found = await Keeper(tmp_path, CONFIG).search("base de données | database | storage | SQLite")
    assert "SQLite, for its single file." in told(found)


async def test_what_the_model_has_in_this_conversation_is_left_out_also_after_a_resume(tmp_path: Path) -> None:
    await remembered(tmp_path)
    conversation, _ = conversation_of(tmp_path, [])
    (head,) = (await conversation.keeper.sessions()).heads
    assert (await conversation.keeper.search("SQLite")).hits
    await conversation.resume(head.id)
    assert not (await conversation.keeper.search("SQLite")).hits


async def test_the_question_and_the_calls_of_the_turn_under_way_are_not_found(tmp_path: Path) -> None:
    calls = [{"calls": [{"name": "search_memory", "arguments": {"words": words}}]} for words in ("kubernetes", "helm")]
    conversation, client = with_memory(tmp_path, [*calls, "Nothing."])
    await drawn(conversation.ask("Did we choose kubernetes, or helm?"))
    assert [request.messages[-1].contents[0].result for request in client.requests[1:]] == [NO_HIT, NO_HIT]


async def test_every_line_of_a_hit_stands_under_its_number(tmp_path: Path) -> None:
    earlier, _ = conversation_of(tmp_path, ["Deployment: rsync.\nBackups: restic."])
    await drawn(earlier.ask("How does it\nrun?"))
    lines = told(await Keeper(tmp_path, CONFIG).search("deployment backups it run")).split("\n")
    assert "   Backups: restic." in lines
    assert {line[:3] for line in lines} <= {"1. ", "2. ", "", "   "}


async def test_no_hit_invites_other_words_and_english(tmp_path: Path) -> None:
    await remembered(tmp_path)
    text = told(await Keeper(tmp_path, CONFIG).search("kubernetes"))
    assert text == NO_HIT
    assert "English" in text


async def test_a_query_without_words_is_an_error_that_the_model_can_read(tmp_path: Path) -> None:
    call = {"calls": [{"name": "search_memory", "arguments": {"words": " | "}}]}
    conversation, client = with_memory(tmp_path, [call, "ok"])
    await drawn(conversation.ask("x"))
    assert client.requests[1].messages[-1].contents[0].result.startswith("Error: ")


async def test_without_sessions_there_is_no_memory(tmp_path: Path) -> None:
    conversation, _ = conversation_of(tmp_path, [], sessions_enabled=False)
    with pytest.raises(SessionsDisabled, match=r"sessions\.enabled"):
        await conversation.keeper.search("x")


async def test_earlier_searches_do_not_hide_what_was_said(tmp_path: Path) -> None:
    await remembered(tmp_path)
    words = "base de données | database | storage | SQLite"
    for _ in range(3):
        conversation, _ = with_memory(
            tmp_path, [{"calls": [{"name": NAME, "arguments": {"words": words}}]}, "That one."]
        )
        await drawn(conversation.ask("Which one?"))
    text = told(await Keeper(tmp_path, CONFIG).search(words, limit=2))
    assert "SQLite, for its single file." in text
    assert NAME not in text
    assert NAME == SEARCH_TOOL


def test_the_description_asks_for_alternatives_and_the_other_language() -> None:
    assert "synonyms" in DESCRIPTION
    assert "other language" in DESCRIPTION
    assert told(Found((), 0, 0, ())) == NO_HIT
