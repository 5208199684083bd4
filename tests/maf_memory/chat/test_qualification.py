"""An endpoint is qualified only if the demos would work with it, and each check says what it found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import demo140.demo
from maf_memory.chat.endpoint import Endpoint
from maf_memory.chat.qualification import CHECKS, INSTRUCTIONS, Finding, qualify
from tests.maf_memory.chat import misbehaving
from tests.maf_memory.chat.misbehaving import Behaviour, Exchange, Misbehaving, closed_port, serving

KEY = "sk-a-very-secret-key"
NAMES = [check.name for check in CHECKS]


@pytest.fixture(autouse=True)
def without_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


async def findings(base_url: str, **limits: Any) -> dict[str, Finding]:
    endpoint = replace(Endpoint(base_url, misbehaving.MODEL, KEY), **limits)
    found = [finding async for finding in qualify(endpoint)]
    assert [finding.check for finding in found] == NAMES
    assert all(KEY not in finding.detail and "\n" not in finding.detail for finding in found)
    return {finding.check: finding for finding in found}


async def found_at(
    behaviour: Behaviour | None = None, lists: Behaviour | None = None, **limits: Any
) -> tuple[dict[str, Finding], Misbehaving]:
    with serving(behaviour) as server:
        server.lists = lists or server.lists
        return await findings(server.base_url, **limits), server


def told(found: dict[str, Finding]) -> list[str]:
    return [f"{finding.check}: {finding.outcome}" for finding in found.values()]


def qualified(found: dict[str, Finding]) -> bool:
    return all(finding.holds for finding in found.values())


def test_the_model_gets_the_instructions_of_demo140() -> None:
    assert INSTRUCTIONS == demo140.demo.INSTRUCTIONS


async def test_a_good_endpoint_passes_every_check() -> None:
    found, server = await found_at()
    assert told(found) == [
        "reachable: passed",
        "model listed: yes",
        "stream: passed",
        "recall: passed",
        "context: passed",
        "tools: yes",
        "two user messages: yes",
    ]
    assert found["recall"].detail == found["context"].detail == "3 of 3 answers name the module"
    assert found["stream"].detail.startswith("3 pieces, the first after ")
    assert all(finding.seconds >= 0 for finding in found.values())
    assert qualified(found)
    assert set(server.keys) == {f"Bearer {KEY}"}


async def test_recall_asks_the_two_turns_of_the_lesson_three_times() -> None:
    _, server = await found_at()
    seconds = [
        request["messages"]
        for request in server.requests
        if [message["content"] for message in request["messages"][1:2]] == ["module=Reporting"]
        and len(request["messages"]) == 4
    ]
    assert [[message["role"] for message in messages] for messages in seconds] == [
        ["system", "user", "assistant", "user"]
    ] * 3
    assert {messages[-1]["content"] for messages in seconds} == {"Which module did we discuss?"}


async def test_a_template_that_refuses_two_user_messages_in_a_row_is_no_obstacle() -> None:
    found, server = await found_at(misbehaving.refuses_two_users)
    assert found["two user messages"].outcome == "no"
    assert found["two user messages"].detail == (
        "refused (500: Conversation roles must alternate user/assistant/user/assistant/...); "
        "the program sends them as one"
    ).replace("...)", ")")
    assert found["context"].outcome == "passed"
    assert qualified(found)
    refused = [request for request in server.requests if [m["role"] for m in request["messages"]] == ["user", "user"]]
    assert len(refused) == 1, "only the check that asks for it sends two in a row"


async def test_a_model_without_tools_is_good_enough() -> None:
    found, _ = await found_at(misbehaving.refuses_tools)
    assert found["tools"].outcome == "no"
    assert "refused the request (400): small does not support tools" in found["tools"].detail
    assert qualified(found)


async def test_an_answer_that_ignores_the_tool_is_quoted() -> None:
    def ignores(exchange: Exchange) -> None:
        exchange.body.pop("tools", None)
        misbehaving.answers(exchange)

    found, _ = await found_at(ignores)
    assert found["tools"].outcome == "no"
    assert found["tools"].detail == 'it answered without the tool: "Understood, thank you."'


async def test_a_model_that_forgets_is_not_qualified_and_its_answer_is_quoted() -> None:
    found, _ = await found_at(misbehaving.forgets)
    assert not qualified(found)
    assert found["recall"].outcome == "FAILED"
    assert found["recall"].detail == ('0 of 3 answers name the module; try 1 answered: "You have not told me."')


async def test_two_right_answers_of_three_are_not_enough() -> None:
    turns: list[int] = []

    def once_wrong(exchange: Exchange) -> None:
        texts = [message["content"] for message in exchange.body["messages"]]
        if texts[-1] == "Which module did we discuss?" and "module=Reporting" in texts:
            turns.append(1)
        (misbehaving.forgets if len(turns) == 2 and texts[-1] != "module=Reporting" else misbehaving.answers)(exchange)

    found, _ = await found_at(once_wrong)
    assert found["recall"].outcome == "FAILED"
    assert found["recall"].detail == '2 of 3 answers name the module; try 2 answered: "You have not told me."'


def names_many(exchange: Exchange) -> None:
    exchange.whole(200, "application/json", '{"data": [{"id": "a"}, {"id": "b"}, {"id": "c"}, {"id": "d"}]}')


def junk_list(exchange: Exchange) -> None:
    exchange.whole(200, "application/json", "[" * 100_000)


LISTS: list[tuple[Behaviour, str]] = [
    (misbehaving.lists_nothing, "the server has no list to show (404); the answers will tell"),
    (names_many, "the server lists a, b, c, …; the answers will tell"),
    (junk_list, "the server's list is empty or has another form; the answers will tell"),
]


@pytest.mark.parametrize(("lists", "detail"), LISTS)
async def test_a_model_that_is_not_listed_may_still_answer(lists: Behaviour, detail: str) -> None:
    found, _ = await found_at(lists=lists)
    assert (found["model listed"].outcome, found["model listed"].detail) == ("not listed", detail)
    assert qualified(found)


AT_ONCE: list[tuple[Behaviour, str]] = [
    (misbehaving.unauthorised, "does not accept the key (401); check OPENAI_API_KEY"),
    (misbehaving.unknown_model, "does not know the model or the address (404): The model `small` does not exist; "),
    (misbehaving.too_many, "takes no more questions for now (429): Rate limit reached. Please slow down; ask again"),
    (misbehaving.failing, "failed (500): model runner has unexpectedly stopped"),
    (misbehaving.cuts_unmarked_stream, "broke the answer off"),
    (misbehaving.junk, "the endpoint sent something that is not a piece of an answer: it is not JSON"),
    (misbehaving.page, "answered with text/html where a stream of events was asked for"),
    (misbehaving.error_in_stream, "reported an error in its answer: out of memory for Bearer [the key]"),
    (misbehaving.empty, "The model returned an empty answer"),
    (misbehaving.endless_line, "sent more than 1,000,000 bytes for one answer"),
]


@pytest.mark.parametrize(("behaviour", "detail"), AT_ONCE)
async def test_an_endpoint_that_gives_no_answer_is_not_asked_further(behaviour: Behaviour, detail: str) -> None:
    found, server = await found_at(behaviour, largest=1_000_000)
    assert found["stream"].outcome == "FAILED"
    assert detail in found["stream"].detail
    assert not found["stream"].detail.endswith(".")
    assert told(found)[3:] == [f"{name}: not tried" for name in NAMES[3:]]
    assert {found[name].detail for name in NAMES[3:]} == {"stream failed"}
    assert len(server.requests) == 1
    assert not qualified(found)


@pytest.mark.parametrize("hanging", [misbehaving.hangs, misbehaving.hangs_in_answer])
async def test_an_endpoint_that_hangs_is_given_up_after_the_stated_silence(hanging: Behaviour) -> None:
    found, _ = await found_at(hanging, silence=1)
    assert found["stream"].outcome == "FAILED"
    assert found["stream"].detail.endswith(" was silent for 1 s")


async def test_an_answer_without_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maf_memory.chat.qualification.LONGEST_ANSWER", 0.1)

    def rambles(exchange: Exchange) -> None:
        exchange.begin()
        while not exchange.server.over.wait(0.01):
            exchange.piece("and ")

    found, _ = await found_at(rambles, silence=5)
    assert (found["stream"].outcome, found["stream"].detail) == ("FAILED", "an answer had no end after 0.5 s")


UNREACHABLE: list[tuple[Callable[[], str], str]] = [
    (lambda: f"http://127.0.0.1:{closed_port()}/v1", "refused the connection; check that the server runs"),
    (lambda: "http://no-such-host.invalid/v1", "has a host name that is not known; check OPENAI_BASE_URL"),
]


@pytest.mark.parametrize(("url", "detail"), UNREACHABLE)
async def test_nothing_is_tried_where_nobody_answers(url: Callable[[], str], detail: str) -> None:
    address = url()
    found = await findings(address)
    assert (found["reachable"].outcome, found["reachable"].detail) == ("FAILED", f"the endpoint {address} {detail}")
    assert told(found)[1:] == [f"{name}: not tried" for name in NAMES[1:]]
