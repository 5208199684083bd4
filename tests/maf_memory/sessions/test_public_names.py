"""What the package of sessions offers is there, and a program that only asks for it waits for nothing heavy."""

from __future__ import annotations

import json
import subprocess
import sys

import maf_memory.sessions
from tests.consoles import environment


def test_every_public_name_is_there_and_an_unknown_one_is_an_error() -> None:
    for name in maf_memory.sessions.__all__:
        assert getattr(maf_memory.sessions, name).__name__ == name
    assert set(maf_memory.sessions.__all__) <= set(dir(maf_memory.sessions))
    assert not hasattr(maf_memory.sessions, "SessionManager")


def test_the_files_and_their_directory_are_there_without_the_framework() -> None:
    program = (
        "import json, sys\n"
        "from maf_memory.sessions import FileSessions, Found, Head, Journal, SessionDirectory, SessionRecord\n"
        "print(json.dumps([name for name in ('agent_framework', 'jinja2', 'portalocker') if name in sys.modules]))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        encoding="utf-8",
        env=environment(),
        check=True,
    )
    assert json.loads(done.stdout) == []
