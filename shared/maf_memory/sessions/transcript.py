"""A conversation as a person reads it: typed items in their order, the same ones for every façade.

Nothing is recognised by its text: what a program wrote goes by its mark, an answer to a tool call by the call's id.
Texts stand as they were recorded; whoever draws an item makes its control characters visible.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from maf_memory.authorship import INSTRUCTIONS, WRITTEN_BY, is_question, program_kind
from maf_memory.sessions.calls import Calls, OpenCall
from maf_memory.sessions.items import (
    Answer,
    Failure,
    FromProgram,
    Instructions,
    Item,
    Other,
    Question,
    Reasoning,
    Source,
)
from maf_memory.sessions.journal import UnreadableRecord
from maf_memory.sessions.parts import ATTACHED, CALLS, RESULTS, attachment, text_of, without_type
from maf_memory.sessions.titles import turns_of

if TYPE_CHECKING:
    from agent_framework import Content, Message

    from maf_memory.sessions.record import SessionRecord

CONTEXT = "context"
"""The kind of a program's message that belongs to the question after it."""

BOOKKEEPING = frozenset({"usage"})
"""Contents that count and say nothing; no façade draws them."""

_TOLD = ("time", "kind", "turns", "question", "line", "raw", "model")


def transcript(record: SessionRecord) -> list[Item]:
    """Return all that the session holds for a reader, oldest first.

    A tool call carries its result, wherever that stands. The errors, which are no part of the conversation, stand
    after the turn they name; where the conversation was shortened since, earlier, but in their order in time.
    """
    failures = deque(_failures(record))
    items: list[Item] = []
    for entry in [*_conversation(record.messages)]:  # the whole conversation first: a call is closed by what follows it
        while failures and failures[0].turn < entry.turn:
            items.append(failures.popleft())
        items.append(entry.closed() if isinstance(entry, OpenCall) else entry)
    return [*items, *failures]


def _conversation(messages: Sequence[Message]) -> Iterator[Item | OpenCall]:
    calls = Calls()
    ahead = _before_a_question(messages)
    turn = 0
    for number, message in enumerate(messages):
        asked = is_question(message)
        turn += asked
        stands_in = turn + 1 if number in ahead else turn
        if asked and not message.contents:
            yield Question(turn=turn, text="")
        for content in message.contents:
            yield from _drawn(content, message, stands_in, number, calls)


def _is_context(message: Message) -> bool:
    return program_kind(message.additional_properties) == CONTEXT


def _before_a_question(messages: Sequence[Message]) -> set[int]:
    """Return the places of the context between which and the next question stands nothing but more context."""
    found: set[int] = set()
    asked = False
    for number in reversed(range(len(messages))):
        if not _is_context(messages[number]):
            asked = is_question(messages[number])
        elif asked:
            found.add(number)
    return found


def _drawn(content: Content, message: Message, turn: int, number: int, calls: Calls) -> Iterator[Item | OpenCall]:
    kind = str(content.type)
    if kind == "text":
        yield _spoken(text_of(content.text), content, message, turn)
    elif kind == "text_reasoning":
        text = text_of(content.text)
        yield Reasoning(turn=turn, text=text, withheld=not text and bool(content.protected_data))
    elif kind in ATTACHED:
        yield attachment(content, turn=turn, by=_author(message))
    elif kind in CALLS:
        yield calls.called(content, turn=turn, message=number)
    elif kind in RESULTS:
        yield from calls.answered(content, turn=turn)
    elif kind == "function_approval_request":
        yield from calls.asked(content, turn=turn, message=number)
    elif kind == "function_approval_response":
        yield from calls.decided(content, turn=turn, message=number)
    elif kind not in BOOKKEEPING:
        yield Other(turn=turn, by=_author(message), type=kind, text=without_type(content))


def _spoken(text: str, content: Content, message: Message, turn: int) -> Item:
    kind = program_kind(message.additional_properties)
    if message.role == "system" or kind == INSTRUCTIONS:
        return Instructions(turn=turn, text=text)
    if kind is not None:
        program = text_of(message.additional_properties.get(WRITTEN_BY))
        return FromProgram(turn=turn, program=program, kind=kind, text=text)
    if message.role == "user":
        return Question(turn=turn, text=text)
    if message.role == "assistant":
        return Answer(turn=turn, text=text, author=message.author_name or None, sources=_sources(content.annotations))
    return Other(turn=turn, by=_author(message), type="text", text=text)


def _author(message: Message) -> str:
    if program_kind(message.additional_properties) is not None:
        return "program"
    return {"user": "person", "assistant": "model"}.get(message.role, str(message.role))


def _sources(annotations: Sequence[Any] | None) -> tuple[Source, ...]:
    return tuple(
        Source(text_of(found.get("title")), text_of(found.get("url")))
        for found in annotations or ()
        if isinstance(found, dict) and (found.get("title") or found.get("url"))
    )


def _failures(record: SessionRecord) -> list[Failure]:
    """Return the errors, oldest first; none stands after a later one, whatever turn it names."""
    latest = turns_of(record.messages)
    placed: list[Failure] = []
    for error in reversed([*record.errors]):
        if isinstance(error, UnreadableRecord):
            placed.append(Failure(turn=latest, line=error.line))
            continue
        latest = min(latest, max(error.turns, 0))
        told = {name: getattr(error, name) for name in _TOLD}
        placed.append(Failure(turn=latest, **told))
    return placed[::-1]
