"""An agent that sends recorded notifications on session/load, and does nothing else."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from acp.connection import Connection
from acp.stdio import stdio_streams


async def main(notifications: list[Any]) -> None:
    """Answer every request; before the answer to session/load, send each recorded notification as it is."""
    reader, writer = await stdio_streams(limit=2**26)

    async def handle(method: str, params: Any, is_notification: bool) -> Any:  # noqa: ARG001 - the library's signature
        if method == "session/load":
            for one in notifications:
                await connection.send_notification(one["method"], one["params"])
        return {}

    connection = Connection(handle, writer, reader, listening=False)
    await connection.main_loop()


if __name__ == "__main__":
    asyncio.run(main([json.loads(line) for line in Path(sys.argv[1]).read_bytes().splitlines()]))
