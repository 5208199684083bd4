"""Who wrote a message: the person, the model, or the program itself.

A program that writes into a conversation (a summary, a note, the context of a hook) marks the message in its own
properties. Titles, recall, search, replay and exports go by that mark, never by recognising text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_framework import Message

WRITTEN_BY = "written_by"
"""The message property that names the program which wrote a message, where neither person nor model did."""

KIND = "kind"
"""The message property that says what the program wrote: ``note``, ``summary``, ``acknowledgement``, ``context``, …"""

ATTACHMENT = "attachment"
"""The property of a content that came with a question: what was attached, where the text is not the person's own."""

INSTRUCTIONS = "instructions"
"""The kind of the system message that records, for the reader, under which instructions a conversation ran."""


def mark(program: str, kind: str) -> dict[str, Any]:
    """Return the properties of a message that ``program`` writes itself."""
    return {WRITTEN_BY: program, KIND: kind}


def program_kind(properties: object) -> str | None:
    """Return the kind of what a program wrote, ``""`` where it gave none, or ``None`` for anybody else's message."""
    if not properties or not isinstance(properties, Mapping) or not properties.get(WRITTEN_BY):
        return None
    return str(properties.get(KIND) or "")


def is_question(message: Message) -> bool:
    """Whether a person asked it: a user message that no program wrote."""
    return message.role == "user" and program_kind(message.additional_properties) is None


def recorded_instructions(messages: Sequence[Message]) -> list[Message]:
    """Return the leading message that records the instructions for a reader, if there is one.

    A resumed conversation runs under the current instructions, so the model is never sent the recorded ones.
    """
    leading = messages[:1]
    return [one for one in leading if one.role == "system" and program_kind(one.additional_properties) == INSTRUCTIONS]
