"""Whatever an endpoint does, a question without an answer ends in one clear line and leaves the session as it was."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from agent_framework import Agent, InMemoryHistoryProvider

from maf_memory.chat.endpoint import Endpoint
from maf_memory.errors import ChatUnavailable, EmptyAnswer, TurnFailed
from maf_memory.turn import ask
from tests.maf_memory.chat import misbehaving
from tests.maf_memory.chat.misbehaving import Behaviour, chunk, closed_port, serving

KEY = "sk-a-very-secret-key"
AS_IT_WAS = " The conversation is as it was before the question."

NOT_A_PIECE = "the endpoint sent something that is not a piece of an answer"

WORDING = {
    misbehaving.unauthorised: "the endpoint URL does not accept the key (401); check OPENAI_API_KEY",
    misbehaving.forbidden: (
        "the endpoint URL does not allow this with this key (403): Bearer [the key] has no access to small"
    ),
    misbehaving.unknown_model: (
        "the endpoint URL does not know the model or the address (404): The model `small` does not exist; "
        "check OPENAI_CHAT_COMPLETION_MODEL and OPENAI_BASE_URL"
    ),
    misbehaving.too_many: (
        "the endpoint URL takes no more questions for now (429): Rate limit reached. Please slow down; ask again later"
    ),
    misbehaving.failing: (
        "the endpoint URL failed (500): model runner has unexpectedly stopped " + "x" * (200 - 38) + "…"
    ),
    misbehaving.error_page: "the endpoint URL failed (502)",
    misbehaving.hangs: "the endpoint URL was silent for 0.2 s",
    misbehaving.hangs_in_answer: "the endpoint URL was silent for 0.2 s",
    misbehaving.closes_at_once: "the endpoint URL closed the connection without an answer",
    misbehaving.cuts_marked_stream: "the endpoint URL broke the answer off",
    misbehaving.cuts_unmarked_stream: "the endpoint URL broke the answer off",
    misbehaving.no_reason: "the endpoint URL broke the answer off",
    misbehaving.no_http: "the endpoint URL does not speak HTTP as it should; check OPENAI_BASE_URL",
    misbehaving.junk: f"{NOT_A_PIECE}: it is not JSON",
    misbehaving.binary_junk: f"{NOT_A_PIECE}: it is not UTF-8",
    misbehaving.other_json: f"{NOT_A_PIECE}: it has another form",
    misbehaving.deep_json: f"{NOT_A_PIECE}: it is not JSON",
    misbehaving.endless_line: "the endpoint URL sent more than 1,000,000 bytes for one answer",
    misbehaving.page: "the endpoint URL answered with text/html where a stream of events was asked for",
    misbehaving.not_streamed: "the endpoint URL answered with application/json where a stream of events was asked for",
    misbehaving.error_in_stream: (
        "the endpoint URL reported an error in its answer: out of memory for Bearer [the key]"
    ),
    misbehaving.error_text_in_stream: "the endpoint URL reported an error in its answer: unable to load model",
}

EMPTY = (misbehaving.no_choices, misbehaving.empty, misbehaving.number_for_text)


@pytest.fixture(autouse=True)
def without_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@asynccontextmanager
async def asking(base_url: str, **limits: Any) -> AsyncIterator[tuple[Agent, Endpoint]]:
    endpoint = replace(Endpoint(base_url, misbehaving.MODEL, KEY), **limits)
    client: Any = endpoint.connect()
    try:
        yield Agent(client, "Answer.", context_providers=[InMemoryHistoryProvider()]), endpoint
    finally:
        await client.client.close()


async def failure(behaviour: Behaviour, **limits: Any) -> tuple[TurnFailed, str]:
    """Have a good turn, then one at the endpoint that misbehaves; return its failure and the line, without the URL."""
    with serving() as server:
        # Only the question that is to fail has the short limits: a busy machine must not fail the good ones.
        async with asking(server.base_url) as (agent, _), asking(server.base_url, **limits) as (bounded, _):
            session = agent.create_session()
            await ask(agent, session, "module=Reporting")
            before = session.to_dict()
            server.behaves = behaviour
            with pytest.raises(TurnFailed) as failed:
                await ask(bounded, session, "Which module did we discuss?")
            assert session.to_dict() == before
            assert len(server.requests) == 2, "the failed request was repeated"
            server.behaves = misbehaving.answers
            assert (await ask(agent, session, "Which module did we discuss?")).text == "We spoke of REPORTING."
        return failed.value, str(failed.value).replace(server.base_url, "URL")


@pytest.mark.parametrize("behaviour", WORDING, ids=lambda behaviour: behaviour.__name__)
async def test_a_misbehaviour_is_told_in_one_line_and_the_conversation_goes_on(behaviour: Behaviour) -> None:
    hangs = behaviour in (misbehaving.hangs, misbehaving.hangs_in_answer)
    _, said = await failure(behaviour, silence=0.2 if hangs else 30, largest=1_000_000)
    assert said == f"The question got no answer: {WORDING[behaviour]}.{AS_IT_WAS}"


@pytest.mark.parametrize("behaviour", EMPTY, ids=lambda behaviour: behaviour.__name__)
async def test_an_answer_without_content_is_an_empty_answer(behaviour: Behaviour) -> None:
    error, said = await failure(behaviour)
    assert isinstance(error, EmptyAnswer)
    assert said == f"The model returned an empty answer.{AS_IT_WAS}"


ODD_EVENTS: tuple[Any, ...] = (
    None,
    4,
    "[]",
    '"x"',
    {},
    {**chunk({}), "choices": None},
    {**chunk({}), "choices": "x"},
    {**chunk({}), "choices": [4]},
    {**chunk({}), "choices": [{"index": 0, "delta": "x"}]},
    {**chunk({"content": "a"}), "created": "yesterday"},
    {**chunk({"content": "a"}), "created": 10**30},
    {**chunk({"content": "a"}), "usage": "x"},
    chunk({"tool_calls": "x"}),
    '{"id": "a", "created": NaN, "choices": []}',
)


@pytest.mark.parametrize("event", ODD_EVENTS, ids=repr)
async def test_no_event_however_odd_shows_a_python_class(event: Any) -> None:
    def odd(exchange: misbehaving.Exchange) -> None:
        exchange.begin()
        exchange.event(event)
        exchange.end()

    _, said = await failure(odd)
    assert re.fullmatch(
        rf"(The question got no answer: {NOT_A_PIECE}: [\w ]+|The model returned an empty answer)\..*", said
    )


async def test_an_id_that_is_no_text_is_replaced_so_that_the_session_can_be_saved() -> None:
    with serving(misbehaving.numbered) as server:
        async with asking(server.base_url) as (agent, _):
            session = agent.create_session()
            await ask(agent, session, "module=Reporting")
    assert all(isinstance(message.message_id, str) for message in session.state["in_memory"]["messages"])


async def test_a_huge_piece_below_the_bound_is_an_answer() -> None:
    def huge(exchange: misbehaving.Exchange) -> None:
        exchange.begin()
        exchange.piece("x" * 3_000_000)
        exchange.end()

    with serving(huge) as server:
        async with asking(server.base_url) as (agent, _):
            answer = await ask(agent, agent.create_session(), "module=Reporting")
    assert len(answer.text) == 3_000_000


async def test_nobody_on_the_port_is_a_refused_connection() -> None:
    url = f"http://127.0.0.1:{closed_port()}/v1"
    async with asking(url) as (agent, _):
        with pytest.raises(TurnFailed) as failed:
            await ask(agent, agent.create_session(), "a")
    assert str(failed.value).startswith(
        f"The question got no answer: the endpoint {url} refused the connection; check that the server runs."
    )


async def test_a_server_without_tls_behind_https_says_what_to_check() -> None:
    with serving() as server:
        url = server.base_url.replace("http:", "https:")
        async with asking(url) as (agent, _):
            with pytest.raises(TurnFailed, match="does not speak TLS as it should; check whether OPENAI_BASE_URL"):
                await ask(agent, agent.create_session(), "a")


async def test_what_may_be_secret_in_the_address_is_not_shown() -> None:
    url = f"http://ada:pass-word@127.0.0.1:{closed_port()}/v1?token=to-ken"
    async with asking(url) as (agent, _):
        with pytest.raises(TurnFailed) as failed:
            await ask(agent, agent.create_session(), "a")
    assert not re.search("ada|pass-word|to-ken", str(failed.value))


async def test_each_question_has_a_connection_of_its_own() -> None:
    with serving() as server:
        async with asking(server.base_url) as (agent, _):
            session = agent.create_session()
            ports = []
            server.behaves = lambda exchange: (ports.append(exchange.client_address[1]), misbehaving.answers(exchange))[
                0
            ]
            for _ in range(2):
                await ask(agent, session, "a")
    assert len(set(ports)) == 2


@pytest.mark.parametrize(("set_to", "seconds"), [("", 120), ("0.5", 0.5), (" 30 ", 30)])
def test_the_time_an_endpoint_may_be_silent_is_configured(set_to: str, seconds: float) -> None:
    endpoint = Endpoint.from_environ(
        {"OPENAI_BASE_URL": "http://127.0.0.1/v1", "OPENAI_CHAT_COMPLETION_MODEL": "m", "MAF_CHAT_TIMEOUT": set_to}
    )
    assert endpoint.silence == endpoint.timeout.read == seconds
    assert endpoint.timeout.connect == min(5, seconds)


@pytest.mark.parametrize("set_to", ["0", "-1", "nan", "inf", "soon", "1e999"])
def test_a_time_that_is_none_names_its_variable(set_to: str) -> None:
    environ = {**os.environ, "OPENAI_BASE_URL": "http://127.0.0.1/v1", "OPENAI_CHAT_COMPLETION_MODEL": "m"}
    with pytest.raises(ChatUnavailable) as error:
        Endpoint.from_environ({**environ, "MAF_CHAT_TIMEOUT": set_to})
    assert str(error.value) == "MAF_CHAT_TIMEOUT is not a number of seconds above 0; set it again or unset it."
