"""A small OpenAI-compatible server on this machine that answers well, or misbehaves in one named way.

A behaviour is a function that gets the open request and writes the response. ``BEHAVIOURS`` names those that must each
end in one clear line; :func:`answers` is the good one. Nothing here waits for luck: a server that hangs is let go when
the test is over.
"""

from __future__ import annotations

import itertools
import json
import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "small"

Behaviour = Callable[["Exchange"], None]


class Exchange(BaseHTTPRequestHandler):
    """One request, and the ways to respond to it."""

    server: Misbehaving
    body: dict[str, Any]
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.keys.append(self.headers["Authorization"])
        self.server.lists(self)

    def do_POST(self) -> None:
        self.server.keys.append(self.headers["Authorization"])
        self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(self.body)
        with suppress(ConnectionError):  # a client that gives up leaves the server writing to nobody
            self.server.behaves(self)

    def whole(self, status: int, content_type: str, text: str) -> None:
        """Respond with a body of stated length."""
        payload = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def error(self, status: int, message: str) -> None:
        """Respond with the protocol's error object."""
        self.whole(status, "application/json", json.dumps({"error": {"message": message, "type": "test"}}))

    def begin(self, content_type: str = "text/event-stream") -> None:
        """Begin a stream whose end is marked, so that a cut shows."""
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def send(self, payload: bytes) -> None:
        """Send a part of the stream."""
        self.wfile.write(b"%x\r\n%b\r\n" % (len(payload), payload))
        self.wfile.flush()

    def event(self, value: Any) -> None:
        """Send one event of the stream; a text goes out as it is."""
        self.send(b"data: " + (value if isinstance(value, str) else json.dumps(value)).encode() + b"\n\n")

    def piece(self, text: str) -> None:
        """Send a piece of an answer."""
        self.event(chunk({"role": "assistant", "content": text}))

    def end(self, reason: str | None = "stop") -> None:
        """Say why the answer ends, and end the stream."""
        if reason is not None:
            self.event(chunk({}, finish=reason))
        self.event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def cut(self) -> None:
        """Close the connection where the stream stands."""
        self.close_connection = True

    def hang(self) -> None:
        """Say nothing more until the test is over."""
        self.close_connection = True
        assert self.server.over.wait(60)

    def log_message(self, *_: object) -> None:
        """Stay silent."""


class Misbehaving(ThreadingHTTPServer):
    """Records what it was sent in ``requests`` and the keys in ``keys``; ``behaves`` and ``lists`` may be replaced."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Exchange)
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.over = threading.Event()
        self.behaves: Behaviour = answers
        self.lists: Behaviour = lists_models

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def settings(self, **more: str) -> dict[str, str]:
        """The environment with which a program uses this server; no proxy stands before it."""
        return {
            "OPENAI_BASE_URL": self.base_url,
            "OPENAI_CHAT_COMPLETION_MODEL": MODEL,
            "NO_PROXY": "127.0.0.1",
            **more,
        }


@contextmanager
def serving(behaves: Behaviour | None = None) -> Iterator[Misbehaving]:
    """Run a server for as long as the block."""
    with Misbehaving() as server:
        server.behaves = behaves or answers
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()
            thread.join()


def closed_port() -> int:
    """Return a port of this machine on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def chunk(delta: Mapping[str, Any], *, finish: str | None = None) -> dict[str, Any]:
    """One event of a streamed answer."""
    return {
        "id": "answer",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": MODEL,
        "choices": [{"index": 0, "delta": dict(delta), "finish_reason": finish}],
    }


def lists_models(exchange: Exchange) -> None:
    """List the one model."""
    exchange.whole(200, "application/json", json.dumps({"object": "list", "data": [{"id": MODEL, "object": "model"}]}))


def lists_nothing(exchange: Exchange) -> None:
    """Know no list, as some servers do."""
    exchange.error(404, "no such route")


# The good behaviour: it knows what it was sent, and uses a tool where it is given one.


def answers(exchange: Exchange) -> None:
    """Answer from what was sent, in pieces, or call the one tool."""
    body = exchange.body
    exchange.begin()
    if body.get("tools") and body["messages"][-1]["role"] != "tool":
        name = body["tools"][0]["function"]["name"]
        call = {"index": 0, "id": "call-1", "type": "function", "function": {"name": name, "arguments": "{}"}}
        exchange.event(chunk({"role": "assistant", "tool_calls": [call]}))
        exchange.end("tool_calls")
        return
    for word in re.findall(r"\S+\s*", knowing(body["messages"])):
        exchange.piece(word)
    exchange.end()


def knowing(messages: list[dict[str, Any]]) -> str:
    """Return an answer to the last message that names Reporting only where an earlier text named it."""
    if messages[-1]["role"] == "tool":
        return str(messages[-1]["content"])
    texts = [str(message["content"]) for message in messages if message["role"] in ("user", "assistant")]
    if "Which module" in texts[-1]:
        return "We spoke of REPORTING." if any("Reporting" in text for text in texts) else "You have not told me."
    return "Understood, thank you."


def refuses_two_users(exchange: Exchange) -> None:
    """Demand alternating roles, as some chat templates do; else answer well."""
    roles = [message["role"] for message in exchange.body["messages"]]
    if ("user", "user") in itertools.pairwise(roles):
        exchange.error(500, "Conversation roles must alternate user/assistant/user/assistant/...")
    else:
        answers(exchange)


