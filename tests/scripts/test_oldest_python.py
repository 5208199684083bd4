"""A Python that is too old ends in one line that says which one is needed, whatever script was started with it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
STARTED_BY_PEOPLE = sorted(path for path in SCRIPTS.glob("*.py") if not path.name.startswith("_"))

AS_IF_OLDER = """\
import runpy, sys
sys.version_info = (3, 8, 18, "final", 0)
sys.argv = [sys.argv[1]]
sys.path.insert(0, {folder!r})
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize("script", STARTED_BY_PEOPLE, ids=lambda path: path.name)
def test_an_older_python_is_told_in_one_line_what_is_needed(script):
    program = AS_IF_OLDER.format(folder=str(SCRIPTS))
    run = subprocess.run([sys.executable, "-c", program, str(script)], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stdout == ""
    [line] = run.stderr.splitlines()
    assert line.startswith("This project needs Python 3.11 or newer, and this is Python 3.8.18 (")
    assert line.endswith(f"python3.11 {script}")


@pytest.mark.parametrize("script", sorted(SCRIPTS.glob("*.py")), ids=lambda path: path.name)
def test_an_older_python_can_read_every_script_as_far_as_that_line(script):
    source = script.read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 7))
