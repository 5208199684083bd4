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
        done: list[Message] = []
        messages = AgentResponse.from_updates(self._updates).messages
        answered = {
            str(content.call_id)
            for message in messages
            for content in message.contents
            if content.type == "function_result"
        }
        for message in messages:
            contents = [content for content in message.contents if self._happened(content, answered)]
            if contents:
                done.append(Message(message.role, contents, author_name=message.author_name))
        return self._with_missing_results(done, answered)

    def _happened(self, content: Content, answered: set[str]) -> bool:
        match content.type:
            case "function_call":  # one that the framework itself answered, as of an unknown tool, never started
                return content.call_id in self._calls.started or content.call_id in answered
            case "text":
                return bool(content.text and content.text.strip())
            case "function_result":
                return True
            case _:
                return False  # reasoning without its answer, usage, and a request for approval that nobody can answer

    def _with_missing_results(self, messages: list[Message], answered: set[str]) -> list[Message]:
        completed: list[Message] = []
        for message in messages:
            completed.append(message)
            calls = [str(content.call_id) for content in message.contents if content.type == "function_call"]
            missing = [call for call in calls if call not in answered]
            if missing:
                results = [
                    Content.from_function_result(call, result=self._calls.results.get(call, INTERRUPTED))
                    for call in missing
                ]
                completed.append(Message("tool", results))
        return completed

    def why(self, error: BaseException) -> str:
        """Return why the turn broke off, as the note says it; a program that knows more says more."""
        return "it was interrupted" if isinstance(error, asyncio.CancelledError) else str(error).rstrip(".")

    def did_not_run(self, call_id: str, why: str | None) -> None:
        """Take note that a call which is under way has not got to run its tool; ``None`` says that now it does."""
        if why is None:
            self._calls.results.pop(call_id, None)
        else:
            self._calls.results[call_id] = why

    def _note(self, error: BaseException) -> Message:
        why = self.why(error)
        text = f"[The turn broke off: {why}. What stands above was done; the answer is incomplete.]"
        return Message("user", [text], additional_properties=mark(self._written_by, "note"))


class _Calls(FunctionMiddleware):
    """Notes which calls started, and each result as soon as it is there."""

    def __init__(self) -> None:
        self.started: set[str] = set()
        self.results: dict[str, Any] = {}

    async def process(self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]) -> None:
        call_id = str(context.metadata["call_id"])
        self.started.add(call_id)
        await call_next()
        self.results[call_id] = context.result
