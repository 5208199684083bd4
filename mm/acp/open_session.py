"""One session that the editor has open: its conversation, its turn, and what a prompt in it can be.

The id is the editor's: it stays the same when `/new` begins another conversation under it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp.schema import PromptResponse, SessionInfoUpdate, UsageUpdate

from maf_memory.errors import MafMemoryError, TurnUnderWay
from mm.acp import commands
from mm.acp.blocks import message_of
from mm.acp.drawing import Drawing
from mm.acp.tool_calls import ToolCalls
from mm.compaction import estimated_tokens
from mm.events import Outcome

if TYPE_CHECKING:
    from agent_framework import Message

    from mm.acp.editor import Editor
    from mm.acp.mcp_servers import McpServers
    from mm.config import Config
    from mm.conversation import Conversation
    from mm.turns import Turn

BUSY = "This session is already asked something. Wait for its answer, or cancel it."


class OpenSession:
    """A session as long as the editor has it open."""

    def __init__(
        self,
        session_id: str,
        project: Path,
        config: Config,
        conversation: Conversation,
        servers: McpServers,
        editor: Editor,
    ) -> None:
        self.id = session_id
        self.project = project
        self.config = config
        self.conversation = conversation
        self.calls = ToolCalls(project, conversation.tools)
        self._servers = servers
        self._untold = list(servers.refused)
        self._editor = editor
        self._work: asyncio.Task[Any] | None = None
        self._turn: Turn | None = None
        self._is_unwanted = False

    @property
    def is_busy(self) -> bool:
        """Whether a prompt is being answered."""
        return self._work is not None

    def prompt(self, blocks: Sequence[Any]) -> asyncio.Task[PromptResponse]:
        """Take a prompt down at once, before anything is awaited, and return the work that answers it.

        Raises:
            TurnUnderWay: another prompt is being answered.
            BlockRefused, CommandRefused: it holds what cannot be taken; nothing was sent.
        """
        if self.is_busy:
            raise TurnUnderWay(BUSY)
        self._is_unwanted = False
        command = commands.command_in(blocks, self.config)
        drawing = Drawing(self._editor, self.id, self.calls)
        if command is None:
            turn = self._turn = self.conversation.ask(message_of(blocks))
            return self._begin(self._answered(turn, drawing))
        return self._begin(self._done(command, drawing))

    def compact(self) -> Turn:
        """Begin to compact the conversation, so that a cancel reaches it."""
        turn = self._turn = self.conversation.compact()
        if self._is_unwanted:
            turn.cancel()
        return turn

    def cancel(self) -> None:
        """Stop what is under way: its prompt is then answered as cancelled, and what was done is kept."""
        self._is_unwanted = True
        if self._turn is not None:
            self._turn.cancel()

    async def close(self) -> None:
        """Stop what is under way, wait until it is saved, and end the tool servers."""
        self.cancel()
        while self._work is not None:
            await asyncio.wait([self._work])
        await self._servers.close()

    def _begin(self, work: Coroutine[Any, Any, PromptResponse]) -> asyncio.Task[PromptResponse]:
        self._work = asyncio.create_task(work)
        self._work.add_done_callback(self._ended)
        return self._work

    def _ended(self, _: asyncio.Task[Any]) -> None:
        self._work = self._turn = None

    async def _answered(self, turn: Turn, drawing: Drawing) -> PromptResponse:
        for line in self._untold:
            await drawing.say(line, "notice")
        self._untold.clear()
        outcome = await drawing.draw(turn)
        await self.tell_state()
        return PromptResponse(stop_reason="cancelled" if outcome is Outcome.CANCELLED else "end_turn")

    async def _done(self, command: commands.Wanted, drawing: Drawing) -> PromptResponse:
        try:
            outcome = await command.run(self, drawing)
        except MafMemoryError as error:
            await drawing.say(f"Error: {error}", "error")
            outcome = Outcome.FAILED
        await self.tell_state()
        return PromptResponse(stop_reason="cancelled" if outcome is Outcome.CANCELLED else "end_turn")

    async def tell_state(self) -> None:
        """Tell the editor what the session is called by now, and how much of the model's context it takes."""
        await self._editor.update_all(self.id, self.state())

    def state(self) -> list[SessionInfoUpdate | UsageUpdate]:
        """Return what is told of the session: its title and last activity once there is a question, and its length."""
        keeper = self.conversation.keeper
        record, told = keeper.record, []
        if record.title and keeper.is_kept:
            updated = record.updated.isoformat()
            told.append(SessionInfoUpdate(session_update="session_info_update", title=record.title, updated_at=updated))
        size = self.config.compaction.context_size
        return [*told, UsageUpdate(session_update="usage_update", used=self._used(keeper.messages), size=size)]

    def _used(self, messages: Sequence[Message]) -> int:
        return estimated_tokens(messages) + len(self.config.instructions) // 4
