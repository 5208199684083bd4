"""Draws docs/forget-is-not-reset.svg from the transcript of the page that is run as a test: ``picture.py [--check]``.

The picture is self-contained: no font, style or image is loaded from anywhere.
"""

import argparse
import sys
from io import StringIO
from pathlib import Path

from _environment import ROOT, reexec_inside

PAGE = ROOT / "docs" / "forget-and-reset.md"
HEADING = "## Ask the programs"
PICTURE = ROOT / "docs" / "forget-is-not-reset.svg"
FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace"
FORMAT = """<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" xml:space="preserve" role="img">
<title>A terminal: after forget, trace still finds the context</title>
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
""".replace("FONTS", FONTS)


def main() -> int:
    """Write the picture, or with ``--check`` return 1 when it is not what the page says now."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--check", action="store_true", help="change nothing; exit 1 if the picture is out of date")
    check = options.parse_args().check
    reexec_inside()
    drawn = draw(transcript(PAGE))
    if check:
        return 0 if PICTURE.is_file() and PICTURE.read_text(encoding="utf-8") == drawn else 1
    PICTURE.write_text(drawn, encoding="utf-8", newline="\n")
    return 0


def transcript(page: Path) -> "list[str]":
    """Return the lines of the first console block after the heading."""
    after = page.read_text(encoding="utf-8").split(f"{HEADING}\n", 1)[1]
    return after.split("```console\n", 1)[1].split("```", 1)[0].splitlines()


def draw(lines: "list[str]") -> str:
    """Return the picture of a terminal that shows ``lines``."""
    from rich.console import Console
    from rich.text import Text

    width = max(map(len, lines)) + 1
    console = Console(record=True, file=StringIO(), width=width, force_terminal=True, color_system="truecolor")
    for line in lines:
        prompt = next((mark for mark in ("$ ", "demo130> ", "demo140> ") if line.startswith(mark)), "")
        text = Text(line)
        text.stylize("bold green", 0, len(prompt))
        text.stylize("bold" if prompt else "", len(prompt))
        text.highlight_regex(r"(?<=  )changed(?=  )", "bold yellow")
        console.print(text, soft_wrap=True, highlight=False)
    return console.export_svg(title="forget is not reset", code_format=FORMAT, unique_id="maf")


if __name__ == "__main__":
    sys.exit(main())
