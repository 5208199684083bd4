"""The lesson for teachers holds together: no gap in the plan, an answer to each exercise, all wheels for the build."""

from __future__ import annotations

import re
import tomllib
from itertools import pairwise

import pytest
from hatchling import build

from .page import Block, steps
from .terminal_page import ROOT

PAGE = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")


def test_the_plan_fills_45_minutes_without_a_gap() -> None:
    parts = [(int(start), int(end)) for start, end in re.findall(r"^\| (\d+)–(\d+) \|", PAGE, re.MULTILINE)]  # noqa: RUF001 - a range
    assert (parts[0][0], parts[-1][1]) == (0, 45)
    assert all(start < end for start, end in parts)
    assert all(before[1] == after[0] for before, after in pairwise(parts))


def test_each_of_the_five_exercises_asks_for_a_prediction_and_has_an_answer_that_is_played() -> None:
    headings = list(re.finditer(r"^##+ (.*)$", PAGE, re.MULTILINE))
    sections = {
        heading[1].partition(".")[0]: range(heading.end(), after.start()) for heading, after in pairwise(headings)
    }
    played = [step.start for step in steps(PAGE) if isinstance(step, Block)]
    for number in range(1, 6):
        exercise, answer = sections[f"Exercise {number}"], sections[f"Answer {number}"]
        assert "**Predict**" in PAGE[exercise.start : exercise.stop]
        assert any(start in answer for start in played)
    assert "Exercise 6" not in sections


def test_the_folder_of_wheels_holds_what_the_build_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """pip fetches these by itself where it has an index, so only a machine without one misses them."""
    monkeypatch.chdir(ROOT)
    (command,) = re.findall(r"^python3 -m pip wheel .*$", PAGE, re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = [*project["build-system"]["requires"], *build.get_requires_for_build_editable()]
    names = {re.split(r"[^\w.-]", requirement, maxsplit=1)[0] for requirement in needed}
    assert names <= set(command.split())
