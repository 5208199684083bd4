"""The sessions of a project: every conversation can be found again, in one readable JSON file a session.

Public names are loaded when they are first used, so that a listing does not wait for what only a turn needs.

===========================  ==========================================================================
:class:`FileSessions`        keeps sessions as files, ``FileSessions.of_project(".")`` beside a project
:class:`MemorySessions`      keeps sessions in memory, under the same contract
:class:`SessionStorage`      the seam: what any other place for sessions must do, and the contract's tests
:class:`SessionDirectory`    begins, finds, moves and deletes sessions, over any storage
:class:`SessionRecord`       one conversation with all that its file says; :class:`Head` is what a list shows
:class:`Journal`             the errors of a session, kept beside its conversation
:class:`Found`               what a search brings: each :class:`Hit` is a message
:class:`HostSessionStore`    the framework's ``SessionStore`` over these sessions, for hosts
===========================  ==========================================================================

A conversation for a reader: :func:`maf_memory.sessions.transcript.transcript`, and :mod:`maf_memory.sessions.export`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from maf_memory.sessions.directory import SessionDirectory
    from maf_memory.sessions.files import FileSessions
    from maf_memory.sessions.found import Found, Hit
    from maf_memory.sessions.hosting import HostSessionStore
    from maf_memory.sessions.journal import ErrorRecord, Journal, UnreadableRecord
    from maf_memory.sessions.memory import MemorySessions
    from maf_memory.sessions.native import agent_session, take_session
    from maf_memory.sessions.record import Damaged, Head, SessionRecord
    from maf_memory.sessions.storage import Cursor, Page, SessionStorage

__all__ = [
    "Cursor",
    "Damaged",
    "ErrorRecord",
    "FileSessions",
    "Found",
    "Head",
    "Hit",
    "HostSessionStore",
    "Journal",
    "MemorySessions",
    "Page",
    "SessionDirectory",
    "SessionRecord",
    "SessionStorage",
    "UnreadableRecord",
    "agent_session",
    "take_session",
]

_HOMES = {
    "Cursor": "storage",
    "Damaged": "record",
    "ErrorRecord": "journal",
    "FileSessions": "files",
    "Found": "found",
    "Head": "record",
    "Hit": "found",
    "HostSessionStore": "hosting",
    "Journal": "journal",
    "MemorySessions": "memory",
    "Page": "storage",
    "SessionDirectory": "directory",
    "SessionRecord": "record",
    "SessionStorage": "storage",
    "UnreadableRecord": "journal",
    "agent_session": "native",
    "take_session": "native",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
