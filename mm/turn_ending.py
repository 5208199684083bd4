"""How a turn of mini-me ends when its answer does not come: what was done stays, and the note says why it broke off."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from maf_memory.kept import KeepWhatWasDone
from maf_memory.turn import Discard
from mm import PROGRAM
from mm.watchdog import Watchdog, silence

if TYPE_CHECKING:
    from agent_framework import AgentResponseUpdate, FunctionMiddleware


class TurnEnding(KeepWhatWasDone):
    """Keeps what was done, watches the model's silence, and lets another middleware see each call."""

    def __init__(self, watchdog: Watchdog, calls: FunctionMiddleware) -> None:
        super().__init__(written_by=PROGRAM)
        self._watchdog = watchdog
        self._watch = calls

    @property
    def middleware(self) -> Sequence[FunctionMiddleware]:
        """What watches the run: the calls are noted first, then shown, asked for, and saved."""
        return (*super().middleware, self._watch)

    def saw(self, update: AgentResponseUpdate) -> None:
        """Take note of an update: the model is not silent."""
        super().saw(update)
        self._watchdog.hear()

    def why(self, error: BaseException) -> str:
        """Say that the model was silent, where that is why the turn was ended."""
        if self._watchdog.has_bitten and isinstance(error, asyncio.CancelledError):
            return silence(self._watchdog.seconds)
        return super().why(error)


class Listened(Discard):
    """Keeps nothing, and tells the watchdog that the model is not silent."""

    def __init__(self, watchdog: Watchdog) -> None:
        self._watchdog = watchdog

    def saw(self, update: AgentResponseUpdate) -> None:  # noqa: ARG002
        """Hear the model."""
        self._watchdog.hear()
