"""Any order of commands, restarts, damage and a second program: the disk is the model, or the refusal is right."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
from agent_framework import AgentSession
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from maf_memory.context import ContextStore, _encode, checked_context
from maf_memory.errors import ContextRefused, FileRefused, StateConflict
from maf_memory.snapshot import SnapshotStore
from tests.maf_memory.samples import (
    Agent,
    add_turn,
    beside,
    context_store,
    identity,
    snapshot_store,
    texts,
    untouched,
)

STEADY = settings(
    derandomize=True,
    deadline=None,
    max_examples=60,
    stateful_step_count=25,
    suppress_health_check=list(HealthCheck),
)
T = TypeVar("T")
KILLED = f".{{}}.{'0' * 16}.tmp"
WHO = st.sampled_from(["first", "second"])
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=8),
    st.sampled_from(["", " \u3000", "module=Reporting", "x" * 4096, "x" * 4097, "🙂" * 2048, "\0", "\u2028"]),
)


class OnDisk(RuleBasedStateMachine):
    """A store's file that is damaged and mended under two programs."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.root = Path(tempfile.mkdtemp(prefix="maf-machine-"))
        self.sound: bytes | None = None
        """What the damaged file held before; ``None`` while the file is sound."""

    def teardown(self) -> None:
        self.runner.close()
        shutil.rmtree(self.root)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def refused(self, *works: Coroutine[Any, Any, object]) -> None:
        """Claim that each work is refused because of the damage, which stays as it is."""
        self.path.with_name(KILLED.format(self.path.name)).unlink(missing_ok=True)  # a refused work may sweep it
        for work in works:
            with untouched(self.path), pytest.raises(FileRefused) as caught:
                self.run(work)
            assert caught.value.path == self.path

    path: Path

    @property
    def is_damaged(self) -> bool:
        return self.sound is not None

    @precondition(lambda self: not self.is_damaged and self.path.exists())
    @rule(data=st.data())
    def damage(self, data: st.DataObject) -> None:
        """Cut the file, or make one of its bytes one that no sound file holds."""
        self.sound = self.path.read_bytes()
        place = data.draw(st.integers(0, len(self.sound) - 2))
        match data.draw(st.sampled_from(["cut", "byte", "NUL", "tail"])):
            case "cut":
                self.path.write_bytes(self.sound[:place])
            case "byte":
                self.path.write_bytes(self.sound[:place] + b"\xff" + self.sound[place + 1 :])
            case "NUL":
                self.path.write_bytes(self.sound[:place] + b"\0" + self.sound[place + 1 :])
            case _:
                self.path.write_bytes(self.sound + b"}")

    @precondition(lambda self: self.is_damaged)
    @rule()
    def mend(self) -> None:
        """Put back what was there, as a person would from a copy."""
        assert self.sound is not None
        self.path.write_bytes(self.sound)
        self.sound = None

    @rule()
    def leave_the_rest_of_a_killed_save(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.with_name(KILLED.format(self.path.name)).write_bytes(b"{")


class ContextMachine(OnDisk):
    """ContextStore against a dict."""

    @initialize()
    def start(self) -> None:
        self.stores = {who: context_store(self.root) for who in ("first", "second")}
        self.path = self.stores["first"].path
        self.entries: dict[str, str] = {}

    @rule(who=WHO, text=TEXTS)
    def set(self, who: str, text: str) -> None:
        try:
            accepted = checked_context(text)
        except ContextRefused:
            before = identity(self.path) if self.path.exists() else None
            with pytest.raises(ContextRefused):
                self.run(self.stores[who].set(text))
            assert before == (identity(self.path) if self.path.exists() else None)
            return
        if self.is_damaged:
            self.refused(self.stores[who].set(text))
            return
        assert self.run(self.stores[who].set(text)) == accepted
        self.entries["context"] = accepted

    @rule(who=WHO)
    def reset(self, who: str) -> None:
        if self.is_damaged:
            self.refused(self.stores[who].reset())
            return
        assert self.run(self.stores[who].reset()) == len(self.entries)
        self.entries = {}
        assert self.path.exists(), "reset keeps the file"

    @rule(who=WHO)
    def restart(self, who: str) -> None:
        self.stores[who] = ContextStore(self.path)
        if self.is_damaged:
            with pytest.raises(FileRefused):
                self.run(self.stores[who].open())
            return
        self.run(self.stores[who].open())
        assert beside(self.path) == [self.path.name], "the rest of a killed save was swept"

    @precondition(lambda self: not self.is_damaged)
    @rule(key=st.sampled_from(["theirs", "other"]), text=st.text(max_size=5))
    def another_program_adds_an_entry(self, key: str, text: str) -> None:
        self.entries[key] = text
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(_encode(self.entries))

    @rule(who=WHO)
    def destroy(self, who: str) -> None:
        assert self.run(self.stores[who].destroy()) == self.had_file
        self.entries, self.sound = {}, None
        assert not self.path.exists()

    @invariant()
    def the_disk_is_the_model(self) -> None:
        self.had_file = self.path.exists()
        for store in self.stores.values():
            if self.is_damaged:
                self.refused(store.get(), store.entries())
            else:
                assert self.run(store.entries()) == self.entries
                assert self.run(store.get()) == self.entries.get("context")


class SnapshotMachine(OnDisk):
    """SnapshotStore against what each program last saw and what is on the disk."""

    @initialize()
    def start(self) -> None:
        self.stores: dict[str, SnapshotStore] = {}
        self.sessions: dict[str, AgentSession] = {}
        self.saw: dict[str, object] = {}
        """Which save each program last saw; ``None`` for no file."""
        self.disk: tuple[object, list[str]] | None = None
        """Which save is on the disk, to the byte, and its texts."""
        self.backup: tuple[tuple[object, list[str]], bytes] | None = None
        self.births = 0
        self.path = snapshot_store(self.root).path
        for who in ("first", "second"):
            self.restart(who)

    @rule(who=WHO)
    def restart(self, who: str) -> None:
        self.stores[who] = snapshot_store(self.root)
        self.saw[who] = None
        self.sessions[who] = AgentSession()
        if self.is_damaged:
            with pytest.raises(FileRefused):
                self.run(self.stores[who].load_or_create(Agent()))
            return
        self.sessions[who] = self.run(self.stores[who].load_or_create(Agent()))
        self._loaded(who)
        if self.path.parent.exists():
            assert beside(self.path) == ([] if self.disk is None else [self.path.name])

    def _loaded(self, who: str) -> None:
        self.saw[who] = None if self.disk is None else self.disk[0]
        assert texts(self.sessions[who]) == ([] if self.disk is None else self.disk[1])

    @rule(who=WHO, text=st.text(max_size=5))
    def talk(self, who: str, text: str) -> None:
        add_turn(self.sessions[who], text)

    @rule(who=WHO)
    def save(self, who: str) -> None:
        store, session = self.stores[who], self.sessions[who]
        if self.is_damaged:
            self.refused(store.save(session))
            return
        found = None if self.disk is None else self.disk[0]
        if found != self.saw[who]:
            if self.disk is None:
                with pytest.raises(StateConflict):
                    self.run(store.save(session))
                assert not self.path.exists()
            else:
                with untouched(self.path), pytest.raises(StateConflict):
                    self.run(store.save(session))
            return
        saved = self.run(store.save(session))
        assert saved.messages == len(texts(session))
        assert saved.size == self.path.stat().st_size
        if found is None:
            self.births += 1
            assert saved.stamp.revision == 1
        else:
            assert isinstance(found, tuple)
            assert saved.stamp.lineage == found[1]
            assert saved.stamp.revision == found[2] + 1
        written = self.path.read_bytes()
        self.disk = ((self.births, saved.stamp.lineage, saved.stamp.revision, written), texts(session))
        self.saw[who] = self.disk[0]

    @rule(who=WHO)
    def save_twice(self, who: str) -> None:
        self.save(who)
        self.save(who)

    @rule(who=WHO)
    def load(self, who: str) -> None:
        if self.is_damaged:
            self.refused(self.stores[who].load())
            return
        session = self.run(self.stores[who].load())
        assert (session is None) == (self.disk is None)
        self.sessions[who] = AgentSession() if session is None else session
        self._loaded(who)

    @rule(who=WHO)
    def delete(self, who: str) -> None:
        assert self.run(self.stores[who].delete()) == (self.disk is not None)
        self.disk = self.saw[who] = self.sound = None
        self.sessions[who] = AgentSession()

    @precondition(lambda self: self.disk is not None and not self.is_damaged)
    @rule(indent=st.sampled_from([None, 1, 4]))
    def reformat(self, indent: int | None) -> None:
        document = json.loads(self.path.read_bytes())
        self.path.write_text(json.dumps(document, indent=indent), encoding="utf-8")
        assert self.disk is not None
        self.disk = ((*self.disk[0][:3], self.path.read_bytes()), self.disk[1])  # type: ignore[index]

    @precondition(lambda self: self.disk is not None and not self.is_damaged)
    @rule()
    def keep_a_backup(self) -> None:
        assert self.disk is not None
        self.backup = (self.disk, self.path.read_bytes())

    @precondition(lambda self: self.backup is not None and not self.is_damaged)
    @rule()
    def put_the_backup_back(self) -> None:
        assert self.backup is not None
        self.disk, content = self.backup
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(content)

    @invariant()
    def the_disk_is_the_model(self) -> None:
        reader = snapshot_store(self.root)
        if self.is_damaged:
            self.refused(reader.load(), reader.read())
            return
        session = self.run(reader.load())
        if self.disk is None:
            assert session is None
            assert not self.path.exists()
            return
        assert texts(session) == self.disk[1]
        assert reader.stamp is not None
        assert (reader.stamp.lineage, reader.stamp.revision) == self.disk[0][1:3]  # type: ignore[index]


class TestContextStore(ContextMachine.TestCase):  # type: ignore[misc, valid-type]
    settings = STEADY


class TestSnapshotStore(SnapshotMachine.TestCase):  # type: ignore[misc, valid-type]
    settings = STEADY
