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
MEASURED = ("<!-- measured -->", "<!-- end of measured -->")
PEERS = ("<!-- peers -->", "<!-- end of peers -->")
PARTS = ("snapshot", "sessions", "search", "start", "acp")


def main() -> int:
    """Measure, print the table, and return 1 when an aim was missed."""
    parser = argparse.ArgumentParser(
        description=f"{__doc__}\nexample:\n  python3 scripts/bench.py --repeats 9 --only sessions",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--repeats", type=int, default=15, help="how often each work is done; the median counts (15)")
    parser.add_argument("--only", choices=PARTS, action="append", help="measure this part; may be repeated (all)")
    parser.add_argument("--peers", action="store_true", help="measure other stores instead, installed into .bench")
    parser.add_argument("--write", action="store_true", help="write the table, or the peers', into docs/performance.md")
    options = parser.parse_args()
    if options.peers and options.only:
        parser.error("--peers measures other stores and --only parts of this project: give one of them")
    _environment.reexec_inside(("test",))
    if options.peers:
        return _peers(options.repeats, write=options.write)
    rows = _rows(options.only or PARTS, options.repeats)
    table = _table(rows)
    print(table)
    if options.write:
        _write(MEASURED, f"{_about(options.repeats)}\n\n{table}")
    return 1 if any(row.is_missed for row in rows) else 0


def _peers(repeats: int, *, write: bool) -> int:
    import _bench_peers

    measured = _bench_peers.measure(repeats)
    rows = _bench_peers.rows(measured)
    tables = f"{_bench_peers.table(measured, repeats)}\n\n{_table(rows)}"
    print(tables)
    if write:
        _write(PEERS, tables)
        _bench_peers.draw(measured)
    return 1 if any(row.is_missed for row in rows) else 0


def _rows(parts: tuple[str, ...] | list[str], repeats: int) -> list[Row]:
    import _bench_acp
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
    if "acp" in parts:
        rows += _bench_acp.rows(repeats)
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


def _about(repeats: int) -> str:
    from importlib.metadata import version

    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, agent-framework-core {version('agent-framework-core')}, "
        f"median of {repeats}."
    )


def _write(marks: tuple[str, str], text: str) -> None:
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(marks[0])
    _, _, after = rest.partition(marks[1])
    PAGE.write_text(f"{before}{marks[0]}\n{text}\n{marks[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
