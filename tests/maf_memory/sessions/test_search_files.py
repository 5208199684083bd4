"""A search over files goes on past what cannot be read, says so, and holds no conversation in memory."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from maf_memory.errors import FileUnreadable
from maf_memory.sessions.query import parse_query
from maf_memory.sessions.search_files import search_files
from tests.maf_memory.sessions.search_samples import Sessions, as_written, document, said, session_id, turn


@pytest.fixture
def sessions(tmp_path: Path) -> Sessions:
    return Sessions(tmp_path)


def a_file(number: int, **fields: Any) -> bytes:
    return as_written(document(number, turn("Which storage?", "SQLite."), **fields))


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        pytest.param(lambda _: b"", "it is empty", id="empty"),
        pytest.param(lambda content: content[: len(content) // 2], "it is truncated", id="truncated"),
        pytest.param(lambda content: content.replace(b"h st", b"\0\0\0\0"), "it holds NUL bytes", id="NUL block"),
        pytest.param(lambda content: content.replace(b"SQL", b"S\xc3L"), "it is not UTF-8", id="flipped bit"),
        pytest.param(lambda content: content + content, "it goes on after its end", id="two documents"),
        pytest.param(
            lambda content: content.replace(b'"role"', b"<<<<<<< ours"), "it is not JSON", id="merge conflict"
        ),
        pytest.param(lambda content: content.replace(b'"role":"user"', b'"role":NaN'), "NaN", id="NaN"),
        pytest.param(lambda content: content.replace(b"SQLite", b"\\ud800"), "a lone surrogate", id="lone surrogate"),
        pytest.param(lambda content: content.replace(b'"format": 1', b'"format": 2'), "it has format 2", id="newer"),
        pytest.param(lambda _: b"[" * 100_000, "", id="nested"),
        pytest.param(lambda content: content.replace(b"+00:00", b""), "created has no offset", id="no offset"),
        pytest.param(
            lambda content: content.replace(b'"contents"', b'"content"'), "list of messages", id="no contents"
        ),
        pytest.param(
            lambda content: content.replace(b'"type":"text"', b'"type":7'), "cannot be searched", id="no type"
        ),
    ],
)
def test_a_damaged_file_is_told_and_the_search_goes_on(sessions: Sessions, damage: Any, problem: str) -> None:
    sessions.add_bytes(a_file(1))
    damaged = sessions.add_bytes(damage(a_file(2)))
    sessions.add_bytes(a_file(3))
    found = sessions.search("storage sqlite")
    assert [hit.session_id for hit in found.hits] == [session_id(3), session_id(3), session_id(1), session_id(1)]
    assert (found.matched, found.searched) == (4, 2)
    (told,) = found.unread
    assert (told.id, told.path) == (damaged, sessions.path(damaged))
    assert problem in told.problem
    assert "\n" not in told.problem


@pytest.mark.parametrize("cut", [0, 1, 40, -1, -2, -3, -12])
def test_damage_at_an_end_is_told_also_where_the_word_is_not(sessions: Sessions, cut: int) -> None:
    content = a_file(1)
    sessions.add_bytes(content[: cut if cut >= 0 else len(content) + cut])
    sessions.add_bytes(a_file(2).replace(b"SQL", b"\0\0\0"))
    sessions.add_bytes(a_file(3, format=2))
    found = sessions.search("zanzibar")
    whole = cut == -1  # only the last line break is gone
    assert [damaged.id for damaged in found.unread] == [session_id(n) for n in ((3, 2) if whole else (3, 2, 1))]


def test_another_session_than_the_name_says_is_told(sessions: Sessions) -> None:
    sessions.add_bytes(a_file(7))
    (told,) = sessions.search("storage").unread
    assert session_id(7) in told.problem


def test_a_file_that_cannot_be_read_is_told_and_one_that_is_gone_is_not(sessions: Sessions) -> None:
    sessions.add_bytes(a_file(1))
    refused, gone = session_id(2), session_id(3)

    def read(identity: str) -> bytes | None:
        if identity == refused:
            raise FileUnreadable(sessions.path(refused), "it cannot be read (Permission denied)", "a readable file")
        return None if identity == gone else sessions.path(identity).read_bytes()

    ids = [session_id(1), refused, gone]
    found = search_files(ids, parse_query("storage"), path_of=sessions.path, read=read)
    assert (found.matched, found.searched) == (1, 1)
    assert [(told.id, told.problem) for told in found.unread] == [(refused, "it cannot be read (Permission denied)")]


def test_a_kind_of_content_with_other_types_hides_nothing(sessions: Sessions) -> None:
    """A loaded file is checked as JSON, not as the framework's types."""
    strange = {"type": "image_generation_tool_call", "name": {"not": "a text"}, "text": 7}
    sessions.add([{"role": "assistant", "contents": [strange, {"type": "text", "text": "storage"}]}])
    sessions.add(turn("Which storage?", "?"))
    known = [{"role": "assistant", "contents": [strange, {"type": "text", "text": "STORAGE"}]}]
    assert sessions.places("storage") == [(2, 1), (1, 1)]
    assert sessions.places("storage", without=known) == [(2, 1)]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_file_that_somebody_re_formatted_is_searched(sessions: Sessions, indent: int | None) -> None:
    whole = document(1, turn("Quel format pour les logs ?", "log/slog, décidé."))
    sessions.add_bytes(json.dumps(whole, indent=indent).encode())
    (hit,) = sessions.search("décidé").hits
    assert hit.excerpt == "log/slog, décidé."
    (hit,) = sessions.search("format").hits
    assert hit.answer == "log/slog, décidé."


def test_the_order_in_which_files_are_given_changes_nothing(sessions: Sessions) -> None:
    for _ in range(5):
        sessions.add(turn("Which storage?", "SQLite storage."), updated="2026-09-16T12:00:00+00:00")
    found = sessions.search("storage sqlite", limit=3)
    sessions.ids.reverse()
    assert sessions.search("storage sqlite", limit=3) == found


def test_progress_is_told_for_each_session_of_how_many(sessions: Sessions) -> None:
    for _ in range(3):
        sessions.add(turn("storage", "-"))
    told: list[tuple[int, int]] = []
    sessions.search("storage", progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_no_sessions_are_an_answer_too(sessions: Sessions) -> None:
    found = sessions.search("storage")
    assert (list(found.hits), found.matched, found.searched, list(found.unread)) == ([], 0, 0, [])


def test_no_conversation_is_held_in_memory() -> None:
    """At most one kilobyte a session, however long the conversations are."""
    long = [said("user", f"storage {'word ' * 2000}"), said("assistant", "x" * 10_000)] * 4

    def peak(count: int) -> int:
        ids = [session_id(number) for number in range(count)]
        template = as_written(document(0, long))

        def read(identity: str) -> bytes:
            return template.replace(session_id(0).encode(), identity.encode())

        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            found = search_files(ids, parse_query("storage"), path_of=Path, read=read)
            assert found.matched == 4 * count
            return tracemalloc.get_traced_memory()[1] - before
        finally:
            tracemalloc.stop()

    peak(10)
    assert peak(600) - peak(100) < 500 * 1000
