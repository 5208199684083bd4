"""The offline stand-in: no model, no network, no memory; it quotes what it was sent, and names the support.

It is a teaching instrument. What it can answer is exactly what the program handed over with the question, so
its answers show which support a program's memory has: the unverified context, an earlier message, or nothing.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from agent_framework import ChatResponseUpdate, Content

from maf_memory.chat.local import LocalChatClient
from maf_memory.chat.quoting import WantedWords, is_question, passages
from maf_memory.providers import SOURCE_ID, read_context_message

if TYPE_CHECKING:
    from agent_framework import Message

OFFLINE_AUTHOR = "offline"
"""The author of the stand-in's answers: by this mark, never by their wording, it knows not to quote itself."""

PASSAGES_QUOTED = 5
"""The most passages in one answer."""

_CHUNK = re.compile(r"\s*\S+\s*")


class OfflineChatClient(LocalChatClient):
    """Answers a question with the passages, among the messages of this request, that share a content word with it.

    Each passage comes with its source: ``the unverified context``, ``message n of this conversation``, counted from 1
    over the stored conversation, or ``what came with this question``, a file for example. It says so when nothing it
    was sent speaks of the question, and acknowledges a statement. It keeps nothing between two requests.
    """

    OTEL_PROVIDER_NAME: ClassVar[str] = "offline"

    async def answer(
        self,
        messages: Sequence[Message],
        options: Mapping[str, Any],  # noqa: ARG002 - part of the promise
    ) -> AsyncIterator[ChatResponseUpdate]:
        """Yield the answer word by word."""
        for chunk in _CHUNK.findall(offline_answer(messages)):
            yield ChatResponseUpdate(role="assistant", contents=[Content.from_text(chunk)], author_name=OFFLINE_AUTHOR)
            await asyncio.sleep(0)  # a cancelled turn ends between two words


def offline_answer(messages: Sequence[Message]) -> str:
    """Return what the stand-in says to the last message of a request.

    ``messages`` are as the framework sends them: history and context attributed to their providers, the
    question without an attribution.
    """
    sent = _Sent.read(messages)
    if sent.question is None:
        return "I was sent no question."
    if not any(map(is_question, passages(sent.question))):
        return f"Noted. It is now message {len(sent.conversation) + 1} of this conversation."
    wanted = WantedWords(sent.question)
    if not wanted.words:
        return "This question has only common words, so there is nothing to look for."
    found = list(_find(wanted, sent))
    if not found:
        return f"No word of your question is in what I was sent: {sent.extent()}."
    # The best are quoted: most shared words, then the context, then the latest. They are shown as they stand.
    best = sorted(found, key=lambda quote: (-quote.shared, quote.number > 0, -quote.number))[:PASSAGES_QUOTED]
    lines = [quote.line(wanted) for quote in sorted(best, key=lambda quote: quote.number)]
    match len(found) - len(best):
        case 0:
            pass
        case 1:
            lines.append("1 more passage was left out.")
        case more:
            lines.append(f"{more} more passages were left out.")
    return "\n".join(lines)


class _Sent(NamedTuple):
    """One request, sorted by support."""

    question: str | None
    attached: list[str]
    context: str | None
    conversation: list[Message]

    @classmethod
    def read(cls, messages: Sequence[Message]) -> _Sent:
        asked = max(
            (at for at, message in enumerate(messages) if message.role == "user" and not _source(message)),
            default=None,
        )
        context = None
        conversation = []
        for message in messages if asked is None else messages[:asked]:
            # A user may type the very label of the context, so only the framework's attribution counts.
            if _source(message) == SOURCE_ID:
                context = read_context_message(message.text)
            else:
                conversation.append(message)
        if asked is None:
            return cls(None, [], context, conversation)
        question, *attached = list(_texts(messages[asked])) or [""]
        return cls(question, attached, context, conversation)

    def extent(self) -> str:
        context = "no context" if self.context is None else "the unverified context"
        context += ", what came with this question" if self.attached else ""
        match len(self.conversation):
            case 0:
                return f"{context}, and an empty conversation"
            case 1:
                return f"{context}, and a conversation of 1 message"
            case count:
                return f"{context}, and a conversation of {count} messages"


class _Quote(NamedTuple):
    """A passage with its source; number 0 is the context, n the n-th message, the one after the last the question."""

    number: int
    source: str
    passage: str
    shared: int

    def line(self, wanted: WantedWords) -> str:
        return f'"{wanted.excerpt(self.passage)}" ({self.source})'


def _find(wanted: WantedWords, sent: _Sent) -> Iterator[_Quote]:
    texts = [(0, "the unverified context", sent.context or "")]
    for number, message in enumerate(sent.conversation, start=1):
        if message.author_name != OFFLINE_AUTHOR:
            texts.extend((number, f"message {number} of this conversation", text) for text in _texts(message))
    last = len(sent.conversation) + 1
    texts.extend((last, "what came with this question", text) for text in sent.attached)
    for number, source, text in texts:
        for passage in passages(text):
            shared = len(wanted.shared_with(passage))
            if shared and not is_question(passage):  # a question states nothing
                yield _Quote(number, source, passage, shared)


def _source(message: Message) -> str:
    attribution = message.additional_properties.get("_attribution")
    source = attribution.get("source_id") if isinstance(attribution, Mapping) else None
    return source if isinstance(source, str) else ""


def _texts(message: Message) -> Iterator[str]:
    for content in message.contents:
        match content.type:
            case "text":
                yield content.text or ""
            case "function_result" if isinstance(content.result, str):
                yield content.result