def refuses_tools(exchange: Exchange) -> None:
    """Know no tools, as small models do; else answer well."""
    if exchange.body.get("tools"):
        exchange.error(400, "small does not support tools")
    else:
        answers(exchange)


def forgets(exchange: Exchange) -> None:
    """Look at the last message only."""
    exchange.body["messages"] = [exchange.body["messages"][-1]]
    exchange.body.pop("tools", None)
    answers(exchange)


# The misbehaviours.


def unauthorised(exchange: Exchange) -> None:
    """Refuse the key, and repeat it."""
    exchange.error(401, f"Incorrect API key provided: {exchange.headers['Authorization']}")


def forbidden(exchange: Exchange) -> None:
    """Refuse the model to this key, and repeat the key."""
    exchange.error(403, f"{exchange.headers['Authorization']} has no access to small.")


def unknown_model(exchange: Exchange) -> None:
    """Know no such model."""
    exchange.error(404, "The model `small` does not exist")


def too_many(exchange: Exchange) -> None:
    """Be asked too often."""
    exchange.error(429, "Rate limit reached.\nPlease slow down.")


def failing(exchange: Exchange) -> None:
    """Fail, and say why at length."""
    exchange.error(500, "model runner has unexpectedly stopped " + "x" * 1000)


def error_page(exchange: Exchange) -> None:
    """Fail as a proxy does, with a page."""
    exchange.whole(502, "text/html", "<html>\n<h1>502 Bad Gateway</h1>\n</html>")


def hangs(exchange: Exchange) -> None:
    """Say nothing at all."""
    exchange.hang()


def hangs_in_answer(exchange: Exchange) -> None:
    """Begin to answer, and say nothing more."""
    exchange.begin()
    exchange.piece("We spoke ")
    exchange.hang()


def closes_at_once(exchange: Exchange) -> None:
    """Close the connection instead of answering."""
    exchange.cut()


def cuts_marked_stream(exchange: Exchange) -> None:
    """Close the connection in mid-stream, where the end of the stream would have been marked."""
    exchange.begin()
    exchange.piece("We spoke ")
    exchange.cut()


def cuts_unmarked_stream(exchange: Exchange) -> None:
    """Close the connection in mid-stream, where closing is also how a stream ends."""
    exchange.send_response(200)
    exchange.send_header("Content-Type", "text/event-stream")
    exchange.send_header("Connection", "close")
    exchange.end_headers()
    exchange.wfile.write(b"data: " + json.dumps(chunk({"content": "We spoke "})).encode() + b"\n\n")
    exchange.cut()


def no_reason(exchange: Exchange) -> None:
    """End the stream in order without saying why the answer ends."""
    exchange.begin()
    exchange.piece("We spoke ")
    exchange.end(None)


def no_http(exchange: Exchange) -> None:
    """Answer in another protocol."""
    exchange.wfile.write(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")
    exchange.cut()


def junk(exchange: Exchange) -> None:
    """Send an event that is not JSON."""
    exchange.begin()
    exchange.event("{'role': 'assistant'}")
    exchange.end()


def binary_junk(exchange: Exchange) -> None:
    """Send an event that is not UTF-8."""
    exchange.begin()
    exchange.send(b"data: \xff\xfe\xfa\n\n")
    exchange.end()


def other_json(exchange: Exchange) -> None:
    """Send events that are JSON and no piece of an answer."""
    exchange.begin()
    exchange.event([1, 2, 3])
    exchange.end()


def numbered(exchange: Exchange) -> None:
    """Answer well, with a number where the id should be a text."""
    exchange.begin()
    for delta in ({"content": "Understood, thank you."}, {}):
        exchange.event({**chunk(delta, finish=None if delta else "stop"), "id": 5})
    exchange.end(None)


def number_for_text(exchange: Exchange) -> None:
    """Send a number where the text of a piece should stand."""
    exchange.begin()
    exchange.event(chunk({"role": "assistant", "content": 42}))
    exchange.end()


def deep_json(exchange: Exchange) -> None:
    """Send an event nested too deeply to be read."""
    exchange.begin()
    exchange.event("[" * 200_000)
    exchange.end()


def endless_line(exchange: Exchange) -> None:
    """Send one line that never ends."""
    exchange.begin()
    exchange.send(b"data: ")
    while not exchange.server.over.is_set():
        exchange.send(b"x" * 65536)


def page(exchange: Exchange) -> None:
    """Answer with a page, as a login form in the way does."""
    exchange.whole(200, "text/html; charset=utf-8", "<html>please log in</html>")


def not_streamed(exchange: Exchange) -> None:
    """Answer whole, although a stream was asked for."""
    answer = {"id": "a", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello."}}]}
    exchange.whole(200, "application/json", json.dumps(answer))


def no_choices(exchange: Exchange) -> None:
    """Send pieces that hold no choice."""
    exchange.begin()
    exchange.event({**chunk({}), "choices": []})
    exchange.end(None)


def empty(exchange: Exchange) -> None:
    """Answer with nothing."""
    exchange.begin()
    exchange.end()


def error_in_stream(exchange: Exchange) -> None:
    """Begin to answer, and report an error in the stream that repeats the key."""
    exchange.begin()
    exchange.piece("We spoke ")
    exchange.event({"error": {"message": f"out of memory for\n{exchange.headers['Authorization']}", "code": 500}})
    exchange.cut()


def error_text_in_stream(exchange: Exchange) -> None:
    """Report an error in the stream as a text."""
    exchange.begin()
    exchange.event({"error": "unable to load model"})
    exchange.cut()
