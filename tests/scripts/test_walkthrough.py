"""The walkthrough runs the real programs, and fails when they do not do what it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def walk(folder: Path, *options: str, typed: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the script as a person would, from ``folder``, with the temporary folder of the test."""
    return subprocess.run(
        [sys.executable, SCRIPTS / "walkthrough.py", *options],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder), "TEMP": str(folder), **environment},
        input=typed,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )


def test_the_walkthrough_holds_every_expectation_and_leaves_nothing_behind(tmp_path: Path) -> None:
    done = walk(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "All 9 runs were as expected." in done.stdout
    assert "  found again:     the context: module=Reporting  (see: showctx)" in done.stdout
    assert "  not found again: the dialogue: the late invoices  (see: What is late?)" in done.stdout
    assert "  found again:     the conversation: module=Reporting" in done.stdout
    assert "  not found again: the conversation: forget deleted its snapshot" in done.stdout
    assert '"instruction_version": "memory-1.1"' in done.stdout
    assert not list(tmp_path.iterdir())


def test_with_pause_the_reader_guesses_before_each_restart_and_then_sees(tmp_path: Path) -> None:
    done = walk(tmp_path, "--pause", "--keep", typed="only the context\n")
    assert done.returncode == 0, done.stdout + done.stderr
    asked = done.stdout.index(
        "When it starts again: the context, the dialogue, both, or nothing?\nYour guess (Enter skips"
    )
    restarted = done.stdout.index("context       found again: 16 characters")
    assert asked < restarted < done.stdout.index("you guessed:     only the context")
    kept = list(tmp_path.glob("maf-walkthrough-*/demo130/agent-state.json"))
    assert len(kept) == 1


class _Model(BaseHTTPRequestHandler):
    """Answers in words of its own, from what it is sent, or always the same when ``forgets`` is false."""

    server: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = [str(message["content"]) for message in body["messages"] if message["role"] != "system"]
        chunk = {
            "id": "answer",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": body["model"],
            "choices": [{"index": 0, "delta": {"content": self.server.answer(texts)}, "finish_reason": "stop"}],
        }
        payload = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_: object) -> None:
        """Stay silent."""


class Endpoint(ThreadingHTTPServer):
    """A model on this machine: ``answer`` gets the texts of the request, oldest first."""

    answer: Callable[[list[str]], str]


def from_what_it_was_sent(texts: list[str]) -> str:
    known = " ".join(texts)
    if "Which module" in texts[-1]:
        return "I believe that you told me of REPORTING." if "Reporting" in known else "You have not told me."
    if "What is late" in texts[-1]:
        return "Your invoices are." if "invoices" in known else "I cannot say."
    return "Understood."


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint(("127.0.0.1", 0), _Model) as server:
        server.answer = from_what_it_was_sent
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def settings(endpoint: Endpoint) -> dict[str, str]:
    return {
        "OPENAI_BASE_URL": f"http://127.0.0.1:{endpoint.server_port}/v1",
        "OPENAI_CHAT_COMPLETION_MODEL": "small",
    }


def test_with_a_model_meaning_is_checked_and_not_wording(tmp_path: Path, endpoint: Endpoint) -> None:
    done = walk(tmp_path, "--chat", "openai", **settings(endpoint))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "I believe that you told me of REPORTING." in done.stdout


def test_an_answer_that_knows_too_much_fails_with_a_diff_of_expected_and_seen(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    endpoint.answer = lambda _: "The invoices of Reporting are late."
    done = walk(tmp_path, "--chat", "openai", **settings(endpoint))
    assert done.returncode == 1
    assert "-an answer that does not name 'invoice'\n+The invoices of Reporting are late." in done.stdout
    assert "runs were not as expected" in done.stdout


def test_a_program_that_cannot_start_ends_the_walkthrough_at_once(tmp_path: Path) -> None:
    done = walk(tmp_path, "--chat", "openai", OPENAI_CHAT_COMPLETION_MODEL="")
    assert done.returncode == 1
    assert "+error: " in done.stdout
    assert "demo130 did not start" in done.stderr
