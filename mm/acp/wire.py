"""The protocol's messages over the two pipes, guarded: whatever comes in, the reader of messages lives.

What is no message is answered here, with the error that JSON-RPC has for it, and goes no further.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from typing import Any

import msgspec

from mm.acp.stdio import Input, Output, TooLong

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32602, -32603
"""The codes of JSON-RPC."""

_SEVERAL = 256 * 1024
"""How many bytes of many messages are written at once."""

_META = ("_meta", "field_meta")
"""What a client adds for itself. It is not read here, and one of its keys must not take the place of a parameter."""

_log = logging.getLogger(__name__)
_encoder = msgspec.json.Encoder(enc_hook=str)


class Wire:
    """A transport of the protocol's library."""

    def __init__(self, source: Input, target: Output) -> None:
        self._source = source
        self._target = target

    async def receive(self) -> dict[str, Any] | None:
        """Return the next message, or ``None`` when the editor has gone."""
        while (line := await self._source.line()) is not None:
            message = self._understood(line)
            if message is not None:
                return message
        return None

    async def send(self, message: dict[str, Any]) -> None:
        """Send one message: in line before anything else can be, and written when this returns."""
        await self._target.write(encoded(message))

    async def send_all(self, messages: Iterable[dict[str, Any]]) -> None:
        """Send many messages with few writes."""
        waiting: list[bytes] = []
        size = 0
        for message in messages:
            waiting.append(encoded(message))
            size += len(waiting[-1])
            if size >= _SEVERAL:
                await self._target.write(b"".join(waiting))
                waiting, size = [], 0
        await self._target.write(b"".join(waiting))

    async def close(self) -> None:
        """Wait until all is written that was sent."""
        await self._target.write(b"")

    def _understood(self, line: bytes | TooLong) -> dict[str, Any] | None:
        if isinstance(line, TooLong):
            self._refuse(None, INVALID_REQUEST, f"The line is too long: {line.size:,} bytes.")
            return None
        try:
            # The standard library's: an escaped lone surrogate, which JavaScript writes, is made sound where it enters.
            message = json.loads(line, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            self._refuse(None, PARSE_ERROR, f"The line is not JSON: {error}")
            return None
        if not isinstance(message, dict):
            self._refuse(None, INVALID_REQUEST, "A message is one JSON object; several at once are not taken.")
            return None
        number = message.get("id")
        if isinstance(number, bool) or not isinstance(number, str | int | None):
            self._refuse(None, INVALID_REQUEST, "An id is a number or a string.")
            return None
        return self._request(message) if message.get("method") is not None else self._response(message)

    def _request(self, message: dict[str, Any]) -> dict[str, Any] | None:
        params = message.get("params")
        if not isinstance(message["method"], str):
            code, wrong = INVALID_REQUEST, "A method is a string."
        elif not isinstance(params, dict | None):
            code, wrong = INVALID_PARAMS, "The parameters are one JSON object."
        else:
            kept = {name: value for name, value in (params or {}).items() if name not in _META}
            return {**message, "params": kept}
        if "id" in message:
            self._refuse(message["id"], code, wrong)
        return None

    def _response(self, message: dict[str, Any]) -> dict[str, Any] | None:
        if not isinstance(message.get("id"), int):  # all of ours are numbers
            if not ("result" in message or "error" in message):
                self._refuse(message.get("id"), INVALID_REQUEST, "A message has a method, or is an answer.")
            return None
        if "error" in message and not isinstance(message["error"], dict):
            return {**message, "error": {"code": INTERNAL_ERROR, "message": str(message["error"])[:500]}}
        return message

    def _refuse(self, number: str | int | None, code: int, why: str) -> None:
        _log.warning("refused: %s", why)
        error = {"code": code, "message": why}
        self._target.write(encoded({"jsonrpc": "2.0", "id": number, "error": error}))


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def encoded(message: dict[str, Any]) -> bytes:
    """Return a message as its line."""
    try:
        return _encoder.encode(message) + b"\n"
    except UnicodeEncodeError:  # the name of a file, as the system gave it, may be no text
        return json.dumps(message, ensure_ascii=False, default=str).encode(errors="replace") + b"\n"
