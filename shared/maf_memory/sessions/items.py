"""What a transcript is made of: one frozen value for each thing that a façade draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

State = Literal["done", "failed", "unfinished", "waiting for approval", "refused"]
"""How a tool call ended; an unfinished one has no recorded result, and nobody knows what it did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing to draw. ``turn`` is the question it stands under, from 1; 0 stands before the first one."""

    turn: int

    @property
    def label(self) -> str:
        """What a façade calls it, in a few words."""
        return type(self).__name__


@dataclass(frozen=True, slots=True, kw_only=True)
class Instructions(Item):
    """The system prompt under which the conversation ran; a session that goes on runs under the current one."""

    text: str

    @property
    def label(self) -> str:
        """What a façade calls it."""
        return "System prompt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Item):
    """What the person wrote."""

    text: str


@dataclass(frozen=True, slots=True)
class Source:
    """What an answer names as its source; ``title`` or ``url`` may be empty."""

    title: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Item):
    """What the model wrote for the person, in Markdown; ``author`` is the agent, where it gave its name."""

    text: str
    author: str | None = None
    sources: tuple[Source, ...] = ()

    @property
    def label(self) -> str:
        """What a façade calls it."""
        return f"Answer of {self.author}" if self.author else "Answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning(Item):
    """What the model wrote for itself; ``withheld`` where only its provider can read it."""

    text: str
    withheld: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment(Item):
    """An image, a file or a reference to one.

    ``by`` is who gave it: ``person``, ``model``, ``program`` or ``tool``. ``uri`` is as recorded, data and all;
    ``size`` counts the bytes that it holds itself, and is ``None`` for a mere reference.
    """

    by: str
    media_type: str | None = None
    name: str | None = None
    uri: str | None = None
    file_id: str | None = None
    size: int | None = None

    @property
    def label(self) -> str:
        """What a façade calls it: ``Image``, ``Audio``, ``Video`` or ``File``."""
        kind = (self.media_type or "").partition("/")[0].lower()
        return kind.capitalize() if kind in {"image", "audio", "video"} else "File"

    @property
    def description(self) -> str:
        """Name, media type and size, as far as they are known, or where it is."""
        known = [self.name, self.media_type, None if self.size is None else in_bytes(self.size)]
        if self.size is None:
            known.append(self.uri or self.file_id)
        return ", ".join(part for part in known if part) or "nothing is known of it"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall(Item):
    """A call of a tool, with what was recorded of its end.

    ``input`` is the text that the model gave, and ``None`` where a result has no call; ``parameters`` are its values as
    texts where it is one sound JSON object. ``output`` is ``None`` where no result was recorded.
    """

    name: str
    call_id: str
    state: State
    input: str | None
    parameters: Mapping[str, str] | None = None
    output: str | None = None
    attachments: tuple[Attachment, ...] = ()

    @property
    def label(self) -> str:
        """What a façade calls it."""
        return "Tool call" if self.input is not None else "Tool result without its call"


@dataclass(frozen=True, slots=True, kw_only=True)
class FromProgram(Item):
    """What ``program`` itself wrote into the conversation: a summary, a note, the context of a hook."""

    program: str
    kind: str
    text: str

    @property
    def label(self) -> str:
        """What a façade calls it."""
        kind = self.kind.replace("_", " ").replace("-", " ").strip() or "text"
        return f"{kind[:1].upper()}{kind[1:]}, written by {self.program}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Other(Item):
    """A content that no other item stands for; ``type`` is its name in the framework."""

    by: str
    type: str
    text: str

    @property
    def label(self) -> str:
        """What a façade calls it."""
        return self.type.replace("_", " ").capitalize()


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure(Item):
    """An error of the run, from the session's journal: shown to the person, never part of the conversation.

    ``turns`` is how many turns the conversation had then; ``turn``, where it stands now. ``line`` stands alone where
    the record cannot be read.
    """

    line: str
    kind: str = "unreadable"
    time: datetime | None = None
    turns: int | None = None
    question: str = ""
    raw: str | None = None
    model: str | None = None

    @property
    def label(self) -> str:
        """What a façade calls it."""
        return f"Error ({self.kind})"


def in_bytes(size: int) -> str:
    """Return a number of bytes as a person reads it: ``812 bytes``, ``12.3 kB``, ``4.0 MB``."""
    if size < 1_000:
        return f"{size} bytes" if size != 1 else "1 byte"
    return f"{size / 1_000:.1f} kB" if size < 999_950 else f"{size / 1_000_000:.1f} MB"
