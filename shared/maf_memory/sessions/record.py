"""A conversation as memory holds it (:class:`SessionRecord`), and what a listing tells of it (:class:`Head`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from maf_memory.sessions.journal import Journal
from maf_memory.stamp import Stamp

if TYPE_CHECKING:
    from agent_framework import Message

    from maf_memory.sessions.written import Known


def local_now() -> datetime:
    """Return the time with this machine's offset, to the second, as a session file records it."""
    return datetime.now().astimezone().replace(microsecond=0)


@dataclass(slots=True, eq=False, weakref_slot=True)
class SessionRecord:
    """One conversation of a project, with all that its file says.

    ``messages`` are the framework's own, oldest first; nobody changes one in place once it is recorded. ``state`` is
    what the framework keeps beside the history, serialised. ``stamp`` is the save that this record is a copy of, and
    ``None`` until the first one: only storage sets it.
    """

    id: str
    created: datetime
    updated: datetime
    cwd: str
    messages: list[Message] = field(default_factory=list)
    state: dict[str, Any] = field(default_factory=dict)
    errors: Journal = field(default_factory=Journal)
    title: str = ""
    """The title once it is settled (:mod:`maf_memory.sessions.titles`); empty while nothing was said."""
    key: str | None = None
    """A host's own id of this session, where it has one."""
    session_id: str | None = None
    """The framework's id of this session, where it is not ``id``."""
    service_session_id: str | dict[str, Any] | None = None
    provider: str | None = None
    model: str | None = None
    continued_in: str | None = None
    """The id of the session that goes on where this one was compacted."""
    stamp: Stamp | None = None
    known: Known | None = field(default=None, repr=False)
    """What the storage knows of the file behind this record; a copy of the record knows the same."""


class Head(msgspec.Struct, frozen=True, gc=False):
    """What stands before the messages of a session: all that a listing shows, without its conversation."""

    id: str
    stamp: Stamp
    created: datetime
    updated: datetime
    cwd: str
    title: str
    turns: int
    error_count: int
    key: str | None = None
    provider: str | None = None
    model: str | None = None
    continued_in: str | None = None


@dataclass(frozen=True, slots=True)
class Damaged:
    """A session that cannot be listed: ``problem`` says why, in one line; the file is as it was."""

    id: str
    path: Path
    problem: str
