"""An older file is read through the steps that lead to today's format; a newer one is refused and left alone.

No format came before the first one: the step from format 0 is the tests' own.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from maf_memory.errors import FileRefused, VersionRefused
from maf_memory.sessions.contract.base import texts, turn
from maf_memory.sessions.files import FileSessions
from maf_memory.sessions.layout import FORMAT
from maf_memory.sessions.migrations import MIGRATIONS, as_of_today
from maf_memory.sessions.record import Head
from tests.maf_memory.sessions.session_files import GOLDEN, ID, damage_listed, golden, listed, put, refusal, untouched

PATH = Path("/sessions") / f"{ID}.json"


def from_0(document: dict[str, Any]) -> dict[str, Any]:
    """In format 0 the id was called a name."""
    return {**document, "format": 1, "id": document["name"]}


def without_name(document: dict[str, Any]) -> dict[str, Any]:
    migrated = from_0(document)
    del migrated["name"]
    return migrated


@pytest.fixture
def sessions(tmp_path: Path) -> FileSessions:
    return FileSessions(tmp_path / "sessions")


@pytest.fixture
def format_0(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MIGRATIONS, 0, without_name)  # type: ignore[arg-type]


def test_every_older_format_has_its_step_and_its_golden_file() -> None:
    assert sorted(MIGRATIONS) == list(range(1, FORMAT))
    for older in MIGRATIONS:
        document = json.loads((GOLDEN / f"format-{older}.json").read_bytes())
        assert document["format"] == older
        assert as_of_today(document, PATH)["format"] == FORMAT


def test_the_steps_are_taken_one_after_the_other_and_nothing_else_is_asked_for() -> None:
    taken: list[int] = []

    def step(document: dict[str, Any]) -> dict[str, Any]:
        taken.append(document["format"])
        return {**document, "format": document["format"] + 1}

    migrations = dict.fromkeys(range(5), step)
    assert as_of_today({"format": 1, "x": 1}, PATH, today=4, migrations=migrations) == {"format": 4, "x": 1}
    assert taken == [1, 2, 3]
    assert as_of_today({"format": 4}, PATH, today=4, migrations=migrations) == {"format": 4}
    assert taken == [1, 2, 3]


@pytest.mark.parametrize("found", [5, 2**70, 0, -1])
def test_a_format_that_no_step_knows_is_refused(found: int) -> None:
    with pytest.raises(VersionRefused, match=f"it has format {found}; this program reads up to format 4"):
        as_of_today({"format": found}, PATH, today=4, migrations={1: dict, 5: dict})


@pytest.mark.parametrize("document", [None, [], "x", 1, {}, *({"format": one} for one in ("1", 1.0, True, None, []))])
def test_what_has_no_format_is_no_session_file(document: object) -> None:
    with pytest.raises(FileRefused, match=r"it (is not an object|has no format)") as caught:
        as_of_today(document, PATH)
    assert not isinstance(caught.value, VersionRefused)


def test_a_step_that_cannot_be_taken_refuses_the_file_in_one_line() -> None:
    with pytest.raises(FileRefused, match=r"it cannot be read as format 0: KeyError\('name'\)") as caught:
        as_of_today({"format": 0}, PATH, migrations={0: from_0})
    assert str(caught.value).isprintable()


def test_a_step_that_leads_nowhere_is_a_bug_and_ends() -> None:
    with pytest.raises(RuntimeError, match="the step from format 0 gives format 0"):
        as_of_today({"format": 0}, PATH, migrations={0: dict})


@pytest.mark.usefixtures("format_0")
async def test_an_older_file_is_loaded_listed_and_found_and_stays_as_it_is_until_it_is_saved(
    sessions: FileSessions,
) -> None:
    path = put(sessions, golden("format-0"))
    with untouched(path):
        loaded = await sessions.load(ID)
        head = await listed(sessions)
        found = await sessions.search("slog")
    assert isinstance(head, Head)
    assert (head.title, head.stamp) == ("Quel format ?", loaded.stamp)
    assert [hit.session_id for hit in found.hits] == [ID]
    assert not found.unread
    loaded.messages += turn("And now?")
    stamp = await sessions.save(loaded)
    assert (stamp.lineage, stamp.revision) == ("b81f0c2e", 8)
    document = json.loads(path.read_bytes())
    assert (document["format"], document["id"], "name" in document) == (1, ID, False)
    assert texts(await FileSessions(sessions.folder).load(ID)) == ["Quel format ?", "log/slog.", "And now?", "Noted."]


async def test_a_step_whose_result_is_no_session_refuses_the_file(
    sessions: FileSessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MIGRATIONS, 0, from_0)  # type: ignore[arg-type]
    path = put(sessions, golden("format-0"))
    with untouched(path):
        assert 'it has the unknown field "name"' in str(await refusal(sessions))
        assert 'it has the unknown field "name"' in await damage_listed(sessions)


async def test_without_its_step_an_older_file_is_refused_and_left_alone(sessions: FileSessions) -> None:
    path = put(sessions, golden("format-0"))
    with untouched(path):
        assert isinstance(await refusal(sessions), VersionRefused)
        assert await damage_listed(sessions) == "it has format 0; this program reads up to format 1"
        assert [one.problem for one in (await sessions.search("slog")).unread] == [await damage_listed(sessions)]
