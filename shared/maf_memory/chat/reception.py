"""Takes an endpoint's answer only as a stream of events, of bounded size, that says where it ends.

Without these three checks a proxy's error page counts as an empty answer, a line without an end fills the memory, and
a stream that is cut between two events counts as the whole answer and is saved as such.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2
from agent_framework import ChatMiddleware
from agent_framework.exceptions import ChatClientInvalidResponseException

from maf_memory.chat.failures import address

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from agent_framework import ChatContext, ChatResponse, ChatResponseUpdate

EVENT_STREAM = "text/event-stream"


class NotTaken(httpx2.RequestError):
    """An answer is not read to its end; the message says what the endpoint did, as "sent more than 5 bytes"."""


class Bounds:
    """An event hook of ``httpx2``: reading more than ``largest`` bytes of a response raises :class:`NotTaken`."""

    def __init__(self, largest: int) -> None:
        self._largest = largest

    async def __call__(self, response: httpx2.Response) -> None:
        """Bound the response; it has not been read yet."""
        response.stream = _Bounded(response, self._largest)


class EventsOnly(Bounds):
    """Bounds, and refuses a successful response that is no stream of events; without a content type it is read as one.

    :class:`NotTaken` reaches the caller as the ``openai`` client's connection error.
    """

    async def __call__(self, response: httpx2.Response) -> None:
        """Look at the head of the response; it has not been read yet."""
        await super().__call__(response)
        kind = response.headers.get("Content-Type", EVENT_STREAM).partition(";")[0].strip().lower()
        if response.is_success and kind != EVENT_STREAM:
            raise NotTaken(
                f"answered with {kind[:80]} where a stream of events was asked for", request=response.request
            )


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, response: httpx2.Response, largest: int) -> None:
        if not isinstance(response.stream, httpx2.AsyncByteStream):
            raise TypeError("only the responses of an asynchronous client are bounded")
        self._stream = response.stream
        self._request = response.request
        self._largest = largest

    async def __aiter__(self) -> AsyncIterator[bytes]:
        taken = 0
        async for chunk in self._stream:
            taken += len(chunk)
            if taken > self._largest:
                raise NotTaken(f"sent more than {self._largest:,} bytes for one answer", request=self._request)
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class WholeAnswer(ChatMiddleware):
    """Refuses a streamed answer that brought content and stopped without a finish reason.

    The protocol's last piece always names one. An answer without any content passes: it is reported as empty. An id
    that is not a text is dropped, because no file with it could be read back; the turn gives the message its own.
    """

    def __init__(self, base_url: str) -> None:
        self._endpoint = address(base_url)

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Look at each piece, and at the response when its stream has ended."""
        context.stream_transform_hooks.append(_without_odd_ids)
        context.stream_result_hooks.append(self._check)
        await call_next()

    def _check(self, response: ChatResponse) -> ChatResponse:
        if response.finish_reason is None and any(message.contents for message in response.messages):
            raise ChatClientInvalidResponseException(f"the endpoint {self._endpoint} broke the answer off")
        return response


def _without_odd_ids(update: ChatResponseUpdate) -> ChatResponseUpdate:
    for name in ("message_id", "response_id"):
        if not isinstance(getattr(update, name), str):
            setattr(update, name, None)
    return update
