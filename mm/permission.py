"""A call that waits for a person: once, always in this conversation, or no."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from enum import Enum
from typing import Any


class Decision(Enum):
    """What a person may answer."""

    ONCE = "once"
    ALWAYS = "always"
    NO = "no"


class Permission:
    """One request: which tool, its exact arguments, and a preview (a diff for an edit, the command line for a run)."""

    def __init__(self, call_id: str, tool: str, title: str, arguments: Mapping[str, Any], preview: str) -> None:
        self.call_id = call_id
        self.tool = tool
        self.title = title
        self.arguments = arguments
        self.preview = preview
        self.why: str | None = None
        self._decision: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()

    def answer(self, decision: Decision, *, why: str | None = None) -> None:
        """Let the call go on, or refuse it; only the first answer counts.

        ``why`` is told to the model where no person refused it.
        """
        if not self._decision.done():
            self.why = why
            self._decision.set_result(decision)

    async def decided(self) -> Decision:
        """Return the answer once it is there."""
        return await asyncio.shield(self._decision)
