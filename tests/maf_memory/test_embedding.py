"""What a program that embeds the stores relies on: paths, names, errors that travel, and refusals with a reason."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from agent_framework import AgentSession, Content, Message

import maf_memory
from maf_memory import ContextStore, FileRefused, SaveFailed, SnapshotStore, StateConflict, VersionRefused

from .samples import talked, texts

needs_posix = pytest.mark.skipif(os.name != "posix", reason="links and owners as POSIX has them")


def test_every_public_name_can_be_imported_and_is_listed() -> None:
    for name in maf_memory.__all__:
        assert getattr(maf_memory, name).__module__.startswith("maf_memory.")
    assert set(maf_memory.__all__) <= set(dir(maf_memory))


@pytest.mark.parametrize("kind", [FileRefused, VersionRefused, StateConflict])
def test_an_error_survives_the_way_to_another_process(kind: Any) -> None:
    error = kind(Path("/x/session.json"), "this", "that")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.path, again.found) == (str(error), error.path, "this")


async def test_a_path_may_be_a_text_and_stays_the_same_file_when_the_working_folder_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = SnapshotStore("session.json", instruction_version="1")
    await store.save(talked("one"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert (await store.save(talked("one", "two"))).stamp.revision == 2
    assert store.path == tmp_path / "session.json"


@needs_posix
async def test_a_folder_of_one_s_own_may_be_a_link_but_not_below_a_root(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    await SnapshotStore(tmp_path / "link" / "session.json", instruction_version="1").save(talked("one"))
    assert (tmp_path / "real" / "session.json").is_file()
    strict = SnapshotStore(tmp_path / "link" / "session.json", instruction_version="1", root=tmp_path)
    with pytest.raises(FileRefused, match="its folder is a symbolic link"):
        await strict.load()


@needs_posix
@pytest.mark.skipif(os.name == "posix" and os.geteuid() != 0, reason="only root can give a file to another user")
@pytest.mark.parametrize("what", ["file", "folder"])
async def test_below_a_root_what_belongs_to_another_user_is_refused(tmp_path: Path, what: str) -> None:
    path = tmp_path / "demo140" / "session.json"
    await SnapshotStore(path, instruction_version="1", root=tmp_path).save(talked("one"))
    os.chown(path if what == "file" else path.parent, 65534, -1)
    with pytest.raises(FileRefused, match="belongs to another user"):
        await SnapshotStore(path, instruction_version="1", root=tmp_path).load()


@needs_posix
async def test_below_a_root_a_folder_that_everybody_can_write_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "demo130" / "agent-state.json"
    await ContextStore(path, root=tmp_path).set("Paris")
    path.parent.chmod(0o777)
    for work in (ContextStore(path, root=tmp_path).get(), ContextStore(path, root=tmp_path).set("Tours")):
        with pytest.raises(FileRefused, match="can be written by every user"):
            await work
    assert await ContextStore(path).get() == "Paris"


async def test_a_key_that_would_come_back_as_a_text_is_refused_and_named(tmp_path: Path) -> None:
    session = talked("one")
    session.state["mine"] = {"seen": {1: "first"}}
    with pytest.raises(SaveFailed, match=r"state\.mine\.seen has the key 1"):
        await SnapshotStore(tmp_path / "session.json", instruction_version="1").save(session)


async def test_a_conversation_under_another_source_id_is_refused_and_not_saved_unchecked(tmp_path: Path) -> None:
    session = AgentSession()
    session.state["chat"] = {"messages": [Message("assistant", [Content.from_function_call("c", "look")])]}
    with pytest.raises(SaveFailed, match="messages under 'chat'"):
        await SnapshotStore(tmp_path / "session.json", instruction_version="1").save(session)


def call(call_id: str) -> Message:
    return Message("assistant", [Content.from_function_call(call_id, "look", arguments="{}")])


def approval(kind: str) -> Message:
    asked = Content.from_function_call("c", "look", arguments="{}")
    if kind == "request":
        return Message("assistant", [Content.from_function_approval_request("a", asked)])
    return Message("user", [Content.from_function_approval_response(True, "a", asked)])


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        ([call("c"), call("c")], "repeats the id of a call"),
        ([call("c"), approval("request"), approval("response")], "no result follows"),
    ],
    ids=["two calls with one id", "an answered approval without a result"],
)
async def test_calls_that_most_servers_refuse_are_not_saved(
    tmp_path: Path, messages: list[Message], problem: str
) -> None:
    session = AgentSession()
    session.state["in_memory"] = {"messages": messages}
    with pytest.raises(SaveFailed, match=problem):
        await SnapshotStore(tmp_path / "session.json", instruction_version="1").save(session)


async def test_a_call_that_waits_for_approval_is_saved_and_found_again(tmp_path: Path) -> None:
    session = AgentSession()
    session.state["in_memory"] = {"messages": [call("c"), approval("request")]}
    store = SnapshotStore(tmp_path / "session.json", instruction_version="1")
    await store.save(session)
    assert len(texts(await store.load())) == 2
