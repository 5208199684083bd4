"""↑: the questions that were asked before, out of the conversations themselves; no list of its own is kept.

A file is read, in a thread, when the questions before its own are used up.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from prompt_toolkit.history import History

from maf_memory.errors import MafMemoryError

if TYPE_CHECKING:
    from agent_framework import Message
    from prompt_toolkit.buffer import Buffer

    from mm.keeper import Keeper


def question_text(message: Message) -> str:
    """Return a question as the model read it: its texts, each in lines of its own."""
    return "\n".join(content.text or "" for content in message.contents if content.type == "text")


def asked_here(unanswered: str | None, keeper: Keeper) -> Iterator[str]:
    """Yield the question that left no trace, then this conversation's, newest first, without what ``mm`` wrote."""
    if unanswered is not None:
        yield unanswered
    yield from _questions(keeper.messages)


async def asked_elsewhere(keeper: Keeper) -> AsyncGenerator[str, None]:
    """Yield the questions of the project's other sessions, newest first.

    Sessions that went on elsewhere are passed over: their questions stand there too.
    """
    try:
        heads = (await keeper.sessions()).heads
    except MafMemoryError:
        return  # as below
    for head in heads:
        if head.id == keeper.record.id or head.continued_in:
            continue
        try:
            record = await keeper.load(head.id)
        except MafMemoryError:
            continue  # /sessions and /resume tell of it; here it would stand between two keys
        for text in _questions(record.messages):
            yield text


def _questions(messages: Sequence[Message]) -> Iterator[str]:
    from maf_memory.authorship import is_question

    for message in reversed(messages):
        if is_question(message):
            yield question_text(message)


class Recall(History):
    """A history that stores nothing: what is in memory is there at once, what is in files when ↑ asks for it."""

    def __init__(self, here: Callable[[], Iterable[str]], elsewhere: Callable[[], AsyncGenerator[str, None]]) -> None:
        """Recall what ``here`` yields and then what ``elsewhere`` does, both newest first."""
        super().__init__()
        self._here = here
        self._elsewhere = elsewhere
        self._wanted = asyncio.Event()
        self._pending = 0
        self._used_up = False
        self.buffer: Buffer | None = None

    async def load(self) -> AsyncGenerator[str, None]:
        """Yield each question, and step back to it where ↑ waits for it."""
        self._used_up = False
        last = None
        try:
            for text in self._here():
                if text != last and text.strip():
                    last = text
                    yield text
                    self._step()
            await self._next_wanted()
            async with aclosing(self._elsewhere()) as questions:
                async for text in questions:
                    if text != last and text.strip():
                        last = text
                        yield text
                        self._step()
                        await self._next_wanted()
            self._used_up = True
        finally:
            self._pending = 0

    def _step(self) -> None:
        if self._pending > 0 and self.buffer is not None:
            self._pending -= 1
            self.buffer.history_backward()

    async def _next_wanted(self) -> None:
        while self._pending <= 0:
            self._wanted.clear()
            await self._wanted.wait()

    def back(self) -> None:
        """Step back by one question, as soon as there is one."""
        assert self.buffer is not None  # noqa: S101 - the prompt gives it before the first key
        if self.buffer.working_index > 0:
            self.buffer.history_backward()
        elif not self._used_up:
            self._pending += 1
            self._wanted.set()

    def append_string(self, string: str) -> None:
        """Keep nothing: the conversation itself is the record."""

    def load_history_strings(self) -> list[str]:
        """Return nothing: what there is comes from :meth:`load`."""
        return []

    def store_string(self, string: str) -> None:
        """Keep nothing."""
