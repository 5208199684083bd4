"""Draws docs/forget-is-not-reset.svg from the transcript of a page that is run as a test: ``picture.py [--check]``."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from _environment import ROOT, reexec_inside
from _terminal_picture import drawn

if TYPE_CHECKING:
    from rich.text import Text

PAGE = ROOT / "docs" / "forget-and-reset.md"
HEADING = "## Ask the programs"
PICTURE = ROOT / "docs" / "forget-is-not-reset.svg"


def main() -> int:
    """Write the picture, or with ``--check`` return 1 when it is not what the page says now."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--check", action="store_true", help="change nothing; exit 1 if the picture is out of date")
    check = options.parse_args().check
    reexec_inside()
    picture = drawn(
        map(_styled, transcript(PAGE)),
        title="forget is not reset",
        told="A terminal: after forget, trace still finds the context",
    )
    if check:
        return 0 if PICTURE.is_file() and PICTURE.read_text(encoding="utf-8") == picture else 1
    PICTURE.write_text(picture, encoding="utf-8", newline="\n")
    return 0


def transcript(page: Path) -> "list[str]":
    """Return the lines of the first console block after the heading."""
    after = page.read_text(encoding="utf-8").split(f"{HEADING}\n", 1)[1]
    return after.split("```console\n", 1)[1].split("```", 1)[0].splitlines()


def _styled(line: str) -> "Text":
    from rich.text import Text

    prompt = next((mark for mark in ("$ ", "demo130> ", "demo140> ") if line.startswith(mark)), "")
    text = Text(line)
    text.stylize("bold green", 0, len(prompt))
    text.stylize("bold" if prompt else "", len(prompt))
    text.highlight_regex(r"(?<=  )changed(?=  )", "bold yellow")
    return text


if __name__ == "__main__":
    sys.exit(main())
