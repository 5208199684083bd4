"""The client of the protocol's own Python library, with an observer that sees the wire before its handlers do."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from acp import PROTOCOL_VERSION, spawn_agent_process, text_block
from acp.connection import StreamDirection, StreamEvent
from acp.schema import AllowedOutcome, RequestPermissionResponse

from tests.consoles import environment
from tests.mm.acp.editors import scripted

READ = {"calls": [{"name": "read_file", "arguments": {"path": "a.txt"}}]}
EDIT = {"calls": [{"name": "edit_file", "arguments": {"path": "a.txt", "old": "two", "new": "three"}}]}


class Client:
    """Allows every call once."""

    async def request_permission(self, **_: Any) -> RequestPermissionResponse:
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id="once"))

    async def session_update(self, **_: Any) -> None:
        pass


async def test_the_library_of_the_protocol_works_with_mm_from_a_new_session_to_its_resume(tmp_path: Path) -> None:
    project = tmp_path / "project"
    scripted(project, READ, "I read it.", EDIT, "Changed.")
    (project / "a.txt").write_bytes(b"one\ntwo\n")
    seen: list[dict[str, Any]] = []

    def observe(event: StreamEvent) -> None:
        if event.direction == StreamDirection.INCOMING:
            seen.append(event.message)

    with (tmp_path / "stderr").open("wb") as errors:
        async with spawn_agent_process(
            Client(),  # type: ignore[arg-type]
            sys.executable,
            *("-W", "error", "-m", "mm", "acp"),
            cwd=project,
            env=dict(environment()),
            transport_kwargs={"stderr": errors},
            observers=[observe],
            use_unstable_protocol=True,
        ) as (agent, _):
            assert (await agent.initialize(protocol_version=PROTOCOL_VERSION)).protocol_version == PROTOCOL_VERSION
            session = (await agent.new_session(cwd=str(project), mcp_servers=[])).session_id
            for question in ("Read a.txt", "Change a.txt"):
                answer = await agent.prompt(session_id=session, prompt=[text_block(question)])
                assert answer.stop_reason == "end_turn"
            listed = (await agent.list_sessions(cwd=str(project))).sessions
            assert [(one.session_id, one.title, one.cwd) for one in listed] == [(session, "Read a.txt", str(project))]
            seen.clear()
            await agent.load_session(session_id=session, cwd=str(project), mcp_servers=[])
            kinds = [one["params"]["update"]["sessionUpdate"] for one in before_answer(seen)]
            turn = ["user_message_chunk", "tool_call", "agent_message_chunk"]
            assert kinds == turn * 2
            seen.clear()
            await agent.resume_session(session_id=session, cwd=str(project), mcp_servers=[])
            assert before_answer(seen) == []
            await agent.close_session(session_id=session)
    assert (project / "a.txt").read_text(encoding="utf-8") == "one\nthree\n"


def before_answer(seen: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the notifications that came before the first response."""
    first = next(number for number, message in enumerate(seen) if "method" not in message)
    return [one for one in seen[:first] if one["params"]["update"]["sessionUpdate"].endswith(("_chunk", "call"))]
