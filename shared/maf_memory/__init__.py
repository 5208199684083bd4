"""Durable sessions for agents on the Microsoft Agent Framework.

Public names are loaded when they are first used: a program that only asks for the state root does not wait for the
framework.

==============================  =====================================================================
:class:`SnapshotStore`          one session in one file, in a versioned envelope
:class:`ContextStore`           one context value in one file
:class:`ContextValueProvider`   hands that value to the model as unverified user data
:func:`ask`                     one question, one answer; a turn that fails leaves no trace
:class:`KeepWhatWasDone`        the other ending of a turn, for agents whose tools have effects
:func:`open_root`               the private folder under which all of it is kept
:mod:`maf_memory.sessions`      every conversation of a project, one readable file a session
:mod:`maf_memory.chat`          the chat clients: offline, script, openai
:mod:`maf_memory.errors`        the family of errors
==============================  =====================================================================
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from maf_memory.context import ContextStore
    from maf_memory.envelope import Envelope
    from maf_memory.errors import (
        ChatUnavailable,
        ContextRefused,
        EmptyAnswer,
        FileRefused,
        FileUnreadable,
        MafMemoryError,
        NotProvenDurable,
        RootRefused,
        SaveFailed,
        StateConflict,
        TurnFailed,
        TurnUnderWay,
        VersionRefused,
    )
    from maf_memory.kept import KeepWhatWasDone
    from maf_memory.providers import ContextValueProvider
    from maf_memory.root import open_root, state_root
    from maf_memory.snapshot import Saved, SnapshotStore
    from maf_memory.stamp import Stamp
    from maf_memory.turn import Answer, Discard, Ending, ask

__all__ = [
    "Answer",
    "ChatUnavailable",
    "ContextRefused",
    "ContextStore",
    "ContextValueProvider",
    "Discard",
    "EmptyAnswer",
    "Ending",
    "Envelope",
    "FileRefused",
    "FileUnreadable",
    "KeepWhatWasDone",
    "MafMemoryError",
    "NotProvenDurable",
    "RootRefused",
    "SaveFailed",
    "Saved",
    "SnapshotStore",
    "Stamp",
    "StateConflict",
    "TurnFailed",
    "TurnUnderWay",
    "VersionRefused",
    "ask",
    "open_root",
    "state_root",
]

_HOMES = {
    "Answer": "turn",
    "ChatUnavailable": "errors",
    "ContextRefused": "errors",
    "ContextStore": "context",
    "ContextValueProvider": "providers",
    "Discard": "turn",
    "EmptyAnswer": "errors",
    "Ending": "turn",
    "Envelope": "envelope",
    "FileRefused": "errors",
    "FileUnreadable": "errors",
    "KeepWhatWasDone": "kept",
    "MafMemoryError": "errors",
    "NotProvenDurable": "errors",
    "RootRefused": "errors",
    "SaveFailed": "errors",
    "Saved": "snapshot",
    "SnapshotStore": "snapshot",
    "Stamp": "stamp",
    "StateConflict": "errors",
    "TurnFailed": "errors",
    "TurnUnderWay": "errors",
    "VersionRefused": "errors",
    "ask": "turn",
    "open_root": "root",
    "state_root": "root",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
