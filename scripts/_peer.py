"""What the bench asks of a store: hold a conversation of a length, and save one more turn through its own public calls.

Nothing of a store is imported before ``open``: each one runs in an environment of its own (``_peer_worker.py``).
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar


class Peer:
    """A store that holds a conversation of ``turns`` turns and saves one more.

    ``durable`` says whether the save flushes to the disk; the bench counts the flushes and refuses a wrong claim.
    Stores that append grow by a turn with each save; stores that write everything save the same length each time.
    """

    name: ClassVar[str]
    requirements: ClassVar[tuple[str, ...]] = ()
    call: ClassVar[str]
    durable: ClassVar[bool]
    in_plot: ClassVar[bool] = True

    def __init__(self, folder: Path, turns: int) -> None:
        """Say where it keeps what, and how long the conversation is."""
        self.folder = folder
        self.turns = turns

    async def open(self) -> None:
        """Make the store and save the conversation of ``turns`` turns."""
        raise NotImplementedError

    async def before(self, number: int) -> None:
        """Make the messages of the next turn; not measured."""
        raise NotImplementedError

    async def save(self) -> None:
        """Save the turn; this is measured."""
        raise NotImplementedError

    async def kept(self) -> int:
        """Return how many messages a reader finds, which shows that the turns were saved."""
        raise NotImplementedError
