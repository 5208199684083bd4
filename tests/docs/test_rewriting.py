"""The script repairs a page in place, leaves a right one alone to the byte, and only shows the difference if asked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .terminal_page import ROOT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a page is played in a POSIX pseudo-terminal with sh")

RIGHT = "# A page\n\n```console\n$ echo one; date -u +%Y-%m-%dT%H:%M:%SZ\none\n2020-12-31T23:59:59Z\n```\n"
WRONG = RIGHT.replace("\none\n", "\ntwo\n")

# The script's own set-up is tested elsewhere; here it is to run in the interpreter that runs the tests.
PLAYED_HERE = """\
import runpy, sys
sys.path.insert(0, {scripts!r})
import _environment
_environment.reexec_inside = lambda extras: None
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def _rewrite(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    script = ROOT / "scripts" / "rewrite_pages.py"
    program = PLAYED_HERE.format(scripts=str(script.parent))
    return subprocess.run(
        [sys.executable, "-c", program, script, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return tmp_path / "page é.md"


def test_a_wrong_page_is_rewritten_and_what_only_varies_stays(page: Path) -> None:
    page.write_text(WRONG, encoding="utf-8")
    run = _rewrite(page)
    assert (run.returncode, run.stdout, run.stderr) == (0, f"{page}: rewritten\n", "")
    assert page.read_text(encoding="utf-8") == RIGHT


def test_a_right_page_is_not_written_at_all(page: Path) -> None:
    page.write_text(RIGHT, encoding="utf-8")
    before = page.stat()
    run = _rewrite(page)
    assert (run.returncode, run.stdout) == (0, f"{page}: as the terminal shows it\n")
    assert (page.stat().st_mtime_ns, page.read_bytes()) == (before.st_mtime_ns, RIGHT.encode())


def test_check_shows_the_difference_exits_1_and_changes_nothing(page: Path) -> None:
    page.write_text(WRONG, encoding="utf-8")
    run = _rewrite("--check", page)
    assert run.returncode == 1
    assert "\n-two\n+one\n" in run.stdout
    assert page.read_text(encoding="utf-8") == WRONG


def test_a_page_that_cannot_be_played_is_named_and_left_alone_and_the_others_are_done(page: Path) -> None:
    broken = page.with_name("broken.md")
    broken.write_text("```console\n$ exit\n```\n", encoding="utf-8")
    page.write_text(WRONG, encoding="utf-8")
    run = _rewrite(broken, page.with_name("missing.md"), page)
    assert run.returncode == 1
    first, second = run.stderr.splitlines()
    assert first.startswith(f"{broken}, line 2: After «$ exit»")
    assert "missing.md" in second
    assert page.read_text(encoding="utf-8") == RIGHT
