"""A host gets, sets and deletes its sessions: what cannot be read is refused, and nobody's save is overwritten."""

from __future__ import annotations

import asyncio
import copy
import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from agent_framework import Agent, AgentSession, SessionStore

from maf_memory.chat.scripted import ScriptedChatClient
from maf_memory.errors import FileRefused, SaveFailed, StateConflict, VersionRefused
from maf_memory.sessions.contract.base import MORNING, all_heads, journal_of, message, turn
from maf_memory.sessions.files import FileSessions
from maf_memory.sessions.hosting import HostSessionStore
from maf_memory.sessions.ids import id_of_key
from tests.maf_memory.sessions.storages import ENGINES, Opened

KEY = "telegram:1:2"


class Hosts(Opened):
    """Several hosts on one place."""

    def host(self, **options: Any) -> HostSessionStore:
        return HostSessionStore(self.storage(), **options)

    async def texts(self, key: str = KEY) -> list[str] | None:
        """What a host that starts now finds under the key."""
        session = await self.host().get(key)
        return None if session is None else said(session)


@pytest.fixture(params=ENGINES)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Hosts:
    return Hosts(request.param, tmp_path / "sessions")


def said(session: AgentSession) -> list[str]:
    return [one.text for one in session.state.get("in_memory", {}).get("messages", [])]


def say(session: AgentSession, text: str) -> None:
    history = session.state.setdefault("in_memory", {}).get("messages", [])
    session.state["in_memory"]["messages"] = [*history, *turn(text)]


async def found(store: HostSessionStore, key: str = KEY) -> AgentSession:
    session = await store.get(key)
    assert session is not None
    return session


async def begun(store: HostSessionStore, key: str = KEY, text: str = "one") -> AgentSession:
    session = AgentSession(session_id=key)
    say(session, text)
    await store.set(key, session)
    return session


