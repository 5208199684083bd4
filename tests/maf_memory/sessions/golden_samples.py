"""The session files of every format ever written, and what a test does with one."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

from agent_framework import Content, Message

from maf_memory.authorship import INSTRUCTIONS, mark
from maf_memory.errors import FileRefused
from maf_memory.payload import framework_version
from maf_memory.sessions.files import FileSessions
from maf_memory.sessions.journal import Journal
from maf_memory.sessions.record import SessionRecord

GOLDEN = Path(__file__).parent / "golden"
ID = "20260916-101530-4f2a9c1e"
START = datetime(2026, 9, 16, 10, 15, 30, tzinfo=timezone(timedelta(hours=2)))
WRITTEN_BY = "agent-framework-core 1.23.0"


def golden(name: str = "format-1-full") -> bytes:
    """The bytes of a file as a program once wrote it; they are never regenerated."""
    return (GOLDEN / f"{name}.json").read_bytes()


def as_written_today(content: bytes) -> bytes:
    """The golden file as the framework at hand would have it."""
    return content.replace(WRITTEN_BY.encode(), framework_version().encode())


def put(folder: Path, content: bytes, session_id: str = ID) -> Path:
    """Put a file where the sessions of a project are; another program wrote it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{session_id}.json"
    path.write_bytes(content)
    return path


def one_of_each() -> SessionRecord:
    """What the golden file of format 1 says: every field, and every kind of part that an agent brings."""
    look = Content.from_function_call("c1", "look", arguments='{"path": "é.txt"}')
    weigh = Content.from_function_call("c2", "weigh", arguments={"of": ["é.txt"], "exact": True})
    remove = Content.from_function_call("c3", "remove", arguments='{"path":"é.txt"}')
    parts = [Content.from_text("A page"), Content.from_data(b"\x89PNG", media_type="image/png")]
    journal = Journal.decode([{"a record": "of another program"}])
    journal.add("generation", line="No answer.", raw="502 <html>", turns=1, question="Et ?", model="q", time=START)
    return SessionRecord(
        id=ID,
        created=START,
        updated=START + timedelta(minutes=5, seconds=37),
        cwd="/home/ada/shop",
        messages=[
            Message("system", ["Be brief."], additional_properties=mark("mm", INSTRUCTIONS)),
            Message("user", ["[summary]\nLogs."], message_id="m1", additional_properties=mark("mm", "summary")),
            Message(
                "user",
                [
                    'Quel format pour les "logs" ?\r\n\0\u2028 👩\u200d👧 שלום',
                    Content.from_data(b"\x89PNG\r\n", media_type="image/png"),
                    Content.from_uri("https://example.org/a.pdf", media_type="application/pdf"),
                    Content.from_hosted_file("file-1"),
                ],
                message_id="m2",
            ),
            Message(
                "assistant",
                [Content.from_text_reasoning(text="Hm.", protected_data="c2VhbGVk", id="r1"), look, weigh],
                message_id="m3",
            ),
            Message("tool", [Content.from_function_result("c1", result="Zeile 1\nZeile 2")], message_id="m4"),
            Message("tool", [Content.from_function_result("c2", result=parts)], message_id="m5"),
            Message("assistant", ["log/slog."], author_name="mini", message_id="m6"),
            Message("user", ["Delete it."], message_id="m7", additional_properties={"shown": True}),
            Message("assistant", [remove, Content.from_function_approval_request("a1", remove)], message_id="m8"),
        ],
        state={"app": {"list": [1, 2.5, None, True, "é"], "empty": {}}, "other": {"seen": 3}},
        errors=journal,
        title="Quel format pour les logs ?",
        key="telegram:1:2",
        session_id="the framework's own",
        service_session_id={"id": "resp-1"},
        provider="openai",
        model="qwen3.5-4b",
        continued_in="20260916-120000-0000000a",
    )


async def refusal(folder: Path, session_id: str = ID) -> FileRefused | None:
    """Why the file is not loaded; ``None`` when it is."""
    try:
        await FileSessions(folder).load(session_id)
    except FileRefused as error:
        return error
    return None


async def listed(folder: Path) -> tuple[list[str], dict[str, str]]:
    """The ids that a listing shows as usual, and the reason of each that is damaged."""
    page = await FileSessions(folder).page()
    return [head.id for head in page.heads], {one.id: one.problem for one in page.damaged}
