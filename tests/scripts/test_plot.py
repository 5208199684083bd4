"""The picture of what a save costs says what the page says, names each line, and loads nothing from anywhere."""

from __future__ import annotations

import importlib
import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "save-cost.svg"
PAGE = ROOT / "docs" / "performance.md"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def plot(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module scripts/_plot.py; it asks for matplotlib only when it draws."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return importlib.import_module("_plot")


@pytest.fixture
def svg() -> str:
    return PICTURE.read_text(encoding="utf-8")


def _rows_of_the_page() -> list[list[str]]:
    table = PAGE.read_text(encoding="utf-8").split("<!-- peers -->")[1].split("<!-- end of peers -->")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line[:1] == "|"]
    return [row for row in rows if len(row) == 7 and not row[0].startswith(("store", "---"))]


def test_the_picture_loads_no_font_style_or_image(svg: str) -> None:
    ET.fromstring(svg)
    assert set(re.findall(r"https?://[^\"')\s]+", svg)) == {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert not re.search(r"@import|@font-face|url\((?!#)|href=\"(?!#)|<image|<script|<foreignObject| on\w+=", svg)


def test_every_colour_follows_the_readers_light_or_dark_setting(svg: str) -> None:
    style, drawing = svg.split("</style>")
    assert "@media (prefers-color-scheme: dark)" in style
    assert set(re.findall(r"(?:fill|stroke|color): ([^;\"]+)", drawing)) <= {
        *(f"var(--c{number})" for number in range(9)),
        "none",
    }
    used = set(re.findall(r"var\((--c\d)\)", drawing))
    for theme in re.findall(r":root {([^}]*)}", style):
        assert used <= set(re.findall(r"--c\d", theme))


def test_each_store_in_the_picture_is_named_at_its_line_and_described(svg: str) -> None:
    root = ET.fromstring(svg)
    described = root.findtext(f"{SVG}desc") or ""
    stores = re.findall(r"(?:\. )([^.;]+?) \((?:flushed|not flushed)\):", described)
    assert stores[0] == "maf-memory"
    assert stores == list(dict.fromkeys(stores))
    written = [text.text or "" for text in root.iter(f"{SVG}text")]
    for store in stores:
        assert sum(text.startswith(f"{store}, ") for text in written) == 1
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "title alt"


def test_the_picture_tells_the_figures_of_the_page(svg: str) -> None:
    described = ET.fromstring(svg).findtext(f"{SVG}desc") or ""
    first_of_each = {row[0]: row for row in reversed(_rows_of_the_page())}
    told = dict(re.findall(r"(?:\. )([^.;]+?) \((?:not )?flushed\): ((?:[^.]|\.\d)+)", described))
    assert set(told) == {name for name, row in first_of_each.items() if any(row[3:])}
    for name, figures in told.items():
        lengths = zip(("10", "100", "1,000", "5,000"), first_of_each[name][3:], strict=True)
        assert figures == "; ".join(f"{turns} turns {cost}" for turns, cost in lengths if cost)


@pytest.mark.parametrize(
    "places",
    [[0.0], [5.0, 5.0, 5.0], [100.0, 0.0, 50.0], [10.0, 11.0, 40.0, 41.0, 42.0, 12.0], [0.0, 30.0, 19.0, 18.0]],
)
def test_labels_are_moved_apart_in_the_order_of_their_lines(plot: ModuleType, places: list[float]) -> None:
    moved = plot.spread(places, 18.0)
    order = sorted(range(len(places)), key=places.__getitem__)
    assert all(moved[after] - moved[before] >= 18.0 - 1e-9 for before, after in pairwise(order))


def test_labels_that_do_not_meet_stay_at_their_lines(plot: ModuleType) -> None:
    assert plot.spread([100.0, 0.0, 50.0], 18.0) == [100.0, 0.0, 50.0]


@pytest.mark.parametrize(
    ("seconds", "told"), [(0.00052, "0.52 ms"), (0.00149, "1.5 ms"), (0.0235, "24 ms"), (1.3401, "1,340 ms")]
)
def test_a_cost_is_told_with_the_digits_that_count(plot: ModuleType, seconds: float, told: str) -> None:
    assert plot.figure_of(seconds) == told


def test_the_drawing_of_the_library_loses_its_fonts_links_and_own_style(plot: ModuleType) -> None:
    text = f"<text style=\"font-size: 14px; font-family: 'A', b; fill: {plot.INK}\">1</text>"
    drawn = (
        '<?xml version="1.0"?>\n<!DOCTYPE svg PUBLIC "x" "http://example.org/svg.dtd">\n<svg width="9pt">\n'
        f'<defs><style type="text/css">*{{stroke-linecap: butt}}</style></defs>\n<g id="figure_1">{text}</g>\n</svg>\n'
    )
    themed = plot.themed(drawn, "A < B", "C & D")
    root = ET.fromstring(themed)
    assert root.findtext(f"{SVG}title") == "A < B"
    assert root.findtext(f"{SVG}desc") == "C & D"
    assert [text.get("style") for text in root.iter(f"{SVG}text")] == ["font-size: 14px; fill: var(--c0)"]
    assert "example.org" not in themed
