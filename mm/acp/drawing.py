"""Draws the events of one turn as updates of its session, and takes what the person decides back to it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from uuid import uuid4

from acp.exceptions import RequestError
from acp.helpers import text_block
from acp.schema import AgentMessageChunk, AllowedOutcome, PermissionOption
from pydantic import ValidationError

from maf_memory.text import one_line
from mm.events import ErrorShown, Notice, PermissionWanted, Text, ToolFinished, ToolStarted
from mm.permission import Decision, Permission

if TYPE_CHECKING:
    from mm.acp.editor import Editor
    from mm.acp.tool_calls import ToolCalls
    from mm.events import Event, Outcome
    from mm.turns import Turn

OPTIONS = [
    PermissionOption(option_id="once", name="Allow once", kind="allow_once"),
    PermissionOption(option_id="always", name="Always allow in this conversation", kind="allow_always"),
    PermissionOption(option_id="no", name="Do not run it", kind="reject_once"),
]
"""What a person may answer; the ids are those of :class:`mm.permission.Decision`."""


class Drawing:
    """One turn, drawn into one session of the editor."""

    def __init__(self, editor: Editor, session_id: str, calls: ToolCalls) -> None:
        self._editor = editor
        self._session_id = session_id
        self._calls = calls
        self._message_id: str | None = None  # of the message that is being written; a new one after each call
        self._open: set[str] = set()
        self._asking: set[asyncio.Task[None]] = set()

    async def draw(self, turn: Turn) -> Outcome:
        """Draw until the turn has ended, and return how; each piece is sent before the next one is awaited."""
        try:
            async for event in turn:
                await self._draw(event)
        finally:
            for task in self._asking:
                task.cancel()
        for call_id in sorted(self._open):  # a call for which nobody was there any more
            await self._send(self._calls.finished(ToolFinished(call_id, "cancelled", succeeded=False)))
        return await turn.ended()

    async def say(self, line: str, kind: str) -> None:
        """Show a line of the program's own, apart from what the model says."""
        await self._send(program_chunk(line, kind))
        self._message_id = None

    async def _draw(self, event: Event) -> None:
        match event:
            case Text(text):
                self._message_id = self._message_id or uuid4().hex
                chunk = AgentMessageChunk(
                    session_update="agent_message_chunk", content=text_block(text), message_id=self._message_id
                )
                await self._send(chunk)
            case ToolStarted():
                self._message_id = None
                self._open.add(event.call_id)
                await self._send(await asyncio.to_thread(self._calls.started, event))
            case PermissionWanted(permission):
                task = asyncio.create_task(self._ask(permission))
                self._asking.add(task)
                task.add_done_callback(self._asking.discard)
            case ToolFinished():
                self._open.discard(event.call_id)
                await self._send(self._calls.finished(event))
            case Notice(text):
                await self.say(text, "notice")
            case ErrorShown(line):
                await self.say(f"Error: {line}", "error")

    async def _ask(self, permission: Permission) -> None:
        """Ask the person; without a proper answer the call does not run, and the model is told why."""
        try:
            response = await self._editor.ask(self._session_id, self._calls.asked(permission), OPTIONS)
        except (ConnectionError, RequestError, ValidationError) as error:
            permission.answer(Decision.NO, why=f"the editor could not ask the person ({one_line(str(error), 200)})")
            return
        outcome = response.outcome
        if not isinstance(outcome, AllowedOutcome):
            permission.answer(Decision.NO, why="the person did not decide")
            return
        try:
            decision = Decision(outcome.option_id)
        except ValueError:
            permission.answer(Decision.NO, why=f"the editor gave no such choice: {one_line(outcome.option_id, 80)}")
            return
        if decision is not Decision.NO:
            await self._send(self._calls.running(permission.call_id))
        permission.answer(decision)

    async def _send(self, update: object) -> None:
        await self._editor.update(self._session_id, update)


def program_chunk(text: str, kind: str) -> AgentMessageChunk:
    """Return what the program itself says, marked as such, as a message of its own."""
    return AgentMessageChunk(
        session_update="agent_message_chunk",
        content=text_block(text),
        message_id=uuid4().hex,
        field_meta={"mm": {"kind": kind}},
    )
