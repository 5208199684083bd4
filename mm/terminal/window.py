"""The window: reads a question or a command, lets the conversation do it, and draws what it tells."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maf_memory.errors import MafMemoryError
from mm.events import Outcome, PermissionWanted
from mm.terminal.drawing import Drawing
from mm.terminal.permitting import permitted
from mm.terminal.reading import Reader, quiet
from mm.terminal.recall import asked_elsewhere, asked_here, question_text
from mm.terminal.registry import parsed

if TYPE_CHECKING:
    from mm.config import Config, Model
    from mm.conversation import Conversation
    from mm.keeper import Keeper
    from mm.terminal.screen import Screen
    from mm.turns import Turn

HOW_TO_LEAVE = "Press Ctrl-C once more to leave, or Ctrl-D, or write /quit."


class Window:
    """One person, one terminal, one conversation at a time."""

    def __init__(self, project: Path, config: Config, keeper: Keeper, screen: Screen) -> None:
        """Show on ``screen``; ``keeper`` stands for the conversation until there is one."""
        self.project = project
        self.config = config
        self.screen = screen
        self.reader: Reader
        self.listed: list[str] = []
        """The ids of the sessions as they were numbered last."""
        self._first_keeper = keeper
        self._conversation: Conversation | None = None
        self._model = config.model
        self._loading: asyncio.Task[None] | None = None
        self._unanswered: str | None = None  # until the next question, and nowhere else
        self._turn: Turn | None = None
        self._work: asyncio.Task[None] | None = None
        self._is_leaving = False
        self._is_warned = False

    @property
    def keeper(self) -> Keeper:
        """Who keeps the conversation at hand."""
        return self._first_keeper if self._conversation is None else self._conversation.keeper

    @property
    def model(self) -> Model:
        """Who answers in this conversation."""
        return self._model

    def status(self) -> str:
        """Return the line of status: the session, its turns, the model."""
        from maf_memory.sessions.listing import counted

        keeper = self.keeper
        session = keeper.record.id if keeper.is_kept else "new conversation"
        model = " ".join(filter(None, (self._model.provider, self._model.name)))
        return f"{session} · {counted(keeper.turns, 'turn')} · {model}"

    def typed(self) -> None:
        """Know that something was typed: a Ctrl-C after it is the first one, and a turn may come."""
        self._is_warned = False
        self.prepare()

    def prepare(self) -> None:
        """Begin to load what a turn needs, while a person still writes."""
        if self._loading is None:
            self._loading = asyncio.create_task(asyncio.to_thread(_load))

    async def conversation(self) -> Conversation:
        """Return the conversation at hand; it is put together when it is needed first.

        Raises:
            ChatUnavailable: the model cannot be used.
        """
        if self._conversation is None:
            self.prepare()
            if self._loading is not None:
                await asyncio.shield(self._loading)  # Ctrl-C stops the waiting: what is loaded is needed again
            conversation = self._assembled(self._model)
            conversation.keeper.go_on_from(self._first_keeper)
            self._conversation = conversation
        return self._conversation

    def _assembled(self, model: Model) -> Conversation:
        from mm.assembly import assembled

        return assembled(self.project, replace(self.config, model=model))

    async def use_model(self, model: Model) -> None:
        """Let another model answer, in this conversation only.

        Raises:
            ChatUnavailable: it cannot be used; the one before goes on.
        """
        from mm.connecting import named

        before = await self.conversation()
        model = named(replace(self.config, model=model), os.environ).model
        after = self._assembled(model)
        after.go_on_from(before)
        self._conversation, self._model = after, model

    async def another(self) -> Conversation:
        """Return the conversation with the model that is configured: one that was changed is changed for one only."""
        if self._model != self.config.model:
            await self.use_model(self.config.model)
        return await self.conversation()

    def asked_here(self) -> Iterator[str]:
        """Yield the questions of this conversation, newest first; one that got no answer before them."""
        return asked_here(self._unanswered, self.keeper)

    def asked_elsewhere(self) -> AsyncGenerator[str, None]:
        """Yield the questions of the project's other conversations, newest first."""
        return asked_elsewhere(self.keeper)

    def leave(self) -> None:
        """Let the window close after what is being done."""
        self._is_leaving = True

    def interrupt(self) -> None:
        """Do what Ctrl-C does: stop the turn, or the command, or the line that is written."""
        if self._turn is not None:
            self._turn.cancel()
            self.reader.interrupt()  # what it asks needs no answer any more
        elif self._work is not None:
            if self._conversation is None or not self._conversation.is_busy:
                self._work.cancel()
        else:
            self.reader.interrupt()

    async def run(self) -> None:
        """Read and do, until the person leaves."""
        while not self._is_leaving:
            try:
                text = await self.reader.question()
            except EOFError:
                return
            except KeyboardInterrupt:
                if self._is_warned:
                    return
                self._is_warned = True
                self.screen.notice(HOW_TO_LEAVE)
                continue
            self._is_warned = False
            if text.strip():
                await self.guarded(self._do(text))

    async def guarded(self, work: Coroutine[Any, Any, None]) -> bool:
        """Do ``work`` so that Ctrl-C can stop it; show its error in one line, and return whether there was none."""
        self._work = asyncio.create_task(work)
        try:
            await self._work
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            self.screen.notice("Stopped.")
        except MafMemoryError as error:
            self.screen.error(str(error))
        else:
            return True
        finally:
            self._work = None
        return False

    async def _do(self, text: str) -> None:
        wanted = parsed(text, self.config)
        if wanted is None:
            await self.ask(text)
        else:
            command, words = wanted
            await command.run(self, words)

    async def ask(self, text: str, *, tools: bool = True) -> None:
        """Ask a question with the files that it names, and draw its turn.

        Raises:
            ChatUnavailable, AttachmentRefused: nothing was sent; ↑ still brings the question back.
        """
        from mm.terminal.asking import as_asked, message_of

        self._unanswered = text
        conversation = await self.conversation()
        message = await asyncio.to_thread(message_of, text, self.project)
        sent = message if tools else as_asked(message)
        turn = conversation.ask(sent, tools=tools)
        self._unanswered = question_text(sent)
        await self.draw(turn, self._stopped)
        if conversation.unanswered is None:
            self._unanswered = None

    async def draw(self, turn: Turn, stopped: Callable[[], str]) -> Outcome:
        """Draw a turn until its end, and return how it ended; ``stopped`` says what is left of one that was stopped."""
        drawing = Drawing(self.screen)
        self._turn = turn
        try:
            with quiet(sys.stdin):
                async for event in turn:
                    drawing.draw(event)
                    if isinstance(event, PermissionWanted):
                        try:
                            event.permission.answer(await permitted(event.permission, self.screen, self.reader))
                        except KeyboardInterrupt:
                            turn.cancel()
            outcome = await turn.ended()
        except BaseException:  # the screen is gone, or the window is closed: what was done is still kept
            if turn.outcome is None:
                turn.cancel()
                await turn.ended()
            raise
        finally:
            self._turn = None
        if outcome is Outcome.CANCELLED:
            self.screen.notice(stopped())
        self.screen.say()
        return outcome

    def _stopped(self) -> str:
        conversation = self._conversation
        if conversation is None or conversation.unanswered is None:
            return "Stopped. What was done until then is kept in the conversation."
        recall = " ↑ brings it back." if self.config.sessions_enabled and not self.reader.is_plain else ""
        return f"Stopped. The question left no trace.{recall}"


def _load() -> None:
    import maf_memory.sessions.export.visible  # noqa: F401
    import mm.assembly
    import mm.attachments  # noqa: F401
