"""What a session file brings back: every kind of content, and any text in any place of it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from agent_framework import Content, Message
from hypothesis import example, given, settings
from hypothesis import strategies as st

from maf_memory.errors import SaveFailed
from maf_memory.sessions.contract.base import MORNING, message, record_of, said, texts, turn
from maf_memory.sessions.files import FileSessions
from maf_memory.sessions.record import Head
from maf_memory.text import sound
from tests.maf_memory.sessions.session_files import ID, listed, untouched


@pytest.fixture
def sessions(tmp_path: Path) -> FileSessions:
    return FileSessions(tmp_path / "sessions")


CALL = Content.from_function_call("c1", "look", arguments="{}")
PARTS: dict[str, list[Content]] = {
    "arguments as a text": [Content.from_function_call("c1", "look", arguments='{"a": "\\u00e9", "b":1.0}')],
    "arguments as an object": [Content.from_function_call("c1", "look", arguments={"a": [1, None, {"b": 2.5}]})],
    "arguments that are no JSON": [Content.from_function_call("c1", "look", arguments='{"half')],
    "no arguments": [Content.from_function_call("c1", "look")],
    "reasoning that is protected": [Content.from_text_reasoning(text=None, protected_data="gAAAA+/=", id="rs_1")],
    "reasoning in the open": [
        Content.from_text_reasoning(text="so", protected_data="x", additional_properties={"n": 1})
    ],
    "an image": [Content.from_data(b"\x89PNG\r\n\0\xff" * 40, media_type="image/png")],
    "an image elsewhere": [Content.from_uri("https://example.com/a.png", media_type="image/png")],
    "a file reference": [Content.from_hosted_file("file-1", media_type="text/csv", name="é.csv")],
    "a store reference": [Content.from_hosted_vector_store("vs-1")],
    "an approval that waits": [CALL, Content.from_function_approval_request("a1", CALL)],
    "an error": [Content.from_error(message="refused", error_code="42", error_details="é")],
    "usage": [Content.from_usage({"input_token_count": 3, "output_token_count": 5})],
    "a link in a text": [
        Content.from_text("see", annotations=[{"type": "citation", "title": "é", "url": "https://example.com"}])
    ],
    "another server's tool": [
        Content.from_mcp_server_tool_call("m1", "find", server_name="s", arguments={"q": "é"}),
        Content.from_mcp_server_tool_result("m1", output=[Content.from_text("found")]),
    ],
    "code that was run": [
        Content.from_code_interpreter_tool_call(call_id="k1", inputs=[Content.from_text("1+1")]),
        Content.from_code_interpreter_tool_result(call_id="k1", outputs=[Content.from_text("2")]),
    ],
    "properties of its own": [Content.from_text("x", additional_properties={"cache": {"é": [True]}})],
}
RESULTS: dict[str, dict[str, Any]] = {
    "a text": {"result": "a line\nanother"},
    "an empty text": {"result": ""},
    "a text that looks like JSON": {"result": '{"items": [{"type": "text"}]}'},
    "nothing": {"result": None},
    "a failure": {"result": "Error: Function failed.", "exception": "OSError(5)"},
    "an image": {"result": [Content.from_data(b"\x89PNG", media_type="image/png")]},
    "a text and an image": {"result": [Content.from_text("seen"), Content.from_data(b"GIF", media_type="image/gif")]},
    "properties of its own": {"result": "x", "additional_properties": {"ms": 12}},
}


class TestRoundTrip:
    async def _comes_back(self, sessions: FileSessions, *messages: Message) -> None:
        record = record_of(*messages)
        await sessions.create(record)
        loaded = await FileSessions(sessions.folder).load(record.id)
        assert [one.to_dict() for one in loaded.messages] == [one.to_dict() for one in messages]
        assert await sessions.search("nowhere-to-be-found") is not None
        lines = sessions.path_of(record.id).read_bytes().split(b"\n")
        await FileSessions(sessions.folder).save(loaded)
        assert sessions.path_of(record.id).read_bytes().split(b"\n")[4:] == lines[4:], "saved again as it was"

    @pytest.mark.parametrize("what", PARTS)
    async def test_every_kind_of_content_comes_back_unchanged(self, sessions: FileSessions, what: str) -> None:
        result = [message("tool", Content.from_function_result("c1", result="seen"))]
        open_call = [part.type for part in PARTS[what]] == ["function_call"]
        await self._comes_back(
            sessions, message("user", "q"), message("assistant", *PARTS[what]), *(result if open_call else [])
        )

    @pytest.mark.parametrize("what", RESULTS)
    async def test_a_tool_call_keeps_its_input_and_its_output(self, sessions: FileSessions, what: str) -> None:
        result = Content.from_function_result("c1", **RESULTS[what])
        await self._comes_back(sessions, message("assistant", CALL), message("tool", result))

    async def test_an_answered_approval_comes_back(self, sessions: FileSessions) -> None:
        request = Content.from_function_approval_request("a1", CALL)
        response = request.to_function_approval_response(approved=True)
        await self._comes_back(
            sessions,
            message("assistant", CALL, request),
            message("user", response),
            message("tool", Content.from_function_result("c1", result="x")),
        )

    async def test_a_line_of_a_megabyte_is_one_line(self, sessions: FileSessions) -> None:
        record = record_of(message("user", "é\n\u2028\r" * 250_000), message("assistant", "short"))
        await sessions.create(record)
        lines = sessions.path_of(record.id).read_bytes().split(b"\n")
        assert len(max(lines, key=len)) > 1_000_000
        assert [line[:15] for line in lines if line.startswith(b'{"role"')] == [b'{"role":"user",', b'{"role":"assist']
        assert texts(await sessions.load(record.id)) == texts(record)

    @settings(max_examples=60, deadline=None, derandomize=True)
    @given(st.text(), st.text(), st.text(st.characters(codec="utf-8")))
    @example("\ud83d", "\ud83d\ude00", '"messages": [\n')
    @example("\0\u2028\u2029\x85\x1b[31m", "👩\u200d👩\u200d👧 🏳️\u200d🌈", "שלום\u202e")
    async def test_any_text_comes_back_in_any_place_and_a_lone_surrogate_as_the_replacement_character(
        self, one: str, two: str, three: str
    ) -> None:
        with tempfile.TemporaryDirectory() as folder:
            sessions = FileSessions(Path(folder) / "sessions")
            contents = [Content.from_text(one), Content.from_text_reasoning(text=two, protected_data=three)]
            call = Content.from_function_call("c1", two, arguments={one: three})
            messages = [
                message("user", *contents, additional_properties={two: [one]}, author_name=three),
                message("assistant", call),
                message("tool", Content.from_function_result("c1", result=one)),
            ]
            wanted = [json.loads(sound(json.dumps(each.to_dict(), ensure_ascii=False))) for each in messages]
            record = record_of(*messages, cwd=one, key=two, model=three, provider=one, state={"app": {three: three}})
            record.title = two
            await sessions.create(record)
            loaded = await FileSessions(Path(folder) / "sessions").load(record.id)
            for each in (record, loaded):
                assert [one_message.to_dict() for one_message in each.messages] == wanted
                assert (each.cwd, each.key, each.model, each.provider) == (sound(one), sound(two), three, sound(one))
                assert each.state == {"app": {three: three}}
            assert said(loaded) == said(record)
            assert sessions.path_of(record.id).read_bytes().count(b"\n") == 21
            head = await listed(sessions, record.id)
            if head is not None:
                assert isinstance(head, Head)
                assert (head.title, head.cwd, head.key) == (loaded.title, loaded.cwd, loaded.key)

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("created", MORNING.replace(tzinfo=None)),
            ("updated", MORNING.replace(tzinfo=None)),
            ("cwd", None),
            ("cwd", Path("/home/ada")),
            ("title", 7),
            ("key", 1),
            ("model", ["qwen"]),
            ("provider", b"openai"),
            ("session_id", 1.5),
            ("continued_in", True),
            ("service_session_id", ["resp-1"]),
        ],
    )
    async def test_a_field_that_could_not_be_read_back_is_refused_before_anything_is_written(
        self, sessions: FileSessions, field: str, value: Any
    ) -> None:
        record = record_of(*turn("x"), id=ID)
        setattr(record, field, value)
        with pytest.raises(SaveFailed, match="could not be read back") as caught:
            await sessions.create(record)
        assert str(caught.value).isprintable()
        assert record.stamp is None
        assert not sessions.path_of(ID).exists()

    @pytest.mark.parametrize("depth", [100, 400, 470, 480, 490, 500, 600, 900, 5000])
    async def test_however_deep_a_message_is_it_is_refused_or_comes_back_in_any_layout(
        self, sessions: FileSessions, depth: int
    ) -> None:
        value: list[Any] = []
        for _ in range(depth):
            value = [value]
        record = record_of(message("user", "x", additional_properties={"deep": value}), id=ID)
        if depth >= 490:
            with pytest.raises(SaveFailed):
                await sessions.create(record)
            return
        await sessions.create(record)
        path = sessions.path_of(ID)
        path.write_text(json.dumps(json.loads(path.read_bytes()), indent=1))
        assert said(await sessions.load(ID)) == said(record)

    async def test_a_file_that_would_be_too_large_is_not_begun(self, sessions: FileSessions) -> None:
        record = record_of(*turn("x"), id=ID)
        await sessions.create(record)
        with untouched(sessions.path_of(ID)):
            record.messages = [*record.messages, message("user", "x" * (64 * 1024 * 1024))]
            with pytest.raises(SaveFailed, match="it would have more than 67,108,864 bytes"):
                await sessions.save(record)
        record.messages.pop()
        assert (await sessions.save(record)).revision == 2
