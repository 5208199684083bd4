"""Repair makes a new session of what is whole in a damaged file, and says what is lost; the file is only read."""

from __future__ import annotations

import json
import time
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maf_memory.errors import FileRefused, VersionRefused
from maf_memory.sessions.journal import Journal
from maf_memory.sessions.repair import repair
from tests.maf_memory.sessions.repair_samples import (
    LOOKALIKE,
    NEW,
    NOW,
    PATH,
    START,
    assert_sound,
    contents,
    conversation,
    file_of,
    first_message,
    forms,
    ids,
    lines_of,
    repaired,
    session,
)

STEADY = settings(derandomize=True, deadline=None, max_examples=200)


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return file_of(session(*conversation()), tmp_path_factory.mktemp("sessions"))


def test_of_a_whole_file_nothing_is_lost(content: bytes) -> None:
    found = repaired(content)
    assert found.lost == ()
    assert forms(found.record.messages) == forms(conversation())
    before = session(*conversation())
    for name in ("created", "updated", "cwd", "state", "errors", "title", "provider", "model"):
        assert getattr(found.record, name) == getattr(before, name), name
    assert_sound(found)


def test_the_new_session_is_another_one_and_the_hosts_key_stays_with_the_file(tmp_path: Path) -> None:
    record = session(*conversation(), key="telegram:1:2", session_id="s-1", service_session_id={"id": "thread"})
    record.continued_in = NEW
    found = repaired(file_of(record, tmp_path))
    assert found.lost == ()
    assert (found.record.id, found.record.key, found.record.stamp) == (NEW, None, None)
    assert (found.record.session_id, found.record.service_session_id) == ("s-1", {"id": "thread"})
    assert found.record.continued_in == NEW


def test_a_file_truncated_at_any_byte_keeps_every_message_whose_line_is_whole(content: bytes) -> None:
    start = content.index(b'"messages": [\n') + len(b'"messages": [\n')
    ends = []
    position = start
    for line in content[start:].split(b"\n")[: len(conversation())]:
        position += len(line) + 1
        ends.append(position - 1 - line.endswith(b","))
    whole = content.index(b"]\n}\n", ends[-1])
    for cut in range(len(content)):
        kept_ids = [f"m{number}" for number, end in enumerate(ends) if end <= cut]
        if not kept_ids:
            with pytest.raises(FileRefused, match="no message is left whole"):
                repaired(content[:cut])
            continue
        found = repaired(content[:cut])
        said = " ".join(found.lost)
        assert [each for each in ids(found.record) if each in kept_ids] == kept_ids
        assert len(found.record.messages) - len(kept_ids) == (1 if 3 <= len(kept_ids) <= 4 else 0)
        assert found.record.title == "Formats"
        assert ("lost" in said or "header counts" in said) == (cut < whole + 3)
        if cut % 50 == 0:
            assert_sound(found)


def test_one_flipped_bit_costs_at_most_one_message_and_what_its_calls_brought(content: bytes) -> None:
    before = contents(conversation())
    answers = set(before[3:5])
    for position in range(content.index(b'"lineage"'), len(content)):
        damaged = bytearray(content)
        damaged[position] ^= 1 << (position % 8)
        found = repaired(bytes(damaged))
        after = contents(found.record.messages)
        missing = [each for each in before if each not in after]
        where = f"byte {position}: {content[position : position + 20]!r}, {found.lost}"
        assert len(missing) <= 1 or (before[2] in missing and set(missing) <= {before[2], *answers}), where
        assert len(after) >= len(before) or found.lost, where
        assert json.dumps({**LOOKALIKE, "message_id": None}) not in after, where
        if position % 97 == 0:
            assert_sound(found)


@pytest.mark.parametrize("size", [1, 64, 4_096])
def test_a_block_of_nul_bytes_costs_only_the_lines_that_it_covers(content: bytes, size: int) -> None:
    start = content.index(b'"messages"')
    for position in range(start, len(content) - size, 23):
        damaged = content[:position] + b"\0" * size + content[position + size :]
        found = repaired(damaged)
        untouched = {line.rstrip(b",") for line in lines_of(content)} & {
            line.rstrip(b",") for line in lines_of(damaged)
        }
        kept_forms = forms(found.record.messages)
        orphans = {"m3", "m4"} if "m2" not in ids(found.record) else set()
        for line in untouched:
            if line.startswith(b'{"role"') and json.loads(line)["message_id"] not in orphans:
                assert json.loads(line) in kept_forms
        assert "it holds NUL bytes." in " ".join(found.lost)


