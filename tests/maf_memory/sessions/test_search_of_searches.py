"""What an earlier search was given and brought is not found again: it holds all the words and nothing new."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_framework import Content, Message

from maf_memory.sessions import FileSessions, MemorySessions, SessionDirectory, SessionStorage
from maf_memory.sessions.searched import SEARCH_TOOL


@pytest.fixture(params=["files", "memory"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> SessionStorage:
    return FileSessions(tmp_path) if request.param == "files" else MemorySessions()


def call(tool: str, words: str, call_id: str = "c1") -> Message:
    return Message("assistant", [Content.from_function_call(call_id, tool, arguments={"words": words})])


def result(*texts: str, call_id: str = "c1") -> Message:
    ids = [call_id] if len(texts) == 1 else [f"c{number}" for number in range(1, len(texts) + 1)]
    return Message(
        "tool", [Content.from_function_result(one, result=text) for one, text in zip(ids, texts, strict=True)]
    )


async def found(storage: SessionStorage, *messages: Message) -> list[str]:
    """The excerpts that a search for «storage» finds in a conversation of these messages."""
    directory = SessionDirectory(storage)
    record = directory.new()
    record.messages = list(messages)
    await directory.keep(record)
    hits = await storage.search("storage")
    assert hits.matched == len(hits.hits)
    return [hit.excerpt for hit in hits.hits]


async def test_neither_the_call_of_a_search_nor_its_result_is_found(storage: SessionStorage) -> None:
    turn = [Message("user", ["Where?"]), call(SEARCH_TOOL, "storage"), result("the storage is SQLite")]
    assert await found(storage, *turn, Message("assistant", ["SQLite is the storage."])) == ["SQLite is the storage."]


async def test_another_tool_is_found_with_its_arguments_and_its_result(storage: SessionStorage) -> None:
    assert await found(storage, call("look", "storage"), result("a storage")) == ["a storage", "look(words: storage)"]


async def test_the_nearest_call_decides_where_a_server_gives_ids_again(storage: SessionStorage) -> None:
    turn = [call(SEARCH_TOOL, "x"), result("storage one"), call("look", "x"), result("storage two")]
    assert await found(storage, *turn, call(SEARCH_TOOL, "x"), result("storage three")) == ["storage two"]


async def test_a_message_that_holds_the_result_of_another_tool_too_is_found(storage: SessionStorage) -> None:
    calls = Message("assistant", [*call(SEARCH_TOOL, "x").contents, *call("look", "x", "c2").contents])
    assert await found(storage, calls, result("storage one", "storage two")) == ["storage one\nstorage two"]


async def test_a_result_without_its_call_is_found(storage: SessionStorage) -> None:
    assert await found(storage, Message("user", ["Where?"]), result("the storage")) == ["the storage"]
