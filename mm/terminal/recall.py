"""↑: the questions that were asked before, out of the conversations themselves; no list of its own is kept.

A question is loaded when it is asked for, and a file is read, in a thread, when the ones before it are used up.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
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


async def earlier_questions(unsent: str | None, keeper: Keeper) -> AsyncGenerator[str, None]:
    """Yield the question that left no trace, this conversation's, then the other sessions', newest first.

    What ``mm`` wrote itself is left out, and so are sessions that went on elsewhere: their questions stand there too.
    """
    from maf_memory.authorship import is_question

    if unsent is not None:
        yield unsent
    for message in reversed(keeper.messages):
        if is_question(message):
            yield question_text(message)
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
        for message in reversed(record.messages):
            if is_question(message):
                yield question_text(message)


class Recall(History):
    """A history that stores nothing and loads one question for each ↑ that needs one."""

    def __init__(self, questions: Callable[[], AsyncGenerator[str, None]]) -> None:
        """Recall what ``questions`` yields, newest first."""
        super().__init__()
        self._questions = questions
        self._wanted = asyncio.Event()
        self._pending = 0
        self._used_up = False
        self.buffer: Buffer | None = None

    async def load(self) -> AsyncGenerator[str, None]:
        """Yield each question when it is wanted, and step back to it once the buffer has it."""
        self._used_up = False
        last = None
        try:
            await self._next_wanted()
            async with aclosing(self._questions()) as questions:
                async for text in questions:
                    if text == last or not text.strip():
                        continue
                    last = text
                    yield text
                    self._pending -= 1
                    if self.buffer is not None:
                        self.buffer.history_backward()
                    await self._next_wanted()
            self._used_up = True
        finally:
            self._pending = 0

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
