"""The errors journal: one record a line shown, bounded, redacted, and never in the way of a load."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maf_memory.sessions.journal import (
    KINDS,
    LONGEST,
    MAXIMUM_RECORDS,
    ErrorRecord,
    Journal,
    UnreadableRecord,
    errors_suffix,
)

STEADY = settings(derandomize=True, deadline=None)
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)
PARIS = timezone(timedelta(hours=2))
MORNING = datetime(2026, 9, 18, 10, 15, 30, tzinfo=PARIS)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
STORED = {
    "time": "2026-09-18T10:15:30+02:00",
    "kind": "generation",
    "turns": 2,
    "question": "Which port?",
    "line": "The model did not answer.",
    "raw": "ReadTimeout: 30 s",
    "model": "qwen3.5-4b",
}


def test_a_record_has_the_fields_of_the_file_in_their_order() -> None:
    journal = Journal()
    record = journal.add(
        "generation",
        line="The model did not answer.",
        turns=2,
        question="Which port?",
        raw="ReadTimeout: 30 s",
        model="qwen3.5-4b",
        time=MORNING,
    )
    assert record == ErrorRecord(
        MORNING, "generation", 2, "Which port?", "The model did not answer.", "ReadTimeout: 30 s", "qwen3.5-4b"
    )
    assert journal.encode() == [STORED]
    assert list(journal.encode()[0]) == list(STORED)


def test_what_was_written_is_read_back_and_written_the_same() -> None:
    journal = Journal()
    for kind in KINDS:
        journal.add(kind, line=f"{kind} failed", turns=1, question="Why?\nSo", raw="more", model="m", time=MORNING)
    again = Journal.decode(json.loads(json.dumps(journal.encode())))
    assert list(again) == list(journal)
    assert again == journal
    assert again.encode() == journal.encode()


def test_without_a_time_the_clock_is_read_with_this_machines_offset() -> None:
    before = datetime.now(UTC) - timedelta(seconds=1)
    time = Journal().add("resume", line="No such session.", turns=0).time
    assert time.utcoffset() == datetime.now().astimezone().utcoffset()
    assert before <= time <= datetime.now(UTC)
    assert time.microsecond == 0


@pytest.mark.parametrize(
    "wrong",
    [{"kind": "cancelled"}, {"turns": -1}, {"time": datetime(2026, 9, 18, 10, 15)}],
    ids=["kind", "turns", "time"],
)
def test_what_is_no_error_record_is_refused_and_nothing_is_recorded(wrong: dict[str, Any]) -> None:
    journal, fields = Journal(), {"kind": "generation", "turns": 0, "time": MORNING} | wrong
    with pytest.raises(ValueError, match="no error record"):
        journal.add(fields.pop("kind"), line="x", **fields)
    assert len(journal) == 0


def test_the_question_is_its_first_line_that_says_something() -> None:
    journal = Journal()
    for question in ("Is the port\n 8080?", "\n\n  Is the port\r\n8080?", "Is the port", "Is the\u2028port"):
        journal.add("generation", line="x", turns=0, question=question, time=MORNING)
    assert list(journal.questions()) == ["Is the port", "Is the port", "Is the port", "Is the port"]


def test_a_line_is_one_line_that_commands_no_terminal() -> None:
    line = Journal().add("generation", line="It failed:\n\x1b[2Jno\tanswer \u202e.", turns=0).line
    assert line == "It failed: [2Jno answer ."
    assert Journal().add("generation", line="👩\u200d👩\u200d👧 é", turns=0).line == "👩\u200d👩\u200d👧 é"


def test_the_raw_error_is_recorded_only_where_it_says_more() -> None:
    journal = Journal()
    for raw in (None, "", "  ", "no answer", "got no\nanswer", "The question got no answer."):
        journal.add("generation", line="The question got no answer.", turns=0, raw=raw)
    assert [record.raw for record in journal if isinstance(record, ErrorRecord)] == [None] * 6
    assert all("raw" not in form for form in journal.encode())
    more = journal.add("generation", line="The question got no answer.", turns=0, raw="ReadTimeout\n  at line 3")
    assert more.raw == "ReadTimeout\n  at line 3"


@pytest.mark.parametrize("secret", ["sk-a-very-secret-key", "hunter2 in plain"])
def test_keys_are_taken_out_of_question_line_and_raw_before_anything_is_shown(secret: str) -> None:
    journal = Journal()
    record = journal.add(
        "generation",
        line=f"the endpoint refused {secret}",
        turns=0,
        question=f"Why does {secret} fail?",
        raw=f"Authorization: Bearer {secret}\npassword:\n{secret}",
        secrets=["hunter2 in plain"],
    )
    assert secret not in json.dumps(journal.encode())
    assert record.line.startswith("the endpoint refused ")
    assert record.line.endswith("[redacted]")
    assert journal.encode()[0]["line"] == record.line


def test_a_key_that_only_meets_its_name_in_the_one_line_is_taken_out_too() -> None:
    assert Journal().add("generation", line="password:\nhunter2", turns=0).line == "password: [redacted]"


def test_a_lone_surrogate_is_made_sound() -> None:
    journal = Journal()
    journal.add("resume", line="a\ud800", turns=0, question="b\udfff", raw="c\ud800d", model="m\ud800")
    json.dumps(journal.encode(), ensure_ascii=False).encode("utf-8")


@STEADY
@given(ANY_TEXT, st.integers(1, 40))
def test_every_text_is_bounded_in_bytes_and_cut_at_a_character(text: str, times: int) -> None:
    journal = Journal()
    long = f"x{text}" * times * 20
    record = journal.add("generation", line=long, turns=0, question=long, raw=f"{long}!", model=f"m{long}")
    for name, limit in LONGEST.items():
        value = getattr(record, name)
        if value is not None:
            assert len(value.encode("utf-8")) <= limit
            assert len(value.encode("utf-8")) > limit - 8 or not value.endswith("…") or "…" in text
    assert record.line.isprintable() or "\u200d" in text or "\u200c" in text


def test_a_secret_that_a_bound_would_cut_in_two_leaves_nothing() -> None:
    key = "ghp_" + "aB3dE6gH9" * 4
    for before in range(LONGEST["line"] - 60, LONGEST["line"] + 5):
        line = Journal().add("generation", line=f"{'x' * before} {key}", turns=0).line
        assert "aB3" not in line
    huge = Journal().add("generation", line="x", turns=0, raw=f"-----BEGIN PRIVATE KEY-----{key * 4_000} {key}").raw
    assert huge == "-----BEGIN PRIVATE KEY-----[redacted]"


def test_of_more_than_two_hundred_records_the_oldest_go_first() -> None:
    journal = Journal()
    for number in range(MAXIMUM_RECORDS + 5):
        journal.add("generation", line=f"failure {number}", turns=number, time=MORNING)
    assert len(journal) == 200
    assert [record.line for record in journal] == [f"failure {number}" for number in range(5, 205)]


def test_a_file_with_too_many_records_keeps_them_until_the_next_error() -> None:
    journal = Journal.decode([STORED | {"turns": number} for number in range(250)])
    assert (len(journal), len(journal.encode())) == (250, 250)
    journal.add("generation", line="again", turns=250)
    assert len(journal) == 200


def test_a_file_without_errors_has_an_empty_journal() -> None:
    assert Journal.decode(None) == Journal.decode([]) == Journal()
    assert Journal().encode() == []


def test_a_record_of_an_older_program_has_no_model() -> None:
    older = {name: value for name, value in STORED.items() if name not in {"model", "raw"}}
    (record,) = journal = Journal.decode([older])
    assert isinstance(record, ErrorRecord)
    assert (record.model, record.raw) == (None, None)
    assert journal.encode() == [older]


def test_what_a_newer_program_added_is_written_back() -> None:
    newer = {"severity": 3, **STORED, "kind": "tool", "time": "2026-09-18T08:15:30.123456789Z"}
    (record,) = journal = Journal.decode([newer])
    assert isinstance(record, ErrorRecord)
    assert (record.kind, record.time.utcoffset()) == ("tool", timedelta(0))
    journal.add("generation", line="again", turns=3)
    assert journal.encode()[0] == newer
    assert list(journal.encode()[0]) == list(newer)


UNREADABLE = [
    None,
    17,
    "text",
    [],
    {},
    {name: value for name, value in STORED.items() if name != "line"},
    STORED | {"time": "yesterday"},
    STORED | {"time": "2026-09-18T10:15:30"},
    STORED | {"time": 1},
    STORED | {"turns": True},
    STORED | {"turns": "2"},
    STORED | {"raw": 5},
    STORED | {"model": []},
    STORED | {"question": None},
]


@pytest.mark.parametrize("form", UNREADABLE, ids=repr)
def test_a_record_that_cannot_be_read_counts_is_shown_as_such_and_stays_as_it_was(form: object) -> None:
    journal = Journal.decode([STORED, form, STORED])
    assert len(journal) == 3
    before, unreadable, after = journal
    assert isinstance(unreadable, UnreadableRecord)
    assert unreadable.line.startswith("[an error record that cannot be read: ")
    assert before == after
    assert journal.encode() == [STORED, form, STORED]
    assert list(journal.questions()) == ["Which port?", "Which port?"]


def test_an_unreadable_record_is_shown_in_one_line_without_its_keys() -> None:
    (record,) = Journal.decode([{"line": "sk-a-very-secret-key\n\x1b[2J" + "x" * 500}])
    assert record.line.isprintable()
    assert "secret" not in record.line
    assert len(record.line) < 200


@STEADY
@given(VALUES)
def test_no_value_among_the_errors_blocks_a_load_or_is_lost(value: Any) -> None:
    journal = Journal.decode(value)
    encoded = journal.encode()
    assert encoded == (value if isinstance(value, list) else [] if value is None else [value])
    assert Journal.decode(encoded) == journal
    assert len(list(journal)) == len(encoded)
    assert all(record.line for record in journal)


def test_a_copy_goes_its_own_way() -> None:
    journal = Journal.decode([STORED])
    other = journal.copy()
    assert other == journal
    other.add("compaction", line="The summary came back empty.", turns=2)
    assert (len(journal), len(other)) == (1, 2)
    assert other != journal
    assert journal != [STORED]


def test_a_line_of_a_listing_says_how_many_errors_there_are() -> None:
    assert [errors_suffix(count) for count in (0, 1, 2)] == ["", " · ⚠️ 1 error(s)", " · ⚠️ 2 error(s)"]
    assert errors_suffix(3).encode() == b" \xc2\xb7 \xe2\x9a\xa0\xef\xb8\x8f 3 error(s)"


def test_a_journal_is_read_without_the_patterns_of_secrets_and_without_the_framework() -> None:
    program = """if True:
        import sys
        from maf_memory.sessions.journal import Journal
        len(Journal.decode([]))
        late = {"agent_framework", "maf_memory.sessions.redaction", "maf_memory.sessions.token_shapes"}
        sys.exit(", ".join(sorted(late & set(sys.modules))) or 0)"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_question_is_redacted_again_as_the_line_it_is_recorded_as_and_so_is_a_model() -> None:
    record = Journal().add(
        "generation",
        line="password: >\n  swordfish",
        turns=0,
        question="api_key\x85=swordfish\nmore",
        raw="it failed: password: >\n  swordfish\napi_key:\n  swordfish",
        model="https://ada:swordfish@host/\x85?api_key\x85=swordfish",
    )
    assert "swordfish" not in str(record)
    assert record.question == "api_key =[redacted]"
    assert record.model == "https://ada:[redacted]@host/ ?api_key =[redacted]"