def test_each_loss_is_told_with_its_line_and_the_reason(content: bytes) -> None:
    lines = lines_of(content)
    first = first_message(content)
    lines[first + 1] = lines[first + 1].replace(b"Quel", b"\xff\xfe")
    lines[first + 5] = lines[first + 5].replace(b'"assistant"', b'"boss"')
    lines[first + 6] = lines[first + 6].replace(b'"contents":', b'"contents":[],"contents":')
    lines[first + 7] = lines[first + 7][:100]
    lines[first + 8] = lines[first + 8].replace(b'"role"', b'"sole"')
    found = repaired(b"\n".join(lines))
    assert found.lost == (
        f"Line {first + 2} is lost: it is not UTF-8.",
        f'Lines {first + 6} to {first + 9} are lost: its message has the role "boss".',
        "The header counts 2 questions; found: 0.",
    )
    assert ids(found.record) == ["m0", "m2", "m3", "m4"]
    assert_sound(found)


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        (b'"contents":', b'"contents":[],"contents":', 'it repeats the key "contents"'),
        (b'"text":"log/slog."', b'"text":NaN', "it holds NaN, which is not JSON"),
        (b'"text":"log/slog."', b'"text":5', "its message has a text whose text is not a text"),
        (b'"text":"log/slog."', b'"text":"\\ud800"', "it holds a lone surrogate, which is not text"),
        (b'"text":"log/slog."', b'"text":"x","x":' + b"[" * 3_000 + b"]" * 3_000, "it nests too deeply"),
        (b'"type":"text"', b'"type":"next"', 'its message has a content of the unknown kind "next"'),
        (b'"message_id"', b'"message-id"', "the framework cannot rebuild its message"),
        (b'"text":"log/slog."', b'"text":"log/slog.', "it is not whole JSON"),
    ],
)
def test_a_message_is_judged_as_strictly_as_in_a_whole_file(
    content: bytes, field: bytes, value: bytes, why: str
) -> None:
    lines = lines_of(content)
    line = first_message(content) + 5
    assert field in lines[line]
    lines[line] = lines[line].replace(field, value, 1)
    found = repaired(b"\n".join(lines))
    (lost,) = found.lost
    assert lost.startswith(f"Line {line + 1} is lost: {why}"), lost
    assert ids(found.record) == ["m0", "m1", "m2", "m3", "m4", "m6", "m7", "m8"]
    assert_sound(found)


@pytest.mark.parametrize("layout", ["indented", "sorted", "one line", "crlf", "bom", "wide"])
def test_a_reformatted_file_is_salvaged_too(content: bytes, layout: str) -> None:
    document = json.loads(content)
    whole = {
        "indented": json.dumps(document, indent=2),
        "sorted": json.dumps(document, indent="\t", sort_keys=True, ensure_ascii=False),
        "one line": json.dumps(document, separators=(",", ":")),
        "crlf": content.decode().replace("\n", "\r\n"),
        "bom": "\ufeff" + content.decode(),
        "wide": json.dumps(document, ensure_ascii=False),
    }[layout].encode()
    before = repaired(whole)
    assert forms(before.record.messages) == forms(conversation())
    assert before.lost == ()
    assert (before.record.title, before.record.state, before.record.errors) == (
        "Formats",
        {"compaction": {"messages": 3}},
        session().errors,
    )
    for name in ("m5", "m2"):
        found = repaired(whole.replace(f'"{name}"'.encode(), f'"{name}'.encode()))
        assert [each for each in ids(found.record) if each != name] == [
            f"m{number}" for number in range(9) if f"m{number}" != name and (name != "m2" or number not in (3, 4))
        ]
        assert found.lost
        assert found.record.errors == session().errors
        assert_sound(found)
    half = repaired(whole[: whole.index(b"log/slog.")])
    assert ids(half.record) == ["m0", "m1", "m2", "m3", "m4"]
    assert "ends unfinished" in " ".join(half.lost)
    assert_sound(half)


