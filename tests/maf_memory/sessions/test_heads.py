"""A listing reads the heads of the sessions, never their conversations, and orders them by the instant."""

from __future__ import annotations

import gc
import json
import os
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from maf_memory.disk import Folder, open_folder
from maf_memory.files import StoreFile
from maf_memory.sessions.files import FileSessions
from maf_memory.sessions.heads import BLOCK, read_head
from maf_memory.sessions.record import Damaged, Head
from tests.maf_memory.sessions.golden_samples import ID, golden, listed, put

WHOLE = golden("format-1-early").decode()
MESSAGE = b'{"role":"user","contents":[{"type":"text","text":"' + b"x" * 1_000 + b'"}],"message_id":"m1"}'


def numbered(number: int) -> str:
    return f"20260917-000000-{number:08x}"


def file_with(session_id: str = ID, **fields: Any) -> bytes:
    """A small session file with other fields in its head."""
    document = json.loads(WHOLE) | {"id": session_id} | fields
    tail = [document.pop(name) for name in ("messages", "state")]
    header = "".join(
        f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)},\n" for name, value in document.items()
    )
    message = json.dumps(tail[0][0], ensure_ascii=False, separators=(",", ":"))
    return f'{{\n{header}"messages": [\n{message}\n],\n"state": {json.dumps(tail[1])},\n"errors": []\n}}\n'.encode()


async def heads(folder: Path) -> list[Head]:
    return list((await FileSessions(folder).page()).heads)


# what is read


@contextmanager
def counted_reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Count the bytes that this process reads by the system's own call."""
    read = os.read
    counts: list[int] = []

    def counting(descriptor: int, length: int) -> bytes:
        block = read(descriptor, length)
        counts.append(len(block))
        return block

    with monkeypatch.context() as patched:
        patched.setattr(os, "read", counting)
        yield counts


def read_by_listing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, list[Head | Damaged | None]]:
    """The bytes that a listing reads of each file, and what it says of them."""

    def file_of(session_id: str) -> StoreFile:
        raise AssertionError(f"{session_id} was read whole")

    with open_folder(folder) as opened, counted_reads(monkeypatch) as counts:
        found = [read_head(opened, name, name.removesuffix(".json"), file_of) for name in opened.names()]
    return sum(counts), found


def test_a_listing_reads_one_block_and_the_last_bytes_however_long_the_conversation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head, tail = golden().split(b'"messages": [\n')
    with put(tmp_path, b"").open("wb") as file:
        file.write(head + b'"messages": [\n')
        for _ in range(20_000):
            file.write(MESSAGE + b",\n")
        file.write(tail)
    assert (tmp_path / f"{ID}.json").stat().st_size > 20_000_000
    count, (found,) = read_by_listing(tmp_path, monkeypatch)
    assert isinstance(found, Head)
    assert found.title == "Quel format pour les logs ?"
    assert count <= BLOCK + 256


async def test_damage_in_the_midst_of_a_long_conversation_is_listed_as_usual(tmp_path: Path) -> None:
    head, tail = golden().split(b'"messages": [\n')
    path = put(tmp_path, head + b'"messages": [\n')
    with path.open("r+b") as file:  # a hole of 20 MB: NUL bytes
        file.seek(20_000_000)
        file.write(tail)
    assert await listed(tmp_path) == ([ID], {})


