"""Runs ``maf-memory sessions`` as people do: in a process, through pipes or on a pseudo-terminal of a given width."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.consoles import PATIENCE, Run, command, environment
from tests.terminals import _TAKE_TERMINAL as TAKE_TERMINAL

ORDERS, CONTINUED, LOGS, SEARCH = (
    "20260911-093000-7be1d0c4",
    "20260912-154210-90aa2b17",
    "20260916-101530-4f2a9c1e",
    "20260921-141005-b03ce8a1",
)


def memory(*arguments: str, cwd: Path, typed: str = "", **environ: str | None) -> Run:
    """Run ``maf-memory`` in a folder, through pipes; a warning or a traceback is a failure."""
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-m", "maf_command", *arguments],
        cwd=cwd,
        input=typed.encode(),
        capture_output=True,
        env=environment(**environ),
        timeout=PATIENCE,
        check=False,
    )
    run = Run(ended.returncode, ended.stdout.decode(), ended.stderr.decode())
    assert "Traceback" not in run.err, run.err
    return run


def sessions(*arguments: str, cwd: Path, typed: str = "", **environ: str | None) -> Run:
    """Run ``maf-memory sessions`` in a folder."""
    return memory("sessions", *arguments, cwd=cwd, typed=typed, **environ)


def told(*arguments: str, cwd: Path) -> Any:
    """Return what a command says with --json."""
    return json.loads(sessions(*arguments, "--json", cwd=cwd).out)


def file_of(project: Path, session_id: str) -> Path:
    return project / ".mm" / "sessions" / f"{session_id}.json"


def damage(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(path.read_bytes()))


def on_terminal(
    *arguments: str,
    cwd: Path,
    columns: int,
    keys: str = "",
    waits_for: str = "",
    meanwhile: Callable[[], object] = lambda: None,
) -> tuple[int, str]:
    """Run ``maf-memory sessions`` on a pseudo-terminal of this width, and return its status and its screen.

    Once it shows ``waits_for``, ``meanwhile`` is done and ``keys`` are pressed.
    """
    import termios  # POSIX only, as pseudo-terminals are

    master, slave = os.openpty()
    termios.tcsetwinsize(slave, (24, columns))
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", TAKE_TERMINAL, *command("maf_command", "sessions", *arguments)],
        cwd=cwd,
        stdin=slave,
        env=environment(COLUMNS=None, LINES=None),
    )
    os.close(slave)
    watchdog = threading.Timer(PATIENCE, process.kill)
    watchdog.start()
    shown = b""
    with suppress(OSError):  # on Linux, the end of the program is an error here
        while block := os.read(master, 65536):
            shown += block
            if keys and waits_for.encode() in shown:
                meanwhile()
                _until_it_waits(process)
                os.write(master, keys.encode())
                keys = ""
    status = process.wait(PATIENCE)
    watchdog.cancel()
    os.close(master)
    text = shown.decode().replace("\r\n", "\n")
    assert "Traceback" not in text, text
    return status, text


def _until_it_waits(process: subprocess.Popen[bytes]) -> None:
    """Return when the program waits for what is typed: an interrupt just before that would be seen by nobody."""
    status = Path(f"/proc/{process.pid}/stat")
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "S":
            return
        time.sleep(0.01)
