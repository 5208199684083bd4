"""The other ending of a broken turn: what was shown and done stays in the conversation, closed by a note.

Without it a model that already ran a tool is asked again as if nothing had happened. Three things make it more than
appending the updates: parallel results arrive in one update, after all have finished, so each is noted as it comes; a
call that never started is dropped, because its arguments may be half streamed; and a call that was running gets the
result :data:`INTERRUPTED`, because no call may stay without one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from agent_framework import (
    AgentResponse,
    AgentResponseUpdate,
    Content,
    FunctionInvocationContext,
    FunctionMiddleware,
    Message,
)

from maf_memory.authorship import mark

INTERRUPTED = "interrupted; may have run"
"""The result of a call that was running when the turn broke off."""


class KeepWhatWasDone:
    """Keeps the question, the calls with their results and the text so far, then a note; for one turn.

    Nothing is kept when nothing was shown and no tool ran: the turn is discarded then.
    """

    def __init__(self, *, written_by: str = "maf_memory") -> None:
        self._written_by = written_by
        self._updates: list[AgentResponseUpdate] = []
        self._calls = _Calls()
        self._used = False

    @property
    def middleware(self) -> Sequence[FunctionMiddleware]:
        """What watches the run. Raises RuntimeError for a second turn: it would keep the first one's words again."""
        if self._used:
            raise RuntimeError("KeepWhatWasDone is for one turn; make a new one for the next")
        self._used = True
        return (self._calls,)

    def saw(self, update: AgentResponseUpdate) -> None:
        """Take note of an update."""
        self._updates.append(update)
        for content in update.contents:
            if content.type == "function_result":
                self._calls.unanswered.pop(str(content.call_id), None)

    def so_far(self) -> list[Message]:
        """Return what was done until now; a call that is running has the result :data:`INTERRUPTED`."""
        return self._done()

    def kept(self, question: Message, error: BaseException) -> list[Message]:
        """Return the question, what was done, and the note; or nothing."""
        messages = self._done()
        if not messages:
            return []
        return [question, *messages, self._note(error)]

    def _done(self) -> list[Message]:
        messages = AgentResponse.from_updates(self._updates).messages
        pairs = _Pairs(messages)
        done: list[Message] = []
        for message in messages:
            contents = [content for content in message.contents if self._happened(content, pairs)]
            if contents:
                done.append(Message(message.role, contents, author_name=message.author_name))
            missing = [
                Content.from_function_result(_id(content), result=self._calls.unanswered[_id(content)])
                for content in contents
                if content.type == "function_call" and not pairs.has(content)
            ]
            if missing:
                done.append(Message("tool", missing))
        return done

    def _happened(self, content: Content, pairs: _Pairs) -> bool:
        match content.type:
            case "function_call":  # one that the framework itself answered, as of an unknown tool, never started
                return pairs.has(content) or (_id(content) in self._calls.unanswered and not pairs.repeats(content))
            case "text":
                return bool(content.text and content.text.strip())
            case "function_result":
                return pairs.has(content)
            case _:
                return False  # reasoning without its answer, usage, and a request for approval that nobody can answer

    def why(self, error: BaseException) -> str:
        """Return why the turn broke off, as the note says it; a program that knows more says more."""
        return "it was interrupted" if isinstance(error, asyncio.CancelledError) else str(error).rstrip(".")

    def did_not_run(self, call_id: str, why: str | None) -> None:
        """Take note that a call which is under way has not got to run its tool; ``None`` says that now it does."""
        self._calls.unanswered[call_id] = INTERRUPTED if why is None else why

    def _note(self, error: BaseException) -> Message:
        why = self.why(error)
        text = f"[The turn broke off: {why}. What stands above was done; the answer is incomplete.]"
        return Message("user", [text], additional_properties=mark(self._written_by, "note"))


class _Calls(FunctionMiddleware):
    """Notes each call that started, and its result as soon as it is there, until that is told."""

    def __init__(self) -> None:
        self.unanswered: dict[str, Any] = {}

    async def process(self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]) -> None:
        call_id = str(context.metadata["call_id"])
        self.unanswered[call_id] = INTERRUPTED
        await call_next()
        self.unanswered[call_id] = context.result


def _id(content: Content) -> str:
    return str(content.call_id) if content.type in ("function_call", "function_result") else ""


class _Pairs:
    """Which call and which result belong together: a result to the nearest call of its id before it.

    Some servers give the calls of each answer the same ids again, and some all calls of one answer the same id; of
    those only the first one can be told apart, and is kept.
    """

    def __init__(self, messages: Sequence[Message]) -> None:
        self._paired: set[int] = set()
        self._repeated: set[int] = set()
        waiting: dict[str, tuple[Message, Content]] = {}
        for message in messages:
            for content in message.contents:
                if content.type == "function_call":
                    before = waiting.get(_id(content))
                    if before is not None and before[0] is message:
                        self._repeated.add(id(content))
                    else:
                        waiting[_id(content)] = message, content
                elif content.type == "function_result" and _id(content) in waiting:
                    _, call = waiting.pop(_id(content))
                    self._paired |= {id(call), id(content)}

    def has(self, content: Content) -> bool:
        """Whether a call has a result, or a result a call."""
        return id(content) in self._paired

    def repeats(self, call: Content) -> bool:
        """Whether a call has the id of one beside it."""
        return id(call) in self._repeated
