"""The events of a turn as lines: for a person on two streams, or one JSON object a line for a program."""

from __future__ import annotations

import json
from typing import Any, TextIO

from maf_memory.text import one_line
from mm.events import ErrorShown, Event, Notice, PermissionWanted, Text, ToolFinished, ToolStarted, TurnEnded


class Plain:
    """The answer goes to ``answers``, everything else to ``rest``.

    The answer is written as the model wrote it, for a program to read; on a terminal, so that it commands nothing.
    """

    def __init__(self, answers: TextIO, rest: TextIO) -> None:
        self._answers = answers
        self._rest = rest
        self._in_a_line = False

    def draw(self, event: Event) -> None:
        """Draw one event."""
        match event:
            case Text(text):
                self._answers.write(self._shown(text))
                self._answers.flush()
                self._in_a_line = not text.endswith("\n")
            case ToolStarted(title=title):
                self._say(f"· {title}")
            case ToolFinished(succeeded=False, output=output):
                self._say(f"  {one_line(output, 300)}")
            case Notice(text):
                self._say(text)
            case ErrorShown(line):
                self._say(f"Error: {line}")
            case TurnEnded():
                self._end_line()

    def _shown(self, text: str) -> str:
        if not self._answers.isatty():
            return text
        from maf_memory.sessions.export.visible import visible

        return visible(text)

    def _say(self, line: str) -> None:
        self._end_line()
        self._rest.write(f"{line}\n")
        self._rest.flush()

    def _end_line(self) -> None:
        if self._in_a_line:
            self._answers.write("\n")
            self._answers.flush()
            self._in_a_line = False


class Json:
    """One JSON object a line on ``answers``, ``event`` first; the last one names the session that was kept."""

    def __init__(self, answers: TextIO) -> None:
        self._answers = answers
        self.session: str | None = None

    def draw(self, event: Event) -> None:
        """Draw one event."""
        drawn = as_json(event)
        if isinstance(event, TurnEnded):
            drawn["session"] = self.session
        self._answers.write(json.dumps(drawn, ensure_ascii=False) + "\n")
        self._answers.flush()


def as_json(event: Event) -> dict[str, Any]:
    """Return an event as JSON values."""
    match event:
        case Text(text):
            return {"event": "text", "text": text}
        case ToolStarted(call_id, name, kind, title, arguments):
            started = {"event": "tool_started", "call_id": call_id, "name": name, "kind": kind, "title": title}
            return {**started, "arguments": dict(arguments)}
        case ToolFinished(call_id, output, succeeded):
            return {"event": "tool_finished", "call_id": call_id, "output": output, "succeeded": succeeded}
        case PermissionWanted(permission):
            return {
                "event": "permission_wanted",
                "call_id": permission.call_id,
                "name": permission.tool,
                "preview": permission.preview,
            }
        case Notice(text):
            return {"event": "notice", "text": text}
        case ErrorShown(line):
            return {"event": "error", "line": line}
        case TurnEnded(outcome):
            return {"event": "turn_ended", "outcome": outcome.value}
