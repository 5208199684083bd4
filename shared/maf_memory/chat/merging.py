"""Merges user messages that follow one another, because some chat templates refuse two in a row.

The context goes out as a user message just before the question. Gemma's and some of Mistral's templates demand
strictly alternating roles and answer such a request with an error. Only what is sent changes: the stored
conversation keeps its messages.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from agent_framework import ChatMiddleware, Message

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from agent_framework import ChatContext


class OneUserMessage(ChatMiddleware):
    """Sends neighbouring user messages of plain text as one, in their order, with a blank line between them.

    The context stays quoted as it was and comes first. Neighbours with other content than text stay apart.
    """

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Replace the request's messages for this call only."""
        merged = []
        for message, sources in _merged(context.messages):
            merged.append(message)
            if len(sources) > 1:
                context.record_message_replacement(message, sources)
        context.messages = merged
        await call_next()


def _merged(messages: Sequence[Message]) -> Iterator[tuple[Message, list[Message]]]:
    for mergeable, group in groupby(messages, _is_user_text):
        sources = list(group)
        if mergeable and len(sources) > 1:
            yield Message("user", ["\n\n".join(source.text for source in sources)]), sources
        else:
            yield from ((source, [source]) for source in sources)


def _is_user_text(message: Message) -> bool:
    return message.role == "user" and all(content.type == "text" for content in message.contents)
