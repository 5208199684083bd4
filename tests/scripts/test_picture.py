"""The picture in the README shows the transcript of the page, and loads nothing from anywhere."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "forget-is-not-reset.svg"


def test_the_picture_is_what_the_script_draws_now() -> None:
    done = subprocess.run([sys.executable, ROOT / "scripts" / "picture.py", "--check"], cwd=ROOT)
    assert done.returncode == 0, "draw it again: python3 scripts/picture.py"


def test_the_picture_loads_no_font_style_or_image() -> None:
    svg = PICTURE.read_text(encoding="utf-8")
    ET.fromstring(svg)
    assert re.findall(r"https?://[^\"')\s]+", svg) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"@import|url\((?!#)|href=|<image|<script", svg)
