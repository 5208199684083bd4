"""Draws a terminal as a self-contained SVG: no font, style or image is loaded from anywhere.

The terminal brings its own dark background, so that it reads the same on a light and on a dark page.
"""

from collections.abc import Iterable
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

_FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace"
_FORMAT = """<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" xml:space="preserve" role="img">
<title>TITLE</title>
<style>
.{unique_id}-matrix {{ font-family: FONTS; font-size: {char_height}px; line-height: {line_height}px;
  white-space: pre; }}
.{unique_id}-title {{ font-family: sans-serif; font-size: 18px; font-weight: bold; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
""".replace("FONTS", _FONTS)


def drawn(lines: "Iterable[Text]", *, title: str, told: str) -> str:
    """Return the picture of a terminal named ``title`` that shows ``lines``; ``told`` says it to who cannot see it."""
    from rich.console import Console

    shown = list(lines)
    width = max(line.cell_len for line in shown) + 1
    console = Console(record=True, file=StringIO(), width=width, force_terminal=True, color_system="truecolor")
    for line in shown:
        console.print(line, soft_wrap=True, highlight=False)
    return console.export_svg(title=title, code_format=_FORMAT.replace("TITLE", told), unique_id="maf")
