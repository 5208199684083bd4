"""A scripted model: it replies from a list and remembers every request.

It ships with the product, so that a test can run the real program in a real process (``--chat script:FILE``)
and see what the program did with a known answer. :mod:`.script` has the format.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from agent_framework import ChatResponseUpdate, Content
from agent_framework.exceptions import ChatClientException

from maf_memory.chat.local import LocalChatClient
from maf_memory.chat.script import Calls, Delay, Failure, Hang, Reply, Text, parse_replies, read_script
from maf_memory.errors import ChatUnavailable

if TYPE_CHECKING:
    from agent_framework import Message


class Request(NamedTuple):
    """What one request carried: the messages, and the options with the instructions and tools."""

    messages: list[Message]
    options: dict[str, Any]

    def line(self) -> str:
        """Return the request as one line of JSON; a tool is given by its name."""
        options = {name: value for name, value in self.options.items() if value is not None}
        recorded = {"messages": [message.to_dict() for message in self.messages], "options": options}
        return json.dumps(recorded, default=lambda value: getattr(value, "name", type(value).__name__))


class ScriptedChatClient(LocalChatClient):
    """Replies from a list, one reply a request, and keeps every request in ``requests``.

    ``replies`` are written as in :mod:`.script`; :class:`ValueError` names a malformed one. With ``record``,
    each request is appended to that file as one JSON line before its reply starts. A request beyond the last
    reply, like an ``error`` reply, fails with the framework's ``ChatClientException``.
    """

    OTEL_PROVIDER_NAME: ClassVar[str] = "script"

    def __init__(self, replies: Sequence[Any], record: Path | None = None) -> None:
        super().__init__()
        self.requests: list[Request] = []
        self._replies = parse_replies(replies)
        self._record = record

    @classmethod
    def from_file(cls, path: Path) -> ScriptedChatClient:
        """Return a client that plays a script file.

        Raises :class:`ChatUnavailable` when the script is malformed or its record cannot be written.
        """
        script = read_script(path)
        if script.record is not None:
            try:
                script.record.open("ab").close()
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or error
                raise ChatUnavailable(f"The script {path} cannot record to {script.record}: {reason}.") from error
        return cls(script.replies, script.record)

    def answer(self, messages: Sequence[Message], options: Mapping[str, Any]) -> AsyncIterator[ChatResponseUpdate]:
        """Record the request and take the next reply."""
        request = Request(list(messages), dict(options))
        self.requests.append(request)
        if self._record is not None:
            with self._record.open("a", encoding="utf-8", newline="\n") as record:
                record.write(request.line() + "\n")
        number = len(self.requests)
        if number > len(self._replies):
            count = len(self._replies)
            used = "its 1 reply is used" if count == 1 else f"its {count} replies are used"
            return _play(Reply((Failure(f"The script has no reply to request {number}: {used}."),)), number)
        return _play(self._replies[number - 1], number)


async def _play(reply: Reply, number: int) -> AsyncIterator[ChatResponseUpdate]:
    for step in reply.steps:
        match step:
            case Text(text):
                contents = [Content.from_text(text)]
            case Calls(calls):
                contents = [
                    Content.from_function_call(call.id or f"call-{number}-{place}", call.name, arguments=call.arguments)
                    for place, call in enumerate(calls, start=1)
                ]
            case Failure(message):
                raise ChatClientException(message)
            case Delay(seconds):
                await asyncio.sleep(seconds)
                continue
            case Hang():
                await asyncio.Event().wait()
                continue
        yield ChatResponseUpdate(role="assistant", contents=contents, message_id=reply.message_id)
        await asyncio.sleep(0)  # a cancelled turn ends between two parts
