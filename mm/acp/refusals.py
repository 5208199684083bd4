"""What an editor is told where something cannot be done: one line in the error's message, and the code that is true.

Some clients take -32601, -32602 and -32002 as leave to open a new session in silence, so a session that is there and
cannot be used is never one of these.
"""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from acp.connection import MethodHandler
from acp.exceptions import RequestError
from pydantic import ValidationError

from maf_memory.errors import MafMemoryError, TurnUnderWay, UnknownSession
from maf_memory.text import one_line
from mm.acp.wire import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST
from mm.errors import SessionsDisabled

UNKNOWN_SESSION = -32002
METHOD_NOT_FOUND = -32601

_LONGEST = 1_000

Handler = TypeVar("Handler", bound=Callable[..., Awaitable[Any]])

_log = logging.getLogger(__name__)


def refused(code: int, line: str, **data: Any) -> RequestError:
    """Return the error that says ``line``."""
    return RequestError(code, one_line(line, _LONGEST), data or None)


def bad_parameter(name: str, why: str) -> RequestError:
    """Return the error for a parameter that cannot be used."""
    return refused(INVALID_PARAMS, f"{name} {why}", parameter=name)


def unknown_session(session_id: str) -> RequestError:
    """Return the error for an id under which there is no session; nothing was created."""
    shown = one_line(session_id, 200)
    return refused(UNKNOWN_SESSION, f"There is no session {shown} in this folder.", sessionId=shown)


def in_one_line(handler: MethodHandler) -> MethodHandler:
    """Let parameters that are not as the protocol has them be refused with a line that names the first wrong one.

    A notification has no answer: what is wrong with it is one line of the log.
    """

    async def handle(method: str, params: Any, is_notification: bool) -> Any:
        try:
            return await handler(method, params, is_notification)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            where = ".".join(map(str, first["loc"])) or "the parameters"
            refusal = refused(INVALID_PARAMS, f"{method}: {where}: {first['msg']}", parameter=where)
            if not is_notification:
                raise refusal from error
        except RequestError as error:
            if not is_notification:
                raise
            refusal = error
        _log.warning("a notification of %s is left alone: %s", one_line(method, 80), refusal)
        return None

    return handle


def told(handler: Handler) -> Handler:
    """Let every error that a person can have caused reach the editor as one line; a bug keeps its traceback.

    The task that answers is noted in the agent's ``answering``: an end in order waits for it.
    """

    @functools.wraps(handler)
    async def answer(agent: Any, *given: Any, **named: Any) -> Any:
        agent.answering.add(asyncio.current_task())
        try:
            return await handler(agent, *given, **named)
        except RequestError as error:
            _log.warning("%s: %s", handler.__name__, error)
            raise
        except MafMemoryError as error:
            _log.warning("%s: %s", handler.__name__, one_line(str(error), _LONGEST))
            raise _as_refusal(error) from error

    return answer  # type: ignore[return-value]


def _as_refusal(error: MafMemoryError) -> RequestError:
    match error:
        case UnknownSession():
            return unknown_session(error.session_id)
        case TurnUnderWay():
            return refused(INVALID_REQUEST, str(error))
        case SessionsDisabled():
            return refused(METHOD_NOT_FOUND, str(error))
        case _:
            return refused(INTERNAL_ERROR, str(error))
