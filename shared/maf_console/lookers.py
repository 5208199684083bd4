"""What both demos can be asked at any time, and how each command that changes something ends: with the same ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from maf_console.ledger import ledger, take_stock, whereabouts
from maf_console.loop import Quit
from maf_console.places import Places
from maf_console.screen import Screen
from maf_console.supports import Support
from maf_console.tracing import traced

if TYPE_CHECKING:
    from agent_framework import AgentSession


class Looker:
    """The commands that only look, over the places and the active session of a demo."""

    def __init__(self, places: Places, screen: Screen) -> None:
        self._places = places
        self._screen = screen
        self._session: AgentSession | None = None

    def _conversation(self) -> Support:
        """Return what the ledger says of the active conversation."""
        raise NotImplementedError

    async def _stock(self) -> dict[str, Support]:
        return await take_stock(self._places, self._conversation())

    async def _show_ledger(self, before: dict[str, Support]) -> None:
        self._screen.result(ledger(before, await self._stock()))

    async def _where(self, _: str) -> None:
        self._screen.result(whereabouts(await self._stock(), self._places))

    async def _trace(self, text: str) -> None:
        self._screen.result(await traced(self._places, text, self._session))

    async def _quit(self, _: str) -> None:
        raise Quit