class TestGetAndSet:
    async def test_a_key_without_a_session_is_none_and_creates_nothing(self, opened: Hosts) -> None:
        assert await opened.host().get(KEY) is None
        assert not opened.folder.exists()

    async def test_another_host_finds_what_was_set(self, opened: Hosts) -> None:
        session = await begun(opened.host())
        session.state["app"] = {"basket": ["apple"]}
        session.service_session_id = "resp-1"
        await opened.host().set("another", session)
        again = await found(opened.host(), "another")
        assert again.to_dict() == session.to_dict()
        assert await opened.texts() == ["one", "Noted."]

    async def test_a_key_is_opaque_it_names_no_path_and_stands_in_the_session(self, opened: Hosts) -> None:
        keys = [KEY, "../../etc/passwd", "a/b\\c", "CON", "é🦊", "\0", " ", "x" * 5000, "Telegram:1:2"]
        for key in keys:
            await begun(opened.host(), key, f"said by {key[:20]}")
        for key in keys:
            assert await opened.texts(key) == [f"said by {key[:20]}", "Noted."]
        heads = await all_heads(opened.storage())
        assert {head.id: head.key for head in heads} == {id_of_key(key): key for key in keys}

    @pytest.mark.parametrize("key", ["", None, 1, b"x", "\ud83d"])
    async def test_what_is_no_key_is_refused_by_every_verb(self, opened: Hosts, key: Any) -> None:
        store = opened.host()
        for work in (store.get(key), store.set(key, AgentSession()), store.delete(key)):
            with pytest.raises(ValueError, match="session_id must be"):
                await work
        assert not opened.folder.exists()

    async def test_get_gives_working_copies(self, opened: Hosts) -> None:
        await begun(opened.host())
        store = opened.host()
        one, other = await found(store), await found(store)
        say(one, "two")
        one.state["app"] = 1
        assert other.state.keys() == {"in_memory"}
        assert said(other) == ["one", "Noted."]
        assert await opened.texts() == ["one", "Noted."]

    async def test_set_keeps_a_copy_of_what_the_session_says_now(self, opened: Hosts) -> None:
        store = opened.host()
        session = await begun(store)
        say(session, "not set")
        session.state["app"] = "not set"
        assert (await found(store)).state.keys() == {"in_memory"}
        assert await opened.texts() == ["one", "Noted."]

    async def test_one_working_copy_is_set_again_and_again(self, opened: Hosts) -> None:
        store = opened.host()
        session = await begun(store)
        for number in range(2, 5):
            say(session, f"turn {number}")
            await store.set(KEY, session)
        assert (await opened.texts() or [])[::2] == ["one", "turn 2", "turn 3", "turn 4"]
        (head,) = await all_heads(opened.storage())
        assert head.stamp.revision == 4

    async def test_dates_title_and_errors_of_a_session_stay_and_its_activity_is_now(self, opened: Hosts) -> None:
        times = [MORNING, MORNING + timedelta(hours=1)]
        await begun(opened.host(now=lambda: times[0], cwd="/srv/bot"))
        storage = opened.storage()
        record = await storage.load(id_of_key(KEY))
        record.errors, record.model, record.title = journal_of("failed"), "qwen3.5-4b", "A title by hand"
        await storage.save(record)
        store = opened.host(now=lambda: times[1], cwd="/elsewhere")
        session = await found(store)
        say(session, "two")
        await store.set(KEY, session)
        (head,) = await all_heads(opened.storage())
        assert (head.created, head.updated, head.cwd) == (times[0], times[1], "/srv/bot")
        assert (head.title, head.turns, head.error_count, head.model) == ("A title by hand", 2, 1, "qwen3.5-4b")

    async def test_an_empty_session_is_kept_and_in_no_listing(self, opened: Hosts) -> None:
        store = opened.host()
        await store.set(KEY, AgentSession(session_id=KEY))
        session = await found(opened.host())
        assert (session.session_id, said(session)) == (KEY, [])
        assert await all_heads(opened.storage()) == []

    async def test_a_continuation_under_a_new_key_leaves_the_old_one_where_it_was(self, opened: Hosts) -> None:
        """As protocols do that mint an id for each response: any earlier point can be gone on from."""
        store = opened.host()
        await begun(store, "resp-1")
        for key, text in (("resp-2", "two"), ("resp-2b", "another two")):
            session = await found(store, "resp-1")
            say(session, text)
            await store.set(key, session)
        assert await opened.texts("resp-1") == ["one", "Noted."]
        assert await opened.texts("resp-2") == ["one", "Noted.", "two", "Noted."]
        assert await opened.texts("resp-2b") == ["one", "Noted.", "another two", "Noted."]
        session = await found(store, "resp-1")
        await store.set("resp-3", session)
        say(session, "three")
        await store.set("resp-1", session)
        assert await opened.texts("resp-1") == ["one", "Noted.", "three", "Noted."]
        assert await opened.texts("resp-3") == ["one", "Noted."]

    async def test_a_turn_like_the_one_before_it_is_not_taken_for_the_same(self, opened: Hosts) -> None:
        await opened.host().set(KEY, AgentSession(session_id=KEY))
        for _ in range(3):
            store = opened.host()
            session = await found(store)
            await Agent(ScriptedChatClient(["Yes."])).run("yes", session=session)
            await store.set(KEY, session)
        assert await opened.texts() == ["yes", "Yes."] * 3

    async def test_a_lone_surrogate_does_not_make_a_session_unsaveable(self, opened: Hosts) -> None:
        store = opened.host()
        session = AgentSession(session_id=KEY)
        session.state["in_memory"] = {"messages": [message("user", "cut: \ud83d"), message("assistant", "x")]}
        await store.set(KEY, session)
        say(session, "two")
        await store.set(KEY, session)
        assert await opened.texts() == ["cut: \ufffd", "x", "two", "Noted."]


