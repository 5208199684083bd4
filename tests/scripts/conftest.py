"""A small project with a copy of scripts/, a stand-in for uv and one for pip, so that set-up is tried for real."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"

PYPROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "sample"
version = "1.0"
dependencies = []

[project.optional-dependencies]
openai = ["client>=1"]
test = ["client>=1", "runner>=1"]
check = ["sample[test]", "linter>=1"]

[tool.ruff]
line-length = 110
"""

# Builds the smallest wheel that pip accepts, and counts how often it was asked to.
BACKEND = """\
import pathlib
import zipfile


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    with open("builds", "a") as builds:
        builds.write("built\\n")
    name = "sample-1.0-py3-none-any.whl"
    files = {
        "METADATA": "Metadata-Version: 2.1\\nName: sample\\nVersion: 1.0\\nProvides-Extra: test\\n",
        "WHEEL": "Wheel-Version: 1.0\\nGenerator: sample\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    record = "".join(f"sample-1.0.dist-info/{file},,\\n" for file in [*files, "RECORD"])
    with zipfile.ZipFile(pathlib.Path(wheel_directory, name), "w") as wheel:
        for file, text in {**files, "RECORD": record}.items():
            wheel.writestr(f"sample-1.0.dist-info/{file}", text)
    return name
"""

# Stands for pytest, ruff and mypy: shows where it runs and how it was called, and exits as the test wants.
TOOL = """\
import json
import os
import pathlib
import sys

tool = pathlib.Path(__file__).stem
print(json.dumps({"tool": tool, "arguments": sys.argv[1:], "prefix": sys.prefix, "cwd": os.getcwd()}))
sys.exit(7 if " ".join([tool, *sys.argv[1:]]).startswith(os.environ.get("FAILING", "none")) else 0)
"""

# Stands for uv and pip: notes the call; `uv venv` makes a real environment, but one without pip.
INSTALLER = """\
import json
import os
import pathlib
import signal
import subprocess
import sys


def main(installer, *arguments):
    with pathlib.Path(os.environ["CALLS"]).open("a", encoding="utf-8") as calls:
        calls.write(json.dumps([installer, *arguments]) + "\\n")
    sys.stdin.read()  # as an installer that asks a question would
    if arguments[0] == "venv":
        python = arguments[arguments.index("--python") + 1]
        return subprocess.call([python, "-m", "venv", "--without-pip", arguments[-1]])
    if os.environ.get("INTERRUPT"):
        os.kill(os.getppid(), signal.SIGINT)
        signal.pause()
    return f"{installer} finds no index" if installer in os.environ.get("OFFLINE", "") else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(__file__).stem, *sys.argv[1:]))
"""


@dataclass
class SampleProject:
    """A project folder with its own scripts/, run in an environment that knows no installer but the stand-ins."""

    root: Path
    environment: dict[str, str]

    @property
    def venv(self) -> Path:
        """Where its scripts set up."""
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        """The Python of its .venv."""
        return python_of(self.venv)

    def run(
        self, *command: str, python: str | Path = sys.executable, stdin: str = "", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run one of its scripts from another folder."""
        return subprocess.run(
            [python, str(self.root / "scripts" / command[0]), *command[1:]],
            capture_output=True,
            check=False,
            cwd=self.root.parent,
            encoding="utf-8",
            env={**self.environment, **environment},
            input=stdin,
        )

    def calls(self) -> list[list[str]]:
        """Every call of an installer since the last time this was asked, and forget them."""
        calls = Path(self.environment["CALLS"])
        lines = calls.read_text(encoding="utf-8").splitlines() if calls.exists() else []
        calls.unlink(missing_ok=True)
        return [json.loads(line) for line in lines]

    def installed(self) -> list[str]:
        """What the installers were told to install since the last time a call was asked for."""
        return [call[-1] for call in self.calls() if "install" in call]

    def change(self, file: str, old: str, new: str) -> None:
        """Edit one file, which must hold what is replaced."""
        text = (self.root / file).read_text(encoding="utf-8")
        assert old in text
        (self.root / file).write_text(text.replace(old, new), encoding="utf-8")


def python_of(venv: Path) -> Path:
    """The interpreter of an environment, where this system puts it."""
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def make_venv(folder: Path) -> Path:
    """Make a real environment without pip, as a person may, and return its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return python_of(folder)


def pretend_installed(venv: Path, name: str, origin: str) -> None:
    """Leave in an environment what an editable installation of ``origin`` leaves there."""
    packages = next(venv.glob("[Ll]ib/**/site-packages"))
    folder = packages / f"{name}-1.0.dist-info"
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (folder / "direct_url.json").write_text(json.dumps({"url": origin, "dir_info": {"editable": True}}))


@pytest.fixture
def sample(tmp_path: Path) -> SampleProject:
    """A project of which nothing is installed yet, in a folder with a blank and an accent, and no uv on PATH."""
    root = tmp_path / "my projéct"
    shutil.copytree(SCRIPTS, root / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    (root / "constraints.txt").write_text("# no pins\n", encoding="utf-8")
    (root / "backend.py").write_text(BACKEND, encoding="utf-8")
    for tool in ("pytest", "ruff", "mypy"):
        (root / f"{tool}.py").write_text(TOOL, encoding="utf-8")
    (tmp_path / "bin").mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_", "PYTHON"))}
    return SampleProject(
        root,
        {
            **kept,
            "CALLS": str(tmp_path / "calls"),
            "PATH": str(tmp_path / "bin"),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PYTHONUTF8": "1",
        },
    )


@pytest.fixture
def with_uv(sample: SampleProject) -> SampleProject:
    """The same project with stand-ins for uv, on PATH, and for pip, which Python finds in the folder it runs in."""
    folder = Path(sample.environment["PATH"])
    program = folder / "uv.py"
    program.write_text(INSTALLER, encoding="utf-8")
    (sample.root / "pip.py").write_text(INSTALLER, encoding="utf-8")
    if os.name == "nt":
        (folder / "uv.cmd").write_text(f'@"{sys.executable}" "{program}" %*\n', encoding="utf-8")
    else:
        (folder / "uv").write_text(f'#!/bin/sh\nexec "{sys.executable}" "{program}" "$@"\n', encoding="utf-8")
        (folder / "uv").chmod(0o755)
    return sample


def _script_module(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module(name)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module scripts/_environment.py."""
    return _script_module("_environment", monkeypatch)


@pytest.fixture
def stamp(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module scripts/_stamp.py."""
    return _script_module("_stamp", monkeypatch)
