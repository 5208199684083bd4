"""The page of memory tells the cases that made the rules of the search; its lines are played like any page's."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mm.memory import NO_HIT

from .page import Block, steps
from .terminal_page import ROOT

PAGE = (ROOT / "docs" / "mm-memory.md").read_text(encoding="utf-8")


def _shown(typed: str) -> list[str]:
    """What the page says that a typed line shows."""
    (found,) = [one for step in steps(PAGE) if isinstance(step, Block) for one in step.typed if one.text == typed]
    return found.shows


@pytest.mark.parametrize(
    ("typed", "shows"),
    [
        ("/memory port API", "answered: 8085"),
        ("/memory format logs", "answered: log/slog"),
        ("/memory base de données | database | storage | SQLite", "the model: SQLite"),
        ("/memory sauvegarde | déploiement | deployment | backup", "   Backups: restic"),
    ],
)
def test_a_case_is_found_with_what_answers_it(typed: str, shows: str) -> None:
    assert shows in "\n".join(_shown(typed))


@pytest.mark.parametrize(
    "typed",
    [
        "/memory base de données",
        "/memory database",
        "/memory written by mini-me",
        '/memory "go on from this summary"',
        "/memory SQLite",
    ],
)
def test_a_case_without_a_hit_invites_other_words(typed: str) -> None:
    assert _shown(typed) == [NO_HIT]


def test_the_model_finds_by_alternatives_what_its_first_words_did_not_find() -> None:
    calls = "\n".join(_shown("/calls"))
    first, second = re.split(r"^· search_memory · turn 2 · done$", calls, flags=re.MULTILINE)[1:]
    assert NO_HIT in first
    assert "the model: SQLite" in second


def test_the_port_that_was_agreed_on_is_in_the_file_that_the_model_wrote() -> None:
    assert _shown("cat config/port") == ["8085"]


def test_the_project_is_made_only_where_there_is_none(tmp_path: Path) -> None:
    script = [sys.executable, ROOT / "scripts" / "memory_project.py", tmp_path]
    assert subprocess.run(script, check=False).returncode == 0
    again = subprocess.run(script, check=False, capture_output=True, encoding="utf-8")
    assert (again.returncode, again.stderr) == (1, f"{tmp_path / '.mm'} is there already; nothing was made.\n")
