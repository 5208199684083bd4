"""What could not be read back is not saved, and the old file stays."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from agent_framework import AgentSession, Message

from maf_memory.errors import SaveFailed
from maf_memory.snapshot import SnapshotStore
from tests.maf_memory.samples import (
    add_turn,
    another,
    snapshot_store,
    talked,
    texts,
    untouched,
    user,
    with_tool_call,
)


@pytest.fixture
def store(state_root: Path) -> SnapshotStore:
    return snapshot_store(state_root)


def _state(value: Any) -> Callable[[AgentSession], object]:
    return lambda session: session.state.update(app=value)


def _deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"deeper": value}
    return value


def _cycle() -> list[Any]:
    ring: list[Any] = []
    ring.append(ring)
    return ring


def _with_attribute(session: AgentSession) -> None:
    message = user("x")
    message.mine = 1  # type: ignore[attr-defined]
    session.state["in_memory"]["messages"].append(message)


UNSAVEABLE: dict[str, Callable[[AgentSession], object]] = {
    "NaN": _state(float("nan")),
    "infinity": _state({"deep": [float("inf")]}),
    "bytes": _state(b"x"),
    "bytes deep inside": _state({"a": [b"x"]}),
    "a set": _state({1, 2}),
    "a frozen set": _state(frozenset({1})),
    "a time": _state(datetime(2026, 1, 1, tzinfo=UTC)),
    "a path": _state(Path("/")),
    "an object": _state(object()),
    "a lock": _state(threading.Lock()),
    "a generator": _state(letter for letter in "a"),
    "a lone surrogate": _state("\ud800"),
    "a lone surrogate as key": _state({"\udfff": 1}),
    "a cycle": _state(_cycle()),
    "deep nesting": _state(_deep(900)),
    "very deep nesting": _state(_deep(5000)),
    "what looks like a message": _state({"type": "message"}),
    "what is a whole message": _state({"type": "message", "role": "user", "contents": []}),
    "what looks like a message, deep inside": _state([{"a": {"type": "message", "text": "x"}}]),
    "data of one's own in the history": lambda session: session.state["in_memory"].update(x={"type": "message"}),
    "a typed history": lambda session: session.state["in_memory"].update(type="message"),
    "a history that is a list": lambda session: session.state.update(in_memory=[]),
    "a history that is a message": lambda session: session.state.update(in_memory=user("x")),
    "a message that is a text": lambda session: session.state["in_memory"]["messages"].append("x"),
    "a message that is an object": lambda session: session.state["in_memory"]["messages"].append(
        {"type": "message", "role": "user", "contents": []}
    ),
    "a message with an attribute of one's own": _with_attribute,
    "a message of an unknown role": lambda session: session.state["in_memory"]["messages"].append(Message("boss", [])),
    "NaN in a message": lambda session: session.state["in_memory"]["messages"].append(
        Message("user", ["x"], additional_properties={"score": float("nan")})
    ),
    "a service id that is a number": lambda session: setattr(session, "service_session_id", 5),
    "a service id with repeated keys": lambda session: setattr(session, "service_session_id", {1: "a", "1": "b"}),
    "a tool call without its result": lambda session: session.state.update(
        with_tool_call(result=False).state,
    ),
}


@pytest.mark.parametrize("what", UNSAVEABLE)
async def test_what_could_not_be_read_back_is_not_saved(store: SnapshotStore, what: str) -> None:
    await store.save(talked("kept"))
    session = talked("kept", "new")
    UNSAVEABLE[what](session)
    with untouched(store.path), pytest.raises(SaveFailed) as caught:
        await store.save(session)
    line = str(caught.value)
    assert line.isprintable()
    assert str(store.path) in line
    assert "The old file is as it was." in line
    assert (await store.save(talked("kept", "new"))).stamp.revision == 2, "the store goes on"
    assert len(texts(await another(store).load())) == 4


SAVEABLE: dict[str, Any] = {
    "tuples": (1, ("two", (3,))),
    "numbers": [0, -1, 2**63, -(2**64), 2**70, 1e22, 1e-300, 0.1, -0.0, True, None],
    "texts": ["\0", "\u2028", "🙂", "\ufffe", ""],
    "keys": {"": 1, "\0": 2, "type": "mine", "messages": []},
    "nesting": _deep(100),
    "what looks like a session": {"type": "session"},
    "what looks like a text": {"type": "text", "text": "x"},
    "a message of the framework": user("elsewhere"),
}


@pytest.mark.parametrize("what", SAVEABLE)
async def test_what_json_holds_is_saved_and_comes_back(store: SnapshotStore, what: str) -> None:
    session = talked("x")
    session.state["app"] = SAVEABLE[what]
    session.service_session_id = {"conversation": ["a"]}
    await store.save(session)
    again = await another(store).load()
    assert again is not None
    assert again.to_dict() == session.to_dict()


async def test_a_message_that_was_proven_is_not_proven_again_but_a_new_one_is(store: SnapshotStore) -> None:
    session = talked("one")
    await store.save(session)
    add_turn(session, "two")
    await store.save(session)
    _with_attribute(session)
    with pytest.raises(SaveFailed, match="could not be read back"):
        await store.save(session)
