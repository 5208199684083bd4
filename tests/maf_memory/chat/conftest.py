"""A small OpenAI-compatible server on this machine, and an agent like the demos'."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from agent_framework import Agent, BaseChatClient, ContextProvider, InMemoryHistoryProvider

from maf_memory.providers import SOURCE_ID, context_message


class _Completions(BaseHTTPRequestHandler):
    """Refuses two user messages in a row, as some chat templates do; else streams the answer "one two"."""

    server: EndpointServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(body)
        self.server.authorizations.append(self.headers["Authorization"])
        roles = [message["role"] for message in body["messages"]]
        if any(pair == ("user", "user") for pair in itertools.pairwise(roles)):
            self._send(400, "application/json", json.dumps({"error": {"message": "roles must alternate"}}))
            return
        number = len(self.server.requests)
        deltas = [{"role": "assistant", "content": "one "}, {"content": "two"}, {}]
        chunks = [
            {
                "id": f"answer-{number}",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": body["model"],
                "choices": [{"index": 0, "delta": delta, "finish_reason": None if delta else "stop"}],
            }
            for delta in deltas
        ]
        lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks] + ["data: [DONE]\n\n"]
        self._send(200, "text/event-stream", "".join(lines))

    def _send(self, status: int, content_type: str, text: str) -> None:
        payload = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_: object) -> None:
        """Stay silent: the test looks at what was recorded."""


class EndpointServer(ThreadingHTTPServer):
    """Records what it was sent in ``requests``, and the keys in ``authorizations``."""

    requests: list[dict[str, Any]]
    authorizations: list[str]

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


@pytest.fixture
def endpoint_server() -> Iterator[EndpointServer]:
    with EndpointServer(("127.0.0.1", 0), _Completions) as server:
        server.requests, server.authorizations = [], []
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


class FixedContext(ContextProvider):
    """Hands over the value that the test sets."""

    value: str | None = None

    async def before_run(self, *, agent: Any, session: Any, context: Any, state: Any) -> None:  # noqa: ARG002
        if self.value is not None:
            context.extend_messages(self, [context_message(self.value)])


@pytest.fixture
def agent_for() -> Callable[..., Agent]:
    def build(client: BaseChatClient[Any], context: str | None = None, tools: Any = None) -> Agent:
        provider = FixedContext(SOURCE_ID)
        provider.value = context
        providers = [InMemoryHistoryProvider(), provider]
        return Agent(client, "You are a support agent.", name="support", tools=tools, context_providers=providers)

    return build
