"""Keeps README.md in this folder true: each named test exists, and no sentence is without one."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from maf_memory.sessions.contract import StorageContract

ROOT = Path(__file__).parents[2]
PAGE = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| ([SEP])(\d+) \| (.+?) \| (.*?) \|$", PAGE, re.MULTILINE)
NAMED = sorted(set(re.findall(r"`(tests/[^`]+::[^`]+)`", PAGE)))
NOT_YET = "nothing yet"


@cache
def names_in(path: str) -> frozenset[str]:
    """The tests of a file, as ``name`` or ``Class::name``; a class that tests an engine has those of the contract."""
    found = set()
    for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {
                f"{node.name}::{one.name}"
                for one in node.body
                if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
            }
            if any(isinstance(base, ast.Name) and base.id == StorageContract.__name__ for base in node.bases):
                found |= {f"{node.name}::{name}" for name in dir(StorageContract)}
    return frozenset(name for name in found if name.rpartition("::")[2].startswith("test_"))


@pytest.mark.parametrize("named", NAMED)
def test_each_named_test_is_there(named: str) -> None:
    path, _, test = named.partition("::")
    assert (ROOT / path).is_file(), named
    assert test in names_in(path), named


@pytest.mark.parametrize(("table", "least"), [("S", 60), ("E", 10), ("P", 60)])
def test_each_sentence_has_a_number_and_a_test(table: str, least: int) -> None:
    rows = [row for row in ROWS if row[0] == table]
    assert [int(number) for _, number, _, _ in rows] == list(range(1, len(rows) + 1))
    assert len(rows) >= least
    for _, number, sentence, shown_by in rows:
        if shown_by == NOT_YET:
            assert table == "E", f"{table}{number}: only the editor façade may wait for its tests"
            continue
        assert re.fullmatch(r"`tests/[^`]+`(<br>`tests/[^`]+`)*", shown_by), f"{table}{number}: {sentence}"


def test_every_row_of_the_page_is_read() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("|") and not line.startswith(("| |", "|---"))]
    assert len(rows) == len(ROWS)
