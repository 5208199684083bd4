"""The list of conversations as an editor pages through it: folders as they were named, and none lost."""

from __future__ import annotations

import json
from pathlib import Path

from tests.mm.acp.editors import RawEditor, editor, scripted


def copies(project: Path, count: int) -> set[str]:
    """Put a conversation beside itself so often, all of them last active in the same second; return all ids."""
    (first,) = (project / ".mm" / "sessions").glob("*.json")
    text = first.read_text(encoding="utf-8")
    ids = {first.stem}
    for number in range(count):
        made = f"{first.stem[:-8]}{number:08x}"
        first.with_name(f"{made}.json").write_text(text.replace(first.stem, made), encoding="utf-8")
        ids.add(made)
    return ids


def paged(opened: RawEditor, **params: str) -> list[list[str]]:
    pages = []
    found = opened.ask("session/list", **params)
    while True:
        pages.append([one["sessionId"] for one in found["sessions"]])
        if found.get("nextCursor") is None:
            return pages
        found = opened.ask("session/list", **params, cursor=found["nextCursor"])


def test_more_than_a_page_of_equal_times_loses_none_and_the_folder_is_chosen_before_paging(tmp_path: Path) -> None:
    project, other = tmp_path / "project", tmp_path / "other"
    scripted(project, "Here.")
    scripted(other, "There.")
    with editor(project) as opened:
        opened.prompt(opened.new(), "Where?")
        there = opened.new(other)
        opened.prompt(there, "Where else?")
        here = copies(project, 119)
        pages = paged(opened, cwd=str(project))
        assert [len(page) for page in pages] == [50, 50, 20]
        assert {one for page in pages for one in page} == here
        assert paged(opened, cwd=str(other)) == [[there]]
        everywhere = [one for page in paged(opened) for one in page]
        assert sorted(everywhere) == sorted({*here, there}), "each once"


def test_an_empty_page_is_an_empty_list(tmp_path: Path) -> None:
    project = tmp_path / "project"
    with editor(project) as opened:
        assert opened.ask("session/list", cwd=str(project)) == {"sessions": []}
        assert opened.ask("session/list", cwd=str(tmp_path / "nowhere")) == {"sessions": []}
        assert opened.ask("session/list") == {"sessions": []}
    assert not [*project.iterdir()], "and nothing is created"


def test_a_folder_stands_in_the_list_to_the_letter_as_the_editor_named_it(tmp_path: Path) -> None:
    project, link = tmp_path / "project", tmp_path / "link é"
    scripted(project, "Here.")
    link.symlink_to(project, target_is_directory=True)
    with editor(project) as opened:
        session = opened.new()
        opened.prompt(session, "Where?")
        for named in (f"{project}", f"{project}/", f"{link}", f"{link}//", f"{project}/../project"):
            (listed,) = opened.ask("session/list", cwd=named)["sessions"]
            assert (listed["sessionId"], listed["cwd"]) == (session, named)


def test_a_damaged_conversation_hides_no_other_and_says_so_on_the_last_page(tmp_path: Path) -> None:
    project = tmp_path / "project"
    scripted(project, "Here.")
    with editor(project) as opened:
        opened.prompt(opened.new(), "Where?")
        ids = copies(project, 59)
        broken = min(ids)
        (project / ".mm" / "sessions" / f"{broken}.json").write_text(json.dumps([]), encoding="utf-8")
        first, last = paged(opened, cwd=str(project))
        assert len(first) == 50
        assert last[-1] == broken
        assert {*first, *last} == ids
