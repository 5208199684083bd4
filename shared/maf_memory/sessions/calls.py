"""Tool calls, each with the result that belongs to it.

Some models number their calls anew in each answer, so one id may stand for several calls: a result belongs to the first
call of that id that is still open, and a new answer that reuses an id leaves the older call unfinished.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from maf_memory.sessions.items import Attachment, State, ToolCall
from maf_memory.sessions.parts import brought, called_with, parameters, text_of, tool_of

if TYPE_CHECKING:
    from agent_framework import Content


@dataclass(slots=True, eq=False)
class OpenCall:
    """A call at its place in the conversation, while its result is still looked for."""

    turn: int
    message: int
    call_id: str
    name: str
    given: object
    has_call: bool = True
    state: State = "unfinished"
    output: str | None = None
    attachments: tuple[Attachment, ...] = ()

    def end(self, content: Content) -> None:
        """Note the result."""
        self.output, self.attachments = brought(content, turn=self.turn)
        if self.state == "refused":  # the framework answers a refused call itself
            return
        self.state = "failed" if content.exception is not None or content.status == "failed" else "done"

    def closed(self) -> ToolCall:
        """Return the item."""
        return ToolCall(
            turn=self.turn,
            name=self.name,
            call_id=self.call_id,
            state=self.state,
            input=text_of(self.given) if self.has_call else None,
            parameters=parameters(self.given) if self.has_call else None,
            output=self.output,
            attachments=self.attachments,
        )


class Calls:
    """The calls of one conversation, read from its first message to its last."""

    def __init__(self) -> None:
        self._open: dict[str, deque[OpenCall]] = {}

    def called(self, content: Content, *, turn: int, message: int) -> OpenCall:
        """Return the call that stands here; ``message`` is the number of its message."""
        call = OpenCall(turn, message, text_of(content.call_id), tool_of(content), called_with(content))
        waiting = self._open.setdefault(call.call_id, deque())
        if waiting and waiting[0].message != message:
            waiting.clear()
        waiting.append(call)
        return call

    def answered(self, content: Content, *, turn: int) -> Iterator[OpenCall]:
        """Give the result to its call; yield an entry of its own only where there is no such call."""
        call_id = text_of(content.call_id)
        waiting = self._open.get(call_id)
        call = waiting.popleft() if waiting else OpenCall(turn, -1, call_id, tool_of(content), None, has_call=False)
        call.end(content)
        if not call.has_call:
            yield call

    def asked(self, content: Content, *, turn: int, message: int) -> Iterator[OpenCall]:
        """Note that a call waits for a person's approval; yield the call where only the request holds it."""
        yield from self._set("waiting for approval", content, turn, message)

    def decided(self, content: Content, *, turn: int, message: int) -> Iterator[OpenCall]:
        """Note what the person decided."""
        call = content.function_call
        if call is not None and self._open.get(text_of(call.call_id)) == deque():
            return  # its result stands before the decision
        yield from self._set("unfinished" if content.approved else "refused", content, turn, message)

    def _set(self, state: State, content: Content, turn: int, message: int) -> Iterator[OpenCall]:
        inner = content.function_call
        if inner is None:
            return
        waiting = self._open.get(text_of(inner.call_id))
        if waiting:
            waiting[0].state = state
            return
        call = self.called(inner, turn=turn, message=message)
        call.state = state
        yield call
