"""How stores that keep a SQLite database save one more turn.

Where a store can take a turn in one call it is measured so, which is the least it can cost. Its own runner calls it
several times a turn: so it is measured as well.
"""

from __future__ import annotations

import json
import uuid
from typing import Any

from _measuring import ANSWER, ARGUMENTS, QUESTION, RESULT
from _peer import Peer


class OpenAIAgents(Peer):
    """Insert a row for each item in one transaction, in SQLite's WAL mode with ``synchronous`` at FULL."""

    name = "OpenAI Agents SDK"
    requirements = ("openai-agents==0.24.0",)
    call = "`SQLiteSession.add_items`, once a turn"
    durable = True

    async def open(self) -> None:
        """Add all turns at once."""
        from agents import SQLiteSession

        self.session = SQLiteSession("bench", self.folder / "sessions.db")
        await self.session.add_items([item for turn in range(self.turns) for item in self._items(turn)])

    async def before(self, number: int) -> None:
        """Make the items of a turn."""
        self.items = self._items(number)

    async def save(self) -> None:
        """Add them in one call."""
        await self.session.add_items(self.items)

    async def kept(self) -> int:
        """Read all items."""
        return len(await self.session.get_items())

    def _items(self, number: int) -> list[Any]:
        call = {"call_id": f"call-{number}", "name": "look", "type": "function_call", "status": "completed"}
        said = {"type": "output_text", "text": ANSWER, "annotations": []}
        return [
            {"role": "user", "content": QUESTION},
            {**call, "id": f"c-{number}", "arguments": json.dumps(ARGUMENTS)},
            {"type": "function_call_output", "call_id": f"call-{number}", "output": RESULT},
            {
                "type": "message",
                "id": f"answer-{number}",
                "role": "assistant",
                "status": "completed",
                "content": [said],
            },
        ]


class OpenAIAgentsRunner(OpenAIAgents):
    """The same, called as ``Runner.run`` does: with the question, with the call and its result, with the answer."""

    call = "`SQLiteSession.add_items`, three times a turn as its `Runner` does"
    in_plot = False

    async def save(self) -> None:
        """Add the items in three calls."""
        question, call, result, answer = self.items
        await self.session.add_items([question])
        await self.session.add_items([call, result])
        await self.session.add_items([answer])


class LangGraph(Peer):
    """Insert a row that holds all messages, in SQLite's WAL mode with ``synchronous`` at FULL; old rows stay."""

    name = "LangGraph"
    requirements = ("langgraph-checkpoint-sqlite==3.1.2", "langgraph==1.2.24")
    call = '`SqliteSaver.put`, once a turn (`durability="exit"`)'
    durable = True

    async def open(self) -> None:
        """Put a checkpoint with the conversation, as a graph whose state is ``MessagesState`` does."""
        import sqlite3

        from langgraph.checkpoint.sqlite import SqliteSaver

        self.saver = SqliteSaver(sqlite3.connect(self.folder / "checkpoints.db", check_same_thread=False))
        self.recorded = [message for turn in range(self.turns) for message in self._messages(turn)]
        self.config: Any = {"configurable": {"thread_id": "bench", "checkpoint_ns": ""}}
        self._put(self.recorded)

    async def before(self, number: int) -> None:
        """Make the messages of a turn; those before it are shared, as in a graph's state."""
        self.messages = [*self.recorded, *self._messages(number)]

    async def save(self) -> None:
        """Put a checkpoint with all messages."""
        self._put(self.messages)

    async def kept(self) -> int:
        """Read the last checkpoint."""
        found = self.saver.get_tuple({"configurable": {"thread_id": "bench", "checkpoint_ns": ""}})
        return len(found.checkpoint["channel_values"]["messages"])

    def _put(self, messages: list[Any]) -> None:
        from langgraph.checkpoint.base import empty_checkpoint

        checkpoint = empty_checkpoint()
        version = self.saver.get_next_version(None, None)
        checkpoint["channel_values"] = {"messages": messages}
        checkpoint["channel_versions"] = {"messages": version}
        step = {"source": "loop", "step": len(messages), "parents": {}}
        self.config = self.saver.put(self.config, checkpoint, step, {"messages": version})

    def _messages(self, number: int) -> list[Any]:
        from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

        call = {"name": "look", "args": ARGUMENTS, "id": f"call-{number}"}
        return [
            HumanMessage(QUESTION, id=f"question-{number}"),
            AIMessage("", tool_calls=[call], id=f"c-{number}"),
            ToolMessage(RESULT, tool_call_id=f"call-{number}", id=f"result-{number}"),
            AIMessage(ANSWER, id=f"answer-{number}"),
        ]


class LangGraphSteps(LangGraph):
    """The same, called as a graph does unless told otherwise: a checkpoint and its writes for each of its steps."""

    call = "`SqliteSaver.put` and `put_writes` for each step of a graph"
    in_plot = False

    async def save(self) -> None:
        """Put the input, and then what each of the four steps added."""
        until = len(self.messages) - 3
        self._put(self.messages[: until - 1])
        for step in range(4):
            task = str(uuid.uuid4())
            self.saver.put_writes(self.config, [("messages", [self.messages[until - 1 + step]])], task)
            self._put(self.messages[: until + step])


class GoogleADK(Peer):
    """Insert a row for each event, each in a connection and transaction of its own, with a rollback journal at FULL."""

    name = "Google ADK"
    requirements = ("google-adk==2.13.0",)
    call = "`SqliteSessionService.append_event`, four times a turn"
    durable = True

    async def open(self) -> None:
        """Append the events of all turns."""
        from google.adk.sessions.sqlite_session_service import SqliteSessionService

        self.service = SqliteSessionService(str(self.folder / "sessions.db"))
        self.session = await self.service.create_session(app_name="bench", user_id="ada", session_id="bench")
        for turn in range(self.turns):
            await self.before(turn)
            await self.save()

    async def before(self, number: int) -> None:
        """Make the events of a turn."""
        from google.adk.events import Event
        from google.genai import types

        invocation = f"turn-{number}"
        call = types.FunctionCall(id=f"call-{number}", name="look", args=ARGUMENTS)
        result = types.FunctionResponse(id=f"call-{number}", name="look", response={"result": RESULT})
        parts = [
            ("user", "user", types.Part(text=QUESTION)),
            ("assistant", "model", types.Part(function_call=call)),
            ("assistant", "user", types.Part(function_response=result)),
            ("assistant", "model", types.Part(text=ANSWER)),
        ]
        self.events = [
            Event(author=author, invocation_id=invocation, content=types.Content(role=role, parts=[part]))
            for author, role, part in parts
        ]

    async def save(self) -> None:
        """Append them one by one; there is no call for several."""
        for event in self.events:
            await self.service.append_event(self.session, event)

    async def kept(self) -> int:
        """Read the session again."""
        found = await self.service.get_session(app_name="bench", user_id="ada", session_id="bench")
        return len(found.events)
