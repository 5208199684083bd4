"""Arrows point one way, and what is loaded late stays unloaded: a new import that breaks this fails here."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.consoles import environment

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FOLDERS = {Path(path).name: ROOT / path for path in PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]}
LOWEST_FIRST = ("maf_memory", "maf_console")
"""Each may import those before it; the demos and the command may import both, ``mm`` the first, none a neighbour."""


def above(package: str) -> set[str]:
    """The packages of this project that ``package`` must not import."""
    if package == "mm":
        return {*FOLDERS} - {"mm", "maf_memory"}
    place = LOWEST_FIRST.index(package) if package in LOWEST_FIRST else len(LOWEST_FIRST)
    return {*FOLDERS} - {package, *LOWEST_FIRST[:place]}


TERMINAL_LIBRARIES = {"typer", "click", "rich", "prompt_toolkit", "acp"}
SCREENS = TERMINAL_LIBRARIES | {"argparse", "readline", "getpass", "curses"}


def sources(package: str) -> list[Path]:
    found = sorted(FOLDERS[package].rglob("*.py"))
    assert found, f"{package} has no module"
    return found


def module_name(package: str, path: Path) -> str:
    parts = path.relative_to(FOLDERS[package].parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MEMORY = [module_name("maf_memory", path) for path in sources("maf_memory")]


def imported(tree: ast.AST) -> Iterator[str]:
    """The top packages that a module imports, anywhere in it."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (name.name.partition(".")[0] for name in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0]
            case ast.Call(func=ast.Name(id="__import__") | ast.Attribute(attr="import_module"), args=[first, *_]):
                for part in ast.walk(first):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        yield part.value.partition(".")[0]


def trees(package: str) -> Iterator[tuple[str, ast.AST]]:
    for path in sources(package):
        yield module_name(package, path), ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("package", FOLDERS)
def test_no_module_imports_what_stands_above_it(package: str) -> None:
    wrong = {name: sorted(above(package) & set(imported(tree))) for name, tree in trees(package)}
    assert {name: found for name, found in wrong.items() if found} == {}


def test_the_memory_package_imports_nothing_that_talks_to_a_person() -> None:
    wrong = {name: sorted(SCREENS & set(imported(tree))) for name, tree in trees("maf_memory")}
    assert {name: found for name, found in wrong.items() if found} == {}


def test_the_memory_package_never_prints_never_asks_and_never_reads_the_command_line() -> None:
    wrong = []
    for name, tree in trees("maf_memory"):
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Name(id="print" | "input" | "breakpoint" as what)):
                    wrong.append(f"{name}: {what}()")
                case ast.Attribute(value=ast.Name(id="sys"), attr="argv" | "stdin" | "stdout" | "stderr" as what):
                    wrong.append(f"{name}: sys.{what}")
                case ast.ImportFrom(module="sys", names=names):
                    wrong.append(f"{name}: from sys import {', '.join(one.name for one in names)}")
    assert wrong == []


FACADES = ("mm.line", "mm.terminal", "mm.acp", "mm.command", "mm.__main__")


def test_the_brain_of_mini_me_knows_no_facade_and_nothing_that_talks_to_a_person() -> None:
    wrong = []
    for name, tree in trees("mm"):
        if name.startswith(FACADES):
            continue
        wrong += [f"{name} imports {one}" for one in sorted(SCREENS & set(imported(tree)))]
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(FACADES):
                wrong.append(f"{name} imports {node.module}")
    assert wrong == []


def test_only_the_screen_of_the_console_writes() -> None:
    users = set()
    for package in ("maf_console", "demo130", "demo140"):
        for name, tree in trees(package):
            for node in ast.walk(tree):
                match node:
                    case ast.Call(func=ast.Name(id="print")):
                        users.add(f"{name} prints")
                    case ast.Attribute(value=ast.Name(id="sys"), attr="stdout"):
                        users.add(name)
    assert users == {"maf_console.screen"}


LOADED = """
import importlib, json, sys
before = set(sys.modules)
loaded = {}
for name in sys.argv[1:]:
    importlib.import_module(name)
    loaded[name] = sorted(set(sys.modules) - before)
    before |= set(sys.modules)
print(json.dumps(loaded))
"""


def packages_loaded_by(*modules: str) -> dict[str, set[str]]:
    """The top packages that each module adds when a fresh process imports them one after the other."""
    started = [sys.executable, "-W", "error", "-c", LOADED, *modules]
    ended = subprocess.run(started, env=environment(), capture_output=True, encoding="utf-8", check=True)
    loaded: dict[str, list[str]] = json.loads(ended.stdout)
    return {module: {name.partition(".")[0] for name in names} for module, names in loaded.items()}


def test_no_module_of_the_memory_package_loads_what_the_design_forbids_not_even_through_others() -> None:
    found = packages_loaded_by(*MEMORY)
    assert found["maf_memory"] >= {"maf_memory"}
    forbidden = TERMINAL_LIBRARIES | above("maf_memory")
    assert {module: names & forbidden for module, names in found.items() if names & forbidden} == {}


FRAMEWORK = {"agent_framework", "agent_framework_openai", "openai"}


def test_the_choice_of_chat_the_root_and_the_stores_load_neither_the_framework_nor_a_provider() -> None:
    light = ["chat", "root", "errors", "context", "snapshot"]
    found = packages_loaded_by("maf_memory", *(f"maf_memory.{name}" for name in light))
    assert {module: names & FRAMEWORK for module, names in found.items() if names & FRAMEWORK} == {}


def test_the_stand_ins_load_no_provider() -> None:
    found = packages_loaded_by("maf_memory.chat.endpoint", "maf_memory.chat.offline", "maf_memory.chat.scripted")
    assert "agent_framework" in found["maf_memory.chat.offline"]
    assert not any(names & {"agent_framework_openai", "openai"} for names in found.values())


def test_a_console_that_only_shows_its_help_loads_no_framework_and_no_rich() -> None:
    found = packages_loaded_by("demo130.__main__", "demo140.__main__")
    assert not any(names & (FRAMEWORK | {"rich"}) for names in found.values())
