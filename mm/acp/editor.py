"""What goes out to the editor: updates of a session, and the question whether a call may run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from acp.meta import CLIENT_METHODS
from acp.schema import RequestPermissionRequest, RequestPermissionResponse
from acp.utils import request_model, serialize_params

if TYPE_CHECKING:
    from acp.connection import Connection
    from acp.schema import PermissionOption, ToolCallUpdate
    from pydantic import BaseModel

    from mm.acp.wire import Wire


class Editor:
    """The other end of the connection."""

    def __init__(self, connection: Connection, wire: Wire) -> None:
        self._connection = connection
        self._wire = wire
        self._later: set[asyncio.Task[None]] = set()

    async def update(self, session_id: str, update: Any) -> None:
        """Send one update; it is on its way when this returns."""
        await self._wire.send(_notification(session_id, update))

    async def update_all(self, session_id: str, updates: Iterable[Any]) -> None:
        """Send many updates, with few writes."""
        await self._wire.send_all(_notification(session_id, update) for update in updates)

    def update_later(self, session_id: str, *updates: Any) -> None:
        """Send updates after the response of the request that is being answered: not before a session is known."""

        def begin() -> None:
            task = asyncio.get_running_loop().create_task(self.update_all(session_id, updates))
            self._later.add(task)
            task.add_done_callback(self._later.discard)

        asyncio.get_running_loop().call_soon(begin)  # the response is in line when the present step has ended

    async def ask(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption]
    ) -> RequestPermissionResponse:
        """Ask whether a call may run, and return what was answered.

        Raises:
            ConnectionError: the editor has gone.
            RequestError, ValidationError: it answered with an error, or with something else than an answer.
        """
        request = RequestPermissionRequest(session_id=session_id, tool_call=tool_call, options=options)
        return await request_model(
            self._connection, CLIENT_METHODS["session_request_permission"], request, RequestPermissionResponse
        )


def _notification(session_id: str, update: BaseModel) -> dict[str, Any]:
    # What the library's own model of a notification would hold; the update was checked when it was made.
    params = {"sessionId": session_id, "update": serialize_params(update)}
    return {"jsonrpc": "2.0", "method": CLIENT_METHODS["session_update"], "params": params}
