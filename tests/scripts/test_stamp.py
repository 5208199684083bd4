"""What makes an installation the same as the one before, and what the pins must cover."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PYTHON = (3, 11)


@pytest.fixture
def digest(tmp_path: Path, stamp: ModuleType):
    """Return a function that digests a project made of these texts."""

    def of(pyproject: str = "", pins: str = "", python: tuple[int, int] = PYTHON, folder: str = "here") -> str:
        root = tmp_path / folder
        root.mkdir(exist_ok=True)
        (root / "pyproject.toml").write_text(pyproject, encoding="utf-8")
        (root / "constraints.txt").write_text(pins, encoding="utf-8")
        return stamp.digest_of(root, stamp.read_project(root), python)

    return of


@pytest.mark.parametrize(
    "change",
    [
        {"pyproject": '[project]\ndependencies = ["one"]'},
        {"pyproject": '[build-system]\nrequires = ["one"]'},
        {"pyproject": "[tool.hatch.build]\nskip-excluded-dirs = true"},
        {"pins": "one==1\n"},
        {"python": (3, 12)},
        {"folder": "moved"},
    ],
)
def test_a_change_that_an_installer_would_see_changes_the_digest(digest, change):
    assert digest(**change) != digest()


def test_a_changed_lint_rule_installs_nothing(digest):
    assert digest("[tool.ruff]\nline-length = 100\n") == digest("# a comment\n[tool.mypy]\nstrict = true\n")


def test_an_extra_is_held_by_one_that_asks_for_more(stamp):
    project = stamp.read_project(ROOT)
    growing = [set(), {"openai"}, {"test"}, {"check"}]
    for less, more in pairwise(growing):
        assert stamp.satisfies(more, less, project)
        assert not stamp.satisfies(less, more, project)


def test_a_stamp_is_read_back_for_the_digest_it_was_written_for_only(stamp, tmp_path):
    stamp.write_stamp(tmp_path, "abc", {"test", "openai"})
    assert stamp.installed_extras(tmp_path, "abc") == {"test", "openai"}
    assert stamp.installed_extras(tmp_path, "abd") is None
    stamp.write_stamp(tmp_path, "abc", set())
    assert stamp.installed_extras(tmp_path, "abc") == set()
    stamp.remove_stamp(tmp_path)
    assert stamp.installed_extras(tmp_path, "abc") is None


@pytest.mark.parametrize("damage", [b"", b"\xff\xfe", b"\0" * 64, b"ab"])
def test_a_damaged_stamp_counts_as_none(stamp, tmp_path, damage):
    (tmp_path / stamp.STAMP).write_bytes(damage)
    assert stamp.installed_extras(tmp_path, "abc") is None


def test_the_pins_are_plain_and_cover_every_requirement_of_the_project(stamp):
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert all(re.fullmatch(r"[\w.-]+", name) for name in pins)
    versions = {canonicalize_name(name): version for name, version in pins.items()}
    for text in stamp.requirements_of({"openai", "test", "check"}, stamp.read_project(ROOT)):
        requirement = Requirement(text)
        assert requirement.specifier.contains(versions[canonicalize_name(requirement.name)]), text
