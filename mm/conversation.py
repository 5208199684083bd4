"""A conversation: takes a question, yields events. It knows neither terminals nor protocols.

Storing hangs on it, never on a screen: before each tool runs, and at the end of each turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agent_framework import Agent, InMemoryHistoryProvider, Message

from maf_memory.authorship import mark
from maf_memory.conversation import NotAConversation
from maf_memory.errors import EmptyAnswer, MafMemoryError, NotProvenDurable, StateConflict, TurnFailed, TurnUnderWay
from maf_memory.turn import ask
from mm import PROGRAM
from mm.calls import Calls
from mm.compaction import compacted, estimated_tokens
from mm.connecting import in_own_words
from mm.errors import CompactionFailed
from mm.events import ErrorShown, Notice, Outcome, Text
from mm.hooks import run_hooks
from mm.turn_ending import Listened, TurnEnding
from mm.turns import Turn
from mm.watchdog import Watchdog

if TYPE_CHECKING:
    from agent_framework import BaseChatClient

    from mm.config import Config
    from mm.keeper import Keeper
    from mm.tools.spec import ToolSpec

RETRIES = 2
"""How often a model whose tool call was malformed is asked again."""

SUMMARISING = "You summarise conversations."

WITHOUT_TOOLS: Mapping[str, Any] = {"tool_choice": "none"}


class Conversation:
    """The agent of a project at work on one conversation, turn after turn."""

    def __init__(
        self,
        keeper: Keeper,
        config: Config,
        client: BaseChatClient[Any],
        tools: Sequence[ToolSpec],
        *,
        secrets: Sequence[str] = (),
    ) -> None:
        """Begin where ``keeper`` stands; ``secrets`` are taken out of every error line."""
        self.keeper = keeper
        self._config = config
        self._client = client
        self._secrets = tuple(secrets)
        self._specs = {spec.name: spec for spec in tools}
        self._agent = Agent(
            client,
            config.instructions,
            name=config.name,
            tools=[spec.function for spec in tools],
            context_providers=[InMemoryHistoryProvider()],
        )
        self._allowed: set[str] = set()
        self._turn: Turn | None = None
        self._saving = asyncio.Lock()  # calls made at once are saved one after the other, and conflict only with others
        self.unanswered: str | None = None
        """The last question that left no trace: only here, until the next one, so that it can be recalled."""

    @property
    def tools(self) -> Mapping[str, ToolSpec]:
        """The tools that the model may use, by their names."""
        return self._specs

    @property
    def is_busy(self) -> bool:
        """Whether a turn is under way."""
        return self._turn is not None and self._turn.outcome is None

    def ask(self, question: str | Message, *, tools: bool = True) -> Turn:
        """Begin a turn and return it at once: the question is taken down before anything is awaited.

        Raises:
            TurnUnderWay: the last question is not answered yet.
            ValueError: the question is blank.
        """
        if self.is_busy:
            raise TurnUnderWay("This conversation is already asked a question. Wait for its answer, or stop it.")
        message = Message("user", [question]) if isinstance(question, str) else question
        if not any(content.type != "text" or (content.text or "").strip() for content in message.contents):
            raise ValueError("a question is needed")
        self.unanswered = message.text
        options = None if tools else WITHOUT_TOOLS
        self._turn = Turn(lambda turn: self._run(turn, message, options))
        return self._turn

    def compact(self) -> Turn:
        """Replace the old turns by a summary, and return the work as a turn.

        Raises:
            TurnUnderWay: a turn is under way.
        """
        self._refuse_busy()
        self._turn = Turn(self._compact)
        return self._turn

    def begin_anew(self) -> None:
        """Begin a new conversation; what was allowed for the old one is allowed no more.

        Raises:
            TurnUnderWay: a turn is under way.
        """
        self._refuse_busy()
        self.keeper.begin_anew()
        self._allowed.clear()
        self.unanswered = None

    async def renew(self) -> str | None:
        """Begin a new conversation under the same id, and return the new id of the past one; ``None``: it was empty.

        Raises:
            TurnUnderWay: a turn is under way.
            StateConflict, SaveFailed, NotProvenDurable: as :meth:`Keeper.renew`.
        """
        self._refuse_busy()
        moved = await self.keeper.renew()
        self._allowed.clear()
        self.unanswered = None
        return moved

    def go_on_from(self, other: Conversation) -> None:
        """Go on in the conversation of ``other``, which another model answered: what was allowed there stays allowed.

        Raises:
            TurnUnderWay: a turn is under way there.
        """
        other._refuse_busy()
        self.keeper.go_on_from(other.keeper)
        self._allowed |= other._allowed
        self.unanswered = other.unanswered

    async def resume(self, wanted: str, *, listed: Sequence[str] | None = None) -> None:
        """Go on in another conversation of the project: by its id, the start of it, or its number in ``listed``.

        A failure is journalled in the conversation at hand.

        Raises:
            TurnUnderWay, UnknownSession, AmbiguousSession, UnknownNumber, FileRefused, SessionsDisabled: nothing has
                changed.
        """
        self._refuse_busy()
        try:
            await self.keeper.resume(wanted, listed=listed)
        except MafMemoryError as error:
            if not self.keeper.enabled:
                raise
            record = self.keeper.add_error("resume", str(error), secrets=self._secrets)
            with suppress(MafMemoryError):  # it is in memory, and the next save tells what is wrong with the file
                await self.keeper.save_errors()
            if record.line == str(error):
                raise
            raise MafMemoryError(record.line) from error  # what is shown is what was recorded
        self._allowed.clear()
        self.unanswered = None

    def _refuse_busy(self) -> None:
        if self.is_busy:
            raise TurnUnderWay("A turn is under way. Wait for its end, or stop it.")

    async def _run(self, turn: Turn, question: Message, options: Mapping[str, Any] | None) -> Outcome:
        hooked = await run_hooks(
            self._config.pre_generation, question.text, project=self.keeper.project, session_id=self.keeper.record.id
        )
        for line in hooked.notices:
            turn.emit(Notice(line))
        if hooked.blocked is not None:
            self.keeper.put([*self.keeper.messages, _by_mm(f"[Blocked by a hook: {hooked.blocked}]", "blocked")])
            turn.emit(Notice(f"The question was not sent: {hooked.blocked}"))
            await self._save(turn)
            return Outcome.BLOCKED
        before = [_by_mm(text, "context") for text in hooked.contexts]
        if self._is_long([*before, question]):
            await self._compact(turn, question)
        return await self._answered(turn, question, before, options)

    def _is_long(self, sent: Sequence[Message]) -> bool:
        """Return whether what would be sent is longer than wanted, with what is ``sent`` after the conversation."""
        wanted = self._config.compaction
        if wanted.threshold is None or self._config.model.provider == "offline":
            return False
        instructions = Message("system", [self._config.instructions])
        length = estimated_tokens([instructions, *self.keeper.messages, *sent])
        return length > wanted.threshold * wanted.context_size

    async def _compact(self, turn: Turn, question: Message | None = None) -> Outcome:
        """Compact the conversation; whatever fails leaves it as it was, and it goes on.

        ``question`` is the one that waits, where it happens by itself.
        """
        if self._config.model.provider == "offline":
            turn.emit(Notice("A summary needs a model, and the offline stand-in is none. Nothing has changed."))
            return Outcome.FAILED
        before = self.keeper.messages
        wanted = self._config.compaction

        def left_out(characters: int) -> None:
            what = f"{characters:,} characters in between are more than compaction.contextSize takes"
            turn.emit(Notice(f"The summary is made from the beginning and the end: {what}."))

        try:
            short = await compacted(
                before,
                self._summary,
                keep_turns=wanted.keep_turns,
                context_size=wanted.context_size,
                left_out=left_out,
            )
            if short is None:
                if question is None:
                    turn.emit(Notice("There is nothing to compact: only the last turns are there."))
                return Outcome.ANSWERED
            if wanted.keep_original and self.keeper.is_kept:
                turn.emit(Notice(f"The conversation as it was is kept as {await self.keeper.keep_original()}."))
        except MafMemoryError as error:
            await self._note(turn, "compaction", error, _asked(question))
            return Outcome.FAILED
        self.keeper.put(short)
        await self._save(turn)
        turn.emit(Notice(f"The conversation was compacted: {len(before)} messages became {len(short)}."))
        return Outcome.ANSWERED

    async def _summary(self, text: str) -> str:
        from agent_framework import AgentSession

        watchdog = Watchdog(self._config.watchdog_timeout)
        agent = Agent(self._client, SUMMARISING, context_providers=[InMemoryHistoryProvider()])
        try:
            answer = await watchdog.watch(ask(agent, AgentSession(), text, ending=Listened(watchdog)))
        except EmptyAnswer:
            return ""
        except TurnFailed as error:
            raise CompactionFailed(f"No summary came: {error}") from error.__cause__
        return answer.text

    async def _answered(
        self, turn: Turn, question: Message, before: list[Message], options: Mapping[str, Any] | None
    ) -> Outcome:
        """Ask, again where a tool call was malformed, and record how it ended."""
        asked, ahead, began = question, before, len(self.keeper.messages)
        for retry in range(RETRIES + 1):
            length = len(self.keeper.messages)
            try:
                await self._ask(turn, asked, ahead, options)
            except TurnFailed as error:
                if isinstance(error.__cause__, NotAConversation) and retry < RETRIES:
                    turn.emit(Notice("The model made a tool call that cannot be run; it is told so and asked again."))
                    ahead = [*ahead, asked] if len(self.keeper.messages) == length else []
                    asked = _by_mm(f"[Your last tool call could not be run: {error.__cause__}. {self._hint()}]", "note")
                    continue
                if len(self.keeper.messages) > began:
                    self.unanswered = None
                await self._note(turn, "generation", error, _asked(question))
                return Outcome.FAILED
            except asyncio.CancelledError:
                if len(self.keeper.messages) > began:
                    self.unanswered = None
                    await self._save(turn)
                return Outcome.CANCELLED
            break
        self.unanswered = None
        await self._save(turn)
        return Outcome.ANSWERED

    def _hint(self) -> str:
        names = ", ".join(self._specs)
        return f"The tools are: {names}. Their arguments are one JSON object." if names else "There are no tools."

    async def _ask(
        self, turn: Turn, question: Message, before: Sequence[Message], options: Mapping[str, Any] | None
    ) -> None:
        watchdog = Watchdog(self._config.watchdog_timeout)

        async def before_run() -> None:
            await self._save(turn, [*before, question, *ending.so_far()])

        def did_not_run(call_id: str, why: str | None) -> None:
            ending.did_not_run(call_id, why)

        def show(text: str) -> None:
            turn.emit(Text(text))

        ending = TurnEnding(watchdog, Calls(self._specs, self._allowed, watchdog, turn.emit, before_run, did_not_run))
        await watchdog.watch(
            ask(
                self._agent,
                self.keeper.session,
                question,
                before=before,
                on_text=show,
                ending=ending,
                options=options,
            )
        )

    async def _note(self, turn: Turn, kind: str, error: MafMemoryError, question: str) -> None:
        """Show an error's line as the journal records it."""
        cause = error.__cause__
        record = self.keeper.add_error(
            kind,
            in_own_words(str(error), self._config),
            question=question,
            raw=None if cause is None else f"{type(cause).__name__}: {cause}",
            secrets=self._secrets,
        )
        async with self._saving:
            try:
                await self.keeper.save_errors(begin=bool(question))
            except MafMemoryError as unsaved:
                turn.emit(ErrorShown(record.line))
                await self._not_saved(turn, unsaved)
            else:
                turn.emit(ErrorShown(record.line))

    async def _save(self, turn: Turn, under_way: Sequence[Message] = ()) -> None:
        async with self._saving:
            try:
                await self.keeper.save(under_way)
            except MafMemoryError as error:
                await self._not_saved(turn, error)

    async def _not_saved(self, turn: Turn, error: MafMemoryError) -> None:
        """Tell that a save failed; after a conflict the conversation goes on as a session of its own."""
        if not isinstance(error, StateConflict):
            turn.emit(Notice(str(error)) if isinstance(error, NotProvenDurable) else ErrorShown(str(error)))
            return
        try:
            forked = await self.keeper.fork()
        except MafMemoryError as second:
            turn.emit(ErrorShown(f"{error} {second}"))
        else:
            turn.emit(ErrorShown(f"{error} This conversation goes on as {forked}."))


def _asked(question: Message | None) -> str:
    """Return a question as an error records it; nothing where none is under way."""
    return "" if question is None else question.text or "[a question without text]"


def _by_mm(text: str, kind: str) -> Message:
    return Message("user", [text], additional_properties=mark(PROGRAM, kind))
