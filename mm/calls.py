"""What happens around each tool call: it is shown, asked for where a person decides, saved, run, and shown again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from agent_framework import FunctionInvocationContext, FunctionMiddleware
from pydantic import BaseModel

from maf_memory.text import one_line
from mm.events import Event, PermissionWanted, ToolFinished, ToolStarted
from mm.permission import Decision, Permission

if TYPE_CHECKING:
    from mm.tools.spec import ToolSpec
    from mm.watchdog import Watchdog

_log = logging.getLogger(__name__)

REFUSED = "Error: the person refused this call. Do not repeat it; ask what to do instead."
NOBODY = "Error: not run: {why}. Do not repeat it; go on without it, or say what you would have done."
NOT_RUN = "not run: the turn ended before anybody allowed it"


class Calls(FunctionMiddleware):
    """Stands around the calls of one turn."""

    def __init__(
        self,
        specs: Mapping[str, ToolSpec],
        allowed: set[str],
        watchdog: Watchdog,
        emit: Callable[[Event], None],
        before_run: Callable[[], Awaitable[None]],
        did_not_run: Callable[[str, str | None], None],
    ) -> None:
        """Know the tools and the ones ``allowed`` for the whole conversation; ``before_run`` is the saving point."""
        self._specs = specs
        self._allowed = allowed
        self._watchdog = watchdog
        self._emit = emit
        self._before_run = before_run
        self._did_not_run = did_not_run
        self._one_at_a_time = asyncio.Lock()  # parallel calls are asked for one after the other

    async def process(self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Let one call through, or refuse it."""
        spec = self._specs[context.function.name]
        call_id = str(context.metadata["call_id"])
        arguments = _plain(context.arguments)
        self._emit(ToolStarted(call_id, spec.name, spec.kind, spec.title(arguments), arguments))
        with self._watchdog.at_rest():
            refusal = await self._refusal(spec, call_id, arguments)
            if refusal is not None:
                context.result = refusal
                self._did_not_run(call_id, refusal)
                self._emit(ToolFinished(call_id, refusal, succeeded=False))
                return
            self._did_not_run(call_id, None)
            await self._before_run()
            try:
                await call_next()
            except asyncio.CancelledError:
                self._emit(ToolFinished(call_id, "cancelled", succeeded=False))
                raise
            except Exception as error:  # noqa: BLE001 - whatever a tool raises, the model must be able to go on
                # The framework would tell the model no more than that the function failed.
                _log.warning("the tool %s failed", spec.name, exc_info=error)
                context.result = f"Error: {one_line(str(error) or type(error).__name__, 600)}"
            output = _text(context.result)
            self._emit(ToolFinished(call_id, output, succeeded=not output.startswith("Error:")))

    async def _refusal(self, spec: ToolSpec, call_id: str, arguments: Mapping[str, Any]) -> str | None:
        """Return what the model is told in place of a result, or ``None``: the call may run."""
        if not spec.asks:
            return None
        asked_always = await asyncio.to_thread(spec.each_time, arguments)
        if spec.name in self._allowed and not asked_always:
            return None
        self._did_not_run(call_id, NOT_RUN)
        async with self._one_at_a_time:
            if spec.name in self._allowed and not asked_always:
                return None
            preview = await asyncio.to_thread(spec.preview, arguments)
            permission = Permission(call_id, spec.name, spec.title(arguments), arguments, preview)
            self._emit(PermissionWanted(permission))
            decision = await permission.decided()
            if decision is Decision.ALWAYS:
                self._allowed.add(spec.name)
            if decision is not Decision.NO:
                return None
            return REFUSED if permission.why is None else NOBODY.format(why=permission.why)


def _plain(arguments: BaseModel | Mapping[str, Any]) -> dict[str, Any]:
    return arguments.model_dump() if isinstance(arguments, BaseModel) else dict(arguments)


def _text(result: Any) -> str:
    """Return what the model gets of a result, as text."""
    if isinstance(result, list):
        return "\n".join(str(content.text) for content in result if getattr(content, "type", "") == "text")
    return "" if result is None else str(result)
