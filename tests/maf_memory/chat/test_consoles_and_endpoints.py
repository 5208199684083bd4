"""Real consoles in front of real sockets: a question without an answer is one line, and nothing of it is saved."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.consoles import PROGRAMS, files_under, piped
from tests.maf_memory.chat import misbehaving
from tests.maf_memory.chat.misbehaving import Behaviour, Exchange, closed_port, serving

KEY = "sk-a-very-secret-key"
OPTIONS = ("--chat=openai",)


MISBEHAVIOURS: list[tuple[Behaviour, str]] = [
    (misbehaving.unauthorised, "does not accept the key (401); check OPENAI_API_KEY"),
    (
        misbehaving.too_many,
        "takes no more questions for now (429): Rate limit reached. Please slow down; ask again later",
    ),
    (misbehaving.failing, "failed (500): model runner has unexpectedly stopped"),
    (misbehaving.hangs_in_answer, "was silent for 3 s"),
    (misbehaving.cuts_marked_stream, "broke the answer off"),
    (misbehaving.cuts_unmarked_stream, "broke the answer off"),
    (misbehaving.no_http, "does not speak HTTP as it should; check OPENAI_BASE_URL"),
    (misbehaving.junk, "sent something that is not a piece of an answer: it is not JSON"),
    (misbehaving.page, "answered with text/html where a stream of events was asked for"),
    (misbehaving.endless_line, "sent more than 67,108,864 bytes for one answer"),
    (misbehaving.error_in_stream, "reported an error in its answer: out of memory for Bearer [the key]"),
]


def in_turn(exchange: Exchange) -> None:
    """Answer the first question, misbehave in every way at the next ones, and answer again then."""
    number = len(exchange.server.requests) - 2
    behave = MISBEHAVIOURS[number][0] if 0 <= number < len(MISBEHAVIOURS) else misbehaving.answers
    behave(exchange)


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_question_without_an_answer_is_one_line_and_nothing_of_it_stays(program: str, state_root: Path) -> None:
    lost = [f"lost question {number}" for number in range(len(MISBEHAVIOURS))]
    with serving(in_turn) as server:
        settings = server.settings(OPENAI_API_KEY=KEY, MAF_CHAT_TIMEOUT="3")
        asked = ["module=Reporting", *lost, "Which module did we discuss?"]
        run = piped(program, *asked, options=OPTIONS, **settings)
        last = [(message["role"], message["content"]) for message in server.requests[-1]["messages"]]
        assert len(server.requests) == len(asked)

    assert len(run.errors) == len(MISBEHAVIOURS)
    for error, (_, line) in zip(run.errors, MISBEHAVIOURS, strict=True):
        assert error.startswith("error: The question got no answer: the endpoint ")
        assert error.endswith(". The conversation is as it was before the question.")
        assert line in error
    assert run.status == 1
    assert "We spoke of REPORTING." in run.out
    assert last[1:] == [
        ("user", "module=Reporting"),
        ("assistant", "Understood, thank you."),
        ("user", "Which module did we discuss?"),
    ]
    assert KEY not in run.out + run.err
    assert "<class" not in run.err
    assert run.err.count("(saved: ") == (2 if program == "demo140" else 0)
    assert b"lost question" not in b"".join(files_under(state_root).values())


@pytest.mark.parametrize("program", PROGRAMS)
def test_nobody_on_the_port_is_one_line_and_no_file_of_a_conversation(program: str, state_root: Path) -> None:
    url = f"http://127.0.0.1:{closed_port()}/v1"
    settings = {"OPENAI_BASE_URL": url, "OPENAI_CHAT_COMPLETION_MODEL": "small", "NO_PROXY": "127.0.0.1"}
    run = piped(program, "module=Reporting", options=OPTIONS, **settings)
    line = f"error: The question got no answer: the endpoint {url} refused the connection; check that the server runs."
    assert run.errors == [f"{line} The conversation is as it was before the question."]
    assert "demo140/session.json" not in {path.replace("\\", "/") for path in files_under(state_root)}


def test_demo130_hands_its_context_to_a_template_that_refuses_two_user_messages() -> None:
    with serving(misbehaving.refuses_two_users) as server:
        asked = ["setctx module=Reporting", "Which module did we discuss?", "Which module did we discuss?"]
        run = piped("demo130", *asked, options=OPTIONS, **server.settings())
        roles = [[message["role"] for message in request["messages"]] for request in server.requests]
    assert run.errors == []
    assert run.out.count("We spoke of REPORTING.") == 2
    assert roles == [["system", "user"], ["system", "user", "assistant", "user"]]
