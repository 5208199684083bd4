"""A repaired conversation is one again: of two sides nothing is lost or there twice, and each call has its result."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from agent_framework import Content, Message

from maf_memory import kept
from maf_memory.lines import line_form
from maf_memory.sessions.mending import INTERRUPTED
from maf_memory.sessions.record import SessionRecord
from tests.maf_memory.sessions.repair_samples import (
    OLD,
    TIMES,
    assert_sound,
    calls,
    conversation,
    file_of,
    first_message,
    forms,
    ids,
    lines_of,
    repaired,
    results,
    session,
)


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return file_of(session(*conversation()), tmp_path_factory.mktemp("sessions"))


def test_two_documents_in_one_file_are_one_conversation_without_repeats(content: bytes) -> None:
    later = session(*conversation()[1:], Message("user", ["Later?"], message_id="m9"))
    line = json.dumps(forms(later.messages)[-1]).encode()
    other = content.replace(b'\n],\n"state"', b",\n" + line + b'\n],\n"state"').replace(b"Formats", b"Other")
    found = repaired(content + other)
    assert ids(found.record) == [f"m{number}" for number in range(10)]
    assert found.record.title == "Formats"
    assert found.record.errors == session().errors
    second = len(lines_of(content)) - 1 + first_message(other)
    assert found.lost == (
        f"Line {second} begins the messages of a second document; they follow the others.",
        "9 messages stand there twice; each is kept once.",
    )
    assert_sound(found)


def merged(ours: list[str], theirs: list[str], base: list[str] | None = None) -> bytes:
    """A file in which each side of a merge added lines; what both had stands once."""
    common = [Message("user", ["Which port?"], message_id="m1")]
    opening = ["{", f'"format": 1, {TIMES},', f'"id": "{OLD}",', '"title": "Port",', '"messages": [']
    between = [*(["||||||| base", *base] if base is not None else []), "======="]
    lines = [*opening, json.dumps(forms(common)[0]) + ",", "<<<<<<< ours", *ours, *between, *theirs, ">>>>>>> theirs"]
    return "\n".join([*lines, "],", '"state": {}', "}", ""]).encode()


def line(role: str, message_id: str | None, *parts: Any, comma: str = ",") -> str:
    return json.dumps(line_form(Message(role, list(parts), message_id=message_id))) + comma


def test_of_a_merge_conflict_the_messages_of_both_sides_are_kept() -> None:
    found = repaired(
        merged(
            [line("assistant", "a", "8080."), line("user", "b", "Sure?")],
            [line("assistant", "a", "8080."), line("user", "c", "Thanks.", comma="")],
            base=[line("assistant", "a", "8080."), line("user", "d", "Hm.")],
        )
    )
    assert ids(found.record) == ["m1", "a", "b", "d", "c"]
    assert found.lost == (
        "Line 7 begins a merge conflict; the messages of both sides are kept.",
        "2 messages stand there twice; each is kept once.",
    )
    assert_sound(found)


def test_two_versions_of_one_message_are_both_kept_under_ids_of_their_own() -> None:
    found = repaired(merged([line("assistant", "a", "8080.")], [line("assistant", "a", "8081.", comma="")]))
    assert ids(found.record) == ["m1", "a", "a-2"]
    assert [message.text for message in found.record.messages] == ["Which port?", "8080.", "8081."]
    assert "Line 10 is another version of the message of line 8; both are kept." in found.lost
    assert_sound(found)


def test_a_provisional_result_of_one_side_is_replaced_by_the_real_one_of_the_other() -> None:
    call = line("assistant", "a", *calls("c1"))
    provisional = line("tool", "t", Content.from_function_result("c1", result=INTERRUPTED))
    real = line("tool", "t", *results("c1"), comma="")
    for ours, theirs in (([call, provisional], [call, real]), ([call, real + ","], [call, provisional])):
        found = repaired(merged(ours, theirs))
        assert ids(found.record) == ["m1", "a", "t"]
        assert [content.result for content in found.record.messages[2].contents] == ["found c1"]
        assert len(found.lost) == 2
        assert_sound(found)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")
def test_a_real_merge_conflict_of_git_is_repaired(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.test", "-c", "init.defaultBranch=main"]
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=arguments[0] != "merge", capture_output=True)

    path = tmp_path / f"{OLD}.json"
    common = conversation()
    git("init")
    for branch, more in (("main", ()), ("theirs", ("Theirs?", "Yes, theirs.")), ("ours", ("Ours?",))):
        if branch != "main":
            git("checkout", "-b", branch, "main")
        path.unlink(missing_ok=True)
        path.write_bytes(
            file_of(session(*common, *(Message("user", [text], message_id=text) for text in more)), tmp_path / branch)
        )
        git("add", path.name)
        git("commit", "-m", branch)
    git("merge", "theirs")
    conflict = path.read_bytes()
    assert b"<<<<<<< " in conflict
    found = repaired(conflict)
    assert ids(found.record) == [*(f"m{number}" for number in range(9)), "Ours?", "Theirs?", "Yes, theirs."]
    assert found.record.errors == session().errors
    assert all("lost" not in sentence for sentence in found.lost), found.lost
    assert_sound(found)


def whole_file(*messages: Message) -> bytes:
    """A file that holds these messages, whatever a store would say to them."""
    lines = ",\n".join(json.dumps(form) for form in forms(messages))
    return f'{{\n"format": 1, {TIMES},\n"title": "x",\n"messages": [\n{lines}\n],\n"state": {{}}\n}}\n'.encode()


def outline(record: SessionRecord) -> list[tuple[str, list[tuple[str, Any]]]]:
    return [
        (message.role, [(each.call_id or each.text, each.result) for each in message.contents])
        for message in record.messages
    ]


def test_a_call_whose_result_is_lost_gets_the_one_that_a_killed_process_leaves() -> None:
    messages = [
        Message("user", ["Look"], message_id="1"),
        Message("assistant", [*calls("c1", "c2", "c3")], message_id="2"),
        Message("tool", results("c2"), message_id="3"),
        Message("user", ["And?"], message_id="4"),
    ]
    found = repaired(whole_file(*messages))
    assert outline(found.record) == [
        ("user", [("Look", None)]),
        ("assistant", [("c1", None), ("c2", None), ("c3", None)]),
        ("tool", [("c1", INTERRUPTED), ("c3", INTERRUPTED)]),
        ("tool", [("c2", "found c2")]),
        ("user", [("And?", None)]),
    ]
    assert found.lost == tuple(
        f'The result of the call of look in line 6 is lost: "{INTERRUPTED}".' for _ in ("c1", "c3")
    )
    assert_sound(found)


def test_a_result_whose_call_is_lost_is_left_out_with_its_message_when_that_holds_nothing_else() -> None:
    found = repaired(
        whole_file(
            Message("user", ["Look"], message_id="1"),
            Message("tool", results("c1"), message_id="2"),
            Message("assistant", ["Found.", *results("c2")], message_id="3"),
        )
    )
    assert outline(found.record) == [("user", [("Look", None)]), ("assistant", [("Found.", None)])]
    assert found.lost == tuple(
        f"Line {number} holds the result of a call that is not there; it is left out." for number in (6, 7)
    )
    assert_sound(found)


def test_an_id_that_a_model_uses_again_stands_for_two_calls() -> None:
    found = repaired(
        whole_file(
            Message("assistant", calls("c"), message_id="1"),
            Message("tool", results("c"), message_id="2"),
            Message("assistant", calls("c"), message_id="3"),
            Message("assistant", calls("c"), message_id="4"),
            Message("tool", results("c"), message_id="5"),
            Message("tool", [Content.from_function_result("c", result="another")], message_id="6"),
        )
    )
    assert [role for role, _ in outline(found.record)] == [
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
        "tool",
    ]
    assert outline(found.record)[3] == ("tool", [("c", INTERRUPTED)])
    assert found.lost[-1] == "Line 10 holds another result of a call that has one; it is left out."
    assert_sound(found)


def test_a_call_that_waits_for_approval_waits_on_and_one_that_was_approved_may_have_run() -> None:
    (call,) = calls("c")
    request = Content.from_function_approval_request("a", call)
    waiting = [Message("user", ["Look"], message_id="1"), Message("assistant", [call, request], message_id="2")]
    found = repaired(whole_file(*waiting))
    assert (len(found.record.messages), found.lost) == (2, ())
    answer = Content.from_function_approval_response(approved=True, id="a", function_call=call)
    found = repaired(whole_file(*waiting, Message("user", [answer], message_id="3")))
    assert outline(found.record)[2] == ("tool", [("c", INTERRUPTED)])
    assert_sound(found)


def test_a_call_that_ran_elsewhere_keeps_its_result() -> None:
    call = Content.from_function_call("h", "search", arguments="{}", informational_only=True)
    found = repaired(whole_file(Message("assistant", [call, *results("h")], message_id="1")))
    assert (outline(found.record), found.lost) == ([("assistant", [("h", None), ("h", "found h")])], ())


def test_the_words_of_a_lost_result_are_those_of_a_broken_turn() -> None:
    assert INTERRUPTED == kept.INTERRUPTED
