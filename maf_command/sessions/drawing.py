"""A transcript as lines of text: what each thing is stands at the margin, and what was said is indented under it.

So no text that a person, a model or a tool wrote can pass for a line of ours, with or without colour.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from maf_memory.sessions.items import (
    Answer,
    Attachment,
    Failure,
    FromProgram,
    Instructions,
    Item,
    Other,
    Question,
    Reasoning,
    ToolCall,
)
from maf_memory.text import one_line

MAXIMUM_LINES = 20
MAXIMUM_CHARACTERS = 2_000
"""How much is shown of what a tool was given or brought, and of what is no question and no answer."""

_INDENT = "  "


def drawn(items: Iterable[Item], *, full: bool) -> Iterator[str]:
    """Yield one block of lines an item; what is long is cut, and says so, unless it is wanted ``full``."""
    for item in items:
        match item:
            case ToolCall():
                lines = _call(item, full=full)
            case Failure():
                lines = _failure(item, full=full)
            case Attachment():
                lines = _attachment(item)
            case Question():
                lines = _said(f"Question {item.turn}", item.text, full=True)
            case Answer():
                lines = _answer(item)
            case Reasoning(withheld=True):
                lines = iter(["Reasoning that only the model's provider can read"])
            case Instructions() | FromProgram() | Reasoning() | Other():
                lines = _said(item.label, item.text, full=full)
            case _:
                raise TypeError(f"{type(item).__name__} is no item of a transcript")
        yield "\n".join(lines)


def _said(label: str, text: str, *, full: bool) -> Iterator[str]:
    yield one_line(label)
    yield from _indented(text, 1, full=full)


def _answer(item: Answer) -> Iterator[str]:
    yield from _said(item.label, item.text, full=True)
    for source in item.sources:
        yield f"{_INDENT}source: {one_line(' '.join(part for part in (source.title, source.url) if part), 400)}"


def _call(item: ToolCall, *, full: bool) -> Iterator[str]:
    yield f"{item.label}: {one_line(item.name) or 'a tool without a name'} ({item.state})"
    if item.input is not None:
        yield f"{_INDENT}input"
        yield from _indented(_given(item), 2, full=full)
    if item.output is None:
        yield f"{_INDENT}no output was recorded; what the tool did is not known"
    else:
        yield f"{_INDENT}output"
        yield from _indented(item.output, 2, full=full)
    for attachment in item.attachments:
        yield from (f"{_INDENT}{line}" for line in _attachment(attachment))


def _given(item: ToolCall) -> str:
    if item.parameters is None:
        return item.input or ""
    return "\n".join(f"{name}: {value}" for name, value in item.parameters.items())


def _attachment(item: Attachment) -> Iterator[str]:
    held = "" if item.size is None else "; maf-memory sessions export shows what it holds, where it can"
    yield f"{item.label} from the {one_line(item.by)}: {one_line(item.description, 400)}{held}"


def _failure(item: Failure, *, full: bool) -> Iterator[str]:
    time = None if item.time is None else item.time.isoformat(sep=" ", timespec="seconds")
    told = ", ".join(one_line(part) for part in (item.label, time, item.model) if part)
    yield f"{told}; the model never reads it"
    if item.question:
        yield f"{_INDENT}asked: {one_line(item.question, 400)}"
    yield from _indented(item.line, 1, full=full)
    if item.raw:
        yield f"{_INDENT}the error as it came"
        yield from _indented(item.raw, 2, full=full)


def _indented(text: str, depth: int, *, full: bool) -> Iterator[str]:
    """Yield the lines of ``text`` under their label, and what was cut of them one step nearer to the margin."""
    shown, left_out = (text, None) if full else _cut(text)
    if not shown.strip():
        yield f"{_INDENT * depth}(empty)"
        return
    for line in shown.removesuffix("\n").split("\n"):
        yield f"{_INDENT * depth}{line}".rstrip()
    if left_out is not None:
        yield f"{_INDENT * (depth - 1)}({left_out} more not shown; --full shows all)"


def _cut(text: str) -> tuple[str, str | None]:
    """Return the beginning of a long text, and how much is left out."""
    lines = text.removesuffix("\n").split("\n")
    shown = "\n".join(lines[:MAXIMUM_LINES])[:MAXIMUM_CHARACTERS]
    characters = len(text.removesuffix("\n")) - len(shown)
    if not characters:
        return text, None
    more = len(lines) - shown.count("\n") - 1
    return shown, f"{more:,} lines, {characters:,} characters" if more else f"{characters:,} characters"
