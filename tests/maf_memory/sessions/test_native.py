"""Between a record and the framework's session nothing is lost, and nothing crosses that would not cross back."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from agent_framework import Agent, AgentSession, InMemoryHistoryProvider, Message, register_state_type

from maf_memory.authorship import INSTRUCTIONS, mark
from maf_memory.chat.scripted import ScriptedChatClient
from maf_memory.errors import FileRefused, SaveFailed
from maf_memory.sessions.contract.base import message, record_of, said, turn
from maf_memory.sessions.contract.keeping import full_record
from maf_memory.sessions.native import agent_session, take_session
from maf_memory.turn import ask


def history(session: AgentSession) -> list[Message]:
    messages: list[Message] = session.state["in_memory"]["messages"]
    return messages


def test_there_and_back_a_record_says_the_same() -> None:
    record = full_record()
    before = said(record)
    take_session(record, agent_session(record))
    assert said(record) == before


def test_the_session_has_the_id_of_the_framework_where_one_is_recorded_and_else_the_records_own() -> None:
    assert agent_session(record_of(id="20260916-101530-4f2a9c1e")).session_id == "20260916-101530-4f2a9c1e"
    assert agent_session(record_of(session_id="telegram:1:2")).session_id == "telegram:1:2"


def test_an_id_is_recorded_only_where_it_is_another_one() -> None:
    record = record_of(session_id="another")
    take_session(record, AgentSession(session_id=record.id))
    assert record.session_id is None
    take_session(record, AgentSession(session_id="telegram:1:2"))
    assert record.session_id == "telegram:1:2"


def test_the_model_is_not_sent_the_recorded_instructions_and_they_stay_recorded() -> None:
    instructions = message("system", "Be brief.", additional_properties=mark("mm", INSTRUCTIONS))
    record = record_of(instructions, *turn("one"))
    session = agent_session(record)
    assert [one.text for one in history(session)] == ["one", "Noted."]
    session.state["in_memory"]["messages"] = [*history(session), *turn("two")]
    take_session(record, session)
    assert [one.text for one in record.messages] == ["Be brief.", "one", "Noted.", "two", "Noted."]
    assert record.messages[0] is instructions


def test_only_leading_recorded_instructions_are_left_out() -> None:
    own = message("system", "A system message of the application.")
    late = message("system", "Be brief.", additional_properties=mark("mm", INSTRUCTIONS))
    note = message("user", "a note", additional_properties=mark("mm", "note"))
    record = record_of(own, *turn("one"), late, note)
    assert history(agent_session(record)) == record.messages


def test_what_a_session_goes_on_to_say_does_not_change_the_record() -> None:
    record = full_record()
    before = said(record)
    session = agent_session(record)
    history(session).append(message("user", "more"))
    session.state["app"]["list"].append("more")
    session.state["new"] = 1
    assert isinstance(session.service_session_id, dict)
    session.service_session_id["id"] = "another"
    assert said(record) == before


def test_what_a_record_took_is_not_changed_by_the_session() -> None:
    session = AgentSession(service_session_id={"id": "resp-1"})
    session.state.update({"in_memory": {"messages": turn("one")}, "app": {"list": [1]}})
    record = record_of()
    take_session(record, session)
    before = said(record)
    history(session).append(message("user", "more"))
    session.state["app"]["list"].append(2)
    assert isinstance(session.service_session_id, dict)
    session.service_session_id["id"] = "another"
    assert said(record) == before


def test_a_session_without_a_history_gives_a_record_without_messages_and_back() -> None:
    record = record_of()
    take_session(record, AgentSession(session_id=record.id))
    assert (record.messages, record.state) == ([], {})
    assert agent_session(record).state == {}


def test_what_the_history_provider_keeps_beside_the_messages_is_kept() -> None:
    session = AgentSession()
    session.state["in_memory"] = {"messages": turn("one"), "positions": {"port": 3}}
    record = record_of()
    take_session(record, session)
    assert record.state == {"in_memory": {"positions": {"port": 3}}}
    again = agent_session(record).state["in_memory"]
    assert (again["positions"], [one.text for one in again["messages"]]) == ({"port": 3}, ["one", "Noted."])


class Basket:
    """A registered type of an application."""

    def __init__(self, items: list[str]) -> None:
        self.items = items

    def to_dict(self) -> dict[str, Any]:
        return {"items": self.items}

    @classmethod
    def from_dict(cls, form: dict[str, Any]) -> Basket:
        return cls(form["items"])


def test_state_is_rebuilt_by_the_framework() -> None:
    register_state_type(Basket, type_id="test_native_basket")
    session = AgentSession()
    session.state["shop"] = {"basket": Basket(["apple"])}
    record = record_of()
    take_session(record, session)
    assert record.state == {"shop": {"basket": {"items": ["apple"], "type": "test_native_basket"}}}
    rebuilt = agent_session(record).state["shop"]["basket"]
    assert isinstance(rebuilt, Basket)
    assert rebuilt.items == ["apple"]


UNSAVEABLE: dict[str, dict[Any, Any]] = {
    "a key that is not a text": {"app": {1: "x"}},
    "a state key that is not a text": {1: "x"},
    "messages under another source id": {"other": {"messages": turn("x")}},
    "what the framework takes for its own": {"app": {"type": "message", "text": "mine"}},
    "NaN": {"app": float("nan")},
    "an infinity": {"app": [float("inf")]},
    "a lone surrogate": {"app": "\ud83d"},
    "a history that is not one": {"in_memory": {"messages": "text"}},
    "a history without messages": {"in_memory": {"other": 1}},
    "a history that is a text": {"in_memory": "text"},
    "a history of what is no message": {"in_memory": {"messages": ["text"]}},
    "a history of dicts": {"in_memory": {"messages": [turn("x")[0].to_dict()]}},
    "depth": {"app": [[]]},
}
deep: list[Any] = UNSAVEABLE["depth"]["app"]
for _ in range(100_000):
    deep[0] = [deep[0]]


@pytest.mark.parametrize("name", UNSAVEABLE)
def test_what_would_not_come_back_is_refused_in_one_line_and_the_record_is_as_it_was(name: str) -> None:
    record = full_record()
    before = said(record)
    session = agent_session(record)
    session.state.update(UNSAVEABLE[name])
    with pytest.raises(SaveFailed, match=f"^{record.id} was not saved: ") as caught:
        take_session(record, session)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
    assert said(record) == before


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, object()], ids=["bytes", "a set", "an object"])
def test_a_value_that_only_brings_a_warning_is_refused_with_and_without_warnings(value: object) -> None:
    session = AgentSession()
    session.state["app"] = {"value": value}
    with pytest.raises(SaveFailed, match="unsupported type"):
        take_session(record_of(), session)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(SaveFailed, match="could not be read back"):
            take_session(record_of(), session)


@pytest.mark.parametrize("identity", [{"service_session_id": {"id": float("nan")}}, {"session_id": "\ud83d"}])
def test_an_id_that_would_not_come_back_is_refused(identity: dict[str, Any]) -> None:
    with pytest.raises(SaveFailed):
        take_session(record_of(), AgentSession(**identity))


@pytest.mark.parametrize("beside", ["text", {"messages": []}, {"type": "message"}, None])
def test_a_record_whose_state_holds_another_history_is_refused(beside: object) -> None:
    with pytest.raises(FileRefused, match="messages of its own"):
        agent_session(record_of(*turn("one"), state={"in_memory": beside}))


def test_a_record_whose_state_the_framework_cannot_rebuild_is_refused() -> None:
    with pytest.raises(FileRefused, match="cannot rebuild"):
        agent_session(record_of(state={"app": {"type": "message", "text": "mine"}}))


async def test_an_agent_goes_on_where_the_record_stands() -> None:
    record = record_of()
    for number, replies in enumerate([["Noted."], ["8080."]]):
        client = ScriptedChatClient(replies)
        agent = Agent(client, "Be brief.", context_providers=[InMemoryHistoryProvider()])
        session = agent_session(record)
        await ask(agent, session, "yes")
        take_session(record, session)
        assert len(client.requests[0].messages) == 2 * number + 1
    assert [one.text for one in record.messages] == ["yes", "Noted.", "yes", "8080."]
