"""A copy of a session shares its messages and nothing else."""

from __future__ import annotations

from agent_framework import AgentSession

from maf_memory.checkpoint import copied_session, history_of, put_back
from tests.maf_memory.samples import add_turn, assistant, session_of, talked, texts, user


def test_a_copy_does_not_see_later_turns_nor_later_state() -> None:
    session = talked("one")
    session.state["app"] = {"list": [1], "set": {1}}
    session.service_session_id = {"ids": ["a"]}
    copy = copied_session(session)
    add_turn(session, "two")
    session.state["app"]["list"].append(2)
    session.state["app"]["set"].add(2)
    session.service_session_id["ids"].append("b")  # type: ignore[union-attr, index]
    assert texts(copy) == ["one", "You said: one"]
    assert copy.state["app"] == {"list": [1], "set": {1}}
    assert copy.service_session_id == {"ids": ["a"]}
    assert copy.session_id == session.session_id


def test_a_copy_shares_the_messages_themselves() -> None:
    session = talked("one", "two")
    copy = copied_session(session)
    assert copy.state["in_memory"]["messages"] is not session.state["in_memory"]["messages"]
    for mine, theirs in zip(history_of(session), history_of(copy), strict=True):
        assert mine is theirs


def test_a_list_that_appears_twice_is_one_list_in_the_copy_too() -> None:
    session = talked("one")
    messages = session.state["in_memory"]["messages"]
    session.state["other"] = {"messages": messages}
    copy = copied_session(session)
    assert copy.state["other"]["messages"] is copy.state["in_memory"]["messages"]
    assert copy.state["other"]["messages"] is not messages


def test_what_is_put_back_is_exactly_what_was_copied() -> None:
    session = talked("one")
    session.state["app"] = {"list": [1]}
    checkpoint = copied_session(session)
    before = session.to_dict()
    state = session.state
    for _ in range(2):  # a checkpoint serves more than once
        add_turn(session, "two")
        session.state["app"]["list"].append(2)
        session.state["new"] = 1
        session.service_session_id = "s"
        put_back(session, checkpoint)
        assert session.to_dict() == before
    assert session.state is state, "the framework's providers hold the state itself"
    session.state["app"]["list"].append(3)
    assert checkpoint.state["app"] == {"list": [1]}


def test_the_history_is_a_copy_and_never_an_error() -> None:
    session = session_of(user("a"), assistant("b"))
    history_of(session).clear()
    assert len(history_of(session)) == 2
    assert history_of(AgentSession()) == []
    odd = AgentSession()
    odd.state["in_memory"] = ["not", "a", "mapping"]
    assert history_of(odd) == []
    odd.state["in_memory"] = {}
    assert history_of(odd) == []