@pytest.mark.parametrize("length", [BLOCK // 2, BLOCK - 700, BLOCK, 3 * BLOCK, 50 * BLOCK])
@pytest.mark.parametrize("letter", ["x", "é", '"', "\\", "🙂"])
def test_a_head_longer_than_a_block_is_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int, letter: str
) -> None:
    cwd = "/" + letter * length
    put(tmp_path, file_with(cwd=cwd))
    _, (found,) = read_by_listing(tmp_path, monkeypatch)
    assert isinstance(found, Head)
    assert found.cwd == cwd


def test_a_head_that_ends_at_any_place_of_a_block_is_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = file_with(cwd="/").index(b'"messages"')
    for number, end in enumerate(range(BLOCK - 20, BLOCK + 20)):
        put(tmp_path, file_with(numbered(number), cwd="/" + "x" * (end - base)), numbered(number))
    _, found = read_by_listing(tmp_path, monkeypatch)
    assert all(isinstance(one, Head) for one in found)
    assert len(found) == 40


LOOKALIKES = ['"messages": [', '\n"messages": [\n', 'x\\"messages": [', '\\\\"messages":[', "],\n}\n", '{"id": 1}']


@pytest.mark.parametrize("text", LOOKALIKES)
@pytest.mark.parametrize("field", ["title", "cwd", "key", "service_session_id", "model", "framework"])
async def test_a_text_that_looks_like_the_messages_ends_no_head(tmp_path: Path, field: str, text: str) -> None:
    put(tmp_path, file_with(**{field: text}))
    put(tmp_path, json.dumps(json.loads(file_with(numbered(1), **{field: text}))).encode(), numbered(1))
    assert await listed(tmp_path) == ([ID, numbered(1)], {})
    for head in await heads(tmp_path):
        assert getattr(head, field, text) == text


@pytest.mark.parametrize("service", [{"messages": [{"a": 1}]}, {"messages": []}, {"a": {"messages": ["x"], "id": 7}}])
async def test_an_id_of_a_service_with_messages_of_its_own_ends_no_head(
    tmp_path: Path, service: dict[str, Any]
) -> None:
    put(tmp_path, file_with(service_session_id=service))
    put(tmp_path, json.dumps(json.loads(file_with(numbered(1), service_session_id=service))).encode(), numbered(1))
    put(
        tmp_path,
        json.dumps(json.loads(file_with(numbered(2), service_session_id=service)), indent=1).encode(),
        numbered(2),
    )
    assert await listed(tmp_path) == ([ID, numbered(1), numbered(2)], {})
    assert {head.title for head in await heads(tmp_path)} == {"Quel format pour les logs ?"}
    assert (await FileSessions(tmp_path).load(ID)).service_session_id == service


async def test_a_session_without_a_title_is_left_out_and_is_not_damaged(tmp_path: Path) -> None:
    put(tmp_path, golden("format-1-nothing-said"))
    assert await listed(tmp_path) == ([], {})


async def test_a_session_of_errors_only_is_listed_by_the_question_that_failed(tmp_path: Path) -> None:
    put(tmp_path, file_with(title="Et ?", turns=0, error_count=2))
    (head,) = await heads(tmp_path)
    assert (head.title, head.turns, head.error_count) == ("Et ?", 0, 2)


# the order

NEW_YORK = ZoneInfo("America/New_York")
TIMES = [
    "0001-01-01T00:00:00+00:00",
    "1969-12-31T23:59:59+00:00",
    "2026-09-16T23:59:59+14:00",
    "2026-09-16T10:00:00+00:00",
    "2026-09-16T12:00:01+02:00",
    "2026-09-16T10:00:01.000001+00:00",
    "2026-09-16T06:00:02-04:00",
    "2026-11-01T01:30:00-04:00",
    "2026-11-01T01:10:00-05:00",
    "2124-02-29T00:00:00+00:00",
    "9999-12-31T23:59:59+00:00",
]
"""In the order of the instants, which is not that of the texts."""


async def test_sessions_are_listed_by_the_instant_of_their_last_activity(tmp_path: Path) -> None:
    for number, time in enumerate(TIMES):
        session_id = numbered((number * 5) % len(TIMES))
        put(tmp_path, file_with(session_id, updated=time, title=time), session_id)
    assert [head.title for head in await heads(tmp_path)] == TIMES[::-1]
    storage = FileSessions(tmp_path)
    paged: list[Head] = []
    page = await storage.page(limit=1)
    while page.next is not None:
        paged += page.heads
        page = await storage.page(limit=1, after=page.next)
    assert [head.title for head in [*paged, *page.heads]] == TIMES[::-1]


async def test_equal_instants_are_listed_by_id_whatever_their_offset(tmp_path: Path) -> None:
    start = datetime(2026, 9, 16, 10, tzinfo=UTC)
    for number in (3, 1, 0, 2):
        time = start.astimezone(timezone(timedelta(hours=number * 3 - 5)))
        put(tmp_path, file_with(numbered(number), updated=time.isoformat()), numbered(number))
    assert [head.id for head in await heads(tmp_path)] == [numbered(number) for number in range(4)]
    assert len({head.updated.isoformat() for head in await heads(tmp_path)}) == 4, "each as it was written"


async def test_the_hour_that_a_clock_strikes_twice_is_two_hours(tmp_path: Path) -> None:
    first, second = (datetime(2026, 11, 1, 1, 30, tzinfo=NEW_YORK, fold=fold) for fold in (0, 1))
    put(tmp_path, file_with(numbered(0), updated=second.isoformat(), title="second"), numbered(0))
    put(tmp_path, file_with(numbered(1), updated=first.isoformat(), title="first"), numbered(1))
    assert [head.title for head in await heads(tmp_path)] == ["second", "first"]


# what stands beside them


async def test_what_is_not_named_like_a_session_is_left_out_and_left_alone(tmp_path: Path) -> None:
    put(tmp_path, golden())
    names = [
        f"{ID}.json.bak",
        f"{numbered(3)}.JSON",
        f".{ID}.json.lock",
        f"{ID} (1).json",
        "notes.json",
        "README.md",
        f"x{ID}.json",
    ]
    for name in names:
        (tmp_path / name).write_bytes(golden())
    (tmp_path / "old").mkdir()
    put(tmp_path / "old", golden())
    assert await listed(tmp_path) == ([ID], {})
    assert sorted(os.listdir(tmp_path)) == sorted([*names, "old", f"{ID}.json"])


async def test_a_folder_with_the_name_of_a_session_is_listed_as_damaged(tmp_path: Path) -> None:
    put(tmp_path, golden())
    (tmp_path / f"{numbered(1)}.json").mkdir()
    shown, damaged = await listed(tmp_path)
    assert (shown, list(damaged)) == ([ID], [numbered(1)])


async def test_a_file_that_goes_during_the_listing_is_left_out(tmp_path: Path) -> None:
    put(tmp_path, golden())
    with open_folder(tmp_path) as folder:
        assert _head(folder, numbered(7)) is None


def _head(folder: Folder, session_id: str) -> Head | Damaged | None:
    return read_head(folder, f"{session_id}.json", session_id, lambda one: StoreFile(folder.path / f"{one}.json"))


# what it costs


async def test_a_listing_of_ten_thousand_sessions_keeps_less_than_a_kilobyte_of_each(tmp_path: Path) -> None:
    template = file_with(title="Quel format pour les logs ? " * 2, provider="openai", model="qwen3.5-4b", error_count=1)
    count = 10_000
    for number in range(count):
        (tmp_path / f"{numbered(number)}.json").write_bytes(template.replace(ID.encode(), numbered(number).encode()))
    storage = FileSessions(tmp_path)
    gc.collect()
    tracemalloc.start()
    try:
        page = await storage.page()
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(page.heads) == count
    assert kept / count < 1_000, "bytes a session"
    assert peak / count < 1_500
