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
        answered = _answered(messages)
        done: list[Message] = []
        for place, message in enumerate(messages):
            contents = [one for one in message.contents if self._happened(one, answered.get((place, _id(one))))]
            if contents:
                done.append(Message(message.role, contents, author_name=message.author_name))
            missing = [
                Content.from_function_result(_id(one), result=self._calls.unanswered[_id(one)])
                for one in contents
                if one.type == "function_call" and not answered[place, _id(one)]
            ]
            if missing:
                done.append(Message("tool", missing))
        return done

    def _happened(self, content: Content, is_answered: bool | None) -> bool:
        match content.type:
            case "function_call":  # one that the framework itself answered, as of an unknown tool, never started
                return bool(is_answered) or _id(content) in self._calls.unanswered
            case "text":
                return bool(content.text and content.text.strip())
            case "function_result":
                return bool(is_answered)
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


def _answered(messages: Sequence[Message]) -> dict[tuple[int, str], bool]:
    """Return of each call, by its place and id, whether a result follows, and of each result whether a call precedes.

    Some servers give the calls of each answer the same ids again: a result belongs to the nearest call before it.
    """
    answered: dict[tuple[int, str], bool] = {}
    waiting: dict[str, int] = {}
    for place, message in enumerate(messages):
        for content in message.contents:
            if content.type == "function_call":
                answered[place, _id(content)] = False
                waiting[_id(content)] = place
            elif content.type == "function_result":
                call = waiting.pop(_id(content), None)
                answered[place, _id(content)] = call is not None
                if call is not None:
                    answered[call, _id(content)] = True
    return answered
