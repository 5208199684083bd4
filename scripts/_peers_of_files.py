"""How stores that keep files save one more turn: this project's, the framework's, and that of Strands Agents."""

from __future__ import annotations

import uuid
import warnings
from typing import Any

from _measuring import ANSWER, ARGUMENTS, QUESTION, RESULT, turn_of
from _peer import Peer


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
