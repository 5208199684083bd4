"""Sessions and stores that the tests of the memory package share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agent_framework import AgentSession, Content, Message

from maf_memory.context import ContextStore
from maf_memory.snapshot import SnapshotStore

INSTRUCTIONS = "memory-1.1"


class Agent:
    """All that a store needs of an agent."""

    def create_session(self) -> AgentSession:
        return AgentSession()


def snapshot_store(root: Path, **options: Any) -> SnapshotStore:
    return SnapshotStore(root / "demo140" / "session.json", instruction_version=INSTRUCTIONS, **options)


def context_store(root: Path) -> ContextStore:
    return ContextStore(root / "demo130" / "agent-state.json")


def user(text: str, number: int = 0) -> Message:
    return Message("user", [text], message_id=f"user-{number}")


def assistant(text: str, number: int = 0) -> Message:
    return Message("assistant", [text], message_id=f"assistant-{number}")


def session_of(*messages: Message) -> AgentSession:
    session = AgentSession(session_id="session-1")
    session.state["in_memory"] = {"messages": list(messages)}
    return session


def talked(*turns: str) -> AgentSession:
    """A session of one question and one answer for each of ``turns``."""
    messages: list[Message] = []
    for number, text in enumerate(turns):
        messages += [user(text, number), assistant(f"You said: {text}", number)]
    return session_of(*messages)


def add_turn(session: AgentSession, text: str) -> None:
    history = session.state.setdefault("in_memory", {}).get("messages", [])
    number = len(history)
    session.state["in_memory"]["messages"] = [*history, user(text, number), assistant(text, number)]


def with_tool_call(*, result: bool = True, approval: bool = False) -> AgentSession:
    call = Content.from_function_call("call-1", "add", arguments='{"a":1}')
    contents = [call, Content.from_function_approval_request("approval-1", call)] if approval else [call]
    messages = [user("add"), Message("assistant", contents, message_id="calls")]
    if result:
        messages.append(Message("tool", [Content.from_function_result("call-1", result="3")], message_id="result"))
    return session_of(*messages)


def texts(session: AgentSession | None) -> list[str]:
    assert session is not None
    return [message.text for message in session.state.get("in_memory", {}).get("messages", [])]


def identity(path: Path) -> tuple[object, ...]:
    """What must not change in a file that was refused, and which other files stand beside it."""
    status = path.lstat()
    content = path.read_bytes() if path.is_file() else None
    return (content, status.st_ino, status.st_mtime_ns, status.st_mode, status.st_size, beside(path))


def beside(path: Path) -> list[str]:
    """The names in a store's folder, the lock apart."""
    return sorted(name for name in os.listdir(path.parent) if name != f".{path.name}.lock")


@contextmanager
def untouched(path: Path) -> Iterator[None]:
    """Claim that the file is the same to the byte afterwards, and that nothing new stands beside it."""
    before = identity(path)
    yield
    assert identity(path) == before


def another(store: SnapshotStore) -> SnapshotStore:
    """Another program on the same file."""
    return SnapshotStore(store.path, instruction_version="memory-1.1")
