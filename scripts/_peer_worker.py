"""Runs one store of ``_peers.py``: ``_peer_worker.py NAME FOLDER TURNS``; a line in is a save, a line out its cost.

The first line out says that the conversation is there. At the end of the input the store is read once, so that no
figure is told of a save that kept nothing. What a library prints goes to the error stream.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path

import _peers
from _peer import Peer

BEGIN, END = "/bench-of-maf-memory/save", "/bench-of-maf-memory/saved"


async def main(name: str, folder: str, turns: str) -> int:
    """Answer until the input ends; return 1 when a turn is missing then."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    peer: Peer = getattr(_peers, name)(Path(folder), int(turns))
    await peer.open()
    opened = await peer.kept()
    print(json.dumps({"messages": opened}), file=answers, flush=True)
    saves = 0
    for saves, _ in enumerate(sys.stdin, start=1):
        await peer.before(peer.turns + saves - 1)
        if hasattr(os, "sync"):
            os.sync()  # what another store left unwritten would be paid by the next one that flushes
        os.access(BEGIN, os.F_OK)  # seen by strace, which counts the flushes between the two
        start = time.perf_counter()
        await peer.save()
        seconds = time.perf_counter() - start
        os.access(END, os.F_OK)
        print(json.dumps({"seconds": seconds}), file=answers, flush=True)
    kept = await peer.kept()
    if saves and kept not in (opened + 4, opened + 4 * saves):
        print(f"{name} kept {kept} messages of {opened} and {saves} turns", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
