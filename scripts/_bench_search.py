"""What a search over the sessions of a project costs, against ripgrep on the same folder, where that is installed.

Each search reads every file anew, as ripgrep does, and returns its hits: excerpts, the answers to found questions, and
how many messages matched. ripgrep prints how many lines of each file match (``-c``), which is the least that it can do.
Its whole process counts, as ours counts without the start of Python: both are what an agent that runs would wait for.
"""

from __future__ import annotations

import asyncio
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from _measuring import Row, side_by_side

SESSIONS, TURNS = 1000, 9
MANY = 10_000
SAID = (
    "the of each file is written so that a person can read it and then decide what to keep for later use when tests "
    "run module config error value return function import session agent tool call result line write open close path"
)
ACCENTED = ["données", "décidé", "côté", "cœur", "œuvre", "ﬁchier", "déjà", "où", "naïf", "Zürich", "straße"]
ALTERNATIVES = ["database", "storage", "SQLite", "ficus"]
RARE, COMMON, ABSENT = "zanzibar", "format", "zorglub"


def rows(repeats: int) -> list[Row]:
    """Measure searches over 1,000 sessions of 35 kB, and the memory of one over 10,000."""
    with tempfile.TemporaryDirectory(prefix="maf-bench-") as folder:
        if shutil.which("rg"):
            measured = asyncio.run(_against_ripgrep(Path(folder), repeats))
        else:
            print("ripgrep (rg) is not installed: only the memory of a search is measured", file=sys.stderr)
            measured = []
        return [*measured, asyncio.run(_memory(Path(folder) / "many"))]


async def _against_ripgrep(folder: Path, repeats: int) -> list[Row]:
    plain, accented = folder / "plain", folder / "accented"
    await _write(plain)
    await _write(accented, ACCENTED)
    sizes = [path.stat().st_size for path in plain.glob("*.json")]
    size = f"search {SESSIONS:,} sessions of {statistics.mean(sizes) / 1000:.0f} kB"
    strange = "accents and ligatures in every file"
    return [
        await _row(place, f"{size}, {what}", query, theirs, aim, repeats)
        for place, what, query, theirs, aim in (
            (plain, "a rare word", RARE, [RARE], 5.0),
            (plain, "a common word", COMMON, [COMMON], 5.0),
            (plain, "an absent word", ABSENT, [ABSENT], 5.0),
            (plain, "four absent alternatives", " | ".join(ALTERNATIVES), ALTERNATIVES, None),
            (accented, f"{strange}, a common word", "donnees", ["données"], 20.0),
            (accented, f"{strange}, a common ligature", "oeuvre", ["œuvre"], 20.0),
            (accented, f"{strange}, a rare word", RARE, [RARE], 20.0),
            (accented, f"{strange}, an absent word", "decidons", ["décidons"], 20.0),
        )
    ]


async def _row(folder: Path, work: str, query: str, theirs: Sequence[str], aim: float | None, repeats: int) -> Row:
    from maf_memory.sessions.files import FileSessions

    storage = FileSessions(folder)
    command = ["rg", "-i", "-F", "-c", *(part for word in theirs for part in ("-e", word)), str(folder)]

    async def search() -> None:
        found = await storage.search(query)
        assert found.searched == SESSIONS  # noqa: S101

    async def ripgrep() -> None:
        subprocess.run(command, stdout=subprocess.PIPE, check=False)  # noqa: ASYNC221 - it finds nothing: 1

    took = await side_by_side(repeats, {"search": search, "ripgrep": ripgrep})
    return Row(work, took["search"], "rg -i -c", took["ripgrep"], aim)


async def _memory(folder: Path) -> Row:
    from maf_memory.sessions.files import FileSessions

    storage = FileSessions(folder)
    record = _record(0, 1, _Texts(SAID.split()))
    await storage.create(record)
    template = storage.path_of(record.id).read_text(encoding="utf-8")
    for number in range(1, MANY):
        session_id = _id(number)
        storage.path_of(session_id).write_text(template.replace(record.id, session_id, 1), encoding="utf-8")
    tracemalloc.start()
    found = await storage.search(COMMON)
    peak = tracemalloc.get_traced_memory()[1] / found.searched
    tracemalloc.stop()
    return Row(f"search {MANY:,} sessions: memory of each", peak, "1 kB", 1000, 1.0, unit="B")


async def _write(folder: Path, others: Sequence[str] = ()) -> None:
    from maf_memory.sessions.files import FileSessions

    storage, texts = FileSessions(folder), _Texts(SAID.split(), others)
    for number in range(SESSIONS):
        await storage.create(_record(number, TURNS, texts))


class _Texts:
    """Texts of words that are drawn, the same ones in every run; each tenth word is one of ``others``."""

    def __init__(self, words: Sequence[str], others: Sequence[str] = ()) -> None:
        self._words = words
        self._others = others
        self._draw = random.Random(130)  # noqa: S311 - nothing secret

    def of(self, length: int) -> str:
        """Return a text of about this length, in lines of a dozen words."""
        drawn: list[str] = []
        while length > 0:
            words = self._others if self._others and self._draw.random() < 0.1 else self._words
            drawn.append(self._draw.choice(words))
            length -= len(drawn[-1]) + 1
        return "\n".join(" ".join(drawn[at : at + 12]) for at in range(0, len(drawn), 12))


def _id(number: int) -> str:
    return f"20260101-000000-{number:08x}"


def _record(number: int, turns: int, texts: _Texts) -> Any:
    """Return a session; the answer of each turn says the common word, and one session says the rare one."""
    from agent_framework import Content, Message

    from maf_memory.sessions.record import SessionRecord, local_now

    updated = local_now() + timedelta(seconds=number)
    record = SessionRecord(_id(number), updated, updated, "/home/ada/shop", provider="openai", model="bench")
    for turn in range(turns):
        call = f"call-{turn}"
        said = f"{texts.of(700)} {COMMON} {texts.of(200)}"
        record.messages += [
            Message("user", [texts.of(200)], message_id=f"question-{turn}"),
            Message(
                "assistant",
                [Content.from_function_call(call, "look", arguments=f'{{"path": "{turn}.go"}}')],
                message_id=f"call-{turn}",
            ),
            Message("tool", [Content.from_function_result(call, result=texts.of(2200))], message_id=f"result-{turn}"),
            Message("assistant", [said], message_id=f"answer-{turn}"),
        ]
    if number == SESSIONS // 2:
        record.messages += [Message("user", [f"And {RARE}?"], message_id="rare"), Message("assistant", ["No."])]
    return record
