"""Neighbouring user messages go out as one; nothing else changes, and what is stored does not either."""

from __future__ import annotations

import logging

import pytest
from agent_framework import ChatContext, Content, Message

from maf_memory.chat.merging import OneUserMessage
from maf_memory.chat.scripted import ScriptedChatClient


async def sent(messages: list[Message]) -> list[Message]:
    context = ChatContext(ScriptedChatClient([]), messages, {})

    async def call_next() -> None:
        """Stands where the model would be asked."""

    await OneUserMessage().process(context, call_next)
    return list(context.messages)


async def test_user_messages_in_a_row_become_one_in_their_order() -> None:
    messages = [
        Message("user", ["a"]),
        Message("assistant", ["b"]),
        Message("user", ["c"]),
        Message("user", ["d", "e"]),
        Message("user", ["f"]),
    ]
    assert [(message.role, message.text) for message in await sent(messages)] == [
        ("user", "a"),
        ("assistant", "b"),
        ("user", "c\n\nd e\n\nf"),
    ]
    assert [message.text for message in messages] == ["a", "b", "c", "d e", "f"]


async def test_messages_that_already_alternate_are_sent_as_they_are() -> None:
    messages = [Message("system", ["s"]), Message("user", ["a"]), Message("assistant", ["b"]), Message("user", ["c"])]
    assert await sent(messages) == messages


async def test_other_neighbours_and_other_content_stay_apart() -> None:
    picture = Message("user", [Content.from_uri("https://models.example/a.png", media_type="image/png")])
    messages = [Message("assistant", ["a"]), Message("assistant", ["b"]), Message("user", ["c"]), picture]
    assert await sent(messages) == messages


async def test_a_run_through_the_middleware_warns_of_nothing(caplog: pytest.LogCaptureFixture) -> None:
    client = ScriptedChatClient(["one"])
    client.chat_middleware.append(OneUserMessage())
    messages = [Message("user", ["a"]), Message("user", ["b"])]
    with caplog.at_level(logging.WARNING):
        await client.get_response(messages, stream=True).get_final_response()
    assert [message.text for message in client.requests[0].messages] == ["a\n\nb"]
    assert [message.text for message in messages] == ["a", "b"]
    assert caplog.records == []
