"""Up to the first prompt, a demo loads neither the agent nor a provider nor what only an error needs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
from {demo}.__main__ import main
status = main()
print(json.dumps([status, sorted(sys.modules)]))
"""
HEAVY = ("agent_framework._agents", "agent_framework.openai", "openai", "httpx2", "rich", "typer", "prompt_toolkit")


@pytest.mark.parametrize("demo", ["demo130", "demo140"])
def test_heavy_imports_wait_until_they_are_used(demo: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(demo=demo)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    status, loaded = json.loads(done.stdout)
    assert status == 0
    assert "maf_memory.root" in loaded
    assert [name for name in HEAVY if name in loaded] == []
