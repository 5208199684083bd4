"""How the bench measures: things done side by side in one run, told as ratios; and the conversation it measures."""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

QUESTION, ARGUMENTS, RESULT, ANSWER = "q" * 200, {"at": 1}, "r" * 2000, "a" * 800


@dataclass(frozen=True)
class Row:
    """One line of the table: ``cost`` of the work, against ``against_cost`` of what it is compared with.

    Costs are seconds, or bytes where ``unit`` says so. The aim holds when ``cost <= aim * against_cost + plus``.
    """

    work: str
    cost: float
    against: str
    against_cost: float
    aim: float | None = None
    plus: float = 0.0
    unit: str = "ms"

    @property
    def ratio(self) -> float:
        """How many times the other."""
        return self.cost / self.against_cost

    @property
    def is_missed(self) -> bool:
        """Whether it has an aim and does not reach it."""
        return self.aim is not None and self.cost > self.aim * self.against_cost + self.plus


async def side_by_side(
    repeats: int,
    works: dict[str, Callable[[], Awaitable[object]]],
    *,
    before: Callable[[], Awaitable[object]] | None = None,
) -> dict[str, float]:
    """Return the median seconds of each work; all are done in turn, so that a busy moment meets all of them.

    Every second round goes backwards: what comes first after a pause of the disk pays for waking it.

    ``before`` is done ahead of each round and not measured; a first round warms up.
    """
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for round_number in range(repeats + 1):
        if before is not None:
            await before()
        for name, work in list(works.items())[:: -1 if round_number % 2 else 1]:
            start = time.perf_counter()
            await work()
            if round_number:
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def turn_of(number: int) -> list[Any]:
    """Return the messages of one turn: a 200-character question, a call with a 2 kB result, an 800-character answer."""
    from agent_framework import Content, Message

    call = f"call-{number}"
    return [
        Message("user", [QUESTION], message_id=f"question-{number}"),
        Message(
            "assistant",
            [Content.from_function_call(call, "look", arguments=json.dumps(ARGUMENTS))],
            message_id=f"c-{number}",
        ),
        Message("tool", [Content.from_function_result(call, result=RESULT)], message_id=f"result-{number}"),
        Message("assistant", [ANSWER], message_id=f"answer-{number}"),
    ]


def write_raw(folder: Path, content: bytes) -> None:
    """Write the same bytes with the same flushes, and nothing else."""
    folder.mkdir(exist_ok=True)
    temporary = folder / "temporary"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
    os.fsync(descriptor)
    os.close(descriptor)
    temporary.replace(folder / "file")
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
