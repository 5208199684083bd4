"""The page of the session file names every field, uses the real tools, and its program runs as it stands there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from maf_memory.sessions.layout import HEADER, OPTIONAL
from tests.consoles import environment

from .page import Block, steps
from .terminal_page import ROOT, missing_tools

PAGE = (ROOT / "docs" / "session-files.md").read_text(encoding="utf-8")
TOOLS = ("git", "grep", "jq")


def test_every_field_of_a_file_is_in_the_table() -> None:
    table = "\n".join(line.split("|")[1] for line in PAGE.split("\n") if line.startswith("| `"))
    named = set(re.findall(r"`(\w+)`", table))
    assert named == {*HEADER, *OPTIONAL, "messages", "state", "errors"}


def test_the_page_types_the_tools_that_it_says_it_needs() -> None:
    typed = [one.text for step in steps(PAGE) if isinstance(step, Block) for one in step.typed]
    for tool in TOOLS:
        assert any(line.startswith(f"{tool} ") for line in typed), tool
    assert f"<!-- needs {' '.join(TOOLS)} -->" in PAGE


def test_a_tool_that_is_not_there_is_named() -> None:
    assert missing_tools("<!-- needs sh no_such_tool -->\n") == ["no_such_tool"]
    assert missing_tools("# A page\n") == []


def test_the_program_goes_on_with_the_session_that_was_last_active(tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "mine.py").write_text(program, encoding="utf-8")
    said = [
        subprocess.run(
            [sys.executable, "-W", "error", "mine.py"],
            cwd=tmp_path,
            check=True,
            capture_output=True,
            encoding="utf-8",
            env=environment(),
        ).stdout.split(" ", 1)
        for _ in range(2)
    ]
    assert said[0][0] == said[1][0]
    assert said[0][1] == "Noted. It is now message 1 of this conversation.\n"
    (file,) = (tmp_path / ".mm" / "sessions").glob("*.json")
    document = json.loads(file.read_text(encoding="utf-8"))
    assert (document["id"], document["turns"], document["revision"]) == (said[0][0], 2, 2)
