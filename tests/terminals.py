"""Types into a console on a pseudo-terminal, as a person does (POSIX only)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.consoles import PATIENCE, SLOW_DISK, command, environment

# Python warns where a process with threads forks (pexpect's own spawn does); a child that takes the terminal by
# itself needs no fork of this process.
_TAKE_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
terminal = os.open(os.ttyname(0), os.O_RDWR)
fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
for number in (0, 1, 2):
    os.dup2(terminal, number)
os.execv(sys.argv[1], sys.argv[1:])
"""


class Terminal:
    """A console on a pseudo-terminal of 24 lines and 400 columns, so that no long line is scrolled sideways."""

    def __init__(self, program: str, *options: str, **environ: str | None) -> None:
        import termios

        import pexpect.fdpexpect

        master, slave = os.openpty()
        termios.tcsetwinsize(slave, (24, 400))
        launcher = [sys.executable, "-I", "-S", "-c", _TAKE_TERMINAL]
        self.prompt = f"{program}> "
        started = [*launcher, *command(program, *options, slow_disk=SLOW_DISK in environ)]
        self.process = subprocess.Popen(started, stdin=slave, env=environment(**environ))
        os.close(slave)
        self._master = master
        self._lines = pexpect.fdpexpect.fdspawn(master, timeout=PATIENCE, encoding="utf-8", codec_errors="replace")

    def until(self, text: str) -> str:
        """Read until ``text`` was shown, and return what stood before it since the last call."""
        self._lines.expect_exact(text.replace("\n", "\r\n"))
        before = self._lines.before
        assert isinstance(before, str)
        return before.replace("\r\n", "\n")

    def says(self, line: str) -> str:
        """Type a line at the prompt, and return what is shown until the next prompt, without the typed line."""
        self.press(line + "\n")
        self.until(line)
        return self.until(self.prompt).lstrip("\n")

    def press(self, keys: str) -> None:
        """Press keys; control characters are keys too."""
        os.write(self._master, keys.encode())

    def press_until(self, key: str, text: str) -> None:
        """Press ``key`` until ``text`` is shown: two interrupts in one instant count as one."""
        import pexpect

        for _ in range(PATIENCE // 3):
            self.press(key)
            if self._lines.expect_exact([text.replace("\n", "\r\n"), pexpect.TIMEOUT], timeout=3) == 0:
                return
        raise AssertionError(f"{text!r} was never shown; the screen is:\n{self._lines.before}")

    def waits(self) -> bool:
        """Whether the program waits, as for a model that hangs; where the system does not tell, take it for granted."""
        status = Path(f"/proc/{self.process.pid}/stat")
        return not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "S"

    def ends(self) -> tuple[int, str]:
        """Wait for the end and return the exit status and what was shown since the last call."""
        import pexpect

        self._lines.expect(pexpect.EOF)
        rest = self._lines.before
        assert isinstance(rest, str)
        assert "Traceback" not in rest, rest
        return self.process.wait(PATIENCE), rest.replace("\r\n", "\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._lines.close()
