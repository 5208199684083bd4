"""Session files as this package writes them, made of plain values, for the tests of the search."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from maf_memory.authorship import mark
from maf_memory.sessions.found import Found
from maf_memory.sessions.query import parse_query
from maf_memory.sessions.search_files import search_files

Form = dict[str, Any]
FIRST = datetime(2026, 9, 16, 10, 15, 30, tzinfo=UTC)


def said(role: str, *texts: str, kind: str | None = None) -> Form:
    form: Form = {"role": role, "contents": [{"type": "text", "text": text} for text in texts]}
    return form if kind is None else {**form, "additional_properties": mark("mm", kind)}


def turn(question: str, answer: str) -> list[Form]:
    return [said("user", question), said("assistant", answer)]


def called(name: str, arguments: object, result: object) -> list[Form]:
    call = {"type": "function_call", "call_id": "c1", "name": name, "arguments": arguments}
    return [
        {"role": "assistant", "contents": [call]},
        {"role": "tool", "contents": [{"type": "function_result", "call_id": "c1", "result": result}]},
    ]


def session_id(number: int) -> str:
    return f"20260916-101530-{number:08x}"


def document(number: int, messages: Sequence[Form], **fields: Any) -> Form:
    """The session with this number: session 2 was last active an hour after session 1."""
    return {
        "format": 1,
        "id": session_id(number),
        "lineage": "b81f0c2e",
        "revision": 3,
        "created": FIRST.isoformat(),
        "updated": (FIRST + timedelta(hours=number)).isoformat(),
        "cwd": "/home/ada/shop",
        "key": None,
        "service_session_id": None,
        "title": f"Session {number}",
        "turns": 1,
        "error_count": 0,
        "provider": "openai",
        "model": "qwen3.5-4b",
        "framework": "agent-framework-core 1.23.0",
        "messages": list(messages),
        "state": {},
        "errors": [],
        **fields,
    }


def as_written(whole: Form) -> bytes:
    """The bytes of the file: one message a line, nothing escaped that need not be."""
    lines = []
    for name, value in whole.items():
        if name == "messages":
            inner = ",\n".join(json.dumps(message, ensure_ascii=False, separators=(",", ":")) for message in value)
            lines.append(f'"messages": [\n{inner}\n]')
        else:
            lines.append(f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}")
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


class Sessions:
    """A folder of session files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ids: list[str] = []

    def path(self, identity: str) -> Path:
        return self.folder / f"{identity}.json"

    def add(self, messages: Sequence[Form], **fields: Any) -> str:
        """Write the next session and return its id."""
        number = len(self.ids) + 1
        return self.add_bytes(as_written(document(number, messages, **fields)))

    def add_bytes(self, content: bytes) -> str:
        identity = session_id(len(self.ids) + 1)
        self.path(identity).write_bytes(content)
        self.ids.append(identity)
        return identity

    def search(self, query: str, **options: Any) -> Found:
        def read(identity: str) -> bytes:
            return self.path(identity).read_bytes()

        return search_files(self.ids, parse_query(query), path_of=self.path, read=read, **options)

    def places(self, query: str, **options: Any) -> list[tuple[int, int]]:
        """Where the hits stand, best first: which session, which message, both from 1."""
        return [(self.ids.index(hit.session_id) + 1, hit.number) for hit in self.search(query, **options).hits]
