"""A demo in a real process, typed into through a pipe, so that a test can look at the files between two lines."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

SECONDS = 30


class RunningDemo:
    """``python -m PROGRAM`` on one state root; it is killed at the end of the ``with`` block, whatever happened."""

    def __init__(self, program: str, root: Path, *options: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", program, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            env={**os.environ, "MAF_STATE_ROOT": str(root)},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._typed, self._shown = self._process.stdin, self._process.stdout

    def __enter__(self) -> Self:
        """Return the running demo."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Kill what is left."""
        self.kill()

    def say(self, line: str) -> list[str]:
        """Type a line, wait for the end of what it does, and return what it showed on stdout."""
        self._send(line)
        shown = self._where()
        # The rows of ``where`` come last, and start with the conversation.
        start = max(at for at, row in enumerate(shown) if row.startswith("  conversation "))
        return shown[:start]

    def messages(self) -> int:
        """Return how many messages the active conversation has, as the program itself says it."""
        row = next(row for row in self._where() if row.startswith("  conversation "))
        count = row.split()[1]
        return 0 if count.startswith("empty") else int(count.replace(",", ""))

    def quit(self) -> None:
        """Leave with the command, and wait for the end."""
        self._send("quit")
        assert self._process.wait(SECONDS) == 0

    def kill(self) -> None:
        """Kill the process, as a closed window may, and wait for its end."""
        self._process.kill()
        self._process.wait(SECONDS)
        self._typed.close()
        self._shown.close()

    def _send(self, line: str) -> None:
        self._typed.write(line + "\n")
        self._typed.flush()

    def _where(self) -> list[str]:
        self._send("where")
        shown: list[str] = []
        while not (shown and shown[-1].startswith("  state root ")):
            line = self._shown.readline()
            assert line, f"the demo ended; it showed {shown}"
            shown.append(line.rstrip("\n"))
        return shown
