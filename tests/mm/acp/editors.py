"""An editor on the raw wire: it sends whatever it is told to, and sees each line of ``mm acp`` in its order."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.consoles import environment

Message = dict[str, Any]
SECONDS = 60.0


def scripted(project: Path, *replies: Any, more: str = "") -> None:
    """Let a script answer in this project, whichever turn asks: one reply after the other."""
    project.mkdir(parents=True, exist_ok=True)
    (project / "replies.json").write_text(json.dumps(list(replies)), encoding="utf-8")
    (project / "agent.yaml").write_text(
        f"model: {{provider: script, name: scripted, script: replies.json}}\n{more}", encoding="utf-8"
    )


class RawEditor:
    """One process of ``mm acp``. ``seen`` holds all that it wrote, ``wire`` both directions, in order."""

    def __init__(self, project: Path, *arguments: str, environ: Mapping[str, str] | None = None) -> None:
        project.mkdir(parents=True, exist_ok=True)
        self.project = project
        self.errors = project.parent / f"{project.name}.stderr"
        with self.errors.open("ab") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-W", "error", "-m", "mm", "acp", *arguments],
                cwd=project,
                env=environment() if environ is None else environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        self.seen: list[Message] = []
        self.wire: list[tuple[str, Message]] = []
        self.decide: Callable[[Message], Message | None] = lambda _: {"outcome": {"outcome": "cancelled"}}
        """Answers the questions whether a call may run; ``None`` leaves one open."""
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._number = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def send_bytes(self, content: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(content)
        self.process.stdin.flush()

    def send(self, *messages: Any) -> None:
        """Send messages in one write."""
        self.wire += [("→", message) for message in messages]
        self.send_bytes(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def request(self, method: str, **params: Any) -> Message:
        """Return a request with a number of its own; it is not sent."""
        self._number += 1
        return {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}

    def next(self) -> Message:
        """Return the next message, and answer it where it asks for a permission."""
        line = self._lines.get(timeout=SECONDS)
        assert line is not None, f"mm acp has ended: {self.errors.read_text(encoding='utf-8')[-2000:]}"
        message = json.loads(line)
        assert isinstance(message, dict)
        assert message["jsonrpc"] == "2.0"
        self.seen.append(message)
        self.wire.append(("←", message))
        if message.get("method") == "session/request_permission":
            decision = self.decide(message)
            if decision is not None:
                self.send({"jsonrpc": "2.0", "id": message["id"], "result": decision})
        return message

    def until(self, wanted: Callable[[Message], bool]) -> Message:
        while not wanted(message := self.next()):
            pass
        return message

    def response(self, number: int | str | None) -> Message:
        """Return the response with this id; what comes before it is in ``seen``."""
        return self.until(lambda message: "method" not in message and message.get("id") == number)

    def ask(self, method: str, **params: Any) -> Message:
        """Send a request and return its result; an error fails the test."""
        response = self.response_to(method, **params)
        assert "error" not in response, response
        result = response["result"]
        assert isinstance(result, dict)
        return result

    def refusal(self, method: str, **params: Any) -> Message:
        """Send a request and return the error that answers it."""
        response = self.response_to(method, **params)
        assert "result" not in response, response
        error = response["error"]
        assert isinstance(error, dict)
        return error

    def response_to(self, method: str, **params: Any) -> Message:
        request = self.request(method, **params)
        self.send(request)
        return self.response(request["id"])

    def initialize(self) -> Message:
        return self.ask("initialize", protocolVersion=1, clientCapabilities={})

    def new(self, cwd: Path | None = None, **params: Any) -> str:
        params.setdefault("mcpServers", [])
        return str(self.ask("session/new", cwd=str(cwd or self.project), **params)["sessionId"])

    def load(self, session_id: str, cwd: Path | None = None) -> list[Message]:
        """Load a session and return what was replayed."""
        before = len(self.seen)
        self.ask("session/load", sessionId=session_id, cwd=str(cwd or self.project), mcpServers=[])
        return self.updates(session_id, since=before)

    def prompt(self, session_id: str, *blocks: str | Message) -> str:
        """Ask, and return the stop reason."""
        asked = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
        return str(self.ask("session/prompt", sessionId=session_id, prompt=asked)["stopReason"])

    def updates(self, session_id: str | None = None, *, since: int = 0) -> list[Message]:
        """Return the updates seen until now, of one session or of all."""
        params = [one["params"] for one in self.seen[since:] if one.get("method") == "session/update"]
        return [one["update"] for one in params if session_id in (None, one["sessionId"])]

    def text(self, *, since: int = 0) -> str:
        """Return what the model, or the program, said."""
        return "".join(
            one["content"]["text"]
            for one in self.updates(since=since)
            if one["sessionUpdate"] == "agent_message_chunk" and one["content"]["type"] == "text"
        )

    def leave(self) -> int:
        """Close the pipe, as an editor that ends does, and return the exit status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(timeout=SECONDS)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(timeout=SECONDS)
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            with suppress(OSError):
                stream.close()


@contextmanager
def editor(project: Path, *arguments: str, **options: Any) -> Iterator[RawEditor]:
    """Start ``mm acp`` in a project, initialized; its process does not outlive the block."""
    started = RawEditor(project, *arguments, **options)
    try:
        started.initialize()
        yield started
    finally:
        started.kill()


def allowing(option: str = "once") -> Callable[[Message], Message]:
    return lambda _: {"outcome": {"outcome": "selected", "optionId": option}}
