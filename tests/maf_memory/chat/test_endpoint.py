"""A real model is reached through one seam; what is missing is named before anything is sent."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from agent_framework import Agent, AgentSession, Message

from maf_memory.chat import connect
from maf_memory.chat.endpoint import OPENAI_BASE_URL, Endpoint
from maf_memory.errors import ChatUnavailable

AgentFor = Callable[..., Agent]
MODEL = {"OPENAI_CHAT_COMPLETION_MODEL": "tiny"}


def refused(environ: dict[str, str]) -> str:
    with pytest.raises(ChatUnavailable) as error:
        connect("openai", environ)
    return str(error.value)


def test_a_missing_model_names_its_variable() -> None:
    expected = "--chat openai needs the name of a model: set OPENAI_CHAT_COMPLETION_MODEL, or use --chat offline."
    assert refused({"OPENAI_API_KEY": "k"}) == expected
    assert refused({"OPENAI_API_KEY": "k", "OPENAI_CHAT_COMPLETION_MODEL": " "}) == expected


@pytest.mark.parametrize("base_url", ["https://models.example/v1", "http://10.0.0.7/v1", "http://localhost.example"])
def test_a_distant_server_needs_a_key(base_url: str) -> None:
    assert "set OPENAI_API_KEY" in refused(MODEL | {"OPENAI_BASE_URL": base_url})


def test_openai_itself_is_the_server_when_no_other_is_named() -> None:
    assert refused(MODEL) == (
        "--chat openai needs a key for api.openai.com: set OPENAI_API_KEY, "
        "or set OPENAI_BASE_URL to a server on this machine."
    )
    assert Endpoint.from_environ(MODEL | {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": ""}).base_url == OPENAI_BASE_URL


@pytest.mark.parametrize(
    "base_url", ["http://127.0.0.1:9/v1", "http://localhost:9/v1", "http://[::1]:9/v1", "http://127.8.9.10/v1"]
)
def test_a_server_on_this_machine_needs_no_key(base_url: str) -> None:
    assert Endpoint.from_environ(MODEL | {"OPENAI_BASE_URL": base_url}).api_key


@pytest.mark.parametrize(
    "base_url", ["localhost:8080/v1", "ftp://127.0.0.1", "http://", "http://[::1", "http://h:99999", "nonsense"]
)
def test_an_address_that_is_none_names_its_variable(base_url: str) -> None:
    assert refused(MODEL | {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": base_url}) == (
        "OPENAI_BASE_URL is not an address such as http://127.0.0.1:8080/v1; set it again."
    )


@pytest.mark.parametrize("key", ["clé", "one\ntwo", "a\x00b"])
def test_a_key_that_cannot_be_sent_is_refused_without_being_shown(key: str) -> None:
    assert refused(MODEL | {"OPENAI_API_KEY": key}) == "OPENAI_API_KEY holds a character that no key has; set it again."


def test_a_missing_package_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "agent_framework_openai", None)
    assert refused(MODEL | {"OPENAI_API_KEY": "k"}) == (
        "--chat openai needs the package agent-framework-openai. In the project's folder: pip install '.[openai]'."
    )


def test_the_key_is_in_no_text_of_an_endpoint() -> None:
    endpoint = Endpoint("https://ada:pass@models.example/v1", "tiny", "secret")
    assert "secret" not in repr(endpoint) + str(endpoint)
    assert "pass" not in str(endpoint)


async def ask(agent: Agent, session: AgentSession, text: str) -> str:
    question = Message("user", [text], message_id=uuid4().hex)
    return (await agent.run([question], stream=True, session=session).get_final_response()).text


async def test_context_and_question_are_sent_as_one_message_and_stored_as_they_were(
    endpoint_server: Any, agent_for: AgentFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    client: Any = connect("openai", MODEL | {"OPENAI_BASE_URL": endpoint_server.base_url})
    try:
        agent = agent_for(client, context='a "quoted"\nvalue')
        session = agent.create_session()
        assert await ask(agent, session, "first") == "one two"
        assert await ask(agent, session, "first") == "one two"
    finally:
        await client.client.close()
    sent = endpoint_server.requests[1]["messages"]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "user"]
    context, question = sent[-1]["content"].split("\n\n")
    assert context.endswith('context = "a \\"quoted\\"\\nvalue"')
    assert question == "first"
    assert sent[1]["content"] == "first"
    stored = session.state["in_memory"]["messages"]
    assert [(message.role, message.text) for message in stored] == [("user", "first"), ("assistant", "one two")] * 2
    assert [message.message_id for message in stored if message.role == "assistant"] == ["answer-1", "answer-2"]


async def test_the_key_is_sent_as_it_is_configured_and_a_placeholder_when_none_is_needed(
    endpoint_server: Any, agent_for: AgentFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for environ in ({"OPENAI_API_KEY": " k1\n"}, {}):
        client: Any = connect("openai", MODEL | {"OPENAI_BASE_URL": endpoint_server.base_url} | environ)
        try:
            assert (await agent_for(client).run("a", stream=True).get_final_response()).text == "one two"
        finally:
            await client.client.close()
    assert endpoint_server.authorizations == ["Bearer k1", "Bearer no-key-needed"]
