"""The page of commands names every command and every option; its transcripts are played like any page's."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from demo130.demo import Demo130
from demo140.demo import Demo140
from maf_command.app import app
from maf_console.options import parse
from maf_console.places import Places
from maf_console.screen import Screen
from maf_memory.chat import connect
from mm.command import app as mini_me

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("demo", [Demo130, Demo140])
def test_every_command_of_the_demos_is_on_the_page(demo: type[Demo130 | Demo140], tmp_path: Path) -> None:
    section = PAGE.split(f"## {demo.name}\n")[1].split("\n## ")[0]
    for command in demo(Places(tmp_path), connect("offline"), Screen()).commands:
        assert re.search(rf"^  {re.escape(command.usage)} +{re.escape(command.help)}$", section, re.MULTILINE)


def test_every_option_of_the_demos_is_on_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[str] = []
    add = argparse.ArgumentParser.add_argument

    def noted(self: argparse.ArgumentParser, *names: str, **rest: object) -> object:
        found.extend(names)
        return add(self, *names, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(argparse.ArgumentParser, "add_argument", noted)
    parse("demo999", "A demo.", "its file", [])
    assert {"--chat", "--reset-state", "--echo"} <= set(found)
    for section in (PAGE.split("## demo130\n")[1], PAGE.split("## demo140\n")[1]):
        assert [name for name in found if name not in section.split("\n## ")[0]] == []


def test_every_command_and_option_of_maf_memory_is_on_the_page() -> None:
    section = PAGE.split("## maf-memory\n")[1].split("\n## ")[0]
    found = dict(commands_of("maf-memory", get_command(app)))
    assert set(found) >= {"maf-memory where", "maf-memory sessions", "maf-memory sessions list"}
    for name, command in found.items():
        (page,) = re.findall(rf"^\$ COLUMNS=80 {name} --help\n(.*?)(?=^\$|^```)", section, re.MULTILINE | re.DOTALL)
        for parameter in command.params:
            assert [option for option in parameter.opts if option.startswith("-") and option not in page] == [], name


def test_every_command_and_option_of_mm_is_on_the_page() -> None:
    section = PAGE.split("## mm\n")[1].split("\n## ")[0]
    for name, command in commands_of("mm", get_command(mini_me)):
        (page,) = re.findall(rf"^\$ COLUMNS=80 {name} --help\n(.*?)(?=^\$|^```)", section, re.MULTILINE | re.DOTALL)
        for parameter in command.params:
            assert [option for option in parameter.opts if option.startswith("-") and option not in page] == [], name


def commands_of(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Every command and command of a command, by what is typed."""
    yield name, command
    for inner, its in getattr(command, "commands", {}).items():
        yield from commands_of(f"{name} {inner}", its)


def test_every_option_of_a_script_is_on_the_page() -> None:
    section = PAGE.split("## Scripts\n")[1]
    for script in sorted((ROOT / "scripts").glob("[!_]*.py")):
        assert f"scripts/{script.name}" in section
        for option in re.findall(r'add_argument\(\s*"(--[a-z-]+)"', script.read_text(encoding="utf-8")):
            assert option in section, f"{script.name} {option}"
