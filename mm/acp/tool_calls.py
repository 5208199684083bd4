"""Tool calls as an editor shows them, live and from the record: the same title, kind, input, output and diff.

What an editor takes is narrower than what a call may hold: input and output are objects, a path is absolute, an id
stands for one call of the whole session, and a line has an end.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec
from acp.schema import (
    ContentToolCallContent,
    FileEditToolCallContent,
    TerminalToolCallContent,
    TextContentBlock,
    ToolCallLocation,
    ToolCallProgress,
    ToolCallStart,
    ToolCallUpdate,
)

from maf_memory.kept import INTERRUPTED
from maf_memory.sessions.parts import text_of
from maf_memory.text import one_line, sound_throughout
from mm.acp.edited import edited_in
from mm.acp.inside import path_inside
from mm.calls import NOT_RUN

if TYPE_CHECKING:
    from maf_memory.sessions.calls import OpenCall
    from mm.events import ToolFinished, ToolStarted
    from mm.permission import Permission
    from mm.tools.spec import ToolSpec

MOST = 256 * 1024
"""How many characters of one text are shown: editors read lines of at most some MiB, and escaping makes them longer."""

_MOST_INPUT = 4 * MOST

Shown = ContentToolCallContent | FileEditToolCallContent | TerminalToolCallContent


class ToolCalls:
    """The calls of one session, each under an id that no other call of the session has."""

    def __init__(self, project: Path, specs: Mapping[str, ToolSpec]) -> None:
        """Show paths as the editor knows the ``project``, and calls as their ``specs`` put them."""
        self._project = project
        self._specs = specs
        self._ids: dict[str, str] = {}
        self._given: set[str] = set()
        self._diffs: set[str] = set()

    def started(self, event: ToolStarted) -> ToolCallStart:
        """Return the call as it begins; a file that it will replace is read here."""
        spec = self._specs.get(event.name)
        diff = self._diff(event.name, event.arguments, live=True)
        shown_id = self._new_id(event.call_id)
        if diff:
            self._diffs.add(shown_id)
        return ToolCallStart(
            session_update="tool_call",
            tool_call_id=shown_id,
            title=event.title,
            kind=event.kind,
            status="pending" if spec is None or spec.asks else "in_progress",
            raw_input=_bounded(event.arguments),
            content=diff or None,
            locations=self._locations(event.arguments),
        )

    def asked(self, permission: Permission) -> ToolCallUpdate:
        """Return the call for the person who decides: what is changed as a diff, with what else there is to know."""
        spec = self._specs.get(permission.tool)
        diff = self._diff(permission.tool, permission.arguments, live=True)
        note = permission.preview.partition("\n--- ")[0] if diff else permission.preview
        return ToolCallUpdate(
            tool_call_id=self._id(permission.call_id),
            title=permission.title,
            kind=spec.kind if spec else "other",
            status="pending",
            raw_input=_bounded(permission.arguments),
            content=[*_text(note), *diff],
            locations=self._locations(permission.arguments),
        )

    def running(self, call_id: str) -> ToolCallProgress:
        """Return that the call runs now."""
        return ToolCallProgress(session_update="tool_call_update", tool_call_id=self._id(call_id), status="in_progress")

    def finished(self, event: ToolFinished) -> ToolCallProgress:
        """Return how the call ended; the diff of a change that was made stays in sight."""
        shown_id = self._id(event.call_id)
        is_shown = event.succeeded and shown_id in self._diffs
        return ToolCallProgress(
            session_update="tool_call_update",
            tool_call_id=shown_id,
            status="completed" if event.succeeded else "failed",
            content=None if is_shown else _text(event.output),
            raw_output={"output": _cut(event.output)},
        )

    def replayed(self, call: OpenCall) -> ToolCallStart:
        """Return a call of the record whole, with its output: nothing of it is run or asked again."""
        given = _object(call.given)
        spec = self._specs.get(call.name)
        output = call.output or ""
        succeeded = call.state == "done" and not output.startswith("Error:") and output not in (INTERRUPTED, NOT_RUN)
        diff = self._diff(call.name, given, live=False)
        return ToolCallStart(
            session_update="tool_call",
            tool_call_id=self._new_id(call.call_id),
            title=spec.title(given) if spec else one_line(call.name or "a tool", 200),
            kind=spec.kind if spec else "other",
            status="completed" if succeeded else "failed",
            raw_input=_bounded(given),
            raw_output=None if call.output is None else {"output": _cut(output)},
            content=[*diff, *([] if diff and succeeded else _text(output or _how(call)))],
            locations=self._locations(given),
        )

    def _new_id(self, call_id: str) -> str:
        """Return the id of a call that begins: its own, unless some model numbers its calls anew in each answer."""
        shown_id = call_id or uuid4().hex
        while shown_id in self._given:
            shown_id = f"{call_id}-{uuid4().hex[:8]}"
        self._given.add(shown_id)
        self._ids[call_id] = shown_id
        return shown_id

    def _id(self, call_id: str) -> str:
        return self._ids.get(call_id, call_id)

    def _locations(self, arguments: Mapping[str, Any]) -> list[ToolCallLocation] | None:
        path = path_inside(self._project, arguments.get("path"))
        if path is None or path == str(self._project):
            return None
        first = arguments.get("first")
        return [ToolCallLocation(path=path, line=first if isinstance(first, int) and first > 1 else None)]

    def _diff(self, name: str, arguments: Mapping[str, Any], *, live: bool) -> list[Shown]:
        found = edited_in(self._project, name, arguments, live=live)
        if found is None:
            return []
        old, new = (text if text is None else _cut(text) for text in (found.old, found.new))
        return [FileEditToolCallContent(type="diff", path=found.path, old_text=old, new_text=new or "")]


def _how(call: OpenCall) -> str:
    return "" if call.state == "done" else f"{call.state}: no result was recorded"


def _text(text: str) -> list[Shown]:
    if not text:
        return []
    return [ContentToolCallContent(type="content", content=TextContentBlock(type="text", text=_cut(text)))]


def _object(given: object) -> dict[str, Any]:
    """Return what the model gave as the object that it is, or as the text that it was not."""
    if isinstance(given, Mapping):
        return dict(given)
    text = text_of(given)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {"input": text}


def _bounded(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return an input that fits into a line: each text cut, or the whole as a text that is."""
    try:
        if len(msgspec.json.encode(given)) <= MOST:
            return dict(given)
    except (TypeError, ValueError, RecursionError):  # no JSON, or text that is not sound
        pass
    short = {name: _cut(value) if isinstance(value, str) else value for name, value in given.items()}
    try:
        written = json.dumps(short, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return {"input": "(nested too deeply to be shown)"}
    whole: dict[str, Any] = sound_throughout(short if len(written) <= _MOST_INPUT else {"input": _cut(written)})
    return whole


def _cut(text: str) -> str:
    if len(text) <= MOST:
        return text
    return f"{text[:MOST]}\n[… {len(text) - MOST:,} more characters are in the session's file …]"
