"""The ledger and ``where``: always the same rows, and what they say is what is in the files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from agent_framework import AgentSession, Message

from maf_console.ledger import ledger, take_stock, whereabouts
from maf_console.places import INSTRUCTION_VERSION, Places
from maf_console.supports import ROWS, Support, context, conversation, snapshot
from maf_memory.context import ContextStore
from maf_memory.snapshot import SnapshotStore
from tests.consoles import needs_posix


@pytest.fixture
def places(state_root: Path) -> Places:
    state_root.mkdir(mode=0o700)
    return Places(state_root)


def session_with(*ids: str) -> AgentSession:
    session = AgentSession()
    session.state["in_memory"] = {"messages": [Message("user", ["text"], message_id=one) for one in ids]}
    return session


async def saved(places: Places, *ids: str) -> SnapshotStore:
    store = SnapshotStore(places.snapshot, instruction_version=INSTRUCTION_VERSION)
    await store.save(session_with(*ids))
    return store


def test_the_rows_are_always_the_same_three_and_the_unchanged_ones_are_there_too() -> None:
    stock = {row: Support("none") for row in ROWS}
    assert ledger(stock, stock).split("\n") == [
        "  conversation  unchanged  none",
        "  snapshot      unchanged  none",
        "  context       unchanged  none",
    ]


def test_a_changed_row_shows_both_states() -> None:
    before = {row: Support("empty", identity=None) for row in ROWS}
    after = {**before, "context": Support("5 characters", identity="Paris")}
    assert ledger(before, after).split("\n")[2] == "  context       changed    empty -> 5 characters"


def test_another_conversation_of_the_same_length_and_session_is_a_change() -> None:
    mine, theirs = session_with("a", "b"), session_with("a", "c")
    theirs = AgentSession.from_dict({**theirs.to_dict(), "session_id": mine.session_id})
    stock = {row: Support("none") for row in ROWS}
    before, after = ({**stock, "conversation": conversation(one, "here")} for one in (mine, theirs))
    assert "changed    2 messages -> 2 messages" in ledger(before, after)


def test_one_empty_conversation_is_like_another() -> None:
    nothing, unused = conversation(None, "here"), conversation(AgentSession(), "here")
    stock = {row: Support("none") for row in ROWS}
    assert "conversation  unchanged  empty" in ledger(
        {**stock, "conversation": nothing}, {**stock, "conversation": unused}
    )
    assert unused.facts == ["empty, here"]


async def test_a_value_replaced_by_one_of_the_same_length_is_a_change(places: Places) -> None:
    store = ContextStore(places.context)
    await store.set("Paris")
    before = await take_stock(places, conversation(None, "here"))
    await store.set("Tours")
    rows = ledger(before, await take_stock(places, conversation(None, "here")))
    assert "context       changed    5 characters -> 5 characters" in rows


async def test_an_emptied_store_and_a_missing_file_hold_the_same(places: Places) -> None:
    missing = await take_stock(places, conversation(None, "here"))
    await ContextStore(places.context).open()
    assert "context       unchanged  none" in ledger(missing, await take_stock(places, conversation(None, "here")))


async def test_the_context_is_counted_as_setctx_counts_it(places: Places) -> None:
    await ContextStore(places.context).set("a\U0001f600")
    assert (await context(places)).holds == "3 characters"


async def test_entries_beside_the_context_are_counted(places: Places) -> None:
    await ContextStore(places.context).open()
    for entries, holds in (('"a": "1"', "none and 1 other entry"), ('"a": "1", "b": "2"', "none and 2 other entries")):
        places.context.write_text(f'{{"version": 1, "entries": {{{entries}}}}}', encoding="utf-8")
        assert (await context(places)).holds == holds


async def test_the_snapshot_row_has_the_revision_the_messages_and_the_size_of_the_file(places: Places) -> None:
    store = await saved(places, "a", "b")
    await store.save(session_with("a", "b", "c"))
    found = await snapshot(places)
    size = places.snapshot.stat().st_size
    assert store.stamp is not None
    assert found.holds == f"revision 2, 3 messages, {size:,} bytes"
    assert found.facts[0] == f"{size:,} bytes, version 1, instructions {INSTRUCTION_VERSION}"
    assert found.facts[1].startswith(f"revision 2 of lineage {store.stamp.lineage}, saved 20")


async def test_a_refused_file_is_described_as_refused_with_the_reason(places: Places) -> None:
    for path, describe in ((places.context, context), (places.snapshot, snapshot)):
        path.parent.mkdir()
        path.write_text("{}", encoding="utf-8")
        found = await describe(places)
        assert (found.holds, found.path) == ("refused", path)
        assert found.facts[0].startswith("refused: ")
        assert found.facts[1].startswith("2 bytes, modified 20")


async def test_another_damage_of_a_refused_file_is_a_change(places: Places) -> None:
    places.snapshot.parent.mkdir()
    places.snapshot.write_text("{}", encoding="utf-8")
    os.utime(places.snapshot, (1, 1))
    before = await take_stock(places, conversation(None, "here"))
    places.snapshot.write_text("[]", encoding="utf-8")
    rows = ledger(before, await take_stock(places, conversation(None, "here")))
    assert "snapshot      changed    refused -> refused" in rows


async def test_a_folder_in_the_place_of_a_file_is_described_as_refused(places: Places) -> None:
    places.context.mkdir(parents=True)
    assert (await context(places)).facts == ["refused: it is not a regular file"]


@needs_posix
async def test_a_link_in_the_place_of_a_file_is_described_as_refused(places: Places, tmp_path: Path) -> None:
    places.snapshot.parent.mkdir()
    places.snapshot.symlink_to(tmp_path / "elsewhere.json")
    assert (await snapshot(places)).facts == ["refused: it is a symbolic link"]


async def test_where_names_what_is_not_of_the_demos_and_nothing_of_theirs(places: Places) -> None:
    await ContextStore(places.context).set("text")
    await saved(places, "a")
    places.snapshot.with_name(".session.json.0123456789abcdef.tmp").touch()
    (places.root / "notes.txt").touch()
    (places.root / "mm").mkdir()
    (places.snapshot.parent / "session.json.bak").touch()
    (places.snapshot.parent / ".session.json.swp").touch()
    shown = whereabouts(await take_stock(places, conversation(None, "here")), places).split("\n")
    foreign = [line.split(": ")[1] for line in shown if "not of these demos, left alone: " in line]
    assert foreign == [
        str(Path("demo140", ".session.json.swp")),
        str(Path("demo140", "session.json.bak")),
        "mm",
        "notes.txt",
    ]
    assert any("left over from a killed save; the next start removes it: " in line for line in shown)
    assert [line.strip().split("  ")[0] for line in shown if line[2] != " "] == [*ROWS, "state root"]


@needs_posix
async def test_a_line_break_in_a_file_name_does_not_look_like_a_row(places: Places) -> None:
    (places.root / "x\n  context       forged").touch()
    shown = whereabouts(await take_stock(places, conversation(None, "here")), places)
    assert "\n  context       forged" not in shown
    assert "left alone: x   context       forged" in shown


async def test_where_survives_a_root_that_was_removed(places: Places) -> None:
    places.root.rmdir()
    assert "no file" in whereabouts(await take_stock(places, conversation(None, "here")), places)
