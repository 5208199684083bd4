"""A session with every kind of line, its file, and what must hold of whatever is repaired from it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from agent_framework import Content, Message

from maf_memory.authorship import mark
from maf_memory.conversation import check_messages
from maf_memory.lines import line_form
from maf_memory.sessions.files import FileSessions
from maf_memory.sessions.journal import Journal
from maf_memory.sessions.memory import MemorySessions
from maf_memory.sessions.native import agent_session
from maf_memory.sessions.record import SessionRecord
from maf_memory.sessions.repair import Repaired, repair

OLD = "20260916-101530-4f2a9c1e"
NEW = "20261130-120000-00000001"
START = datetime(2026, 9, 16, 10, 15, 30, tzinfo=timezone(timedelta(hours=2)))
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=timezone(timedelta(hours=1)))
PATH = Path("/home/ada/shop/.mm/sessions") / f"{OLD}.json"
TIMES = f'"created": "{START.isoformat()}", "updated": "{START.isoformat()}"'
LOOKALIKE = {"role": "user", "contents": [{"type": "text", "text": "never said"}]}


def calls(*ids: str, **fields: Any) -> list[Content]:
    return [Content.from_function_call(call_id, "look", arguments=fields.get("arguments", "{}")) for call_id in ids]


def results(*ids: str) -> list[Content]:
    return [Content.from_function_result(call_id, result=f"found {call_id}") for call_id in ids]


def conversation() -> list[Message]:
    """Every kind of line: instructions, text in every script, parallel calls, an image, a summary, reasoning."""
    return [
        Message("system", ["Be brief."], additional_properties=mark("mm", "instructions"), message_id="m0"),
        Message("user", ['Quel format pour les "logs" ?\n{"role":"user"}\u2028\0 🙂 שלום'], message_id="m1"),
        Message("assistant", ["Let me look.", *calls("c1", "c2", arguments={"as": LOOKALIKE})], message_id="m2"),
        Message("tool", results("c1"), message_id="m3"),
        Message("tool", results("c2"), message_id="m4"),
        Message("assistant", ["log/slog."], message_id="m5"),
        Message("user", [mark("mm", "x")["kind"]], additional_properties=mark("mm", "summary"), message_id="m6"),
        Message("user", ["And this?", Content.from_data(b"\x89PNG" * 30, media_type="image/png")], message_id="m7"),
        Message("assistant", [Content.from_text_reasoning(text="hm"), "A picture."], message_id="m8"),
    ]


def session(*messages: Message, **fields: Any) -> SessionRecord:
    journal = Journal.decode([{"a record": "of another program"}])
    journal.add("generation", line="No answer.", turns=2, question="Quel format ?", model="qwen", time=START)
    return SessionRecord(
        id=OLD,
        created=START,
        updated=START + timedelta(minutes=6),
        cwd="/home/ada/shop",
        messages=list(messages),
        state={"compaction": {"messages": 3}},
        errors=journal,
        title="Formats",
        provider="openai",
        model="qwen3.5-4b",
        **fields,
    )


def file_of(record: SessionRecord, folder: Path) -> bytes:
    asyncio.run(FileSessions(folder).create(record))
    return FileSessions(folder).path_of(record.id).read_bytes()


def repaired(content: bytes) -> Repaired:
    return repair(content, PATH, session_id=NEW, now=NOW)


def ids(record: SessionRecord) -> list[str | None]:
    return [message.message_id for message in record.messages]


def forms(messages: Iterable[Message]) -> list[dict[str, Any]]:
    return [line_form(message) for message in messages]


def lines_of(content: bytes) -> list[bytes]:
    return content.split(b"\n")


def first_message(content: bytes) -> int:
    """The index of the line of the first message."""
    return lines_of(content).index(b'"messages": [') + 1


async def kept_and_loaded(record: SessionRecord) -> SessionRecord:
    storage = MemorySessions()
    await storage.create(record)
    return await storage.load(record.id)


def assert_sound(found: Repaired) -> None:
    """Whatever was repaired is a conversation that can be sent, kept and loaded again."""
    record = found.record
    check_messages(forms(record.messages), kind=None)
    assert (record.id, record.stamp, record.key) == (NEW, None, None)
    known = [message_id for message_id in ids(record) if message_id]
    assert len(known) == len(set(known))
    assert all(sentence.isprintable() and sentence.endswith((".", '"')) for sentence in found.lost)
    again = asyncio.run(kept_and_loaded(record))
    assert forms(again.messages) == forms(record.messages)
    assert again.errors == record.errors
    agent_session(again)


def contents(messages: Iterable[Message]) -> list[str]:
    """What each message says, whatever its id is."""
    return [json.dumps({**form, "message_id": None}) for form in forms(messages)]
