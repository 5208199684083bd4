"""A transcript draws everything that a session holds, each thing once and told apart by marks and ids."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from agent_framework import Content, Message

from maf_memory.authorship import mark
from maf_memory.sessions.items import (
    Answer,
    Attachment,
    Failure,
    FromProgram,
    Instructions,
    Item,
    Other,
    Question,
    Reasoning,
    Source,
    ToolCall,
    in_bytes,
)
from maf_memory.sessions.transcript import transcript
from tests.maf_memory.sessions.export_samples import (
    HOSTILE,
    assistant,
    by_program,
    call,
    error,
    hostile,
    journal,
    ordinary,
    png,
    record_of,
    result,
    user,
)


def items_of(*messages: Message, **fields: Any) -> list[Item]:
    return transcript(record_of(*messages, **fields))


def calls_in(items: list[Item]) -> list[ToolCall]:
    return [item for item in items if isinstance(item, ToolCall)]


def shapes(items: list[Item]) -> list[tuple[int, str]]:
    return [(item.turn, type(item).__name__) for item in items]


def test_a_day_of_work_is_drawn_in_its_order_and_under_its_questions() -> None:
    assert shapes(transcript(ordinary())) == [
        (0, "Instructions"),
        (1, "Question"),
        (1, "Reasoning"),
        (1, "ToolCall"),
        (1, "ToolCall"),
        (1, "Answer"),
        (2, "FromProgram"),
        (2, "Question"),
        (2, "Attachment"),
        (2, "ToolCall"),
        (2, "ToolCall"),
        (2, "Answer"),
        (2, "Failure"),
        (3, "Question"),
        (3, "Answer"),
    ]


def test_a_call_carries_its_input_and_its_output() -> None:
    first, second = calls_in(
        items_of(
            user("look"),
            assistant(call("a", "look", '{"where": "here", "deep": {"n": 1.5}}'), call("b", "look")),
            result("b", "second"),
            result("a", "first"),
        )
    )
    assert (first.name, first.state, first.output) == ("look", "done", "first")
    assert first.input == '{"where": "here", "deep": {"n": 1.5}}'
    assert first.parameters == {"where": "here", "deep": '{\n  "n": 1.5\n}'}
    assert (second.output, second.parameters) == ("second", {})


@pytest.mark.parametrize("arguments", ["", "{", '{"a": 1, "a": 2}', '{"a": NaN}', "[1]", "null", '{"a": "\ud800'])
def test_arguments_that_are_no_sound_object_stand_as_the_model_wrote_them(arguments: str) -> None:
    (only,) = calls_in(items_of(assistant(call("a", "look", arguments))))
    assert (only.input, only.parameters) == (arguments, None)


def test_a_call_without_a_result_is_unfinished_and_its_output_is_none() -> None:
    (only,) = calls_in(items_of(user("go"), assistant(call("a", "run")), user("and?")))
    assert (only.turn, only.state, only.output) == (1, "unfinished", None)


def test_an_empty_result_is_not_a_missing_one() -> None:
    (only,) = calls_in(items_of(assistant(call("a", "run")), result("a", "")))
    assert (only.state, only.output) == ("done", "")


def test_a_failed_call_is_told_apart_and_its_internal_exception_is_not_shown() -> None:
    (only,) = calls_in(items_of(assistant(call("a", "run")), result("a", "Error: no", exception="a secret")))
    assert (only.state, only.output) == ("failed", "Error: no")


def test_ids_that_a_model_uses_again_in_each_answer_belong_to_the_nearest_call() -> None:
    calls = calls_in(
        items_of(
            assistant(call("0", "one"), call("0", "two")),
            result("0", "of one"),
            result("0", "of two"),
            assistant(call("0", "killed")),
            assistant(call("0", "three")),
            result("0", "of three"),
        )
    )
    assert [(each.name, each.output) for each in calls] == [
        ("one", "of one"),
        ("two", "of two"),
        ("killed", None),
        ("three", "of three"),
    ]


def test_a_result_whose_call_is_lost_still_shows() -> None:
    (only,) = calls_in(items_of(user("go"), result("gone", "what it brought")))
    assert (only.input, only.output, only.state) == (None, "what it brought", "done")
    assert only.label == "Tool result without its call"


def test_a_call_that_waits_for_approval_says_so_and_a_refused_one_too() -> None:
    wanted = call("a", "rm", '{"path": "/"}')
    request = Content.from_function_approval_request("r", wanted)
    refusal = Content.from_function_approval_response(False, "r", wanted)
    consent = Content.from_function_approval_response(True, "r", wanted)
    states = {
        "asked": [assistant(wanted, request)],
        "asked, without the call": [assistant(request)],
        "refused": [assistant(wanted, request), user(refusal), result("a", "Error: rejected by the user")],
        "granted": [assistant(wanted, request), user(consent), result("a", "gone")],
        "granted, then killed": [assistant(wanted, request), user(consent)],
        "decided after the result": [assistant(wanted), result("a", "gone"), user(consent)],
        "only the decision": [user(refusal)],
    }
    found = {name: [each.state for each in calls_in(items_of(*messages))] for name, messages in states.items()}
    assert found == {
        "asked": ["waiting for approval"],
        "asked, without the call": ["waiting for approval"],
        "refused": ["refused"],
        "granted": ["done"],
        "granted, then killed": ["unfinished"],
        "decided after the result": ["done"],
        "only the decision": ["refused"],
    }


def test_images_and_files_that_a_tool_brought_stand_with_its_call() -> None:
    image = Content.from_data(png(), "image/png", name="screen.png")
    (only,) = calls_in(items_of(assistant(call("a", "shoot")), result("a", [Content.from_text("done"), image])))
    assert only.output == "done"
    assert [(each.label, each.name, each.by) for each in only.attachments] == [("Image", "screen.png", "tool")]


def test_tools_that_a_provider_runs_are_paired_like_any_other() -> None:
    shell = Content.from_shell_tool_call(call_id="s", commands=["ls", "pwd"])
    output = Content.from_shell_command_output(stdout="a.txt\n", stderr="oops", exit_code=2)
    shown = Content.from_shell_tool_result(call_id="s", outputs=[output])
    remote = Content.from_mcp_server_tool_call("m", "find", server_name="docs", arguments={"word": "slog"})
    answered = Content.from_mcp_server_tool_result(call_id="m", output=[Content.from_text("found")])
    drawing = Content.from_image_generation_tool_call(image_id="i")
    drawn = Content.from_image_generation_tool_result(image_id="i", outputs=[Content.from_data(png(), "image/png")])
    first, second, third = calls_in(items_of(assistant(shell, shown, remote, answered, drawing, drawn)))
    assert (first.name, first.input, first.output) == ("shell", "ls\npwd", "a.txt\n\noops\nexit code 2")
    assert (second.name, second.parameters, second.output) == ("find", {"word": "slog"}, "found")
    assert (third.name, len(third.attachments)) == ("image generation", 1)


def test_what_the_program_wrote_goes_by_its_mark_and_never_by_its_text() -> None:
    items = items_of(
        by_program("user", "summary", "The conversation so far"),
        by_program("assistant", "acknowledgement", "Understood."),
        user("The conversation so far"),
        assistant("Understood."),
        Message("user", ["kindless"], additional_properties={"written_by": "host"}),
    )
    assert [type(item) for item in items] == [FromProgram, FromProgram, Question, Answer, FromProgram]
    assert [item.label for item in items if isinstance(item, FromProgram)] == [
        "Summary, written by mm",
        "Acknowledgement, written by mm",
        "Text, written by host",
    ]


def test_a_context_stands_under_the_question_it_leads_to_and_a_note_under_the_one_before() -> None:
    items = items_of(
        user("one"),
        assistant("1"),
        by_program("user", "note", "the call was broken"),
        by_program("user", "context", "files"),
        by_program("user", "context", "branch"),
        user("two"),
        by_program("user", "context", "leads nowhere"),
    )
    assert [(item.turn, item.text) for item in items if isinstance(item, FromProgram)] == [
        (1, "the call was broken"),
        (2, "files"),
        (2, "branch"),
        (2, "leads nowhere"),
    ]


def test_the_system_prompt_is_told_apart_with_and_without_its_mark() -> None:
    marked = Message("system", ["be kind"], additional_properties=mark("mm", "instructions"))
    assert [type(item) for item in items_of(marked, Message("system", ["be brief"]))] == [Instructions, Instructions]


def test_errors_stand_after_the_turn_they_name_and_are_no_part_of_the_conversation() -> None:
    errors = journal(error("before", 0), error("after one", 1), error("at the end", 9), {"odd": True})
    items = items_of(by_program("user", "note", "hello"), user("one"), assistant("1"), user("two"), errors=errors)
    told = [item.line if isinstance(item, Failure) else "" for item in items]
    assert told[:-1] == ["", "before", "", "", "after one", "", "at the end"]
    assert "cannot be read" in told[-1]
    last = items[-2]
    assert isinstance(last, Failure)
    assert (last.turn, last.turns) == (2, 9)


def test_after_a_compaction_the_errors_keep_their_order_in_time() -> None:
    errors = journal(error("old", 40), error("compaction", 41), error("new", 1))
    items = items_of(by_program("user", "summary", "…"), user("one"), assistant("1"), user("two"), errors=errors)
    assert [item.line for item in items if isinstance(item, Failure)] == ["old", "compaction", "new"]
    assert [item.turn for item in items if isinstance(item, Failure)] == [1, 1, 1]


def test_an_attachment_is_told_by_its_type_name_and_size() -> None:
    items = items_of(
        user(
            Content.from_data(b"12345", "application/pdf", name="a.pdf"),
            Content.from_uri("https://example.org/cat.png", media_type="image/png"),
            Content.from_hosted_file("file-7"),
            Content.from_uri("data:text/plain,a%20b", media_type="text/plain"),
        )
    )
    assert [(item.label, item.description) for item in items if isinstance(item, Attachment)] == [
        ("File", "a.pdf, application/pdf, 5 bytes"),
        ("Image", "image/png, https://example.org/cat.png"),
        ("File", "file-7"),
        ("File", "text/plain, 3 bytes"),
    ]


def test_sizes_are_exact_without_decoding() -> None:
    for size in range(8):
        (item,) = items_of(user(Content.from_data(b"x" * size, "image/png")))
        assert isinstance(item, Attachment)
        assert item.size == size
    assert [in_bytes(size) for size in (0, 1, 999, 1_000, 999_949, 999_950, 5_000_000)] == [
        "0 bytes",
        "1 byte",
        "999 bytes",
        "1.0 kB",
        "999.9 kB",
        "1.0 MB",
        "5.0 MB",
    ]


def test_reasoning_shows_or_says_that_only_the_provider_can_read_it() -> None:
    items = items_of(
        assistant(Content.from_text_reasoning(text="hm"), Content.from_text_reasoning(protected_data="gAAAA"))
    )
    assert items == [Reasoning(turn=0, text="hm"), Reasoning(turn=0, text="", withheld=True)]


def test_sources_and_the_name_of_an_agent_stand_with_the_answer() -> None:
    cited = Content.from_text(
        "so it is", annotations=[{"type": "citation", "title": "T", "url": "https://example.org"}]
    )
    (item,) = items_of(assistant(cited, author_name="Ada"))
    assert isinstance(item, Answer)
    assert (item.sources, item.label) == ((Source("T", "https://example.org"),), "Answer of Ada")


def test_what_nothing_else_stands_for_shows_with_its_own_type_and_counters_do_not() -> None:
    items = items_of(
        assistant(
            Content.from_error(message="overloaded", error_code="529"), Content.from_usage({"total_token_count": 3})
        )
    )
    (item,) = items
    assert isinstance(item, Other)
    assert (item.type, item.label) == ("error", "Error")
    assert "overloaded" in item.text
    assert "529" in item.text


def test_a_question_of_nothing_is_still_a_question() -> None:
    assert items_of(user()) == [Question(turn=1, text="")]
    assert items_of() == []


def test_values_of_another_type_than_the_framework_says_are_shown_all_the_same() -> None:
    odd = Content.from_text("x")
    odd.text = {"not": "text"}  # type: ignore[assignment]
    bad = call("a", "look", [1, 2])
    bad.name = None
    shown = Content.from_function_result("a")
    shown.items, shown.result = None, {"rows": [1]}
    question, only = items_of(user(odd), assistant(bad), Message("tool", [shown]))
    assert isinstance(question, Question)
    assert question.text == '{\n  "not": "text"\n}'
    assert isinstance(only, ToolCall)
    assert (only.name, only.output) == ("", '{\n  "rows": [\n    1\n  ]\n}')


def test_values_that_nest_without_end_are_named_and_not_followed() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    (only,) = calls_in(items_of(assistant(call("a", "look", {"deep": deep}))))
    assert only.parameters == {"deep": "(nested too deeply to be shown)"}


def test_nothing_that_was_said_is_missing() -> None:
    whole = repr(transcript(hostile()))
    for text in HOSTILE:
        assert whole.count(repr(text)[1:-1]) >= 5  # asked, reasoned, called with, brought, answered


def test_the_same_session_has_the_same_transcript() -> None:
    assert transcript(ordinary()) == transcript(ordinary())


def test_the_transcript_alone_loads_neither_the_framework_nor_what_draws_pages() -> None:
    heavy = "{'agent_framework', 'jinja2', 'markdown_it'}"
    program = f"import sys, maf_memory.sessions.transcript; print({heavy} & set(sys.modules))"
    ended = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout == "set()\n"
