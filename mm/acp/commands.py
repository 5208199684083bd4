"""The commands that work as prompts. They are this program's own: the model never sees one.

There is no `/resume`: the editor draws the thread, and an old conversation would come after what it already shows (the
seed's «Une commande `/resume` en ACP»). It is not advertised; who types it is shown the way to the editor's list.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acp.schema import AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, UnstructuredCommandInput

from maf_memory.text import one_line
from mm.events import Outcome
from mm.slash import CommandRefused, check_words, split

if TYPE_CHECKING:
    from mm.acp.drawing import Drawing
    from mm.acp.open_session import OpenSession
    from mm.config import Config

Run = Callable[["OpenSession", "Drawing", str], Awaitable[Outcome]]

RESUME = (
    "An earlier conversation is opened from the editor's own list of threads: what is replayed into this one would "
    "come after what it already shows."
)


@dataclass(frozen=True, slots=True)
class Command:
    """One command; ``takes`` is what it is given, ``help`` one line."""

    name: str
    takes: str
    help: str
    work: Run
    exists: Callable[[Config], bool] = lambda _: True

    @property
    def usage(self) -> str:
        """How it is typed."""
        return f"{self.name} {self.takes}".rstrip()


@dataclass(frozen=True, slots=True)
class Wanted:
    """A command as it was typed, or the line that says why it is none."""

    command: Command | None
    words: str

    async def run(self, session: OpenSession, drawing: Drawing) -> Outcome:
        """Do it, and return how it ended.

        Raises:
            MafMemoryError: it cannot be done; nothing has changed, unless the line says so.
        """
        if self.command is None:
            raise CommandRefused(self.words)
        return await self.command.work(session, drawing, self.words)


def available(config: Config) -> AvailableCommandsUpdate:
    """Return the commands that an editor offers under this configuration."""
    offered = []
    for command in _known(config).values():
        takes = AvailableCommandInput(root=UnstructuredCommandInput(hint=command.takes)) if command.takes else None
        offered.append(AvailableCommand(name=command.name[1:], description=command.help, input=takes))
    return AvailableCommandsUpdate(session_update="available_commands_update", available_commands=offered)


def command_in(blocks: Sequence[Any], config: Config) -> Wanted | None:
    """Return the command that a prompt is, or ``None``: a question. A mistake in it is told where it is run."""
    if not blocks or any(block.type != "text" for block in blocks):
        return None
    text = "".join(block.text for block in blocks)
    known = _known(config)
    try:
        found = split(text, [*known, "/resume"], config)
        if found is None:
            return None
        name, words = found
        if name == "/resume":
            return Wanted(None, RESUME)
        check_words(known[name].usage, words)
    except CommandRefused as refused:
        return Wanted(None, str(refused))
    return Wanted(known[name], words)


async def _help(session: OpenSession, drawing: Drawing, words: str) -> Outcome:  # noqa: ARG001
    lines = [f"- `{one.usage}` {one.help}" for one in _known(session.config).values()]
    await drawing.say("\n".join(lines), "command")
    return Outcome.ANSWERED


async def _new(session: OpenSession, drawing: Drawing, words: str) -> Outcome:  # noqa: ARG001
    moved = await session.conversation.renew()
    past = "" if moved is None else f" The one before is kept as {moved}, and stands in the list of threads."
    await drawing.say(f"This is a new conversation.{past}", "command")
    return Outcome.ANSWERED


async def _compact(session: OpenSession, drawing: Drawing, words: str) -> Outcome:  # noqa: ARG001
    return await drawing.draw(session.compact())


async def _errors(session: OpenSession, drawing: Drawing, words: str) -> Outcome:  # noqa: ARG001
    from maf_memory.sessions.journal import ErrorRecord

    lines = []
    for record in session.conversation.keeper.record.errors:
        if not isinstance(record, ErrorRecord):
            lines.append(f"- {record.line}")
            continue
        asked = f" (asked: {one_line(record.question, 200)})" if record.question else ""
        lines.append(f"- {record.time:%Y-%m-%d %H:%M} · {record.kind} · {record.line}{asked}")
    await drawing.say("\n".join(lines) or "No error is recorded in this conversation.", "command")
    return Outcome.ANSWERED


async def _memory(session: OpenSession, drawing: Drawing, words: str) -> Outcome:
    from mm.memory import told

    try:
        found = await session.conversation.keeper.search(words)
    except ValueError as error:
        raise CommandRefused(f"Nothing was searched: {error}.") from error
    await drawing.say(told(found), "command")
    return Outcome.ANSWERED


def _memory_is_on(config: Config) -> bool:
    return config.memory_command and config.sessions_enabled


_COMMANDS = (
    Command("/compact", "", "Replace the old turns by a summary; the last turns stay.", _compact),
    Command("/errors", "", "Show the errors recorded in this conversation.", _errors),
    Command("/help", "", "Show the commands.", _help),
    Command(
        "/memory", "WORDS", "Search earlier conversations; alternatives are separated by |.", _memory, _memory_is_on
    ),
    Command("/new", "", "Begin a new conversation here; the old one is kept.", _new),
)


def _known(config: Config) -> dict[str, Command]:
    return {one.name: one for one in _COMMANDS if one.exists(config)}
