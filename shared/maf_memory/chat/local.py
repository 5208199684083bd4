"""Puts the framework's layers around an answer that is made in this process.

Without the function-invocation layer a client's tool calls never run (only a log line says so), and without the
middleware layer a watchdog never sees the stream. Real clients have both, so the stand-ins have both.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agent_framework import BaseChatClient, ChatMiddlewareLayer, FunctionInvocationLayer

if TYPE_CHECKING:
    from agent_framework import ChatResponse, ChatResponseUpdate, Message, ResponseStream


class LocalChatClient(FunctionInvocationLayer[Any], ChatMiddlewareLayer[Any], BaseChatClient[Any]):
    """A chat client that answers from :meth:`answer`, streamed or whole, without a network."""

    @abstractmethod
    def answer(self, messages: Sequence[Message], options: Mapping[str, Any]) -> AsyncIterator[ChatResponseUpdate]:
        """Yield the answer to one request.

        It is called when the request is made, and iterated when the answer is read.
        """

    def _inner_get_response(
        self,
        *,
        messages: Sequence[Message],
        stream: bool,
        options: Mapping[str, Any],
        **kwargs: Any,  # noqa: ARG002 - the framework's interface
    ) -> Awaitable[ChatResponse] | ResponseStream[ChatResponseUpdate, ChatResponse]:
        response = self._build_response_stream(self.answer(messages, options))
        return response if stream else response.get_final_response()
