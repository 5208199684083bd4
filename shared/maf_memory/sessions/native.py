"""Between a record and the framework's own session, in both directions, with nothing lost on the way.

An agent runs on an ``AgentSession``; storage keeps a :class:`~maf_memory.sessions.record.SessionRecord`. The messages
themselves are shared: nobody changes a recorded message in place. What else the framework keeps is copied.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from maf_memory.authorship import recorded_instructions
from maf_memory.checkpoint import HISTORY_SOURCE_ID, history_of
from maf_memory.errors import FileRefused, SaveFailed
from maf_memory.lines import MessageLines
from maf_memory.payload import framework_version, restored, serialised
from maf_memory.text import one_line

if TYPE_CHECKING:
    from agent_framework import AgentSession

    from maf_memory.sessions.record import SessionRecord

_BESIDE_THE_MESSAGES = ("state", "service_session_id", "session_id")


def agent_session(record: SessionRecord) -> AgentSession:
    """Return the framework's session that goes on where ``record`` stands; later turns do not change the record.

    The recorded instructions are left out, and nothing else.

    Raises:
        FileRefused: the framework cannot rebuild the state.
    """
    state = copy.deepcopy(record.state)
    beside = state.pop(HISTORY_SOURCE_ID, {})
    if not isinstance(beside, dict) or beside.keys() & {"messages", "type"}:
        raise FileRefused(Path(record.id), "its state holds messages of its own", "messages beside the state")
    messages = record.messages[len(recorded_instructions(record.messages)) :]
    if messages or beside:
        state[HISTORY_SOURCE_ID] = {**beside, "messages": []}
    payload = {
        "type": "session",
        "session_id": record.session_id or record.id,
        "service_session_id": copy.deepcopy(record.service_session_id),
        "state": state,
    }
    session = restored(payload, framework_version(), Path(record.id))
    if messages:
        session.state[HISTORY_SOURCE_ID]["messages"] = messages
    return session


def take_session(record: SessionRecord, session: AgentSession) -> None:
    """Make ``record`` say what ``session`` holds now; the recorded instructions stay at its head.

    Dates, title, errors and the stamp are not touched. Whether the messages can be read back is proven when they are
    saved, by whoever remembers which ones were proven before.

    Raises:
        SaveFailed: the session holds what would not come back: a key that is not a text, messages under another source
            id than the history provider's own, state or an id that the framework or JSON would rebuild differently.
            The record is as it was.
    """
    path = Path(record.id)
    rest = serialised(_without_messages(session), path, MessageLines()).rest
    history = history_of(session)
    if not all(_is_message(message) for message in history):
        raise _unsaveable(record, "messages that are not the framework's")
    state, service_session_id, session_id = _as_json([rest[name] for name in _BESIDE_THE_MESSAGES], record)
    if not isinstance(session_id, str):
        raise _unsaveable(record, "an id that is not a text")
    kept = state.pop(HISTORY_SOURCE_ID, {})
    kept.pop("messages", None)
    record.messages = [*recorded_instructions(record.messages), *history]
    record.state = {**state, HISTORY_SOURCE_ID: kept} if kept else state
    record.service_session_id = service_session_id
    record.session_id = None if session_id == record.id else session_id


def _without_messages(session: AgentSession) -> AgentSession:
    """Return a session with the same state that is cheap to prove: its history is there, and empty."""
    from agent_framework import AgentSession as Session

    bare = Session(session_id=session.session_id, service_session_id=session.service_session_id)
    bare.state = dict(session.state)
    history = bare.state.get(HISTORY_SOURCE_ID)
    if isinstance(history, Mapping) and isinstance(history.get("messages"), list):
        bare.state[HISTORY_SOURCE_ID] = {**history, "messages": []}
    return bare


def _is_message(value: object) -> bool:
    from agent_framework import Message

    return isinstance(value, Message)


def _as_json(values: list[Any], record: SessionRecord) -> list[Any]:
    """Return the values as JSON brings them back, refused where that is something else: NaN, bytes, a set."""
    try:
        again: list[Any] = msgspec.json.decode(msgspec.json.encode(values))
    except (ValueError, TypeError, RecursionError) as error:
        raise _unsaveable(record, str(error)) from error
    if again != values:
        raise _unsaveable(record, "a value that JSON cannot hold")
    return again


def _unsaveable(record: SessionRecord, why: str) -> SaveFailed:
    return SaveFailed(
        f"{record.id} was not saved: the session holds something that could not be read back ({one_line(why, 240)}). "
        "What is kept of it is as it was."
    )
