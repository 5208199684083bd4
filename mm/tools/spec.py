"""What the conversation needs to know of a tool beside the function that the framework calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_framework import FunctionTool

    from mm.events import ToolKind


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool: ``asks`` says that a person decides each call; ``title`` and ``preview`` put a call into words.

    ``each_time`` says of which calls a person is asked even where the tool was allowed for the whole conversation.

    The function is asynchronous and returns text; an expected failure is returned as text that starts with
    ``Error: ``, because the framework tells the model nothing of an exception.
    """

    function: FunctionTool
    kind: ToolKind
    asks: bool
    title: Callable[[Mapping[str, Any]], str]
    preview: Callable[[Mapping[str, Any]], str]
    each_time: Callable[[Mapping[str, Any]], bool] = lambda _: False

    @property
    def name(self) -> str:
        """The name under which the model calls it."""
        return self.function.name
