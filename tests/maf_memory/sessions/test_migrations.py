"""Every format ever written is read; a newer one, or one that nothing knows, is refused as it is."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from maf_memory.errors import FileRefused, VersionRefused
from maf_memory.sessions.files import FileSessions
from maf_memory.sessions.layout import FORMAT
from maf_memory.sessions.migrations import MIGRATIONS, Migration, as_of_today
from tests.maf_memory.samples import untouched
from tests.maf_memory.sessions.golden_samples import GOLDEN, ID, golden, put

FILES = sorted(path.stem for path in GOLDEN.glob("*.json"))
PATH = Path("/home/ada/shop/.mm/sessions") / f"{ID}.json"


def renamed(old: str, new: str) -> Migration:
    """A step of the usual kind: a field gets another name."""

    def step(document: dict[str, Any]) -> dict[str, Any]:
        value = document.pop(old)
        return {**document, "format": document["format"] + 1, new: value}

    return step


STEPS = {1: renamed("turns", "rounds"), 2: renamed("rounds", "questions")}


def document(number: int = 1) -> dict[str, Any]:
    return {"format": number, "turns": 3}


# the files of every format


def test_every_format_has_its_golden_files() -> None:
    formats = {json.loads(golden(name))["format"] for name in FILES}
    assert formats == set(range(1, FORMAT + 1))
    for name in FILES:
        assert name.startswith(f"format-{json.loads(golden(name))['format']}-")


def test_every_older_format_has_its_step() -> None:
    assert set(MIGRATIONS) == set(range(1, FORMAT))


@pytest.mark.parametrize("name", FILES)
async def test_a_file_of_every_format_is_loaded_listed_and_saved_in_todays(tmp_path: Path, name: str) -> None:
    path = put(tmp_path, golden(name))
    storage = FileSessions(tmp_path)
    with untouched(path):
        record = await storage.load(ID)
        page = await storage.page()
    assert not page.damaged
    assert [head.title for head in page.heads] == ([record.title] if record.title else [])
    stamp = await storage.save(record)
    written = json.loads(path.read_bytes())
    assert (written["format"], written["revision"]) == (FORMAT, stamp.revision)
    again = await FileSessions(tmp_path).load(ID)
    assert [one.to_dict() for one in again.messages] == [one.to_dict() for one in record.messages]
    assert (again.title, again.state, again.errors) == (record.title, record.state, record.errors)


@pytest.mark.parametrize("name", FILES)
def test_a_golden_file_says_nothing_of_the_machine_that_wrote_it(name: str) -> None:
    assert not re.search(rb"/root|/tmp|/work|[A-Z]:\\\\", golden(name))


# the mechanism


def test_a_document_of_today_is_not_touched() -> None:
    given = document(FORMAT)
    assert as_of_today(given, PATH) is given
    assert given == document(FORMAT)


def test_an_older_document_takes_every_step_once_in_order() -> None:
    assert as_of_today(document(), PATH, today=3, migrations=STEPS) == {"format": 3, "questions": 3}
    assert as_of_today({"format": 2, "rounds": 3}, PATH, today=3, migrations=STEPS) == {"format": 3, "questions": 3}
    assert as_of_today({"format": 3, "questions": 3}, PATH, today=3, migrations=STEPS) == {"format": 3, "questions": 3}


def test_no_step_is_taken_beyond_today() -> None:
    assert as_of_today(document(), PATH, today=2, migrations=STEPS) == {"format": 2, "rounds": 3}


@pytest.mark.parametrize("found", [3, 4, 2**63, 10**400])
def test_a_newer_format_is_refused_even_where_a_step_from_it_is_known(found: int) -> None:
    with pytest.raises(VersionRefused) as refused:
        as_of_today(document(found), PATH, today=2, migrations={**STEPS, 3: renamed("a", "b")})
    assert "this program reads up to format 2" in str(refused.value)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("found", [0, -1, -(2**63)])
def test_a_format_that_was_never_written_is_refused(found: int) -> None:
    with pytest.raises(VersionRefused, match=f"it has format {found}; this program reads up to format 3"):
        as_of_today(document(found), PATH, today=3, migrations=STEPS)


def test_a_step_that_is_missing_is_refused() -> None:
    with pytest.raises(VersionRefused, match="it has format 2; this program reads up to format 3"):
        as_of_today(document(), PATH, today=3, migrations={1: STEPS[1]})


@pytest.mark.parametrize("found", [True, "1", 1.0, None, [1]])
def test_a_format_that_is_no_number_is_refused(found: object) -> None:
    with pytest.raises(FileRefused, match="it has no format"):
        as_of_today({"format": found}, PATH)


@pytest.mark.parametrize("found", [None, [], "text", 7, {}])
def test_what_is_no_session_file_is_refused(found: object) -> None:
    with pytest.raises(FileRefused, match=r"it (is not an object|has no format); expected a session file of format 1"):
        as_of_today(found, PATH)


def test_a_damaged_older_file_is_refused_by_its_step_in_one_line() -> None:
    with pytest.raises(FileRefused, match="is refused") as refused:
        as_of_today({"format": 1}, PATH, today=3, migrations=STEPS)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("given", [0, 1, 3, None, True])
def test_a_step_that_does_not_lead_to_the_next_format_is_a_bug(given: object) -> None:
    """It could go round for ever, or leave a format out."""
    with pytest.raises(RuntimeError, match="from format 1"):
        as_of_today(document(), PATH, today=3, migrations={1: lambda document: {**document, "format": given}})
