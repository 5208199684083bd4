"""Real processes of ``mm acp`` that are ended, killed or left, and two of them on one session: no turn is lost."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from maf_memory.sessions.files import FileSessions
from tests.consoles import command, environment, needs_posix
from tests.mm.acp.editors import SECONDS, Message, RawEditor, allowing, editor, scripted

HALF = {"stream": ["Half an ans", {"hang": True}]}
BROKE_OFF = "agent: [The turn broke off: it was interrupted. What stands above was done; the answer is incomplete.]"
INTERRUPTED_AFTER_ONE = ["user: How many?", "agent: Forty-two.", "user: And why?", "agent: Half an ans", BROKE_OFF]


def asking(session_id: str, question: str) -> dict[str, Any]:
    return {"sessionId": session_id, "prompt": [{"type": "text", "text": question}]}


def loaded(project: Path, session_id: str) -> list[str]:
    """Return what a fresh process replays, in a few words each."""
    with editor(project) as fresh:
        return [outlined(update) for update in fresh.load(session_id)]


def outlined(update: Message) -> str:
    if update["sessionUpdate"] == "tool_call":
        return f"{update['title']}: {update['status']}"
    return f"{update['sessionUpdate'].partition('_')[0]}: {update['content']['text']}"


def is_chunk(message: Message) -> bool:
    return bool(message.get("params", {}).get("update", {}).get("sessionUpdate") == "agent_message_chunk")


def is_question(message: Message) -> bool:
    return message.get("method") == "session/request_permission"


@contextmanager
def living(project: Path) -> Iterator[Path]:
    """Yield a pipe that a command holds open: its reader is told the command's number, and finds the end with it."""
    project.mkdir(parents=True, exist_ok=True)
    os.mkfifo(project / "alive")
    yield project / "alive"


def long_command(**more: Any) -> Message:
    line = "exec 3>alive; echo running >&3; sleep 600; echo never > finished"
    return {"calls": [{"name": "run_command", "arguments": {"command": line, **more}}]}


