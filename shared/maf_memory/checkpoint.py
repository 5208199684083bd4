"""Copies of a session that cost what its state weighs, not what its conversation weighs.

The rule this rests on: nobody changes a recorded message in place. The framework's history provider keeps it, and
so does this package. Copying through ``to_dict`` costs seconds for a long conversation.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_framework import AgentSession, Message

HISTORY_SOURCE_ID = "in_memory"
"""The source id of the framework's ``InMemoryHistoryProvider``."""


def history_of(session: AgentSession, source_id: str = HISTORY_SOURCE_ID) -> list[Message]:
    """Return the messages that the history provider keeps in ``session``, oldest first; the list is a copy."""
    provider_state = session.state.get(source_id)
    if not isinstance(provider_state, Mapping):
        return []
    return list(provider_state.get("messages", []))


def copied_state(state: dict[str, Any]) -> dict[str, Any]:
    """Return a deep copy of ``state`` that shares the messages themselves."""
    from agent_framework import Message

    shared: dict[int, Any] = {}
    for provider_state in state.values():
        if isinstance(provider_state, Mapping):
            messages = provider_state.get("messages")
            if isinstance(messages, list) and all(isinstance(message, Message) for message in messages):
                shared[id(messages)] = list(messages)
    return copy.deepcopy(state, shared)


def copied_session(session: AgentSession) -> AgentSession:
    """Return a session that later turns of ``session`` do not change."""
    from agent_framework import AgentSession as Session

    frozen = Session(session_id=session.session_id, service_session_id=copy.deepcopy(session.service_session_id))
    frozen.state = copied_state(session.state)
    return frozen


def put_back(session: AgentSession, checkpoint: AgentSession) -> None:
    """Make ``session`` exactly what it was when ``checkpoint`` was copied from it."""
    session.service_session_id = checkpoint.service_session_id
    session.state.clear()
    session.state.update(copied_state(checkpoint.state))
