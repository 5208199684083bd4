"""The pictures of the README show what the programs showed, and load nothing from anywhere."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.consoles import needs_posix

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def _is_current(script: str) -> bool:
    return subprocess.run([sys.executable, ROOT / "scripts" / script, "--check"], cwd=ROOT).returncode == 0


def test_the_picture_of_the_demos_is_what_the_script_draws_now() -> None:
    assert _is_current("picture.py"), "draw it again: python3 scripts/picture.py"


@needs_posix
def test_the_picture_of_the_window_is_what_the_script_draws_now() -> None:
    assert _is_current("window_picture.py"), "draw it again: python3 scripts/window_picture.py"


@pytest.mark.parametrize("name", ["forget-is-not-reset.svg", "mm.svg"])
def test_a_picture_loads_no_font_style_or_image(name: str) -> None:
    svg = (DOCS / name).read_text(encoding="utf-8")
    ET.fromstring(svg)
    assert re.findall(r"https?://[^\"')\s]+", svg) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"@import|url\((?!#)|href=|<image|<script", svg)
    assert 'role="img"' in svg
    assert "<title>A terminal: " in svg


def test_the_picture_of_the_window_tells_of_no_folder_of_this_machine() -> None:
    svg = (DOCS / "mm.svg").read_text(encoding="utf-8")
    assert "/home/ada/notes" in svg
    assert not re.search(r"/tmp|/var|/root|/work", svg)
