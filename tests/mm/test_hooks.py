"""Hooks add context to a question or block it; one that fails is told and never costs a question."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from mm.config import Hook
from mm.hooks import MAXIMUM_OUTPUT, run_hooks
from tests.mm.brain import conversation_of, drawn, files, outline, told


def hook_of(tmp_path: Path, program: str, *, timeout: float = 20) -> Hook:
    script = tmp_path / f"hook-{abs(hash(program))}.py"
    script.write_text(f"import json, os, sys, time\n{program}\n", encoding="utf-8")
    return Hook((sys.executable, str(script)), timeout)


async def test_a_hook_gets_the_prompt_and_adds_a_context_that_is_marked_as_the_programs_own(tmp_path: Path) -> None:
    hook = hook_of(tmp_path, 'given = json.load(sys.stdin); print(json.dumps({"context": f"asked: {given}"}))')
    project = tmp_path / "project"
    project.mkdir()
    conversation, client = conversation_of(project, ["ok"], pre_generation=(hook,))
    assert outline(await drawn(conversation.ask("Hi é"))) == ["text ok", "answered"]
    sent = client.requests[0].messages
    assert [message.text for message in sent][1:] == ["Hi é"]
    assert "'prompt': 'Hi é'" in sent[0].text
    assert conversation.keeper.record.id in sent[0].text
    assert sent[0].additional_properties == {"written_by": "mm", "kind": "context"}
    assert conversation.keeper.turns == 1
    assert conversation.keeper.record.title == "Hi é"


async def test_a_hook_blocks_a_question_which_is_not_sent_and_leaves_a_marker(tmp_path: Path) -> None:
    hook = hook_of(tmp_path, 'print(json.dumps({"block": "no secrets, please"}))')
    conversation, client = conversation_of(tmp_path, [], pre_generation=(hook,))
    events = outline(await drawn(conversation.ask("My password is hunter2")))
    assert events == ["notice The question was not sent: no secrets, please", "blocked"]
    assert client.requests == []
    assert told(conversation) == ["user [Blocked by a hook: no secrets, please]"]
    (file,) = files(tmp_path)
    assert "hunter2" not in file.read_text(encoding="utf-8")
    assert json.loads(file.read_text(encoding="utf-8"))["turns"] == 0


FAILURES = {
    "sys.exit(3)": "ended with status 3",
    'print("boom", file=sys.stderr); sys.exit(1)': "ended with status 1 (boom)",
    'print("hello")': "printed something else",
    'print(json.dumps({"context": 1}))': "printed something else",
    'print("[" * 100000)': "printed",
    f'print("x" * {MAXIMUM_OUTPUT + 1})': f"printed more than {MAXIMUM_OUTPUT:,} bytes",
}


@pytest.mark.parametrize("program", FAILURES)
async def test_a_hook_that_fails_is_told_and_the_question_goes_on(tmp_path: Path, program: str) -> None:
    hook = hook_of(tmp_path, program)
    project = tmp_path / "project"
    project.mkdir()
    conversation, client = conversation_of(project, ["ok"], pre_generation=(hook,))
    events = outline(await drawn(conversation.ask("Hi")))
    assert FAILURES[program] in events[0]
    assert events[0].startswith("notice The hook ")
    assert events[1:] == ["text ok", "answered"]
    assert [message.text for message in client.requests[0].messages] == ["Hi"]


async def test_a_hook_that_is_not_there_is_told(tmp_path: Path) -> None:
    hooked = await run_hooks([Hook(("no-such-command-here",))], "x", project=tmp_path, session_id="s")
    assert "cannot be started (No such file or directory)" in hooked.notices[0]


async def test_a_hook_that_hangs_is_ended_with_what_it_started(tmp_path: Path) -> None:
    hook = hook_of(
        tmp_path,
        "import subprocess\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid)); time.sleep(600)",
        timeout=1.5,
    )
    hooked = await run_hooks([hook], "x", project=tmp_path, session_id="s")
    assert "did not end within 1.5 s" in hooked.notices[0]
    assert is_gone(int((tmp_path / "pid").read_text(encoding="utf-8")))


def is_gone(pid: int) -> bool:
    """Whether the process ended; one that nobody has buried yet counts."""
    stat = Path(f"/proc/{pid}/stat")
    for _ in range(1000):
        try:
            if stat.read_text(encoding="utf-8").rpartition(") ")[2].startswith("Z"):
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
    return False