def kept(project: Path) -> dict[str, tuple[bytes, int]]:
    """Return each file beside the project, and when it was changed."""
    files = [path for path in (project / ".mm").rglob("*") if path.is_file()]
    return {str(path.relative_to(project)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


@needs_posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_in_the_middle_of_an_answer_ends_in_order_and_keeps_what_was_said(
    tmp_path: Path, number: signal.Signals
) -> None:
    """The open prompt is answered as cancelled, the earlier turn is whole, and the exit status names the signal."""
    project = tmp_path / "project"
    scripted(project, "Forty-two.", HALF)
    with editor(project) as e:
        session = e.new()
        assert e.prompt(session, "How many?") == "end_turn"
        request = e.request("session/prompt", **asking(session, "And why?"))
        e.send(request)
        e.until(lambda message: is_chunk(message) and "Half" in json.dumps(message))
        e.process.send_signal(number)
        assert e.response(request["id"])["result"]["stopReason"] == "cancelled"
        assert e.process.wait(timeout=SECONDS) == 128 + number
    assert loaded(project, session) == INTERRUPTED_AFTER_ONE


@needs_posix
def test_a_signal_ends_the_command_that_runs_with_all_that_it_started(tmp_path: Path) -> None:
    """The pipe that the command held open ends, and the record tells of a call that did not come to its end."""
    project = tmp_path / "project"
    scripted(project, long_command(), "Never said.")
    with living(project) as alive, editor(project) as e:
        e.decide = allowing()
        session = e.new()
        request = e.request("session/prompt", **asking(session, "Run it"))
        e.send(request)
        e.until(is_question)
        with alive.open(encoding="utf-8") as held:
            assert held.readline() == "running\n"
            e.process.terminate()
            assert held.read() == "", "nobody holds it any more"
        assert e.response(request["id"])["result"]["stopReason"] == "cancelled"
        assert e.process.wait(timeout=SECONDS) == 128 + signal.SIGTERM
    assert not (project / "finished").exists()
    asked, called = loaded(project, session)[:2]
    assert asked == "user: Run it"
    assert called.startswith("run_command ")
    assert called.endswith(": failed")


@needs_posix
def test_a_signal_while_a_permission_is_open_runs_nothing_and_keeps_the_question(tmp_path: Path) -> None:
    project = tmp_path / "project"
    write = {"calls": [{"name": "write_file", "arguments": {"path": "new.txt", "content": "x"}}]}
    scripted(project, "First.", write, "Never said.")
    with editor(project) as e:
        e.decide = lambda _: None
        session = e.new()
        e.prompt(session, "Begin")
        request = e.request("session/prompt", **asking(session, "Write it"))
        e.send(request)
        e.until(is_question)
        e.process.terminate()
        assert e.response(request["id"])["result"]["stopReason"] == "cancelled"
        assert e.process.wait(timeout=SECONDS) == 128 + signal.SIGTERM
    assert not (project / "new.txt").exists()
    again = loaded(project, session)
    assert again[:3] == ["user: Begin", "agent: First.", "user: Write it"]
    assert again[3:] == ["write_file new.txt (1 line): failed", BROKE_OFF]


def test_what_was_acknowledged_outlives_a_kill_at_once(tmp_path: Path) -> None:
    """A prompt that is answered is on the disk, with its calls and their results."""
    project = tmp_path / "project"
    read = {"calls": [{"name": "read_file", "arguments": {"path": "a.txt"}}]}
    scripted(project, read, "Read.", "Second.")
    (project / "a.txt").write_text("one\n", encoding="utf-8")
    for questions in (["Read a.txt"], ["Read a.txt", "And now?"]):
        with editor(project) as e:
            session = e.new()
            for question in questions:
                assert e.prompt(session, question) == "end_turn"
            e.kill()
        expected = [
            "user: Read a.txt",
            "read_file a.txt: completed",
            "agent: Read.",
            "user: And now?",
            "agent: Second.",
        ]
        assert loaded(project, session) == expected[: 3 if len(questions) == 1 else None]


def test_an_editor_that_closes_the_pipe_ends_the_answer_in_order(tmp_path: Path) -> None:
    project = tmp_path / "project"
    scripted(project, "Forty-two.", HALF)
    with editor(project) as e:
        session = e.new()
        e.prompt(session, "How many?")
        e.send(e.request("session/prompt", **asking(session, "And why?")))
        e.until(lambda message: is_chunk(message) and "Half" in json.dumps(message))
        assert e.leave() == 0
    assert loaded(project, session) == INTERRUPTED_AFTER_ONE


def test_an_editor_that_reads_no_more_ends_the_program_and_loses_no_turn(tmp_path: Path) -> None:
    """The next write finds nobody: the turn under way is stopped and saved, and the exit is in order."""
    project = tmp_path / "project"
    scripted(project, "Forty-two.", HALF)
    process = subprocess.Popen(
        command("mm", "acp"),
        cwd=project,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None

        def send(number: int, method: str, params: Message) -> None:
            assert process.stdin is not None
            line = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            process.stdin.write(json.dumps(line).encode() + b"\n")
            process.stdin.flush()

        def until(wanted: bytes) -> bytes:
            assert process.stdout is not None
            return next(line for line in process.stdout if wanted in line)

        send(1, "initialize", {"protocolVersion": 1})
        send(2, "session/new", {"cwd": str(project), "mcpServers": []})
        session = json.loads(until(b'"id":2'))["result"]["sessionId"]
        send(3, "session/prompt", asking(session, "How many?"))
        until(b'"id":3')
        send(4, "session/prompt", asking(session, "And why?"))
        until(b"Half an ans")
        process.stdout.close()
        send(5, "session/list", {"cwd": str(project)})
        assert process.wait(timeout=SECONDS) == 0
    assert loaded(project, session) == INTERRUPTED_AFTER_ONE


def goes_on_as(text: str) -> str:
    found = re.search(r"This conversation goes on as (\S+)\.", text)
    assert found, text
    assert "Error: " in text
    return found[1]


def test_of_two_editors_on_one_session_the_second_is_told_where_it_goes_on(tmp_path: Path) -> None:
    """Both conversations are on the disk, whole, and the next turn of the second one goes to the new file."""
    project = tmp_path / "project"
    scripted(project, "One.", "Two.")
    with editor(project) as first, editor(project) as second:
        session = first.new()
        first.prompt(session, "Begin")
        second.load(session)
        first.prompt(session, "Here")
        assert second.prompt(session, "There") == "end_turn"
        other = goes_on_as(second.text())
        before = len(second.seen)
        assert second.prompt(session, "Further") == "end_turn"
        assert "Error" not in second.text(since=before)
    begun = ["user: Begin", "agent: One."]
    assert loaded(project, session) == [*begun, "user: Here", "agent: Two."]
    assert loaded(project, other) == [*begun, "user: There", "agent: One.", "user: Further", "agent: Two."]


def test_a_one_shot_that_went_on_in_the_session_is_told_of_and_not_overwritten(tmp_path: Path) -> None:
    project = tmp_path / "project"
    scripted(project, "One.", "Two.")
    with editor(project) as e:
        session = e.new()
        e.prompt(session, "Begin")
        subprocess.run(
            command("mm", "-p", "From the line", "--resume", session),
            cwd=project,
            env=environment(),
            check=True,
            capture_output=True,
            timeout=SECONDS,
        )
        assert e.prompt(session, "Here") == "end_turn"
        other = goes_on_as(e.text())
    assert loaded(project, session) == ["user: Begin", "agent: One.", "user: From the line", "agent: One."]
    assert loaded(project, other) == ["user: Begin", "agent: One.", "user: Here", "agent: Two."]


def test_loading_and_resuming_change_nothing_on_the_disk(tmp_path: Path) -> None:
    """Neither a byte nor a date: in the session's own file, nor beside it."""
    project = tmp_path / "project"
    scripted(project, "One.")
    with editor(project) as e:
        session = e.new()
        e.prompt(session, "Begin")
    before = kept(project)
    assert len(before) >= 1
    with editor(project) as e:
        e.load(session)
        e.ask("session/resume", sessionId=session, cwd=str(project), mcpServers=[])
        e.load(session)
        e.ask("session/list", cwd=str(project))
        e.ask("session/close", sessionId=session)
        assert e.leave() == 0
    assert kept(project) == before


def test_a_kill_in_the_middle_of_new_leaves_the_past_conversation_in_one_place_or_in_two(tmp_path: Path) -> None:
    """Whenever it comes, no file is damaged, and the past conversation is never nowhere."""
    project = tmp_path / "project"
    scripted(project, "Forty-two.")
    for attempt in range(10):
        question = f"How many, for the {attempt}th time?"
        with editor(project) as e:
            session = e.new()
            e.prompt(session, question)
            e.send(e.request("session/prompt", **asking(session, "/new")))
            time.sleep(attempt * 0.004)  # the promise holds at any moment: these are ten
            e.kill()
        records = [json.loads(path.read_bytes()) for path in (project / ".mm" / "sessions").glob("*.json")]
        past = [record["id"] for record in records if question in json.dumps(record["messages"])]
        assert 1 <= len(past) <= 2
    listed = asyncio.run(FileSessions.of_project(project).page(limit=100))
    assert not listed.damaged
    assert len({head.title for head in listed.heads}) == 10


def test_a_process_that_was_never_asked_anything_ends_in_order(tmp_path: Path) -> None:
    silent = RawEditor(tmp_path / "project")
    assert silent.leave() == 0
    assert silent.seen == []
    silent.kill()
