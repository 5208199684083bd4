"""Clients that others wrote, on Node.js: the protocol's TypeScript library, and acpx, old and new."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.consoles import environment, needs_posix
from tests.mm.acp.editors import SECONDS, scripted
from tests.mm.acp.node_packages import installed, node_of

NODE = Path(__file__).with_name("node")
AGENT = [sys.executable, "-W", "error", "-m", "mm", "acp"]
READ = {"calls": [{"name": "read_file", "arguments": {"path": "a.txt"}}]}
EDIT = {"calls": [{"name": "edit_file", "arguments": {"path": "a.txt", "old": "two", "new": "three"}}]}


@pytest.fixture(scope="session")
def packages() -> Path:
    return installed(NODE / "package.json")


@pytest.fixture(scope="session")
def node(packages: Path) -> str:
    return node_of(packages)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_bytes(b"one\ntwo\n")
    return folder


def private(home: Path) -> dict[str, str]:
    """An environment in which a client finds and leaves nothing of the person's."""
    folders = {name: str(home / name) for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")}
    folders |= {"HOME": str(home), "USERPROFILE": str(home), "XDG_STATE_HOME": str(home), "XDG_RUNTIME_DIR": str(home)}
    return environment(**folders)


def test_the_typescript_library_takes_each_message_whole_from_a_new_session_to_its_resume(
    packages: Path, node: str, project: Path, tmp_path: Path
) -> None:
    """Its schemas lose nothing of a message, its handlers complain of none, and each process of mm ends with 0."""
    scripted(project, EDIT, "Changed.")
    run = subprocess.run(
        [node, str(NODE / "load.mjs"), str(packages), str(project), *AGENT],
        env=private(tmp_path / "home"),
        capture_output=True,
        timeout=3 * SECONDS,
    )
    errors = run.stderr.decode()
    assert run.returncode == 0, errors
    assert not [line for line in errors.splitlines() if line.startswith(("Error handling", "Invalid message"))], errors
    saw = json.loads(run.stdout)
    begun, loaded, resumed = saw["begun"], saw["loaded"], saw["resumed"]
    session = begun["new"]["sessionId"]

    assert begun["initialized"]["protocolVersion"] == 1
    assert begun["initialized"]["agentCapabilities"]["loadSession"] is True
    assert begun["prompted"] == {"stopReason": "end_turn"}
    assert (project / "a.txt").read_text() == "one\nthree\n"
    [asked] = begun["asked"]
    assert [option["kind"] for option in asked["options"]] == ["allow_once", "allow_always", "reject_once"]
    calls = ["tool_call", "tool_call_update", "tool_call_update"]
    state = ["session_info_update", "usage_update"]
    assert kinds(begun["updates"]) == ["available_commands_update", *calls, "agent_message_chunk", *state]

    replay = ["user_message_chunk", "tool_call", "agent_message_chunk"]
    after = ["available_commands_update", *state]
    assert kinds(loaded["updates"]) == [*replay, *after]
    assert loaded["updates"][1]["update"]["status"] == "completed"
    assert kinds(resumed["updates"]) == after
    for listed in (loaded["listed"], resumed["listed"]):
        [one] = listed["sessions"]
        assert (one["sessionId"], one["title"], one["cwd"]) == (session, "Change a.txt", str(project))
    assert loaded["asked"] == resumed["asked"] == []
    assert {one["sessionId"] for one in loaded["updates"]} == {session}
    assert [one["status"] for one in (begun, loaded, resumed)] == [0, 0, 0]


def kinds(updates: list[dict[str, Any]]) -> list[str]:
    return [one["update"]["sessionUpdate"] for one in updates]


@dataclass(frozen=True)
class Acpx:
    """One person's acpx: what it knows is in its home, and a process of its own keeps ``mm acp`` between commands."""

    node: str
    program: Path
    home: Path
    project: Path

    def __call__(self, *arguments: str) -> list[dict[str, Any]]:
        """Run one command, and return the lines it wrote."""
        options = ["--ttl", "60", "--approve-all", "--format", "json", "--cwd", str(self.project)]
        run = subprocess.run(
            [self.node, str(self.program), *options, "--agent", shlex.join(AGENT), *arguments],
            cwd=self.project,
            env=private(self.home),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
        )
        assert run.returncode == 0, (run.stdout + run.stderr).decode()
        return [json.loads(line) for line in run.stdout.splitlines()]

    def kill(self) -> int:
        """Kill the processes that it keeps, ``mm acp`` among them, and return how many keepers there were."""
        killed = 0
        for lock in self.home.glob(".acpx/queues/*.lock"):
            owner = json.loads(lock.read_bytes())
            with suppress(ProcessLookupError):
                os.killpg(owner["pid"], signal.SIGKILL)
                killed += 1
        return killed


@pytest.fixture
def homes() -> Iterator[Path]:
    """A folder for homes whose name is short, as the name of a socket in it must be."""
    with tempfile.TemporaryDirectory(prefix="acpx", ignore_cleanup_errors=True) as folder:
        try:
            yield Path(folder)
        finally:
            for home in Path(folder).iterdir():
                Acpx("", Path(), home, Path()).kill()
                # Version 0.19 keeps its sockets there, and leaves the folder.
                sockets = Path("/tmp") / f"acpx-{hashlib.sha256(bytes(home)).hexdigest()[:10]}"
                shutil.rmtree(sockets, ignore_errors=True)


@needs_posix
@pytest.mark.parametrize(("package", "reopens"), [("acpx", "session/resume"), ("acpx-0.1", "session/load")])
def test_acpx_goes_on_after_a_kill_in_the_conversation_that_it_began(
    package: str, reopens: str, packages: Path, node: str, project: Path, homes: Path
) -> None:
    """Version 0.19 opens it with resume and asks mm for the list; version 0.1 knows load only, and its own list."""
    program = packages / "node_modules" / package / "dist" / "cli.js"
    acpx = Acpx(node, program, homes / "one", project)
    acpx.home.mkdir()
    scripted(project, READ, "I read it.")
    [made] = acpx("sessions", "new")
    session = made["acpxSessionId"]
    assert [path.stem for path in (project / ".mm" / "sessions").glob("*.json")] == [session]
    assert said(acpx("prompt", "Read a.txt")) == "I read it."

    assert acpx.kill() == 1
    scripted(project, EDIT, "Changed.")
    wire = acpx("prompt", "Change a.txt")
    assert reopens in [message.get("method") for message in wire]
    assert said(wire) == "Changed."
    assert (project / "a.txt").read_text() == "one\nthree\n"
    assert wire[-1]["result"] == {"stopReason": "end_turn"}

    if package == "acpx":
        [listed] = acpx("sessions", "list")
        assert listed["source"] == "agent"
        assert [(one["sessionId"], one["title"]) for one in listed["sessions"]] == [(session, "Read a.txt")]
        acpx("sessions", "close")

        other = Acpx(node, program, homes / "two", project)
        other.home.mkdir()
        scripted(project, "Nothing is left to do.")
        [again] = other("sessions", "new", "--resume-session", session)
        assert again["acpxSessionId"] == session
        assert said(other("prompt", "What is left?")) == "Nothing is left to do."

    [kept] = (project / ".mm" / "sessions").glob("*.json")
    assert kept.stem == session
    assert "Read a.txt" in kept.read_text(encoding="utf-8")
    assert "Change a.txt" in kept.read_text(encoding="utf-8")


def said(wire: list[dict[str, Any]]) -> str:
    updates = [message["params"]["update"] for message in wire if message.get("method") == "session/update"]
    return "".join(one["content"]["text"] for one in updates if one["sessionUpdate"] == "agent_message_chunk")
