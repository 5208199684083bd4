"""What a save of one more turn costs in this project's store and in others, side by side in rounds.

Each store runs in a process and an environment of its own (``_peer_processes.py``). In each round every store saves one
turn, in another order than the round before, so that a busy moment meets all. One that cannot be installed or fails is
shown with the reason.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import _plot
from _environment import ROOT
from _measuring import Row
from _peer import Peer
from _peer_processes import Running, Unavailable, environment_of, flushes_of
from _peers import PEERS
from _peers_of_files import Framework

TURNS = (10, 100, 1000, 5000)
PICTURE = ROOT / "docs" / "save-cost.svg"


@dataclass
class Measured:
    """What is known of one store: seconds by turns, flushes of a save, and why it could not be measured further."""

    peer: type[Peer]
    seconds: dict[int, float] = field(default_factory=dict)
    flushes: int | None = None
    reason: str | None = None

    @property
    def name(self) -> str:
        """The store and the call that saves a turn."""
        return f"{self.peer.name}, {self.peer.call}"

    @contextmanager
    def until_it_fails(self) -> Iterator[None]:
        """Keep the reason of a failure, so that the others are measured all the same."""
        try:
            yield
        except Unavailable as unavailable:
            self.reason = str(unavailable)


def measure(repeats: int) -> list[Measured]:
    """Measure every store at each length, this project's first; the environments that are missing are made before."""
    measured = [Measured(peer) for peer in PEERS]
    for one in measured:
        with one.until_it_fails():
            environment_of(one.peer.name, one.peer.requirements)
            one.flushes = flushes_of(one.peer, TURNS[0])
        if one.flushes is not None and (one.flushes > 0) is not one.peer.durable:
            sys.exit(f"{one.name}: {one.flushes} flushes in a save, but durable = {one.peer.durable} in its class")
    for turns in TURNS:
        print(f"{turns:,} turns…", file=sys.stderr)
        _measure(measured, turns, _rounds(turns, repeats))
    if measured[0].reason:
        sys.exit(f"{measured[0].name}: {measured[0].reason}")
    return measured


def _rounds(turns: int, repeats: int) -> int:
    return repeats if turns < 1000 else max(3, repeats // 2)


def _measure(measured: list[Measured], turns: int, repeats: int) -> None:
    with ExitStack() as stack:
        running = [_Round(one, stack.enter_context(Running(one.peer, turns))) for one in measured if one.reason is None]
        for each in running:
            with each.of.until_it_fails():
                each.store.wait()
        for _ in range(repeats + 1):
            running.append(running.pop(0))
            for each in running:
                if each.of.reason is None:
                    with each.of.until_it_fails():
                        each.seconds.append(each.store.save())
        for each in running:
            if each.of.reason is None:
                with each.of.until_it_fails():
                    each.store.end()
                    each.of.seconds[turns] = statistics.median(each.seconds[1:])  # the first one warms up


@dataclass
class _Round:
    of: Measured
    store: Running
    seconds: list[float] = field(default_factory=list)


def rows(measured: list[Measured]) -> list[Row]:
    """Return our save against each durable one at 10 turns, the best one at 100, and the framework's at 1,000."""
    ours, others = measured[0].seconds, measured[1:]
    durable = [one for one in others if one.peer.durable]
    found = [
        Row("session: save of a turn, 10 turns", ours[10], one.name, one.seconds[10], 1.0)
        for one in durable
        if 10 in one.seconds
    ]
    at_100 = [one for one in durable if 100 in one.seconds]
    if at_100:
        best = min(at_100, key=lambda one: one.seconds[100])
        found.append(
            Row("session: save of a turn, 100 turns", ours[100], f"the best: {best.name}", best.seconds[100], 2.0)
        )
    found += [
        Row("session: save of a turn, 1,000 turns", ours[1000], one.name, one.seconds[1000], 0.1)
        for one in others
        if one.peer is Framework and 1000 in one.seconds
    ]
    return found


def table(measured: list[Measured], repeats: int) -> str:
    """Return the table of all stores with machine, versions and date."""
    from importlib.metadata import version

    versions = sorted({requirement.replace("==", " ") for one in measured for requirement in one.peer.requirements})
    about = (
        f"{datetime.now(UTC):%Y-%m-%d}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, agent-framework-core "
        f"{version('agent-framework-core')}, {', '.join(versions)}; "
        f"median of {repeats} rounds, from 1,000 turns on of {_rounds(1000, repeats)}."
    )
    lengths = " | ".join(f"{turns:,} turns" for turns in TURNS)
    lines = [
        f"| store | a turn is saved by | flushes | {lengths} |",
        f"|---|---|---:|{'---:|' * len(TURNS)}",
    ]
    for one in measured:
        costs = [_plot.figure_of(one.seconds[turns]) if turns in one.seconds else "" for turns in TURNS]
        lines.append(f"| {one.peer.name} | {one.peer.call} | {_flushes(one)} | {' | '.join(costs)} |")
    reasons = [f"* Not measured: {one.name}: {one.reason}" for one in measured if one.reason]
    return "\n".join([about, "", *lines, *(["", *reasons] if reasons else [])])


def _flushes(one: Measured) -> str:
    if one.flushes is None:
        return "yes" if one.peer.durable else "none"
    return str(one.flushes) if one.flushes else "none"


def draw(measured: list[Measured]) -> None:
    """Write the picture of what was measured into docs/."""
    lines = [
        {"name": one.peer.name, "durable": one.peer.durable, "points": sorted(one.seconds.items())}
        for one in measured
        if one.peer.in_plot and one.seconds
    ]
    try:
        python = environment_of("plot", _plot.REQUIREMENTS)
    except Unavailable as unavailable:
        sys.exit(f"the picture cannot be drawn: matplotlib {unavailable}")
    done = subprocess.run(
        [python, ROOT / "scripts" / "_plot.py"],
        input=json.dumps(lines),
        text=True,
        encoding="utf-8",
        capture_output=True,
    )
    if done.returncode:
        sys.exit(f"the picture cannot be drawn: {done.stderr}")
    PICTURE.write_text(done.stdout, encoding="utf-8", newline="\n")
