"""The store in the state object of the framework's own hosting package, and the host that the page shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from agent_framework import Agent, InMemoryHistoryProvider

from maf_memory.chat.scripted import ScriptedChatClient
from maf_memory.errors import FileRefused, StateConflict
from maf_memory.sessions.contract.base import all_heads
from maf_memory.sessions.files import FileSessions
from maf_memory.sessions.hosting import HostSessionStore
from maf_memory.sessions.ids import id_of_key

hosting = pytest.importorskip(
    "agent_framework_hosting", reason="agent-framework-hosting is not installed: pip install '.[hosting]'"
)

KEY = "telegram:1:2"
PAGE = Path(__file__).resolve().parents[3] / "docs" / "hosting.md"


class Host:
    """A host as it starts: an agent, and the package's state object on a folder of sessions."""

    def __init__(self, folder: Path, *replies: str) -> None:
        self.client = ScriptedChatClient(list(replies))
        agent = Agent(self.client, "Be brief.", context_providers=[InMemoryHistoryProvider()])
        self.storage = FileSessions(folder)
        self.state = hosting.AgentState(agent, session_store=HostSessionStore(self.storage))

    async def answer(self, text: str, key: str = KEY) -> str:
        """One request, as the package's own example handles it."""
        session = await self.state.get_or_create_session(key)
        agent = await self.state.get_target()
        response = await agent.run(text, session=session)
        await self.state.set_session(key, session)
        answered: str = response.text
        return answered

    def sent(self) -> list[list[str]]:
        """The texts of each request to the model."""
        return [[message.text for message in request.messages] for request in self.client.requests]


async def test_a_conversation_goes_on_in_another_process_of_the_host(tmp_path: Path) -> None:
    first = Host(tmp_path, "Noted.", "Noted again.")
    assert await first.answer("The port is 8080.") == "Noted."
    assert await first.answer("And the host is ada.") == "Noted again."
    second = Host(tmp_path, "8080.")
    assert await second.answer("Which port?") == "8080."
    assert second.sent() == [["The port is 8080.", "Noted.", "And the host is ada.", "Noted again.", "Which port?"]]
    (head,) = await all_heads(second.storage)
    assert (head.key, head.title, head.turns) == (KEY, "The port is 8080.", 3)


async def test_the_empty_session_that_the_state_stores_at_once_is_gone_on_with(tmp_path: Path) -> None:
    host = Host(tmp_path, "Noted.")
    await host.state.get_or_create_session(KEY)
    assert (await host.storage.load(id_of_key(KEY))).messages == []
    assert await all_heads(host.storage) == []
    assert await host.answer("The port is 8080.") == "Noted."


async def test_two_hosts_that_answer_one_conversation_at_once_are_told(tmp_path: Path) -> None:
    one, other = Host(tmp_path, "Noted.", "Noted."), Host(tmp_path, "Noted.")
    await one.answer("The port is 8080.")
    mine = await one.state.get_or_create_session(KEY)
    await other.answer("It is 9090 now.")
    await (await one.state.get_target()).run("It is 7070 now.", session=mine)
    with pytest.raises(StateConflict):
        await one.state.set_session(KEY, mine)
    kept = [message.text for message in (await one.storage.load(id_of_key(KEY))).messages]
    assert kept == ["The port is 8080.", "Noted.", "It is 9090 now.", "Noted."]


async def test_a_damaged_conversation_is_refused_where_a_fresh_one_would_hide_it(tmp_path: Path) -> None:
    host = Host(tmp_path, "Noted.")
    await host.answer("The port is 8080.")
    path = host.storage.path_of(id_of_key(KEY))
    path.write_bytes(path.read_bytes()[:-20])
    content = path.read_bytes()
    for _ in range(2):
        with pytest.raises(FileRefused):
            await Host(tmp_path, "Noted.").answer("Which port?")
    assert path.read_bytes() == content


async def test_a_turn_that_fails_is_not_set_and_leaves_the_conversation_as_it_was(tmp_path: Path) -> None:
    host = Host(tmp_path, "Noted.")
    await host.answer("The port is 8080.")
    with pytest.raises(Exception, match="no reply"):
        await host.answer("Which port?")
    assert len((await host.storage.load(id_of_key(KEY))).messages) == 2


async def test_a_deleted_conversation_begins_afresh(tmp_path: Path) -> None:
    host = Host(tmp_path, "Noted.", "I do not know.")
    await host.answer("The port is 8080.")
    await host.state.session_store.delete(KEY)
    assert await host.answer("Which port?") == "I do not know."
    assert host.sent()[-1] == ["Which port?"]


@pytest.fixture
def program(tmp_path: Path) -> list[str]:
    """The command that runs the host on the page."""
    (source,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(source.split("\n")) <= 25
    (tmp_path / "host.py").write_text(source, encoding="utf-8")
    return [sys.executable, "-W", "error", "host.py"]


def test_the_host_on_the_page_says_what_the_page_shows_each_time_in_a_new_process(
    program: list[str], tmp_path: Path
) -> None:
    (transcript,) = re.findall(r"```text\n(\$ python host\.py .*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    shown = ""
    for key, text in re.findall(r"^\$ python host\.py (\S+) \"(.*)\"$", transcript, re.MULTILINE):
        said = subprocess.run([*program, key, text], cwd=tmp_path, check=True, capture_output=True, encoding="utf-8")
        assert said.stderr == ""
        shown += f'$ python host.py {key} "{text}"\n{said.stdout}'
    assert shown == transcript
    assert shown.count("$ ") >= 3


async def test_of_processes_that_answer_one_conversation_at_once_each_is_kept_or_told(
    program: list[str], tmp_path: Path
) -> None:
    processes = [
        subprocess.Popen(  # noqa: ASYNC220 - nothing else waits for this loop
            [*program, KEY, f"turn {number}"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        for number in range(5)
    ]
    ended = [process.communicate(timeout=120) for process in processes]
    kept = [f"turn {number}" for number, process in enumerate(processes) if process.returncode == 0]
    told = [errors for (_, errors), process in zip(ended, processes, strict=True) if process.returncode != 0]
    assert kept
    assert all("StateConflict" in errors.rstrip().rpartition("\n")[2] for errors in told)
    record = await FileSessions(tmp_path / "conversations").load(id_of_key(KEY))
    assert sorted(message.text for message in record.messages if message.role == "user") == kept
