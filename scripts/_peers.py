"""How this project's store and other stores save one more turn, each through its own public calls.

Each class is run by ``_peer_worker.py`` in an environment of its own; nothing of a store is imported before ``open``.
Where a store can take a turn in one call it is measured so, which is the least it can cost; its own runner often calls
it several times a turn, and where that differs it is measured as well.
"""

from __future__ import annotations

import json
import uuid
import warnings
from pathlib import Path
from typing import Any, ClassVar

from _measuring import ANSWER, ARGUMENTS, QUESTION, RESULT, turn_of


class Peer:
    """A store that holds a conversation of ``turns`` turns and saves one more.

    ``durable`` says whether the save flushes to the disk; the bench counts the flushes and refuses a wrong claim.
    Stores that append grow by a turn with each save; stores that write everything save the same length each time.
    """

    name: ClassVar[str]
    requirements: ClassVar[tuple[str, ...]] = ()
    call: ClassVar[str]
    durable: ClassVar[bool]
    in_plot: ClassVar[bool] = True

    def __init__(self, folder: Path, turns: int) -> None:
        """Say where it keeps what, and how long the conversation is."""
        self.folder = folder
        self.turns = turns

    async def open(self) -> None:
        """Make the store and save the conversation of ``turns`` turns."""
        raise NotImplementedError

    async def before(self, number: int) -> None:
        """Make the messages of the next turn; not measured."""
        raise NotImplementedError

    async def save(self) -> None:
        """Save the turn; this is measured."""
        raise NotImplementedError

    async def kept(self) -> int:
        """Return how many messages a reader finds, which shows that the turns were saved."""
        raise NotImplementedError


class Ours(Peer):
    """Write the whole file, flush it, replace the old one, and flush the folder."""

    name = "maf-memory"
    call = "`FileSessions.save`"
    durable = True

    async def open(self) -> None:
        """Make the messages."""
        from maf_memory.sessions.files import FileSessions

        self.storage = FileSessions(self.folder / "sessions")
        self.recorded = [message for turn in range(self.turns) for message in turn_of(turn)]
        await self._create()

    async def before(self, number: int) -> None:
        """Create a session of just this length and add a turn."""
        await self._create()
        self.record.messages = [*self.recorded, *turn_of(number)]

    async def _create(self) -> None:
        from maf_memory.sessions.ids import new_id
        from maf_memory.sessions.record import SessionRecord, local_now

        now = local_now()
        self.record = SessionRecord(new_id(now), now, now, str(self.folder), provider="openai", model="bench")
        self.record.messages = list(self.recorded)
        await self.storage.create(self.record)

    async def save(self) -> None:
        """Save the session."""
        await self.storage.save(self.record)

    async def kept(self) -> int:
        """Load it with another store."""
        return len((await type(self.storage)(self.folder / "sessions").load(self.record.id)).messages)


class Framework(Peer):
    """Write the whole file aside and replace the old one; nothing is flushed."""

    name = "Agent Framework"
    call = "`FileSessionStore.set`"
    durable = False

    async def open(self) -> None:
        """Save a session of the framework."""
        from agent_framework import AgentSession

        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=FutureWarning)  # the framework's store is experimental
            from agent_framework import FileSessionStore

            self.store = FileSessionStore(self.folder)
        self.session = AgentSession(session_id="bench")
        self.recorded = [message for turn in range(self.turns) for message in turn_of(turn)]
        self.session.state["in_memory"] = {"messages": self.recorded}
        await self.store.set("bench", self.session)

    async def before(self, number: int) -> None:
        """Add a turn to the same conversation."""
        self.session.state["in_memory"] = {"messages": [*self.recorded, *turn_of(number)]}

    async def save(self) -> None:
        """Save the session."""
        await self.store.set("bench", self.session)

    async def kept(self) -> int:
        """Load it again."""
        return len((await self.store.get("bench")).state["in_memory"]["messages"])


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


class Strands(Peer):
    """Write each message to a file of its own, and the agent to another; nothing is flushed."""

    name = "Strands Agents"
    requirements = ("strands-agents==1.62.0",)
    call = "`FileSessionManager`, `append_message` and `sync_agent` four times a turn"
    durable = False

    async def open(self) -> None:
        """Let an agent with all turns make the session; its model is never called."""
        from strands import Agent
        from strands.models import BedrockModel
        from strands.session.file_session_manager import FileSessionManager

        self.manager = FileSessionManager("bench", storage_dir=str(self.folder))
        recorded = [message for turn in range(self.turns) for message in self._messages(turn)]
        model = BedrockModel(model_id="none", region_name="eu-central-1")
        self.agent = Agent(model=model, messages=recorded, session_manager=self.manager, callback_handler=None)

    async def before(self, number: int) -> None:
        """Make the messages of a turn."""
        self.messages = self._messages(number)

    async def save(self) -> None:
        """Do what its hooks do: append each message and sync the agent after it; sync again at the end of the turn."""
        for message in self.messages:
            self.agent.messages.append(message)
            self.manager.append_message(message, self.agent)
            self.manager.sync_agent(self.agent)
        self.manager.sync_agent(self.agent)

    async def kept(self) -> int:
        """Read the messages' files."""
        return len(self.manager.list_messages("bench", self.agent.agent_id))

    def _messages(self, number: int) -> list[Any]:
        use = {"toolUseId": f"call-{number}", "name": "look", "input": ARGUMENTS}
        result = {"toolUseId": f"call-{number}", "status": "success", "content": [{"text": RESULT}]}
        contents: list[tuple[str, dict[str, Any]]] = [
            ("user", {"text": QUESTION}),
            ("assistant", {"toolUse": use}),
            ("user", {"toolResult": result}),
            ("assistant", {"text": ANSWER}),
        ]
        return [{"role": role, "content": [part], "tracking_id": str(uuid.uuid4())} for role, part in contents]


PEERS: tuple[type[Peer], ...] = (
    Ours,
    Framework,
    OpenAIAgents,
    OpenAIAgentsRunner,
    LangGraph,
    LangGraphSteps,
    GoogleADK,
    Strands,
)
