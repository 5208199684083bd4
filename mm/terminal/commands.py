"""The commands for the conversation at hand."""

from __future__ import annotations

from dataclasses import replace
from textwrap import wrap
from typing import TYPE_CHECKING, get_args

from mm.config import Provider
from mm.slash import CommandRefused
from mm.terminal.registry import command, commands
from mm.terminal.screen import STRONG

if TYPE_CHECKING:
    from maf_memory.sessions.items import ToolCall
    from mm.config import Config, Model
    from mm.terminal.window import Window

NARROW = 30
"""How many columns the help of a command needs, to stand beside it."""

KEYS = (
    ("Enter", "sends; Alt-Enter begins a new line, and a pasted text keeps its lines"),
    ("↑ ↓", "recall earlier questions, from the first and the last row"),
    ("Tab", "completes a /command, and @path, which attaches a file"),
    ("Ctrl-O", "shows the last tool calls in full, as /calls does"),
    ("Ctrl-C", "stops a turn, or clears the line; twice on an empty line leaves"),
    ("Ctrl-D", "leaves"),
)


@command("/help")
async def help_(window: Window, words: str) -> None:  # noqa: ARG001
    """Show the commands and the keys."""
    rows = [(one.usage, one.help) for one in commands(window.config).values()]
    rows += [row for row in KEYS if row[0] != "↑ ↓" or window.config.sessions_enabled]
    beside = max(len(name) for name, _ in rows) + 2
    if window.screen.width < beside + NARROW:
        beside = 4  # under it
    for name, what in rows:
        first = f"{name:{beside}}"
        if len(name) + 2 > beside:
            window.screen.line(name)
            first = " " * beside
        for line in wrap(what, max(window.screen.width - beside - 1, 10)):
            window.screen.say(first + line)
            first = " " * beside


@command("/quit")
async def quit_(window: Window, words: str) -> None:  # noqa: ARG001
    """Leave; the way back is shown."""
    window.leave()


@command("/new")
async def new(window: Window, words: str) -> None:  # noqa: ARG001
    """Begin a new conversation; the old one stays as it is."""
    keeper = window.keeper
    old = keeper.record.id if keeper.is_kept else None
    conversation = await window.another()
    conversation.begin_anew()
    back = f" The old one opens with /resume {old}." if old is not None else ""
    window.screen.notice(f"This is a new conversation.{back}")


@command("/compact")
async def compact(window: Window, words: str) -> None:  # noqa: ARG001
    """Replace the old turns by a summary; the last turns stay."""
    conversation = await window.conversation()
    before = conversation.keeper.messages

    def stopped() -> str:
        is_as_it_was = conversation.keeper.messages == before
        return "Stopped. The conversation is as it was." if is_as_it_was else "Stopped."

    await window.draw(conversation.compact(), stopped)


@command("/ask", "QUESTION")
async def ask(window: Window, words: str) -> None:
    """Ask without tools."""
    await window.ask(words, tools=False)


def _memory_is_on(config: Config) -> bool:
    return config.memory_command and config.sessions_enabled


@command("/memory", "WORDS", exists=_memory_is_on)
async def memory(window: Window, words: str) -> None:
    """Search earlier conversations; alternatives are separated by |."""
    from mm.memory import told

    try:
        found = await window.keeper.search(words)
    except ValueError as error:
        raise CommandRefused(f"Nothing was searched: {error}.") from error
    window.screen.say(told(found))


@command("/errors")
async def errors(window: Window, words: str) -> None:  # noqa: ARG001
    """Show the errors recorded in this conversation."""
    from maf_memory.sessions.journal import ErrorRecord
    from maf_memory.sessions.listing import counted

    records = list(window.keeper.record.errors)
    if not records:
        window.screen.notice("No error is recorded in this conversation.")
    for record in records:
        if not isinstance(record, ErrorRecord):
            window.screen.line(record.line)
            continue
        when = f"{record.time:%Y-%m-%d %H:%M} · {record.kind} · after {counted(record.turns, 'turn')}"
        window.screen.line(when, STRONG)
        window.screen.line(f"  {record.line}")
        if record.question:
            window.screen.line(f"  asked: {record.question}")
        if record.model:
            window.screen.line(f"  model: {record.model}")
        if record.raw:
            window.screen.line(f"  raw: {record.raw}")


@command("/calls", "[TURN]")
async def calls(window: Window, words: str) -> None:
    """Show the last tool calls in full, or those of a turn by its number."""
    from maf_memory.sessions.items import ToolCall
    from maf_memory.sessions.transcript import transcript

    made = [item for item in transcript(window.keeper.record) if isinstance(item, ToolCall)]
    if words and not words.isdecimal():
        raise CommandRefused("/calls takes the number of a turn.")
    wanted = int(words[:9]) if words else max((one.turn for one in made), default=0)
    shown = [one for one in made if one.turn == wanted]
    if not shown:
        window.screen.notice("No tool was called in that turn." if words else "No tool was called yet.")
    for one in shown:
        _show_call(window, one)


def _show_call(window: Window, call: ToolCall) -> None:
    window.screen.line(f"· {call.name or call.label} · turn {call.turn} · {call.state}", STRONG)
    for name, value in (call.parameters or {}).items():
        window.screen.say(f"  {name}: {_indented(value)}")
    if not call.parameters and call.input:
        window.screen.say(f"  {_indented(call.input)}")
    window.screen.say("  →" if call.output else "  → nothing")
    if call.output:
        window.screen.say(f"  {_indented(call.output)}")


def _indented(text: str) -> str:
    return text.rstrip("\n").replace("\n", "\n  ")


@command("/tools")
async def tools(window: Window, words: str) -> None:  # noqa: ARG001
    """Show what the model may use, and what asks first."""
    from mm.tools import project_tools

    specs = project_tools(window.project, window.config)
    if window.config.memory_tool and window.config.sessions_enabled:
        from mm.memory import memory_tool

        specs.append(memory_tool(window.keeper.search))
    if not specs:
        window.screen.notice("No tool: agent.yaml names none.")
    for spec in specs:
        first = spec.function.description.partition(". ")[0].rstrip(".")
        window.screen.line(f"{spec.name:14}{'asks first · ' if spec.asks else ''}{first}.")


@command("/model", "[NAME | PROVIDER [NAME]]")
async def model(window: Window, words: str) -> None:
    """Show who answers, or let another model answer in this conversation."""
    import os

    from mm.connecting import model_line

    if words:
        await window.use_model(_chosen(words, window.model, window.config.model))
    window.screen.line(model_line(replace(window.config, model=window.model), os.environ))


def _chosen(words: str, now: Model, configured: Model) -> Model:
    """Return the model that the words name; another provider does not take over the name of this one's model."""
    first, _, rest = words.partition(" ")
    for provider in get_args(Provider):
        if first == provider:
            if provider == "script" and now.script is None:
                raise CommandRefused("There is no script to answer: agent.yaml names none.")
            known = next((one.name for one in (now, configured) if one.provider == provider), None)
            return replace(now, provider=provider, name=rest.strip() or known)
    if rest:
        raise CommandRefused(f"There is no provider {first[:40]}: it is one of {', '.join(get_args(Provider))}.")
    if now.provider == "offline":
        raise CommandRefused(f"The offline stand-in has no models. Write /model openai {first[:40]}.")
    return replace(now, name=first)