def test_error_records_are_kept_whole_broken_or_unreadable(content: bytes) -> None:
    broken = content.replace(b'"line":"No answer."', b'"line":"No answer.')
    found = repaired(broken)
    assert (len(found.record.errors), ids(found.record)) == (0, [f"m{number}" for number in range(9)])
    assert found.lost[-1] == "The header counts 2 error records; found: 0."
    cut = content[: content.rindex(b"\n]\n}")]
    found = repaired(cut)
    assert [record.line for record in found.record.errors] == ["No answer."]
    assert_sound(found)


def test_a_session_of_which_only_errors_are_left_is_one() -> None:
    (record,) = Journal.decode([session().errors.encode()[1]])
    found = repaired(b'"errors": [\n' + json.dumps(session().errors.encode()[1]).encode())
    assert list(found.record.errors) == [record]
    assert found.record.messages == []


def test_where_the_header_is_lost_the_folder_and_the_clock_stand_in(content: bytes) -> None:
    found = repaired(b"\n".join(lines_of(content)[first_message(content) :]))
    record = found.record
    assert (record.created, record.updated, record.cwd, record.title) == (NOW, NOW, "/home/ada/shop", "")
    assert ids(record) == [f"m{number}" for number in range(9)]
    assert repair(content[content.index(b'{"role"') :], PATH, session_id=NEW).record.updated.utcoffset() is not None
    assert_sound(found)


def test_a_header_field_of_another_type_or_without_an_offset_counts_as_lost(content: bytes) -> None:
    damaged = content.replace(b'"title": "Formats"', b'"title": 5').replace(b"10:15:30+02:00", b"10:15:30", 1)
    found = repaired(damaged)
    assert (found.record.title, found.record.created) == ("", NOW)
    assert found.record.updated == START + timedelta(minutes=6)
    assert found.lost == (
        "Line 9 is lost: it cannot be read.",
        "When the session began is not known; it says 2026-11-30T12:00:00+01:00.",
    )


def test_a_count_that_no_line_explains_is_told(content: bytes) -> None:
    lines = lines_of(content)
    del lines[first_message(content) + 7]
    assert repaired(b"\n".join(lines)).lost == ("The header counts 2 questions; found: 1.",)


def test_a_sound_file_of_a_newer_format_is_refused_and_a_damaged_one_is_not(content: bytes) -> None:
    newer = content.replace(b'"format": 1', b'"format": 2')
    with pytest.raises(VersionRefused, match="format 2"):
        repaired(newer)
    assert len(repaired(newer[:-3]).record.messages) == 9


@pytest.mark.parametrize(
    "nothing", [b"", b"\0" * 5_000, b"[]", b"{}", b"\xff\xfe{\0", b'{"role":', b"hello", b"{" * 9_000]
)
def test_where_nothing_is_left_the_file_is_refused(nothing: bytes) -> None:
    with pytest.raises(FileRefused, match="no message is left whole"):
        repaired(nothing)


def test_what_stands_inside_a_broken_message_is_no_message(content: bytes) -> None:
    for layout in (content, json.dumps(json.loads(content), indent=2).encode()):
        for old, new in ((b"Let me look.", b'Let me "look.'), (b'"m2"', b'm2"')):
            found = repaired(layout.replace(old, new))
            assert "never said" not in [message.text for message in found.record.messages]
            assert ids(found.record) == ["m0", "m1", "m5", "m6", "m7", "m8"]


@STEADY
@given(st.data())
def test_whatever_happens_to_a_file_what_is_left_is_a_conversation_or_nothing(
    content: bytes, data: st.DataObject
) -> None:
    damaged = content
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(damaged)))
        length = data.draw(st.integers(0, 300))
        piece = data.draw(
            st.binary(max_size=20)
            | st.sampled_from(
                [b"", b"\n", b"}", b"]", b'"', b"},\n{", b"<<<<<<< x\n", b"\0\0", content[:600], content[600:]]
            )
        )
        damaged = damaged[:start] + piece + damaged[start + length :]
    try:
        found = repaired(damaged)
    except (FileRefused, VersionRefused):
        return
    assert_sound(found)


@pytest.mark.parametrize(
    "unit",
    [b'{"role":', b'{"role":"user","contents":[', b'{"type":"text"},', b'"errors": [', b'"title": ', b"<<<<<<< \n"],
)
def test_hostile_files_are_read_in_linear_time(content: bytes, unit: bytes) -> None:
    started = time.process_time()
    repaired(content + unit * (100_000 // len(unit)))
    assert time.process_time() - started < 20
