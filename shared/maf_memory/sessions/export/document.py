"""A session as one Markdown file that any viewer, and any editor, shows as it is meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING

from maf_memory.sessions.export import about
from maf_memory.sessions.export.inert import code, fenced, one_line, quoted
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
from maf_memory.sessions.transcript import transcript

if TYPE_CHECKING:
    from maf_memory.sessions.record import SessionRecord

_SHORT = 100
"""How many characters of a value stand in a line with its name."""


def as_markdown(record: SessionRecord) -> str:
    """Return the session as Markdown: what was said quoted, what tools were given and brought in fences.

    The same record gives the same text, to the letter. No HTML, no image and no address but of a web page or a mailbox
    is live in it, whatever the session holds.
    """
    parts = [f"# {one_line(about.title(record))}", _listed(about.facts(record)), f"*{about.NOT_HELD}*"]
    items = transcript(record)
    for number, turn in groupby(items, key=lambda item: item.turn):
        parts.append(f"## Turn {number}" if number else "## Before the first question")
        for item in turn:
            parts += _drawn(item)
    if not items:
        parts.append("Nothing was said in this session.")
    return "\n\n".join(parts) + "\n"


def _listed(facts: Iterable[about.Fact]) -> str:
    return "\n".join(f"- {fact.name}: {code(fact.value)}" for fact in facts)


def _drawn(item: Item) -> Iterator[str]:
    match item:
        case ToolCall():
            yield from _call(item)
        case Attachment():
            yield _attachment(item)
        case Failure():
            yield from _failure(item)
        case Reasoning(withheld=True):
            yield "*Reasoning that only the model's provider can read.*"
        case Answer():
            yield f"**{one_line(item.label)}**"
            yield _said(item.text)
            for source in item.sources:
                yield f"Source: {one_line(source.title)} {code(source.url) if source.url else ''}".rstrip()
        case Question() | Reasoning() | Instructions() | FromProgram():
            yield f"**{one_line(item.label)}**"
            yield _said(item.text, keep_lines=isinstance(item, Question))
        case Other():
            yield f"**{one_line(item.label)}**"
            yield fenced(item.text)


def _said(text: str, *, keep_lines: bool = False) -> str:
    return quoted(text, keep_lines=keep_lines) if text.strip() else "*Nothing was written.*"


def _call(item: ToolCall) -> Iterator[str]:
    yield f"**{item.label}** {code(item.name or 'without a name')}: {item.state}"
    if item.parameters:
        yield from _parameters(item.parameters)
    elif item.parameters is None and item.input:
        yield "Input"
        yield fenced(item.input)
    if item.output is None:
        yield "*No result was recorded; what the tool did is not known.*"
    elif item.output:
        yield "Output"
        yield fenced(item.output)
    elif not item.attachments:
        yield "*The result was empty.*"
    for attachment in item.attachments:
        yield _attachment(attachment)


def _parameters(values: Mapping[str, str]) -> Iterator[str]:
    """Yield the short values as a list, and each longer one as it is."""
    short = [name for name, value in values.items() if len(value) <= _SHORT and value.isprintable()]
    if short:
        yield "\n".join(f"- {code(name)}: {code(values[name])}" for name in short)
    for name, value in values.items():
        if name not in short:
            yield f"{code(name)}:"
            yield fenced(value)


def _attachment(item: Attachment) -> str:
    held = "" if item.size is None else " (not in this file)"
    return f"**{item.label}** {code(item.description)}{held}"


def _failure(item: Failure) -> Iterator[str]:
    yield f"**{one_line(item.label)}**, beside the conversation, not in it"
    if facts := about.facts_of(item):
        yield _listed(facts)
    yield fenced(item.line)
    if item.raw:
        yield "The error as it came"
        yield fenced(item.raw)
