"""A listing starts quickly: it loads neither the framework nor what only a page or a terminal needs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.consoles import PATIENCE, environment
from tests.maf_command.session_runs import sessions

PROGRAM = """
import json, sys
from maf_command.__main__ import main
sys.argv = ["maf-memory", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    print(json.dumps([end.code, sorted(sys.modules)]))
"""
HEAVY = (
    "agent_framework",
    "openai",
    "httpx2",
    "rich.console",
    "prompt_toolkit",
    "jinja2",
    "markdown_it",
    "portalocker",
)


@pytest.mark.parametrize(
    "arguments",
    [["sessions", "list"], ["sessions", "search", "slog"], ["sessions", "path", "20260916"], ["sessions", "--help"]],
)
def test_heavy_imports_wait_until_they_are_used(project: Path, arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, *arguments],
        cwd=project,
        capture_output=True,
        encoding="utf-8",
        env=environment(),
        timeout=PATIENCE,
        check=True,
    )
    status, loaded = json.loads(done.stdout.splitlines()[-1])
    assert status == 0
    assert [name for name in HEAVY if name in loaded] == []
    if "--help" in arguments:
        assert not any(name.startswith("maf_memory.sessions.") for name in loaded)


def test_help_gives_an_example_before_the_options(tmp_path: Path) -> None:
    commands = ("list", "show", "search", "export", "repair", "delete", "path")
    for arguments in ([], *([name] for name in commands)):
        run = sessions(*arguments, "--help", cwd=tmp_path)
        assert run.status == 0
        assert 0 < run.out.index("Example: ") < run.out.index("Options:")
    group = sessions("--help", cwd=tmp_path).out
    assert all(f"\n  {name} " in group for name in commands)