class TestConflicts:
    async def test_of_two_hosts_that_got_one_save_the_second_to_set_is_told(self, opened: Hosts) -> None:
        await begun(opened.host())
        one, other = opened.host(), opened.host()
        mine, theirs = await found(one), await found(other)
        say(theirs, "theirs")
        await other.set(KEY, theirs)
        say(mine, "mine")
        for _ in range(2):
            with pytest.raises(StateConflict):
                await one.set(KEY, mine)
        assert await opened.texts() == ["one", "Noted.", "theirs", "Noted."]
        again = await found(one)
        say(again, "mine")
        await one.set(KEY, again)
        assert await opened.texts() == ["one", "Noted.", "theirs", "Noted.", "mine", "Noted."]

    async def test_of_two_requests_in_one_host_the_second_to_set_is_told(self, opened: Hosts) -> None:
        store = opened.host()
        await begun(store)
        one, other = await found(store), await found(store)
        say(one, "first")
        say(other, "second")
        results = await asyncio.gather(store.set(KEY, one), store.set(KEY, other), return_exceptions=True)
        assert sorted(type(result).__name__ for result in results) == ["NoneType", "StateConflict"]
        assert len(await opened.texts() or []) == 4

    async def test_a_copy_of_a_working_copy_is_one_of_the_same_save(self, opened: Hosts) -> None:
        """The framework's ``AgentState`` copies the session that it set before it hands it out."""
        store = opened.host()
        session = AgentSession(session_id=KEY)
        await store.set(KEY, session)
        for copied in (copy.deepcopy(session), copy.copy(session)):
            kept = await opened.texts()
            say(copied, "by the copy")
            if kept:
                with pytest.raises(StateConflict):
                    await store.set(KEY, copied)
                continue
            await store.set(KEY, copied)
            assert await opened.texts() == ["by the copy", "Noted."]
        with pytest.raises(StateConflict):
            await store.set(KEY, session)

    async def test_a_session_that_was_never_got_does_not_replace_one_that_is_kept(self, opened: Hosts) -> None:
        store = opened.host()
        kept = await begun(store)
        for stranger in (AgentSession(session_id=KEY), AgentSession.from_dict(kept.to_dict())):
            with pytest.raises(StateConflict):
                await store.set(KEY, stranger)
        assert await opened.texts() == ["one", "Noted."]

    async def test_what_is_deleted_is_not_brought_back_by_a_working_copy(self, opened: Hosts) -> None:
        store = opened.host()
        await begun(store)
        mine = await found(store)
        await opened.host().delete(KEY)
        assert await store.get(KEY) is None
        with pytest.raises(StateConflict):
            await store.set(KEY, mine)
        assert await opened.texts() is None
        await begun(store, text="another life")
        with pytest.raises(StateConflict):
            await store.set(KEY, mine)
        assert await opened.texts() == ["another life", "Noted."]

    async def test_deleting_twice_or_what_never_was_is_no_error(self, opened: Hosts) -> None:
        store = opened.host()
        await store.delete(KEY)
        await begun(store)
        await store.delete(KEY)
        await store.delete(KEY)
        assert await store.get(KEY) is None


