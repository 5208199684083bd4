"""The border to the framework's own serialisation: nothing crosses it that would not cross back unchanged."""

from __future__ import annotations

import functools
import importlib.metadata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maf_memory.checkpoint import HISTORY_SOURCE_ID, copied_session, history_of
from maf_memory.conversation import NotAConversation
from maf_memory.errors import FileRefused, SaveFailed
from maf_memory.lines import MessageLines
from maf_memory.plain_forms import plain_message
from maf_memory.text import one_line

if TYPE_CHECKING:
    from agent_framework import AgentSession


@functools.cache
def framework_version() -> str:
    """Return the framework's name and version as a file records them; its metadata is read once, not at every save."""
    return f"agent-framework-core {importlib.metadata.version('agent-framework-core')}"


def messages_of(payload: dict[str, Any]) -> Any:
    """Return what stands for the messages in a serialised session: a list, if it is sound.

    A history that carries a ``type`` is not one: the framework would rebuild it as an object of its own. Nor is one
    that holds something and no messages: it would be a silent fresh start.
    """
    history = payload["state"].get(HISTORY_SOURCE_ID, {})
    if type(history) is not dict or "type" in history:
        return None
    return history.get("messages", None if history else [])


def restored(payload: dict[str, Any], framework: str, path: Path) -> AgentSession:
    """Return the framework's session, checked to hold everything that ``payload`` holds.

    ``framework`` is the version that wrote it; where it is another one, the session must serialise to the same again.

    Raises:
        FileRefused: the framework cannot rebuild it, or would drop or change a part of it in silence.
    """
    from agent_framework import AgentSession, Message

    expected = f"a session that {framework_version()} can rebuild (the file says {one_line(framework)})"
    stored = messages_of(payload)
    try:
        session = AgentSession.from_dict(_bare(payload))
        if stored:
            # One by one: the framework's own walk through the state costs a third more and does the same to messages.
            session.state[HISTORY_SOURCE_ID]["messages"] = [
                plain_message(form, full=True) or Message.from_dict(form) for form in stored
            ]
        copied_session(session)  # what cannot be copied cannot be rolled back either
        changed = framework != framework_version() and session.to_dict() != payload
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise FileRefused(path, f"the framework cannot rebuild it ({_why(error)})", expected) from error
    for number, (message, form) in enumerate(zip(history_of(session), stored, strict=True), start=1):
        if len(message.contents) != len(form["contents"]):
            raise FileRefused(path, f"message {number} holds a content of an unknown kind", expected)
    if changed:
        raise FileRefused(path, "the framework would rebuild it differently", expected)
    return session


def _bare(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the serialised session without its messages."""
    state = dict(payload["state"])
    if HISTORY_SOURCE_ID in state:
        state[HISTORY_SOURCE_ID] = {**state[HISTORY_SOURCE_ID], "messages": []}
    return {**payload, "state": state}


def frozen(session: AgentSession, path: Path) -> AgentSession:
    """Return a copy of ``session`` for a save that later turns do not change.

    Raises:
        SaveFailed: its state holds something that cannot be copied, and so could not be read back either.
    """
    with refused_as_unreadable(path):
        return copied_session(session)


@dataclass(frozen=True, slots=True)
class Serialised:
    """A session as its file holds it: everything but the messages, and the messages as encoded lines."""

    rest: dict[str, Any]
    lines: Sequence[bytes]


def serialised(session: AgentSession, path: Path, lines: MessageLines) -> Serialised:
    """Return the framework's serialisation of ``session``, proven to be rebuilt by the framework unchanged.

    ``lines`` are those of the last save: recorded messages never change, so the same ones are not encoded again.

    Raises:
        SaveFailed: the framework could not rebuild it, or a tool call has no result. What could not be read back is
            not saved.
    """
    with refused_as_unreadable(path):
        _refuse_other_keys(session.state, "state")
        _refuse_other_histories(session)
        rest = _without_messages(session)
        if messages_of(rest) is None:
            raise NotAConversation("its messages are not a list")
        refuse_unreadable_state(rest)
        return Serialised(rest, lines.take(history_of(session)))


def _without_messages(session: AgentSession) -> dict[str, Any]:
    from agent_framework import AgentSession

    bare = AgentSession(session_id=session.session_id, service_session_id=session.service_session_id)
    bare.state = dict(session.state)
    history = bare.state.get(HISTORY_SOURCE_ID)
    if isinstance(history, Mapping) and isinstance(history.get("messages"), (list, tuple)):
        bare.state[HISTORY_SOURCE_ID] = {**history, "messages": []}
    return bare.to_dict()


@contextmanager
def refused_as_unreadable(path: Path) -> Iterator[None]:
    """Turn whatever the framework or JSON raises of a value into the one error of a save, with its line."""
    try:
        yield
    except NotAConversation as error:
        raise SaveFailed(f"{path} was not saved: {error}. The old file is as it was.") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, Warning) as error:
        # The framework only warns of a value that it cannot serialise; where warnings are errors, it raises.
        raise SaveFailed(
            f"{path} was not saved: the session holds something that could not be read back "
            f"({_why(error)}). The old file is as it was."
        ) from error


def _why(error: Exception) -> str:
    """Return what went wrong, with the reason behind it: the framework's own error says where, its cause says what."""
    return one_line(f"{error} {error.__cause__ or ''}".strip(), 240)


def _refuse_other_histories(session: AgentSession) -> None:
    """Refuse messages that another history provider keeps: what is promised of a conversation is checked on one."""
    from agent_framework import Message

    for source_id, value in session.state.items():
        messages = value.get("messages") if source_id != HISTORY_SOURCE_ID and isinstance(value, Mapping) else None
        if isinstance(messages, list) and any(isinstance(message, Message) for message in messages):
            raise ValueError(
                f"messages under {source_id!r}; only the history of InMemoryHistoryProvider with its default "
                f"source id, {HISTORY_SOURCE_ID!r}, is kept"
            )


def _refuse_other_keys(value: object, where: str) -> None:
    """Refuse a key that is not a text: it would come back as one, and be another key."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                raise ValueError(f"{where} has the key {key!r}, which would come back as a text")
            _refuse_other_keys(item, f"{where}.{key}")
    elif isinstance(value, (list, tuple)):
        for item in value:
            _refuse_other_keys(item, where)


def refuse_unreadable_state(rest: dict[str, Any]) -> None:
    """Refuse application data that the framework would take for one of its own types, and never load again."""
    from agent_framework import AgentSession

    if AgentSession.from_dict(rest).to_dict() != rest:
        raise ValueError("state that the framework rebuilds differently")
