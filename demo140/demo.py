"""Demo140: the session itself is kept, loaded at start and saved after every successful answer."""

from __future__ import annotations

from asyncio import CancelledError
from functools import cached_property
from typing import TYPE_CHECKING, Any

from maf_console.commands import Command, help_text
from maf_console.lookers import Looker
from maf_console.loop import START_REMEDY
from maf_console.places import INSTRUCTION_VERSION, Places
from maf_console.screen import Screen
from maf_console.supports import Support, conversation, counted
from maf_memory.checkpoint import history_of
from maf_memory.errors import FileRefused, FileUnreadable, MafMemoryError, NotProvenDurable, StateConflict
from maf_memory.snapshot import Saved, SnapshotStore

if TYPE_CHECKING:
    from agent_framework import Agent, AgentSession, BaseChatClient

INSTRUCTIONS = "You help a support desk. Answer in a few sentences."

VERBS = ("newsession", "reset", "deletesession", "forget")
"""Four names of one behaviour: delete the snapshot and replace the active history (the seed's contract)."""


class Demo140(Looker):
    """The commands of demo140 over one snapshot store and the active session."""

    name = "demo140"
    other = "demo130"
    elsewhere = ("setctx TEXT", "showctx")

    def __init__(self, places: Places, client: BaseChatClient[Any], screen: Screen) -> None:
        super().__init__(places, screen)
        self._client = client
        self._store = SnapshotStore(places.snapshot, instruction_version=INSTRUCTION_VERSION, root=places.root)
        self._started = False
        self._refused = False
        self._kept: list[str | None] = []  # the ids of the messages that were last saved, loaded or given up
        self.commands = (
            Command("save", "write the conversation to the snapshot now", self._save),
            Command("load", "replace the active conversation by the snapshot", self._load),
            Command(VERBS[0], "delete the snapshot and replace the active history", self._forget),
            *(Command(verb, f"the same as {VERBS[0]}: one behaviour, four names", self._forget) for verb in VERBS[1:]),
            Command("where", "show what is kept, and in which file", self._where),
            Command("trace", "show every place that still holds a text", self._trace, text="TEXT"),
            Command("help", "show this page", self._help),
            Command("quit", "leave; the snapshot stays and is loaded at the next start", self._quit),
        )

    @property
    def state_file(self) -> str:
        """The path of the snapshot."""
        return str(self._store.path)

    async def destroy_state(self) -> bool:
        """Destroy the snapshot; return whether there was one."""
        return await self._store.delete()

    @cached_property
    def _agent(self) -> Agent[Any]:
        """The agent; built when a session is needed, because the framework takes its time to load."""
        from agent_framework import Agent, InMemoryHistoryProvider

        return Agent(self._client, INSTRUCTIONS, name=self.name, context_providers=[InMemoryHistoryProvider()])

    async def start(self) -> None:
        """Load the snapshot, sweep what a killed save left, and say what was found again."""
        await self._store.sweep()
        self._session = await self._store.load()
        self._settle()
        self._started = True
        stamp = self._store.stamp
        found = "new: no snapshot was found"
        if self._session is not None and stamp is not None:
            messages = counted(len(history_of(self._session)), "message")
            found = f"found again: {messages}, from revision {stamp.revision} of the snapshot"
        self._screen.notice(
            f"  conversation  {found}\n"
            "  context       not used here; it belongs to demo130\n"
            f"  state root    {self._places.shown_root}\n"
            "Type help for the commands; any other line is a question."
        )

    async def ask(self, question: str) -> None:
        """Put the question, show the answer as it comes, and save the session."""
        from maf_memory.turn import ask

        if self._session is None:
            self._session = self._agent.create_session()
        try:
            await ask(self._agent, self._session, question, on_text=self._screen.answer)
        except CancelledError:
            self._screen.notice("Interrupted: the turn ended, and nothing of it is kept.")
            raise
        finally:
            self._screen.end_answer()
        await self._save_after_answer(self._session)

    async def _save_after_answer(self, session: AgentSession) -> None:
        if self._refused:
            self._screen.error(f"Not saved: the snapshot was refused when it was loaded. {_WAY_OUT}")
            return
        saved = await self._try_save(session)
        if saved is not None:
            self._screen.notice(f"(saved: {_describe(saved)})")

    async def _try_save(self, session: AgentSession) -> Saved | None:
        """Save, and tell of a failure without losing the conversation; ``None`` when it was not saved."""
        try:
            saved = await self._store.save(session)
        except NotProvenDurable as error:
            self._settle()
            self._screen.error(str(error))
            return None
        except MafMemoryError as error:
            self._screen.error(f"{error} {self.remedy(error)}".strip())
            return None
        except CancelledError as interrupted:
            self._tell_of_interrupted_save(interrupted.__cause__)
            raise
        self._settle()
        return saved

    def _tell_of_interrupted_save(self, failure: BaseException | None) -> None:
        """Say how the save ended, which was finished before the interruption was passed on."""
        if failure is None or isinstance(failure, NotProvenDurable):
            self._settle()
            self._screen.notice("Interrupted: the answer was complete and is saved.")
        else:
            self._screen.error(str(failure))

    def remedy(self, error: MafMemoryError) -> str:
        """Return what the person can do about a conflict or a refused snapshot."""
        if isinstance(error, StateConflict):
            return "load takes what is there and gives up this conversation; quit leaves what is there."
        if not isinstance(error, FileRefused) or isinstance(error, FileUnreadable) or error.path != self._store.path:
            return ""
        if self._started:
            return f"This conversation is kept, and saved no more. {_WAY_OUT}"
        return START_REMEDY

    @property
    def unsaved(self) -> bool:
        """Whether the conversation holds something that was neither saved nor loaded."""
        return self._ids() != self._kept

    def _ids(self) -> list[str | None]:
        return [] if self._session is None else [message.message_id for message in history_of(self._session)]

    def _settle(self) -> None:
        """Take the conversation as it is for one that nothing is missing of on the disk."""
        self._kept = self._ids()

    def _conversation(self) -> Support:
        return conversation(self._session, f"in this process{'; not saved' if self.unsaved else ''}")

    async def _save(self, _: str) -> None:
        before = await self._stock()
        if self._session is None:
            self._session = self._agent.create_session()
        saved = await self._try_save(self._session)
        if saved is not None:
            self._screen.result(f"Saved: {_describe(saved)}.")
            await self._show_ledger(before)

    async def _load(self, _: str) -> None:
        before = await self._stock()
        try:
            session = await self._store.load()
        except FileRefused:
            self._refused = True
            raise
        self._session = session
        self._refused = False
        self._settle()
        if session is None:
            self._screen.result(f"There is no snapshot at {self._store.path}: an empty session starts.")
        else:
            self._screen.result(f"Loaded: {counted(len(history_of(session)), 'message')}.")
        await self._show_ledger(before)

    async def _forget(self, _: str) -> None:
        before = await self._stock()
        try:
            deleted = await self._store.delete()
        except NotProvenDurable as error:
            self._screen.error(str(error))
            deleted = True
        self._session = None
        self._refused = False
        self._settle()
        what = "Snapshot deleted" if deleted else "There was no snapshot"
        self._screen.result(f"{what}; an empty session starts.")
        await self._show_ledger(before)

    async def _help(self, _: str) -> None:
        closing = (
            "newsession, reset, deletesession and forget do the same thing: after any of\n"
            "them, load has nothing to restore. None of them touches the context of demo130.\n"
            "Any other line is a question; after every answer the session is saved."
        )
        self._screen.result(help_text(self.commands, closing))


_WAY_OUT = f"Repair it and load again, or delete it with {', '.join(VERBS[:-1])} or {VERBS[-1]}."


def _describe(saved: Saved) -> str:
    return f"revision {saved.stamp.revision}, {counted(saved.messages, 'message')}, {saved.size:,} bytes"
