"""The session file: its exact bytes, what comes back from it, and what a person may do to it by hand."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from agent_framework import Annotation, Content, Message
from hypothesis import given
from hypothesis import strategies as st

from maf_memory.errors import VersionRefused
from maf_memory.sessions.contract.base import said
from maf_memory.sessions.files import FileSessions
from maf_memory.sessions.journal import ErrorRecord, UnreadableRecord
from maf_memory.sessions.layout import HEADER, OPTIONAL
from maf_memory.sessions.record import SessionRecord
from tests.maf_memory.samples import untouched
from tests.maf_memory.sessions.golden_samples import (
    ID,
    START,
    as_written_today,
    golden,
    listed,
    one_of_each,
    put,
    refusal,
)
from tests.maf_memory.sessions.storages import STEADY

REVISION = re.compile(rb'"revision": \d+')
STAMP = re.compile(rb'"lineage": "[0-9a-f]{8}", "revision": \d+')

TEXTS = {
    "NUL": "a\0b",
    "line ends": "a\r\nb\rc\u2028d\u2029e\x85f\x0bg",
    "right to left": "\u202eשלום\u202c مرحبا\u200f",  # noqa: RUF001 - a letter that looks like another is the point
    "emoji sequences": "👩\u200d👩\u200d👧\u200d👦 🏳️\u200d🌈 👋🏽 🇫🇷",
    "combining": "e\u0301 e\u0301\u0327 ﬁ ẞ İ",
    "what looks like the file": '"messages": [\n{"role":"user"}\n],\n"state": {}\n}\n',
    "escapes": '\\" \\u0041 \\ud83d \\n \b\f\t/ \x7f\x1b[2J',
    "no character": "",
    "a byte order mark": "\ufeffa\uffff\ufdd0",
    "a line of 1 MB": "0123456789abcde\t" * 65_536,
}


async def saved(folder: Path, record: SessionRecord) -> SessionRecord:
    """The record as another process loads it from the file, which says what memory says."""
    await FileSessions(folder).create(record)
    loaded = await FileSessions(folder).load(record.id)
    assert said(loaded) == said(record)
    return loaded


def session(*messages: Message, **given: Any) -> SessionRecord:
    return SessionRecord(ID, START, START, "/home/ada/shop", list(messages), **given)


# the bytes


async def test_a_session_is_written_as_the_golden_file_has_it(tmp_path: Path) -> None:
    await FileSessions(tmp_path).create(one_of_each())
    written = (tmp_path / f"{ID}.json").read_bytes()
    assert STAMP.sub(b'"lineage": "b81f0c2e", "revision": 3', written) == as_written_today(golden())


async def test_a_session_in_which_nothing_was_said_is_written_as_the_golden_file_has_it(tmp_path: Path) -> None:
    await FileSessions(tmp_path).create(session())
    written = (tmp_path / f"{ID}.json").read_bytes()
    assert STAMP.sub(b'"lineage": "b81f0c2e", "revision": 1', written) == as_written_today(
        golden("format-1-nothing-said")
    )


@pytest.mark.parametrize("name", ["format-1-full", "format-1-nothing-said"])
async def test_what_is_loaded_and_saved_differs_by_its_revision_only(tmp_path: Path, name: str) -> None:
    path = put(tmp_path, golden(name))
    storage = FileSessions(tmp_path)
    await storage.save(await storage.load(ID))
    assert REVISION.sub(b"", path.read_bytes()) == REVISION.sub(b"", as_written_today(golden(name)))


async def test_a_turn_adds_lines_and_changes_none_that_stands(tmp_path: Path) -> None:
    path = put(tmp_path, as_written_today(golden()))
    storage = FileSessions(tmp_path)
    record = await storage.load(ID)
    before = path.read_bytes().split(b"\n")
    record.messages += [Message("user", ["And?"], message_id="n1"), Message("assistant", ["Done."], message_id="n2")]
    await storage.save(record)
    after = path.read_bytes().split(b"\n")
    changed = [line for line in after if line not in before and line.rstrip(b",") not in before]
    assert [line.split(b":")[0] for line in changed] == [b'"lineage"', b'"turns"', b'{"role"', b'{"role"']
    assert len(after) == len(before) + 2


def test_every_line_of_the_golden_file_between_the_brackets_is_one_message() -> None:
    lines = golden().decode().split("\n")
    first, last = lines.index('"messages": [') + 1, lines.index("],")
    messages = [json.loads(line.removesuffix(",")) for line in lines[first:last]]
    assert messages == json.loads(golden())["messages"]
    assert len(messages) == 9


def test_the_golden_file_has_every_field_and_every_kind_of_field_has_a_type() -> None:
    document = json.loads(golden())
    assert set(document) == {*HEADER, *OPTIONAL, "messages", "state", "errors"}
    kept = {field.name for field in fields(SessionRecord)} - {"stamp", "known"}
    assert kept - set(document) == set(), "what a record says stands in its file"


# what comes back


async def test_the_golden_file_is_loaded_with_all_that_it_says(tmp_path: Path) -> None:
    put(tmp_path, golden())
    record = await FileSessions(tmp_path).load(ID)
    assert said(record) == said(one_of_each())
    assert record.title == "Quel format pour les logs ?"
    reasoning, picture = record.messages[3].contents[0], record.messages[2].contents[1]
    assert reasoning.protected_data == "c2VhbGVk"
    assert picture.uri is not None
    assert picture.uri.startswith("data:image/png;base64,")
    result = record.messages[5].contents[0]
    assert [item.type for item in result.items or ()] == ["text", "data"]


ANNOTATION = Annotation(type="citation", title="Logs", url="https://example.org/", file_id="file-1")
CONTENTS: dict[str, Callable[[], list[Content]]] = {
    "text with annotations": lambda: [Content.from_text("See [1].", annotations=[ANNOTATION])],
    "reasoning without a text": lambda: [Content.from_text_reasoning(protected_data="c2VhbGVk")],
    "a picture": lambda: [Content.from_data(bytes(range(256)), media_type="image/png")],
    "an address": lambda: [Content.from_uri("https://example.org/é.pdf?a=1&b=2#c", media_type="application/pdf")],
    "a hosted file": lambda: [Content.from_hosted_file("file-1", media_type="text/plain", name="é.txt")],
    "a hosted vector store": lambda: [Content.from_hosted_vector_store("store-1")],
    "an error": lambda: [Content.from_error(message="It failed.", error_code="500", error_details="<html>")],
    "usage": lambda: [Content.from_usage({"input_token_count": 3, "output_token_count": 5})],
    "properties": lambda: [Content.from_text("x", additional_properties={"a": {"b": [1, None, True, 2.5]}})],
    "an empty property": lambda: [Content.from_text("x", additional_properties={"a": {}})],
}


@pytest.mark.parametrize("name", CONTENTS)
async def test_every_kind_of_content_comes_back(tmp_path: Path, name: str) -> None:
    message = Message("assistant", CONTENTS[name](), message_id="m1")
    loaded = await saved(tmp_path, session(message))
    assert loaded.messages[0].to_dict() == message.to_dict()


RESULTS: dict[str, Any] = {
    "a text": "found é\n",
    "no text": "",
    "nothing": None,
    "an object": {"a": [1, {"b": None}]},
    "a number": 2.5,
    "texts": [Content.from_text("one"), Content.from_text("two")],
    "a text with properties": [Content.from_text("one", additional_properties={"a": 1})],
    "a text and a picture": [Content.from_text("one"), Content.from_data(b"\x89PNG", media_type="image/png")],
}


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.parametrize("arguments", ['{"path": "é.txt", "path": 1}', "", "no JSON", {"path": ["é.txt"]}, {}, None])
async def test_a_call_comes_back_with_its_input_and_its_output(tmp_path: Path, name: str, arguments: Any) -> None:
    call = Message("assistant", [Content.from_function_call("c1", "look", arguments=arguments)], message_id="m1")
    result = Message("tool", [Content.from_function_result("c1", result=RESULTS[name])], message_id="m2")
    loaded = await saved(tmp_path, session(call, result))
    assert [one.to_dict() for one in loaded.messages] == [call.to_dict(), result.to_dict()]
    assert loaded.messages[0].contents[0].arguments == arguments
    assert loaded.messages[1].contents[0].result == result.contents[0].result


async def test_a_failed_call_comes_back_as_failed(tmp_path: Path) -> None:
    """The framework itself keeps no more of an exception than that there was one."""
    call = Message("assistant", [Content.from_function_call("c1", "look", arguments="{}")], message_id="m1")
    content = Content.from_function_result("c1", result="Error.", exception="ValueError: no such file")
    loaded = await saved(tmp_path, session(call, Message("tool", [content], message_id="m2")))
    assert loaded.messages[1].contents[0].exception == content.to_dict()["exception"]


@pytest.mark.parametrize("name", TEXTS)
async def test_every_text_comes_back_from_a_file_of_one_line_a_message(tmp_path: Path, name: str) -> None:
    text = TEXTS[name]
    call = Content.from_function_call("c1", "look", arguments={text: text})
    messages = [
        Message("user", [text], message_id="m1", author_name=text, additional_properties={text: text}),
        Message("assistant", [call], message_id="m2"),
        Message("tool", [Content.from_function_result("c1", result=text)], message_id="m3"),
    ]
    loaded = await saved(tmp_path, session(*messages, key=text, model=text, state={"app": {text: text}}))
    assert loaded.messages[0].text == text
    content = (tmp_path / f"{ID}.json").read_bytes()
    lines = content.split(b"\n")
    assert lines.index(b"],") - lines.index(b'"messages": [') == 4
    assert b"\0" not in content
    assert b"\r" not in content
    assert await listed(tmp_path) == ([ID], {})


@given(
    texts=st.lists(st.text(max_size=40), min_size=1, max_size=6),
    value=st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**63 - 1)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(max_size=10),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    ),
)
@STEADY
def test_whatever_is_said_comes_back(texts: list[str], value: Any) -> None:
    messages = [Message("user", [text], message_id=text) for text in texts]
    record = session(*messages, state={"app": value})
    with tempfile.TemporaryDirectory() as folder:
        loaded = asyncio.run(saved(Path(folder), record))
    assert [message.text for message in loaded.messages] == texts


async def test_a_lone_surrogate_is_written_as_the_replacement_character(tmp_path: Path) -> None:
    record = session(Message("user", ["half \ud83d emoji"], message_id="m1"), model="\udcff", title="t\ud800")
    record.errors.add("generation", line="No \ud83d answer.", turns=1, question="\ude00", time=START)
    loaded = await saved(tmp_path, record)
    assert (loaded.messages[0].text, loaded.model, loaded.title) == ("half � emoji", "�", "t�")
    content = (tmp_path / f"{ID}.json").read_text(encoding="utf-8")
    assert "\\ud" not in content
    assert content.count("�") == 5


# what a person does to it


@pytest.mark.parametrize("options", [["."], ["-c", "."], ["-S", "."], ["--tab", "."], ["-a", "."], ["-cS", "."]])
async def test_a_file_that_jq_wrote_anew_is_listed_loaded_and_saved(tmp_path: Path, options: list[str]) -> None:
    jq = shutil.which("jq")
    if jq is None:
        pytest.skip("jq is not installed")
    path = put(tmp_path, golden())
    rewritten = subprocess.run([jq, *options, path], check=True, capture_output=True).stdout  # noqa: ASYNC221 - short
    assert rewritten != golden()
    path.write_bytes(rewritten)
    storage = FileSessions(tmp_path)
    assert await listed(tmp_path) == ([ID], {})
    record = await storage.load(ID)
    assert said(record) == said(one_of_each())
    await storage.save(record)
    written = path.read_bytes()
    assert json.loads(REVISION.sub(b'"revision": 3', written)) == json.loads(as_written_today(golden()))
    assert written.count(b"\n") == golden().count(b"\n"), "one message a line again"


REWRITTEN: dict[str, Callable[[bytes], bytes]] = {
    "with the line ends of Windows": lambda content: content.replace(b"\n", b"\r\n"),
    "without its last line end": lambda content: content.rstrip(b"\n"),
    "with blank lines around": lambda content: b"\n\n" + content + b"\n \t\n",
    "with the messages first": lambda content: _ordered(content, "messages"),
    "with the state first": lambda content: _ordered(content, "state"),
    "in one line": lambda content: json.dumps(json.loads(content), separators=(",", ":")).encode(),
    "with spaces before the colons": lambda content: json.dumps(
        json.loads(content), separators=(" , ", " : ")
    ).encode(),
    "in ASCII": lambda content: json.dumps(json.loads(content), indent=3).encode(),
}


def _ordered(content: bytes, first: str) -> bytes:
    document = json.loads(content)
    return json.dumps({first: document.pop(first), **document}, ensure_ascii=False, indent=1).encode()


@pytest.mark.parametrize("name", REWRITTEN)
async def test_a_file_that_an_editor_wrote_anew_is_listed_loaded_and_saved(tmp_path: Path, name: str) -> None:
    path = put(tmp_path, REWRITTEN[name](golden()))
    assert await listed(tmp_path) == ([ID], {})
    storage = FileSessions(tmp_path)
    record = await storage.load(ID)
    assert said(record) == said(one_of_each())
    await storage.save(record)
    assert REVISION.sub(b"", path.read_bytes()) == REVISION.sub(b"", as_written_today(golden()))


# older and newer ones


async def test_a_file_from_before_the_errors_is_loaded_and_saved_with_what_is_known_today(tmp_path: Path) -> None:
    path = put(tmp_path, golden("format-1-early"))
    storage = FileSessions(tmp_path)
    with untouched(path):
        assert await listed(tmp_path) == ([ID], {})
        (head,) = (await storage.page()).heads
        record = await storage.load(ID)
    assert (head.error_count, head.provider, head.model) == (0, None, None)
    assert (len(record.errors), record.provider, record.model) == (0, None, None)
    record.errors.add("generation", line="No answer.", turns=1, time=START)
    await storage.save(record)
    document = json.loads(path.read_bytes())
    assert (document["error_count"], len(document["errors"]), document["provider"]) == (1, 1, None)


async def test_a_newer_format_is_refused_and_listed_with_its_reason(tmp_path: Path) -> None:
    newer = golden().replace(b'"format": 1', b'"format": 2').replace(b'"turns"', b'"rounds"')
    path = put(tmp_path, newer)
    put(
        tmp_path, golden("format-1-early").replace(ID.encode(), b"20260916-101530-00000001"), "20260916-101530-00000001"
    )
    with untouched(path):
        error = await refusal(tmp_path)
        shown, damaged = await listed(tmp_path)
    assert isinstance(error, VersionRefused)
    assert str(error) == (
        f"{path} is refused: it has format 2; this program reads up to format 1. The file was left as it is."
    )
    assert shown == ["20260916-101530-00000001"]
    assert damaged == {ID: "it has format 2; this program reads up to format 1"}


@pytest.mark.parametrize("found", ["0", "-1", "true", '"1"', "1.0", "null", "[]", "99999999999999999999"])
async def test_what_is_no_format_is_refused(tmp_path: Path, found: str) -> None:
    path = put(tmp_path, golden().replace(b'"format": 1', f'"format": {found}'.encode()))
    with untouched(path):
        assert await refusal(tmp_path) is not None
        shown, damaged = await listed(tmp_path)
    assert (shown, list(damaged)) == ([], [ID])


BROKEN_RECORDS = ['"text"', "null", "7", "[]", "{}", '{"time":"yesterday","kind":"x"}', '{"time":1,"kind":[]}']


@pytest.mark.parametrize("broken", BROKEN_RECORDS)
async def test_an_error_record_that_cannot_be_read_blocks_no_load_and_survives_a_save(
    tmp_path: Path, broken: str
) -> None:
    document = json.loads(golden())
    document["errors"].insert(0, json.loads(broken))
    document["error_count"] = 3
    path = put(tmp_path, json.dumps(document, ensure_ascii=False).encode())
    storage = FileSessions(tmp_path)
    record = await storage.load(ID)
    assert [type(one) for one in record.errors] == [UnreadableRecord, UnreadableRecord, ErrorRecord]
    record.errors.add("generation", line="Again.", turns=1, time=START)
    await storage.save(record)
    errors = json.loads(path.read_bytes())["errors"]
    assert errors[:3] == document["errors"]
    assert len(errors) == 4


async def test_errors_that_are_no_list_block_no_load_and_survive_a_save(tmp_path: Path) -> None:
    path = put(tmp_path, golden("format-1-early").replace(b'"state": {}', b'"state": {},\n"errors": {"a": 1}'))
    storage = FileSessions(tmp_path)
    record = await storage.load(ID)
    await storage.save(record)
    assert json.loads(path.read_bytes())["errors"] == [{"a": 1}]


async def test_an_answer_without_its_question_is_loaded_and_saved(tmp_path: Path) -> None:
    """A history that another program cut is still a conversation."""
    answer = Message("assistant", ["log/slog."], message_id="m1")
    orphan = Message("tool", [Content.from_function_result("c9", result="x")], message_id="m2")
    await saved(tmp_path, session(answer, orphan))
