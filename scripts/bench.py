"""Measures what durability costs, as ratios of things done side by side in one run; never part of the tests.

``--write`` puts the table, with machine, versions and date, into docs/performance.md.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import _environment

if TYPE_CHECKING:
    from _measuring import Row

PAGE = _environment.ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- measured -->", "<!-- end of measured -->"
PARTS = ("snapshot", "sessions", "search", "start")


def main() -> int:
    """Measure, print the table, and return 1 when an aim was missed."""
    parser = argparse.ArgumentParser(
        description=f"{__doc__}\nexample:\n  python3 scripts/bench.py --repeats 9 --only sessions",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--repeats", type=int, default=15, help="how often each work is done; the median counts (15)")
    parser.add_argument("--only", choices=PARTS, action="append", help="measure this part; may be repeated (all)")
    parser.add_argument("--write", action="store_true", help="write the table into docs/performance.md")
    options = parser.parse_args()
    _environment.reexec_inside(("openai",))
    rows = _rows(options.only or PARTS, options.repeats)
    table = _table(rows)
    print(table)
    if options.write:
        _write(table, options.repeats)
    return 1 if any(row.is_missed for row in rows) else 0


def _rows(parts: tuple[str, ...] | list[str], repeats: int) -> list[Row]:
    import _bench_search
    import _bench_sessions
    import _bench_snapshot
    import _bench_start

    rows: list[Row] = []
    if "snapshot" in parts:
        rows += asyncio.run(_bench_snapshot.rows(repeats))
    if "sessions" in parts:
        rows += asyncio.run(_bench_sessions.rows(repeats))
    if "search" in parts:
        rows += _bench_search.rows(repeats)
    if "start" in parts:
        rows += _bench_start.rows(repeats)
    return rows


def _table(rows: list[Row]) -> str:
    lines = ["| work | cost | against | cost | ratio | aim |", "|---|---:|---|---:|---:|---|"]
    lines += [
        f"| {row.work} | {_cost(row, row.cost)} | {row.against} | {_cost(row, row.against_cost)} "
        f"| {row.ratio:.2f} | {_aim(row)} |"
        for row in rows
    ]
    return "\n".join(lines)


def _cost(row: Row, cost: float) -> str:
    return f"{cost * 1000:,.1f} ms" if row.unit == "ms" else f"{cost:,.0f} {row.unit}"


def _aim(row: Row) -> str:
    if row.aim is None:
        return ""
    plus = f" times, + {row.plus * 1000:g} ms" if row.plus else ""
    return f"≤ {row.aim:g}{plus}{', missed' if row.is_missed else ''}"


def _write(table: str, repeats: int) -> None:
    from importlib.metadata import version

    about = (
        f"{datetime.now(UTC):%Y-%m-%d}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, agent-framework-core {version('agent-framework-core')}, "
        f"median of {repeats}."
    )
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{about}\n\n{table}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
