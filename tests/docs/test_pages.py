"""Every page is played in a real terminal, and shows what that terminal shows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from .terminal_page import ROOT, PageFailure, difference, missing_tools, pages, play

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a page is played in a POSIX pseudo-terminal with sh")


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_page_shows_what_the_terminal_shows(page: Path, tmp_path: Path) -> None:
    """One test a page, because its blocks are one session; ``scripts/rewrite_pages.py`` repairs a page."""
    text = page.read_text(encoding="utf-8")
    if missing := missing_tools(text):
        pytest.skip(f"not installed here: {', '.join(missing)}")
    try:
        difference_found = difference(page.name, text, play(text, tmp_path))
    except PageFailure as failure:
        pytest.fail(f"{page.name}, {failure}", pytrace=False)
    if difference_found:
        pytest.fail(f"{difference_found}\nIf the terminal is right: python3 scripts/rewrite_pages.py", pytrace=False)