class TestRefusals:
    @pytest.fixture
    async def damaged(self, tmp_path: Path) -> tuple[Path, bytes]:
        """A file that was cut, and its bytes."""
        storage = FileSessions(tmp_path / "sessions")
        await begun(HostSessionStore(storage))
        path = storage.path_of(id_of_key(KEY))
        path.write_bytes(path.read_bytes()[:-40])
        return path, path.read_bytes()

    async def test_a_damaged_session_is_refused_again_and_again_and_left_alone(
        self, damaged: tuple[Path, bytes]
    ) -> None:
        path, content = damaged
        store = HostSessionStore(FileSessions(path.parent))
        beside = sorted(os.listdir(path.parent))
        for _ in range(3):
            with pytest.raises(FileRefused) as caught:
                await store.get(KEY)
            assert caught.value.path == path
            with pytest.raises((FileRefused, StateConflict)):
                await store.set(KEY, AgentSession(session_id=KEY))
        assert path.read_bytes() == content
        assert sorted(os.listdir(path.parent)) == beside

    async def test_only_a_deletion_clears_a_damaged_session_away(self, damaged: tuple[Path, bytes]) -> None:
        path, _ = damaged
        store = HostSessionStore(FileSessions(path.parent))
        await store.delete(KEY)
        assert await store.get(KEY) is None
        await begun(store)

    async def test_a_session_that_is_damaged_after_it_was_got_is_not_replaced(self, tmp_path: Path) -> None:
        storage = FileSessions(tmp_path / "sessions")
        store = HostSessionStore(storage)
        session = await begun(store)
        path = storage.path_of(id_of_key(KEY))
        path.write_bytes(b"\0" * 100)
        with pytest.raises(FileRefused):
            await store.set(KEY, session)
        assert path.read_bytes() == b"\0" * 100

    async def test_a_newer_format_is_refused_and_left_alone(self, tmp_path: Path) -> None:
        storage = FileSessions(tmp_path / "sessions")
        await begun(HostSessionStore(storage))
        path = storage.path_of(id_of_key(KEY))
        document = json.loads(path.read_bytes())
        path.write_text(json.dumps({**document, "format": 99}), encoding="utf-8")
        content = path.read_bytes()
        with pytest.raises(VersionRefused):
            await HostSessionStore(storage).get(KEY)
        assert path.read_bytes() == content

    async def test_a_session_that_holds_another_hosts_key_is_refused(self, opened: Hosts) -> None:
        await begun(opened.host())
        storage = opened.storage()
        for key in ("telegram:9:9", None):
            record = await storage.load(id_of_key(KEY))
            record.key = key
            await storage.save(record)
            with pytest.raises(FileRefused, match="its key is"):
                await opened.host().get(KEY)

    async def test_a_failed_set_keeps_the_old_session_and_can_be_mended(self, opened: Hosts) -> None:
        store = opened.host()
        session = await begun(store)
        say(session, "two")
        session.state["app"] = float("nan")
        with pytest.raises(SaveFailed):
            await store.set(KEY, session)
        assert await opened.texts() == ["one", "Noted."]
        session.state["app"] = 1
        await store.set(KEY, session)
        assert await opened.texts() == ["one", "Noted.", "two", "Noted."]

    async def test_a_kind_of_session_that_would_come_back_as_another_is_refused(self, opened: Hosts) -> None:
        class Mine(AgentSession):
            pass

        with pytest.raises(SaveFailed, match="a Mine would come back as a plain AgentSession"):
            await opened.host().set(KEY, Mine(session_id=KEY))
        assert await opened.texts() is None

    @pytest.mark.parametrize("history", ["text", [{"type": "message"}], ["text"], [None]])
    async def test_a_history_that_is_none_is_refused(self, opened: Hosts, history: object) -> None:
        session = AgentSession(session_id=KEY)
        session.state["in_memory"] = {"messages": history}
        with pytest.raises(SaveFailed):
            await opened.host().set(KEY, session)
        assert await opened.texts() is None


class TestInterface:
    def test_it_is_one_of_the_frameworks_session_stores(self) -> None:
        assert issubclass(HostSessionStore, SessionStore)
        public = {name for name in vars(SessionStore) if not name.startswith("_")}
        own = {name for name in vars(HostSessionStore) if not name.startswith("_")}
        assert public - own == {"validate_session_id"}, "a verb of the interface that would be the framework's own"

    @pytest.mark.parametrize(
        ("program", "loaded"),
        [("import maf_memory.sessions", False), ("import maf_memory.sessions.hosting", True)],
    )
    def test_only_who_uses_it_loads_the_framework_and_nobody_is_warned(self, program: str, loaded: bool) -> None:
        shown = subprocess.run(
            [sys.executable, "-W", "error", "-c", f"{program}, sys; print('agent_framework' in sys.modules)"],
            check=True,
            capture_output=True,
            encoding="utf-8",
        )
        assert (shown.stdout, shown.stderr) == (f"{loaded}\n", "")
