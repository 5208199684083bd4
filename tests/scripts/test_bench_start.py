"""The start of the window is measured to its drawn prompt, and no less."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest

from tests.consoles import needs_posix
from tests.mm.terminal.windows import CTRL_D, Window

pytestmark = needs_posix

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture
def bench_start(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module scripts/_bench_start.py."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module("_bench_start")


def test_what_it_waits_for_is_the_prompt_and_not_the_terminal_being_set_up(
    tmp_path: Path, bench_start: ModuleType
) -> None:
    with Window(tmp_path, TERM="xterm", PROMPT_TOOLKIT_NO_CPR="1") as window:
        window.wait(lambda one: one.lines[-1] == ">").press(CTRL_D)
        assert window.ends() == 0
    shown, _, _ = window.raw.partition(b"Ctrl-D leaves.")
    assert b"\x1b[?25h" in shown
    assert re.search(bench_start.DRAWN, shown, re.DOTALL) is None
    assert re.search(bench_start.DRAWN, window.raw, re.DOTALL)
