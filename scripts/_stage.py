"""Plays one run of the lesson in a real process, shows it as it happens, and compares it with what was expected."""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from _lesson import Run, Typed

SECONDS = 600
"""How long one run may take; a real model on a slow machine needs its time."""


@dataclass(frozen=True)
class Played:
    """What one run showed: the lines before the first prompt, those after each typed line, and the exit status."""

    opening: list[str]
    after: list[list[str]]
    status: int


@dataclass(frozen=True)
class Stage:
    """Where the lesson is played: the Python, the private state root, and the chat client."""

    python: Path
    root: Path
    chat: str

    @property
    def wording_is_known(self) -> bool:
        """Whether the answers are those of the offline stand-in, to the word."""
        return self.chat == "offline"

    def play(self, run: Run) -> Played:
        """Start the program, type the lines, and show what comes as it comes."""
        options = [] if self.wording_is_known else ["--chat", self.chat]
        print("$", run.program, *options, flush=True)
        environment = {**os.environ, "MAF_STATE_ROOT": str(self.root)}
        environment.pop("MAF_CHAT", None)
        process = subprocess.Popen(
            [self.python, "-m", run.program, "--echo", *options],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        watchdog = threading.Timer(SECONDS, process.kill)
        watchdog.start()
        try:
            lines = list(_shown(process, "".join(f"{typed.line}\n" for typed in run.typed)))
            status = process.wait()
        finally:
            watchdog.cancel()
            process.kill()
            process.wait()
        opening, after = _split(lines, run)
        return Played(opening, after, status)

    def differences(self, run: Run, played: Played) -> list[str]:
        """Return what was expected and not seen, as lines of a diff; nothing when every expectation held."""
        wrong: list[str] = []
        missing = [line for line in run.opens if not any(_matches(line, seen) for seen in played.opening)]
        if missing:
            wrong += _diff("at the start", missing, played.opening)
        for typed, seen in zip(run.typed, played.after, strict=True):
            wrong += self._difference(typed, seen)
        if played.status != 0:
            wrong += _diff("at the end", ["exit status 0"], [f"exit status {played.status}"])
        return wrong

    def _difference(self, typed: Typed, seen: list[str]) -> list[str]:
        if typed.answer is None or self.wording_is_known:
            fits = len(seen) == len(typed.shows) and all(map(_matches, typed.shows, seen))
            return [] if fits else _diff(typed.line, typed.shows, seen)
        text = " ".join(line for line in seen if not line.startswith("(saved: "))
        expected = [f"an answer that names {word!r}" for word in typed.answer.names if not _names(text, word)]
        expected += [f"an answer that does not name {word!r}" for word in typed.answer.never if _names(text, word)]
        if not text.strip() or text.startswith("error:"):
            expected.append("an answer")
        return _diff(typed.line, expected, seen) if expected else []


def _shown(process: subprocess.Popen[str], typed: str) -> Iterator[str]:
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("the program was started without pipes")
    try:
        process.stdin.write(typed)
        process.stdin.close()
    except BrokenPipeError:
        pass  # the program ended before it read everything; what it printed says why
    for line in process.stdout:
        print(line, end="", flush=True)
        yield line.rstrip("\n")


def _split(lines: list[str], run: Run) -> tuple[list[str], list[list[str]]]:
    """Cut the transcript at the typed lines, which the program shows after its prompt."""
    parts: list[list[str]] = [[]]
    waiting = [f"{run.program}> {typed.line}" for typed in run.typed]
    for line in lines:
        if len(parts) <= len(waiting) and line == waiting[len(parts) - 1]:
            parts.append([])
        else:
            parts[-1].append(line)
    parts += [[] for _ in range(len(waiting) + 1 - len(parts))]
    return parts[0], parts[1:]


def _matches(expected: str, seen: str) -> bool:
    pattern = ".*".join(re.escape(part) for part in expected.split("..."))
    return re.fullmatch(pattern, seen) is not None


def _names(text: str, word: str) -> bool:
    return word.lower() in text.lower()


def _diff(where: str, expected: Sequence[str], seen: Sequence[str]) -> list[str]:
    return list(difflib.unified_diff(expected, seen, f"expected: {where}", f"seen: {where}", lineterm="", n=1))


def look_at(snapshot: Path) -> None:
    """Show the first lines of the snapshot as they stand in the file."""
    print(f"\nThe first lines of {snapshot}:")
    with snapshot.open(encoding="utf-8") as lines:
        for _, line in zip(range(7), lines, strict=False):
            print("  " + (line if len(line) < 100 else line[:96] + "...\n"), end="")
    sys.stdout.flush()
