"""The commands for the conversations of the project: find, open, delete, export, and where they are."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from maf_memory.sessions.listing import counted
from mm.slash import CommandRefused
from mm.terminal.registry import command
from mm.terminal.screen import STRONG

if TYPE_CHECKING:
    from maf_memory.sessions.items import Item
    from maf_memory.sessions.record import SessionRecord
    from mm.terminal.window import Window

QUESTION_LINES, ANSWER_LINES = 6, 30
"""How many lines of the last question and its answer are shown where a conversation is opened again."""


@command("/sessions")
async def sessions(window: Window, words: str) -> None:  # noqa: ARG001
    """List the conversations of this project, newest first, and pick one."""
    from maf_memory.sessions.listing import describe, describe_damaged
    from maf_memory.sessions.record import local_now

    page = await window.keeper.sessions()
    window.listed = [head.id for head in page.heads]
    if not page.heads and not page.damaged:
        window.screen.notice("No conversation is kept here yet: the first question makes one.")
        return
    if not window.reader.is_plain:
        from mm.terminal.picker import picked

        wanted = await picked(window, page)
        if wanted is not None:
            await resume(window, wanted)
        return
    now = local_now()
    for number, head in enumerate(page.heads, start=1):
        window.screen.line(f"{number:3}  {head.id}  {describe(head, now)}")
    for damaged in page.damaged:
        window.screen.line(f"     {describe_damaged(damaged)}")
    window.screen.notice("/resume NUMBER opens one.")


@command("/resume", "ID|PREFIX|NUMBER")
async def resume(window: Window, words: str) -> None:
    """Go on in an earlier conversation: by its id, the start of it, or its number in /sessions."""
    conversation = await window.conversation()
    if words.isdecimal() and not window.listed and window.keeper.enabled:
        window.listed = [head.id for head in (await window.keeper.sessions()).heads]
    await conversation.resume(words, listed=window.listed)
    await window.another()
    _report(window, window.keeper.record)


def _report(window: Window, record: SessionRecord) -> None:
    """Show what was opened: title, turns, date, errors, and the last exchange."""
    from maf_memory.sessions.items import Answer, Question
    from maf_memory.sessions.journal import errors_suffix
    from maf_memory.sessions.titles import turns_of
    from maf_memory.sessions.transcript import transcript

    facts = f"{counted(turns_of(record.messages), 'turn')} · {record.updated:%Y-%m-%d %H:%M}"
    window.screen.line(
        f"{record.title or '(no question)'} · {facts}{errors_suffix(len(record.errors))}",
        STRONG,
    )
    items = transcript(record)
    last = max((item.turn for item in items if isinstance(item, Question)), default=0)
    asked = _text(items, last, Question)
    answered = _text(items, last, Answer)
    for place, line in enumerate(asked.strip().split("\n")[:QUESTION_LINES] if asked else ()):
        window.screen.short_line(f"  {line}" if place else f"> {line}")
    _tell_more(window, asked, QUESTION_LINES)
    if answered:
        window.screen.say("\n".join(answered.strip().split("\n")[:ANSWER_LINES]))
    _tell_more(window, answered, ANSWER_LINES)
    window.screen.say()


def _tell_more(window: Window, text: str, shown: int) -> None:
    more = text.strip().count("\n") + 1 - shown
    if more > 0:
        window.screen.notice(f"[{counted(more, 'more line')}: /export has {'it' if more == 1 else 'them'}]")


def _text(items: list[Item], turn: int, kind: type[Item]) -> str:
    return "\n".join(str(getattr(item, "text", "")) for item in items if isinstance(item, kind) and item.turn == turn)


@command("/export", "[FILE]")
async def export(window: Window, words: str) -> None:
    """Write this conversation as a page (or as Markdown, for a name in .md) that only you can read."""
    record = window.keeper.record
    if not record.messages:
        raise CommandRefused("There is nothing to export yet.")
    target, size = await asyncio.to_thread(_export, record, window.project, words or f"{record.id}.html")
    window.screen.line(f"Written: {target} ({size:,} bytes, readable by you alone).")


def _export(record: SessionRecord, project: Path, name: str) -> tuple[Path, int]:
    from maf_memory.sessions.export import as_html, as_markdown
    from mm.terminal.private_file import write_private

    target = project / Path(name).expanduser()
    text = as_markdown(record) if target.suffix.lower() in {".md", ".markdown"} else as_html(record)
    content = text.encode()
    write_private(target, content)
    return target, len(content)


@command("/where")
async def where(window: Window, words: str) -> None:  # noqa: ARG001
    """Show the files of this conversation and of the project, and their sizes."""
    keeper, screen = window.keeper, window.screen
    screen.line(f"project        {window.project}")
    screen.line(f"configuration  {window.config.source or 'none: the defaults'}")
    if not keeper.enabled:
        screen.line("conversations  none are kept: sessions.enabled is false in agent.yaml")
        return
    size, count, total = await asyncio.to_thread(_sizes, keeper.path)
    screen.line(f"this one       {keeper.path} ({'not written yet' if size is None else f'{size:,} bytes'})")
    screen.line(f"conversations  {keeper.path.parent} ({counted(count, 'file')}, {total:,} bytes)")


def _sizes(path: Path) -> tuple[int | None, int, int]:
    try:
        with os.scandir(path.parent) as entries:
            sizes = {entry.name: entry.stat(follow_symlinks=False).st_size for entry in entries if _is_session(entry)}
    except FileNotFoundError:
        return None, 0, 0
    return sizes.get(path.name), len(sizes), sum(sizes.values())


def _is_session(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(".json") and entry.is_file(follow_symlinks=False)
