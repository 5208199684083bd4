"""How long the programs take to start, against a Python that does nothing."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _measuring import Row

WORKS = {
    "bare": ("-c", "pass"),
    "help130": ("-m", "demo130", "--help"),
    "help140": ("-m", "demo140", "--help"),
    "prompt130": ("-m", "demo130"),
    "prompt140": ("-m", "demo140"),
}

DRAWN = rb"\x1b\[\?2004h.*>.*\x1b\[\?25h"
"""The drawn prompt of a window. The cursor is shown once before that, too, while the terminal is set up."""


def rows(repeats: int) -> list[Row]:
    """Start each program in turn; the window of ``mm`` only where there are pseudo-terminals."""
    rounds = [_round() for _ in range(repeats + 1)][1:]
    took = {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}
    bare = "python -c pass"
    window = [Row("mm to the first prompt", took["window"], bare, took["bare"], 45)] if "window" in took else []
    return [
        Row("demo130 --help", took["help130"], bare, took["bare"], 15),
        Row("demo140 --help", took["help140"], bare, took["bare"], 15),
        Row("demo130 to the first prompt, and end", took["prompt130"], bare, took["bare"], 35),
        Row("demo140 to the first prompt, and end", took["prompt140"], bare, took["bare"], 35),
        *window,
    ]


def _round() -> dict[str, float]:
    took = {name: _seconds(*arguments) for name, arguments in WORKS.items()}
    if os.name == "posix":
        took["window"] = _to_the_prompt()
    return took


def _to_the_prompt() -> float:
    """Return the seconds until ``mm`` has drawn its prompt in a new folder."""
    import pexpect

    environment = {**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
    with tempfile.TemporaryDirectory(prefix="maf-bench-") as project:
        start = time.perf_counter()
        child = pexpect.spawn(sys.executable, ["-m", "mm"], cwd=project, env=environment)
        try:
            child.expect(DRAWN)
            return time.perf_counter() - start
        finally:
            child.close(force=True)


def _seconds(*arguments: str) -> float:
    with tempfile.TemporaryDirectory(prefix="maf-bench-") as root:
        environment = {**os.environ, "MAF_STATE_ROOT": str(Path(root) / "root")}
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, *arguments], stdin=subprocess.DEVNULL, capture_output=True, check=True, env=environment
        )
        return time.perf_counter() - start
