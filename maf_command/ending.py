"""How every command ends: with its status, or with one line and status 1; 130 after Ctrl-C."""

from __future__ import annotations

import sys
from collections.abc import Callable

import typer

from maf_console.screen import OutputLost, Screen
from maf_memory.errors import MafMemoryError

INTERRUPTED = 130


def end_with(work: Callable[[Screen], int]) -> None:
    """Do ``work`` and end the command with the status it returns. Anything but a known error keeps its traceback."""
    screen = Screen()
    try:
        status = work(screen)
    except MafMemoryError as error:
        screen.error(str(error))
        status = 1
    except OutputLost as lost:
        if not isinstance(lost.error, BrokenPipeError) and lost.stream is not sys.stderr:
            screen.error(f"The output cannot be written: {lost.error.strerror}.")
        status = 1
    except KeyboardInterrupt:
        status = INTERRUPTED
    raise typer.Exit(status)
