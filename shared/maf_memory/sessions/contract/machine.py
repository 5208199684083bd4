"""The contract for Hypothesis: any order of calls, by two processes, against a dict; all of it is read again each time.

In a test module of an engine's own::

    class Machine(StorageMachine):
        def begin(self) -> None:
            self.folder = Path(tempfile.mkdtemp())

        async def open(self) -> SessionStorage:
            return MyEngine(self.folder)

    TestMachine = Machine.TestCase
"""

# ruff: noqa: D102, S101 - tests: the name is the sentence, and they assert

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from maf_memory.authorship import is_question, mark
from maf_memory.errors import StateConflict, UnknownSession
from maf_memory.sessions.contract.base import MORNING, all_heads, message, raises, record_of, said, turn
from maf_memory.sessions.record import SessionRecord
from maf_memory.sessions.storage import SessionStorage
from maf_memory.sessions.titles import turns_of
from maf_memory.stamp import Stamp

T = TypeVar("T")
WHO = st.sampled_from(["first", "second"])
IDS = st.sampled_from([f"20260916-101530-0000000{number}" for number in range(4)])
WORDS = ["port", "base", "log"]
TEXTS = st.one_of(st.sampled_from(["port 8080", "base de donn\u00e9es", "log port"]), st.text(max_size=8))
TIMES = st.builds(
    lambda minute, offset: (MORNING + timedelta(minutes=minute)).astimezone(timezone(timedelta(hours=offset))),
    st.integers(0, 3),
    st.sampled_from([-11, 0, 2, 14]),
)


class Model(NamedTuple):
    """One session as the dict has it."""

    stamp: Stamp
    said: dict[str, Any]
    turns: int
    is_listed: bool
    updated: datetime


class StorageMachine(RuleBasedStateMachine):
    """Two processes on one place, of which each holds the records that it created or loaded."""

    def begin(self) -> None:
        """Make a new, empty place."""

    async def open(self) -> SessionStorage:
        """Return a new handle on the place."""
        raise NotImplementedError("a subclass opens its engine")

    def end(self) -> None:
        """Remove the place."""

    @initialize()
    def start(self) -> None:
        self.runner = asyncio.Runner()
        self.begin()
        self.handles = {who: self.run(self.open()) for who in ("first", "second")}
        self.held: dict[tuple[str, str], SessionRecord] = {}
        self.kept: dict[str, Model] = {}
        self.lineages: set[str] = set()

    def teardown(self) -> None:
        if hasattr(self, "runner"):
            self.runner.close()
            self.end()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def _keep(self, record: SessionRecord, stamp: Stamp) -> None:
        assert record.stamp == stamp
        before = self.kept.get(record.id)
        asked = any(is_question(one) for one in record.messages) or any(record.errors.questions())
        listed = asked or (before is not None and before.is_listed)
        self.kept[record.id] = Model(stamp, said(record), turns_of(record.messages), listed, record.updated)

    @rule(who=WHO, session_id=IDS, texts=st.lists(TEXTS, max_size=2), at=TIMES)
    def create(self, who: str, session_id: str, texts: list[str], at: datetime) -> None:
        record = record_of(*(one for text in texts for one in turn(text)), id=session_id, updated=at)
        if session_id in self.kept:
            with raises(StateConflict):
                self.run(self.handles[who].create(record))
            assert record.stamp is None
            return
        stamp = self.run(self.handles[who].create(record))
        assert stamp.revision == 1
        assert stamp.lineage not in self.lineages, "each life has a lineage of its own"
        self.lineages.add(stamp.lineage)
        self._keep(record, stamp)
        self.held[who, session_id] = record

    @rule(who=WHO, session_id=IDS)
    def load(self, who: str, session_id: str) -> None:
        if session_id not in self.kept:
            with raises(UnknownSession):
                self.run(self.handles[who].load(session_id))
            return
        self.held[who, session_id] = self.run(self.handles[who].load(session_id))

    @rule(who=WHO, session_id=IDS, text=TEXTS, at=TIMES)
    def talk(self, who: str, session_id: str, text: str, at: datetime) -> None:
        if record := self.held.get((who, session_id)):
            record.messages = [*record.messages, *turn(text)]
            record.updated = at

    @rule(who=WHO, session_id=IDS)
    def compact(self, who: str, session_id: str) -> None:
        if record := self.held.get((who, session_id)):
            summary = message("user", "Summary:\nlog", additional_properties=mark("mm", "summary"))
            record.messages = [summary, *record.messages[-1:]]
            record.state = {"compacted": True}

    @rule(who=WHO, session_id=IDS, times=st.integers(1, 3))
    def save(self, who: str, session_id: str, times: int) -> None:
        for _ in range(times):
            record = self.held.get((who, session_id))
            if record is None:
                return
            kept = self.kept.get(session_id)
            if kept is None or kept.stamp != record.stamp:
                before = record.stamp
                with raises(StateConflict):
                    self.run(self.handles[who].save(record))
                assert record.stamp == before
                return
            stamp = self.run(self.handles[who].save(record))
            assert stamp == kept.stamp.next()
            self._keep(record, stamp)

    @rule(who=WHO, session_id=IDS, expecting=st.booleans())
    def delete(self, who: str, session_id: str, expecting: bool) -> None:
        record = self.held.get((who, session_id))
        expected = record.stamp if expecting and record is not None else None
        kept = self.kept.get(session_id)
        if kept is not None and expected not in (None, kept.stamp):
            with raises(StateConflict):
                self.run(self.handles[who].delete(session_id, expected=expected))
            return
        assert self.run(self.handles[who].delete(session_id, expected=expected)) == (kept is not None)
        self.kept.pop(session_id, None)

    @rule(who=WHO)
    def restart(self, who: str) -> None:
        self.handles[who] = self.run(self.open())
        self.held = {key: record for key, record in self.held.items() if key[0] != who}

    @rule(who=WHO, word=st.sampled_from(WORDS))
    def search(self, who: str, word: str) -> None:
        wanted = sum(_holds(one, word) for model in self.kept.values() for one in model.said["messages"])
        found = self.run(self.handles[who].search(word, limit=3))
        assert (found.matched, len(found.hits)) == (wanted, min(wanted, 3))
        assert found.searched == len(self.kept)

    @invariant()
    def what_is_kept_is_the_dict(self) -> None:
        reader = self.run(self.open())
        for session_id, model in self.kept.items():
            loaded = self.run(reader.load(session_id))
            assert (said(loaded), loaded.stamp) == (model.said, model.stamp)
        listed = [(session_id, model) for session_id, model in sorted(self.kept.items()) if model.is_listed]
        listed.sort(key=lambda one: one[1].updated, reverse=True)
        for limit in (None, 1, 2):
            heads = self.run(all_heads(reader, limit))
            assert [(head.id, head.stamp, head.turns) for head in heads] == [
                (session_id, model.stamp, model.turns) for session_id, model in listed
            ]


def _holds(form: dict[str, Any], word: str) -> bool:
    """Whether the word stands in a message; of a summary the header is the program's own and is not searched."""
    text = "".join(part.get("text") or "" for part in form["contents"])
    if form.get("additional_properties"):
        text = text.partition("\n")[2]
    return word in text
