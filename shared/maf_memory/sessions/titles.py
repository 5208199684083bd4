"""What a conversation is called in a listing, and how many turns it counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from maf_memory.authorship import ATTACHMENT, is_question, recorded_instructions

if TYPE_CHECKING:
    from agent_framework import Content, Message

    from maf_memory.sessions.journal import Journal

MAXIMUM_TITLE = 80
"""The longest title, in characters; a longer question is cut and ends in an ellipsis."""


def title_of(settled: str, messages: Sequence[Message], errors: Journal) -> str:
    """Return the title: the one that is settled, else the first question, else the question of the first error.

    An empty title says that the conversation has nothing to show: no question was ever asked.
    """
    if settled:
        return settled
    for message in messages:
        if is_question(message):
            return _asked(message.contents)
    return next((as_title(question) for question in errors.questions() if question.strip()), "")


def _asked(contents: Sequence[Content]) -> str:
    """Return what a question is called: its first text, since what follows it may be whole files.

    Where what was attached is marked, it may stand between the words: those together are the title.
    """
    texts = [content for content in contents if content.type == "text"]
    titles = [as_title(content.text or "") for content in texts]
    if any(ATTACHMENT in content.additional_properties for content in contents):
        typed = (content.text or "" for content in texts if ATTACHMENT not in content.additional_properties)
        titles.insert(0, as_title(" ".join(typed)))
    return next(filter(None, titles), f"[{contents[0].type if contents else 'empty'}]")


def settled_title(title: str, messages: Sequence[Message]) -> str:
    """Return the title that stays: none until something is said, so that the first question decides after an error."""
    return title if len(messages) > len(recorded_instructions(messages)) else ""


def as_title(text: str) -> str:
    """Return ``text`` as one trimmed line of at most :data:`MAXIMUM_TITLE` characters that command no terminal."""
    line = "".join(character if character.isprintable() else " " for character in text)
    words = " ".join(line.split())
    return words if len(words) <= MAXIMUM_TITLE else f"{words[: MAXIMUM_TITLE - 1].rstrip()}…"


def turns_of(messages: Sequence[Message]) -> int:
    """Return how many questions of a person stand in the conversation."""
    return sum(map(is_question, [message for message in messages if message.role == "user"]))
