"""run_command: one command line, by the shell, in the project's folder. It is not sandboxed.

The line goes to the shell as one argument and as it is: nothing is put into it, and a person is shown every character
of it before it runs. Pipes and redirections are what a model writes, and what a person who allows it reads.
"""

from __future__ import annotations

import base64
import os
import shutil
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from maf_memory.text import one_line
from mm.tools.diffs import harmless
from mm.tools.groups import Ran, run
from mm.tools.output import Ends
from mm.tools.refused import Refused

if TYPE_CHECKING:
    from mm.tools.arguments import RunCommand

NOT_SANDBOXED = "It is not sandboxed: it can do whatever this user can, anywhere."

LONGEST = 10_000
"""The longest command line, in characters: what a person cannot read is not asked for."""

_ADVICE = "Print less, e.g. with head, tail or grep."


def _shell() -> tuple[str, ...]:
    """Return the shell that runs the command lines: bash where there is one, because models write for it."""
    if os.name == "nt":
        return ("powershell", "-NoProfile", "-NonInteractive", "-EncodedCommand")
    return (shutil.which("bash") or "/bin/sh", "-c", "--")


_SHELL = _shell()
SHELL_NAME = Path(_SHELL[0]).name


def _argument(line: str) -> str:
    """Return the command line as the shell takes it."""
    return base64.b64encode(line.encode("utf-16-le")).decode() if os.name == "nt" else line


def preview(project: Path, wanted: RunCommand) -> str:
    """Return the exact command line, harmless to a terminal, and what it may do."""
    lines = "\n".join(harmless(line) for line in wanted.command.split("\n"))
    where = one_line(str(project), 4096)
    return f"{lines}\n\nRuns in {where} by {SHELL_NAME}, for at most {wanted.seconds} s. {NOT_SANDBOXED}"


async def run_command(
    project: Path, wanted: RunCommand, limit: int, *, without: str, environ: Mapping[str, str] = os.environ
) -> str:
    """Run the command line and return how it ended and what it printed; ``without`` is a variable it does not get.

    Raises:
        Refused: it cannot be started, or its time was up.
    """
    if not wanted.command.strip():
        raise Refused("the command line is empty. Give a command, e.g. ls -l.")
    if len(wanted.command) > LONGEST:
        raise Refused(
            f"the command line has {len(wanted.command):,} characters; the limit is {LONGEST:,}. "
            "Write a script with write_file, and run that."
        )
    output = Ends(max(limit - 300, 0))
    environment = {name: value for name, value in environ.items() if name != without}
    try:
        ran = await run(
            [*_SHELL, _argument(wanted.command)],
            cwd=project,
            env=environment,
            seconds=wanted.seconds,
            take=output.take,
        )
    except OSError as error:
        raise Refused(f"the command cannot be started: {error.strerror or error}. Ask the person.") from error
    except ValueError as error:  # a NUL, or half of a character
        raise Refused(f"the command cannot be started: {one_line(str(error))}. Write it without that.") from error
    printed = output.text(_ADVICE)
    if ran.status is None:
        raise Refused(
            f"the command did not end within {wanted.seconds} s, and was ended with all that it started. "
            f"Give it a longer timeout, or less to do. It printed:\n{printed or '(nothing)'}"
        )
    return f"{_told(ran)}\n{printed}" if printed else f"{_told(ran)}, and no output"


def _told(ran: Ran) -> str:
    assert ran.status is not None  # noqa: S101 - the caller has told the other case
    if ran.status >= 0:
        how = f"exit status {ran.status}"
    else:
        how = f"ended by signal {-ran.status} ({signal.strsignal(-ran.status) or 'unknown'})"
    return f"{how}; what it left running was ended" if ran.left_some else how
