"""Draws docs/mm.svg from a real run of mini-me's window in a pseudo-terminal: ``window_picture.py [--check]``.

The program, its screen and the files are real. The model is scripted, and the clock and the random part of an id are
fixed, so that two runs draw the same picture.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from _environment import ROOT, reexec_inside
from _terminal_picture import drawn

if TYPE_CHECKING:
    from pyte.screens import Char
    from rich.text import Text

    from tests.mm.terminal.windows import Window

PICTURE = ROOT / "docs" / "mm.svg"
PROJECT = "notes"
SHOWN_HOME = "/home/ada"
COLUMNS, ROWS = 200, 40
"""So wide that no path of a temporary folder breaks a line; the picture is as wide as what stands in it."""

AT_A_FIXED_TIME = """
import runpy, sys, types
from datetime import datetime
import maf_memory.sessions.ids as ids
import maf_memory.sessions.record as record
record.local_now = lambda: datetime.fromisoformat("2026-09-24T09:12:30+02:00")
ids.secrets = types.SimpleNamespace(token_hex=lambda size: "c41d7e02"[: 2 * size])
runpy.run_module("mm", run_name="__main__", alter_sys=True)
"""


def main() -> int:
    """Write the picture, or with ``--check`` return 1 when it is not what the window shows now."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--check", action="store_true", help="change nothing; exit 1 if the picture is out of date")
    check = options.parse_args().check
    if sys.platform == "win32":
        sys.exit("The window is drawn in a pseudo-terminal, which this system has not. Use Linux, macOS or WSL.")
    reexec_inside(("test",))
    sys.path.insert(0, str(ROOT))
    with tempfile.TemporaryDirectory() as home:
        lines = shown(Path(home).resolve())
    picture = drawn(
        lines,
        title="mm",
        told="A terminal: mm finds an earlier decision, asks before it writes, and lists the conversations",
    )
    if check:
        return 0 if PICTURE.is_file() and PICTURE.read_text(encoding="utf-8") == picture else 1
    PICTURE.write_text(picture, encoding="utf-8", newline="\n")
    return 0


def shown(home: Path) -> "list[Text]":
    """Return the rows of the screen of one run in a project below ``home``."""
    from tests.mm.terminal.windows import ENTER, Window

    project = home / PROJECT
    subprocess.run([sys.executable, ROOT / "scripts" / "memory_project.py", project], check=True)
    with Window(project, columns=COLUMNS, rows=ROWS, start=("-c", AT_A_FIXED_TIME)) as window:
        window.prompt().press("Write the port that we agreed on into config/port.")
        window.wait("into config/port.").press(ENTER)
        window.wait("Allow it?").press("once")
        window.wait("no: once").press(ENTER)
        window.wait("config/port holds 8085").prompt().press("/sessions")
        window.wait("> /sessions").press(ENTER)
        window.wait("Esc leaves")
        return [_typed("$ mm"), *_rows(window, str(home))]


def _typed(line: str) -> "Text":
    from rich.text import Text

    text = Text(line, "bold")
    text.stylize("green", 0, 2)
    return text


def _rows(window: "Window", home: str) -> "list[Text]":
    """Return what is seen, each row up to its last character, as a person whose home it is would see it."""
    from rich.text import Text

    rows = []
    for number, line in enumerate(window.lines):
        cells = [window.screen.buffer[number][column] for column in range(len(line))]
        pieces = [(cell.data, _style(cell)) for cell in cells]
        while home in "".join(text for text, _ in pieces):
            start = "".join(text for text, _ in pieces).find(home)
            pieces[start : start + len(home)] = [(text, pieces[start][1]) for text in SHOWN_HOME]
        rows.append(Text.assemble(*pieces))
    return rows


def _style(cell: "Char") -> str:
    colour = "" if cell.fg == "default" else cell.fg
    return f"{colour} {'bold' * cell.bold} {'reverse' * cell.reverse}".strip()


if __name__ == "__main__":
    sys.exit(main())
