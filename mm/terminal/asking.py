"""From what a person wrote to the message that is sent: the files that it names, each once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from maf_memory.text import sound

if TYPE_CHECKING:
    from agent_framework import Message

_ATTACHED = re.compile(r"^\[attached file: (.*)\]$", re.MULTILINE)


def message_of(text: str, project: Path) -> Message:
    """Return the question with its files.

    A recalled question holds its files as the model read them: those are not attached again, and what their content
    seems to name is not attached at all.

    Raises:
        AttachmentRefused: a named file cannot be attached.
    """
    from agent_framework import Message

    from mm.attachments import mentions, with_attachments

    first = _ATTACHED.search(text)
    if first is None:
        return with_attachments(text, project)
    held = set(_ATTACHED.findall(text))
    more = [name for name in mentions(text[: first.start()]) if name not in held]
    added = with_attachments(" ".join(f'@"{name}"' for name in more), project).contents[1:] if more else []
    return Message("user", [sound(text), *added])


def as_asked(message: Message) -> Message:
    """Return the message as a question that is asked without tools is recorded."""
    from agent_framework import Content, Message

    question, *files = message.contents
    return Message("user", [Content.from_text(f"[asked {question.text}]"), *files])
