"""Turns of every kind in a row, stopped at any moment: the file always says what memory says, and can be loaded.

Tools run at once, fail, or are refused; a server gives ids again, sends half of a call, falls silent or is gone; old
turns are compacted in between. What happens is drawn with a seed.
"""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from maf_memory.conversation import check_messages
from maf_memory.sessions.files import FileSessions
from mm.config import Compaction
from mm.conversation import Conversation
from mm.events import ErrorShown, PermissionWanted
from mm.permission import Decision
from tests.mm.brain import conversation_of, files, spec_of

QUESTIONS = 5


async def fast() -> str:
    """Be done at once."""
    return "f"


async def slow() -> str:
    """Take a moment."""
    await asyncio.sleep(0.005)
    return "s"


async def bad() -> str:
    """Fail."""
    raise ValueError("no")


async def risky() -> str:
    """Ask first."""
    await asyncio.sleep(0.002)
    return "r"


def reply(dice: random.Random) -> Any:
    """What a server might send."""
    names = [dice.choice(["fast", "slow", "bad", "risky", "nope"]) for _ in range(dice.randint(1, 4))]
    ids = dice.choice([[f"c{place}" for place in range(4)], [f"u{dice.random()}" for _ in range(4)], ["x"] * 4])
    calls = {
        "calls": [
            {"name": name, "arguments": {} if dice.random() < 0.9 else '{"a', "id": ids[place]}
            for place, name in enumerate(names)
        ]
    }
    return dice.choice(
        [
            *[calls] * 4,
            {"stream": ["I look. ", calls]},
            {"stream": ["an", "swer"]},
            "answer",
            {"error": "gone"},
            {"stream": ["half ", {"error": "cut"}]},
            {"empty": True},
            {"stream": ["half ", {"hang": True}]},
        ]
    )


async def one_turn(conversation: Conversation, question: str, dice: random.Random) -> list[str]:
    """Ask, and stop the turn anywhere or nowhere; return the lines that tell of a failed save."""
    turn = conversation.ask(question)
    stop = dice.randint(1, 12) if dice.random() < 0.4 else 0
    events, unsaved = 0, []
    async for event in turn:
        events += 1
        if isinstance(event, PermissionWanted):
            event.permission.answer(dice.choice(list(Decision)))
        if isinstance(event, ErrorShown) and ("not saved" in event.line or "another program" in event.line):
            unsaved.append(event.line)
        if 0 < stop <= events:
            turn.cancel()
    return unsaved


@pytest.mark.parametrize("seed", range(40))
async def test_the_file_says_what_memory_says_whatever_happens(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    compaction = (
        Compaction(0.5, 300, keep_original=dice.random() < 0.5, keep_turns=1) if seed % 3 == 0 else Compaction()
    )
    conversation, _ = conversation_of(
        tmp_path,
        [reply(dice) for _ in range(60)],
        *map(spec_of, (fast, slow, bad)),
        spec_of(risky, asks=True),
        watchdog_timeout=0.05,
        compaction=compaction,
    )
    for number in range(QUESTIONS):
        assert await one_turn(conversation, f"question {number}", dice) == []
        memory = [message.to_dict() for message in conversation.keeper.messages]
        check_messages(memory)
        for file in files(tmp_path):
            record = await FileSessions.of_project(tmp_path).load(file.stem)
            if record.id == conversation.keeper.record.id:
                kept = [message.to_dict() for message in record.messages if message.role != "system"]
                assert [one["contents"] for one in kept] == [one["contents"] for one in memory]
            else:
                assert record.continued_in == conversation.keeper.record.id, "nothing but kept originals"
        assert conversation.keeper.is_kept or not memory
