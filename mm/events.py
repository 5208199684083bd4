"""What a conversation tells while a turn runs; the terminal and the editor façade only draw these.

A turn yields any of them in order and always ends with exactly one :class:`TurnEnded`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from mm.permission import Permission

ToolKind = Literal["read", "search", "edit", "execute", "other"]


class Outcome(Enum):
    """How a turn ended."""

    ANSWERED = "answered"
    CANCELLED = "cancelled"
    FAILED = "failed"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer, as it arrives."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool call that the model made, before anybody was asked; ``title`` is one line for a person."""

    call_id: str
    name: str
    kind: ToolKind
    title: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """The result of a call as the model gets it; ``succeeded`` is false for an error or a refusal."""

    call_id: str
    output: str
    succeeded: bool


@dataclass(frozen=True, slots=True)
class PermissionWanted:
    """A call waits for a person; ``permission.answer(...)`` lets it go on."""

    permission: Permission


@dataclass(frozen=True, slots=True)
class Notice:
    """One line that the program has to say: a hook that failed, a compaction that happened."""

    text: str


@dataclass(frozen=True, slots=True)
class ErrorShown:
    """One line of an error, redacted, exactly as the journal records it."""

    line: str


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The end of a turn."""

    outcome: Outcome


Event = Text | ToolStarted | ToolFinished | PermissionWanted | Notice | ErrorShown | TurnEnded
