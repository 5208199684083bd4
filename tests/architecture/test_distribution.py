"""What is shipped: a wheel that works without the repository, and a framework range that is stated and true."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.consoles import PATIENCE, environment, piped

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the built wheel in it and nothing else; a pure wheel is installed by unpacking it."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    built = subprocess.run(build, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert built.returncode == 0, built.stderr
    (wheel,) = folder.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    target = folder / "installed"
    with zipfile.ZipFile(wheel) as content:
        content.extractall(target)
    return target


def run_installed(installed: Path, cwd: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run Python with the wheel and the dependencies, but without ``.pth`` files: they may lead to the repository."""
    dependencies = dict.fromkeys([sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    ended = subprocess.run(
        [sys.executable, "-S", *arguments],
        input=stdin,
        cwd=cwd,
        env=environment(PYTHONPATH=os.pathsep.join([str(installed), *dependencies])),
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert "Traceback" not in ended.stderr, ended.stderr
    return ended


def test_the_wheel_runs_without_the_repository(installed: Path, tmp_path: Path) -> None:
    run = run_installed(installed, tmp_path, "-m", "demo140", "--echo", stdin="module=Reporting\nWhich module?\nquit\n")
    assert run.returncode == 0
    assert run.stdout.endswith('"module=Reporting" (message 1 of this conversation)\ndemo140> quit\n')
    assert run_installed(installed, tmp_path, "-m", "demo130", "--help").returncode == 0


def test_every_package_comes_from_the_wheel_and_is_typed(installed: Path, tmp_path: Path) -> None:
    packages = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    names = [Path(path).name for path in packages]
    assert {"maf_memory", "maf_console", "demo130", "demo140"} <= set(names)
    show = f"import {', '.join(names)}\nfor package in ({', '.join(names)}):\n    print(package.__file__)"
    shown = run_installed(installed, tmp_path, "-c", show)
    for path in shown.stdout.splitlines():
        assert Path(path).is_relative_to(installed)
    assert len(shown.stdout.splitlines()) == len(names)
    assert (installed / "maf_memory" / "py.typed").is_file()
    assert {path.name for path in installed.iterdir() if path.suffix != ".dist-info"} == set(names)


@pytest.mark.parametrize("name", ["demo130", "demo140"])
def test_the_command_and_the_module_are_the_same(installed: Path, tmp_path: Path, name: str) -> None:
    (found,) = importlib.metadata.Distribution.discover(path=[str(installed)])
    (command,) = found.entry_points.select(group="console_scripts", name=name)
    start = f"import sys; from {command.module} import {command.attr} as main; sys.argv[0] = {name!r}; sys.exit(main())"
    lines = "help\nreset\nnonsens\nforget\nsetctx\n"
    by_command = run_installed(installed, tmp_path, "-c", start, "--echo", stdin=lines)
    by_module = run_installed(installed, tmp_path, "-m", name, "--echo", stdin=lines)
    assert (by_command.stdout, by_command.stderr) == (by_module.stdout, by_module.stderr)
    assert by_command.returncode == by_module.returncode == 1


def test_the_supported_range_of_the_framework_contains_the_one_under_test() -> None:
    requirements = [Requirement(text) for text in PYPROJECT["project"]["dependencies"]]
    (framework,) = [one for one in requirements if one.name == "agent-framework-core"]
    assert framework.specifier.contains(importlib.metadata.version("agent-framework-core"))
    assert any(one.operator == "<" for one in framework.specifier), "a next major version is not promised"


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_the_pages_state_the_supported_range_of_the_framework(page: str) -> None:
    (stated,) = [text for text in PYPROJECT["project"]["dependencies"] if text.startswith("agent-framework-core")]
    assert stated in (ROOT / page).read_text(encoding="utf-8")


def test_the_version_of_the_framework_is_written_into_each_snapshot(state_root: Path) -> None:
    piped("demo140", "one.")
    version = importlib.metadata.version("agent-framework-core")
    snapshot = (state_root / "demo140" / "session.json").read_text(encoding="utf-8")
    assert f'"framework": "agent-framework-core {version}"' in snapshot
