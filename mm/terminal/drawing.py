"""The events of a turn, drawn as they come: the answer, one line a tool call, and what failed."""

from __future__ import annotations

from maf_memory.text import one_line
from mm.events import ErrorShown, Event, Notice, Text, ToolFinished, ToolStarted, TurnEnded
from mm.terminal.prose import Prose
from mm.terminal.screen import Screen


class Drawing:
    """Draws one turn."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._prose = Prose(screen.answer)
        self._titles: dict[str, str] = {}

    def draw(self, event: Event) -> None:
        """Draw one event; a wanted permission is asked for elsewhere."""
        if isinstance(event, Text):
            self._prose.write(event.text)
            return
        self._prose.end()
        match event:
            case ToolStarted(call_id=call_id, title=title):
                self._titles[call_id] = title
                self._screen.short_line(f"· {title}")
            case ToolFinished(call_id=call_id, output=output, succeeded=False):
                name = self._titles.get(call_id, "").partition(" ")[0]
                self._screen.short_line(f"  {name} failed: {_first_line(output)}", "red")
            case Notice(text):
                self._screen.notice(text)
            case ErrorShown(line):
                self._screen.error(line)
            case TurnEnded():
                self._screen.end_answer()


def _first_line(output: str) -> str:
    return one_line(output.removeprefix("Error: ").strip().partition("\n")[0], 400)
