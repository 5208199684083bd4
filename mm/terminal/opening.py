"""Opens the window: the banner, the first prompt as soon as it can be, and the way back when it closes."""

from __future__ import annotations

import asyncio
import errno
import os
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from maf_memory.errors import MafMemoryError
from maf_memory.text import one_line
from mm.config import Config
from mm.connecting import model_line, named
from mm.keeper import Keeper
from mm.terminal.reading import Lines, Reader, is_plain
from mm.terminal.screen import STRONG, Screen
from mm.terminal.window import Window

GONE = frozenset({errno.EIO, errno.EPIPE})
"""The errors of a screen that nobody sees any more: the terminal was closed, or the reader of a pipe has left."""

CLOSED = 129
"""The exit status when the terminal was closed: 128 and the number of SIGHUP."""


def open_window(project: Path, config: Config, *, resume: str | None = None, given: Path | None = None) -> int:
    """Run the window until the person leaves, and return the exit status; ``given`` is what ``--config`` named.

    Raises:
        ChatUnavailable, UnknownSession, AmbiguousSession, FileRefused, SessionsDisabled: nothing was opened.
    """
    try:
        return asyncio.run(_opened(project, config, resume, given))
    except OSError as error:
        if error.errno not in GONE:
            raise
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())  # what still waits to be shown has no reader, and is no error
    os.close(nowhere)
    return CLOSED


async def _opened(project: Path, config: Config, resume: str | None, given: Path | None) -> int:
    config = named(config, os.environ)
    who = model_line(config, os.environ)
    screen = Screen(sys.stdout, sys.stdout if sys.stdout.isatty() else sys.stderr)
    keeper = Keeper(project, config)
    window = Window(project, config, keeper, screen)
    window.reader = _reader(window)
    with _signals(window) as ended_by:
        _banner(window, who)
        try:
            await _sweep(window)
            if resume is not None and not await window.guarded(_resumed(window, resume)):
                return 1
            await window.run()
        except asyncio.CancelledError:
            if not ended_by:
                raise
        finally:
            _tell_the_way_back(window, given)
    return 128 + ended_by[0] if ended_by else 0


async def _resumed(window: Window, prefix: str) -> None:
    from mm.terminal.session_commands import resume

    await resume(window, prefix)


def _reader(window: Window) -> Reader:
    if is_plain(sys.stdin, sys.stdout):
        return Lines(sys.stdin, sys.stdout if sys.stdout.isatty() else sys.stderr, "> ")
    from mm.terminal.completing import Completions
    from mm.terminal.prompt import Prompt
    from mm.terminal.recall import Recall

    recall = Recall(window.asked_here, window.asked_elsewhere) if window.config.sessions_enabled else None
    completions = Completions(window.project, window.config, lambda: window.keeper.sessions())
    return Prompt(sys.stdin, completions, recall, window.status, window.typed)


def _banner(window: Window, who: str) -> None:
    config, screen = window.config, window.screen
    screen.line(f"{config.name} in {window.project}", STRONG)
    screen.line(who)
    if config.source is None:
        screen.line("No agent.yaml here: an offline stand-in answers. mm init writes one.")
    if config.sessions_enabled:
        screen.line("This is a new conversation: /sessions finds the earlier ones, /help the commands, Ctrl-D leaves.")
    else:
        screen.line("Sessions are off (sessions.enabled): nothing is kept. /help shows the commands, Ctrl-D leaves.")


async def _sweep(window: Window) -> None:
    try:
        swept = await window.keeper.sweep()
    except MafMemoryError as error:
        window.screen.error(str(error))
        return
    for path in swept:
        window.screen.notice(f"Removed what a killed save left: {one_line(path.name, 200)}")


def _tell_the_way_back(window: Window, given: Path | None) -> None:
    keeper = window.keeper
    if keeper.enabled and keeper.is_kept:
        config = f"--config {shlex.quote(str(given))} " if given is not None else ""
        window.screen.line(f"Go on with: mm {config}--resume {keeper.record.id}")


@contextmanager
def _signals(window: Window) -> Iterator[list[int]]:
    """Let Ctrl-C reach the window, and let a closed terminal end it in order: what was done is saved first."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None  # noqa: S101 - a coroutine is running
    ended_by: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        loop.call_soon_threadsafe(window.interrupt)

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        ended_by.append(number)
        if (
            len(ended_by) == 1
        ):  # a shell and the system both tell of a closed terminal; twice would break off the saving
            loop.call_soon_threadsafe(task.cancel)

    wanted = {signal.SIGINT: interrupt, signal.SIGTERM: end}
    if sys.platform != "win32":
        wanted[signal.SIGHUP] = end
    before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    try:
        yield ended_by
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
