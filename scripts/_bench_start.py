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


def rows(repeats: int) -> list[Row]:
    """Start each program in turn."""
    rounds = [{name: _seconds(*arguments) for name, arguments in WORKS.items()} for _ in range(repeats + 1)][1:]
    took = {name: statistics.median(one[name] for one in rounds) for name in WORKS}
    bare = "python -c pass"
    return [
        Row("demo130 --help", took["help130"], bare, took["bare"], 15),
        Row("demo140 --help", took["help140"], bare, took["bare"], 15),
        Row("demo130 to the first prompt, and end", took["prompt130"], bare, took["bare"], 35),
        Row("demo140 to the first prompt, and end", took["prompt140"], bare, took["bare"], 35),
    ]


def _seconds(*arguments: str) -> float:
    with tempfile.TemporaryDirectory(prefix="maf-bench-") as root:
        environment = {**os.environ, "MAF_STATE_ROOT": str(Path(root) / "root")}
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, *arguments], stdin=subprocess.DEVNULL, capture_output=True, check=True, env=environment
        )
        return time.perf_counter() - start
