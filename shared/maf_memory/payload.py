"""The border to the framework's own serialisation: nothing crosses it that would not cross back unchanged."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from maf_memory.checkpoint import HISTORY_SOURCE_ID
from maf_memory.conversation import NotAConversation, check_messages
from maf_memory.errors import FileRefused, SaveFailed

if TYPE_CHECKING:
    from agent_framework import AgentSession


def framework_version() -> str:
    """Return the framework's name and version as a file records them."""
    return f"agent-framework-core {importlib.metadata.version('agent-framework-core')}"


def messages_of(payload: dict[str, Any]) -> Any:
    """Return what stands for the messages in a serialised session: a list, if it is sound."""
    history = payload["state"].get(HISTORY_SOURCE_ID, {})
    return history.get("messages", []) if isinstance(history, dict) else history


def restored(payload: dict[str, Any], framework: str, path: Path) -> AgentSession:
    """Return the framework's session, checked to hold everything that ``payload`` holds.

    ``framework`` is the version that wrote it; where it is another one, the session must serialise to the same again.

    Raises:
        FileRefused: the framework cannot rebuild it, or would drop or change a part of it in silence.
    """
    from agent_framework import AgentSession

    expected = f"a session that {framework_version()} can rebuild (the file says {framework})"
    try:
        session = AgentSession.from_dict(payload)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise FileRefused(path, f"the framework cannot rebuild it ({error})", expected) from error
    rebuilt = session.state.get(HISTORY_SOURCE_ID, {}).get("messages", [])
    for number, (message, stored) in enumerate(zip(rebuilt, messages_of(payload), strict=True), start=1):
        if len(message.contents) != len(stored["contents"]):
            raise FileRefused(path, f"message {number} holds a content of an unknown kind", expected)
    if framework != framework_version() and session.to_dict() != payload:
        raise FileRefused(path, "the framework would rebuild it differently", expected)
    return session


def serialised(session: AgentSession, path: Path) -> dict[str, Any]:
    """Return the framework's serialisation of ``session``, proven to be readable again.

    Raises:
        SaveFailed: it holds something that JSON cannot hold, that the framework could not rebuild, or a tool call
            without its result. What could not be read back is not saved.
    """
    try:
        payload = session.to_dict()
        check_messages(messages_of(payload))
        _refuse_changed_by_json(payload)
        _refuse_unreadable_state(payload)
    except NotAConversation as error:
        raise SaveFailed(f"{path} was not saved: {error}. The old file is as it was.") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise SaveFailed(
            f"{path} was not saved: the session holds something that could not be read back ({error}). "
            "The old file is as it was."
        ) from error
    return payload


def _refuse_changed_by_json(payload: dict[str, Any]) -> None:
    """Refuse what the fast encoder would change in silence: NaN becomes null, bytes and sets something else."""
    if msgspec.json.decode(msgspec.json.encode(payload)) != payload:
        strict = json.loads(json.dumps(payload, allow_nan=False))
        if msgspec.json.decode(msgspec.json.encode(strict)) != msgspec.json.decode(msgspec.json.encode(payload)):
            raise ValueError("a value that JSON cannot hold")


def _refuse_unreadable_state(payload: dict[str, Any]) -> None:
    """Refuse application data that the framework would take for one of its own types, and never load again."""
    from agent_framework import AgentSession

    others = {key: value for key, value in payload["state"].items() if key != HISTORY_SOURCE_ID}
    rest = {**payload, "state": others}
    if AgentSession.from_dict(rest).to_dict() != rest:
        raise ValueError("state that the framework rebuilds differently")
