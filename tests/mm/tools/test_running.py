"""run_command runs what was approved, tells how it ended, and leaves nothing running."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from mm.config import Model
from mm.tools.groups import GRACE_SECONDS
from tests.mm.tools.calling import call, is_gone, pid_in, put, tools_of, until


async def test_output_and_errors_come_in_order_after_the_exit_status(tmp_path: Path) -> None:
    said = await call(tmp_path, "run_command", command="echo one; echo two >&2; echo three; exit 3")
    assert said == "exit status 3\none\ntwo\nthree\n"
    assert await call(tmp_path, "run_command", command="true") == "exit status 0, and no output"


async def test_a_command_runs_in_the_project_with_pipes_and_the_shells_words(tmp_path: Path) -> None:
    put(tmp_path, "a b.txt", "x\ny\n")
    assert await call(tmp_path, "run_command", command="cat *.txt | wc -l && pwd -P") == (
        f"exit status 0\n2\n{tmp_path}\n"
    )


async def test_a_line_that_looks_like_an_option_is_a_command(tmp_path: Path) -> None:
    assert "exit status 127" in await call(tmp_path, "run_command", command="-c 'echo no'")


async def test_there_is_no_input_and_no_terminal(tmp_path: Path) -> None:
    assert await call(tmp_path, "run_command", command="cat; read x || echo none; tty") == (
        "exit status 1\nnone\nnot a tty\n"
    )
    assert "exit status 0" not in await call(tmp_path, "run_command", command="echo hi > /dev/tty")


async def test_the_models_key_is_not_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "s3cret")
    monkeypatch.setenv("MY_OTHER", "kept")
    tools = tools_of(tmp_path, model=Model(key_variable="MY_KEY"))
    said = await call(tools, "run_command", command="env; echo [$MY_KEY]")
    assert "s3cret" not in said
    assert "MY_OTHER=kept" in said


async def test_a_command_that_a_signal_ended_says_which(tmp_path: Path) -> None:
    assert "ended by signal 9 (Killed)" in await call(tmp_path, "run_command", command="kill -9 $$")


async def test_an_output_without_end_is_read_in_bounded_memory(tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tools = tools_of(tmp_path, max_output=5000)
    said = await call(tools, "run_command", command="echo first; yes", timeout=1)
    assert said.startswith("Error: the command did not end within 1 s, and was ended with all that it started.")
    assert "It printed:\nfirst\ny\ny\n" in said
    assert "bytes were cut here. Print less" in said
    assert said.endswith("y\n")
    assert len(said) <= 5000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # in kilobytes


async def test_the_beginning_and_the_end_of_a_long_output_are_kept(tmp_path: Path) -> None:
    tools = tools_of(tmp_path, max_output=2000)
    for count in (1000, 100_000):
        said = await call(tools, "run_command", command=f"seq {count}")
        assert said.startswith("exit status 0\n1\n2\n3\n")
        assert said.endswith(f"\n{count}\n")
        assert "were cut here" in said
        assert len(said) <= 2000


async def test_hostile_output_stays_data(tmp_path: Path) -> None:
    command = r"printf '\033]0;title\007\033[2J\377\xed\xa0\x80\000end\r\n'"
    said = await call(tmp_path, "run_command", command=command)
    assert said.startswith("exit status 0\n\x1b]0;title\x07\x1b[2J\ufffd")
    assert said.endswith("\0end\r\n")
    said.encode("utf-8")


async def test_a_command_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    command = "(sleep 600 & echo $! > pid; wait) | cat; echo never"
    said = await call(tmp_path, "run_command", command=f"echo before; {command}", timeout=1)
    assert said.startswith("Error: the command did not end within 1 s")
    assert said.endswith("It printed:\nbefore\n")
    assert is_gone(pid_in(tmp_path / "pid") or 0)


@pytest.mark.parametrize(
    "command",
    [
        "sleep 600 & echo $! > pid; wait",
        "sh -c 'sleep 600 & echo $! > pid; wait' | cat",
        "trap '' TERM; sh -c 'trap \"\" TERM; echo $$ > pid; while :; do sleep 1; done'",
        "sh -c 'echo $$ > pid; kill -STOP $$'; sleep 600",
        "(sleep 600 & echo $! > pid) ; exec yes",
    ],
)
async def test_a_command_that_is_cancelled_leaves_no_process(tmp_path: Path, command: str) -> None:
    running = asyncio.ensure_future(call(tmp_path, "run_command", command=command))
    await until(lambda: pid_in(tmp_path / "pid"))
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert is_gone(pid_in(tmp_path / "pid") or 0)


async def test_a_second_cancel_does_not_leave_the_process_either(tmp_path: Path) -> None:
    command = "trap '' TERM; echo $$ > pid; while :; do sleep 1; done"
    running = asyncio.ensure_future(call(tmp_path, "run_command", command=command))
    await until(lambda: pid_in(tmp_path / "pid"))
    for _ in range(3):
        running.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await running
    assert is_gone(pid_in(tmp_path / "pid") or 0)


def test_a_loop_that_is_closed_ends_the_command(tmp_path: Path) -> None:
    kept = []

    async def main() -> None:
        command = "trap '' TERM; sh -c 'trap \"\" TERM; echo $$ > pid; while :; do sleep 1; done'"
        kept.append(asyncio.ensure_future(call(tmp_path, "run_command", command=command)))
        await until(lambda: pid_in(tmp_path / "pid"))

    asyncio.run(main())
    assert is_gone(pid_in(tmp_path / "pid") or 0)


async def test_a_command_that_is_cancelled_can_clean_up_first(tmp_path: Path) -> None:
    """Git, for one, removes its lock; a pipe around it does not shorten its time."""
    put(
        tmp_path,
        "clean.py",
        "import os, signal, sys, time\n"
        "def end(*_):\n    time.sleep(0.3); os.unlink('lock'); sys.exit()\n"
        "signal.signal(signal.SIGTERM, end); open('lock', 'w').close()\n"
        "open('pid', 'w').write(f'{os.getpid()}\\n'); time.sleep(600)\n",
    )
    running = asyncio.ensure_future(call(tmp_path, "run_command", command=f"{sys.executable} clean.py | cat"))
    await until(lambda: pid_in(tmp_path / "pid"))
    assert (tmp_path / "lock").exists()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not (tmp_path / "lock").exists()


async def test_what_a_command_leaves_in_the_background_is_ended_and_told(tmp_path: Path) -> None:
    begun = time.monotonic()
    said = await call(tmp_path, "run_command", command="sleep 600 & echo $! > pid; echo started")
    assert said == "exit status 0; what it left running was ended\nstarted\n"
    assert is_gone(pid_in(tmp_path / "pid") or 0)
    assert time.monotonic() - begun < 10


async def test_what_ends_by_itself_just_after_the_command_is_let_end(tmp_path: Path) -> None:
    said = await call(tmp_path, "run_command", command="(sleep 0.1; echo late) & echo now")
    assert said == "exit status 0\nnow\nlate\n"


async def test_a_daemon_that_leaves_the_group_does_not_hold_the_call_up(tmp_path: Path) -> None:
    put(
        tmp_path,
        "daemon.py",
        "import os, time\nos.setsid()\nopen('pid', 'w').write(f'{os.getpid()}\\n')\ntime.sleep(600)\n",
    )
    program = f"{sys.executable} daemon.py"
    begun = time.monotonic()
    said = await call(
        tmp_path, "run_command", command=f"{program} & while ! [ -s pid ]; do sleep 0.01; done; echo done"
    )
    daemon = pid_in(tmp_path / "pid")
    assert daemon is not None
    os.kill(daemon, signal.SIGKILL)
    assert said.endswith("\ndone\n")
    assert time.monotonic() - begun < 10


async def test_a_timeout_is_kept_within_bounds(tmp_path: Path) -> None:
    assert "within 1 s" in await call(tmp_path, "run_command", command="sleep 600", timeout=-5)
    assert "for at most 600 s" in tools_of(tmp_path)["run_command"].preview({"command": "x", "timeout": 10**9})


async def test_what_cannot_be_run_is_told(tmp_path: Path) -> None:
    assert "is empty" in await call(tmp_path, "run_command", command=" \n ")
    assert "cannot be started" in await call(tmp_path, "run_command", command="echo a\0b")
    assert "cannot be started" in await call(tmp_path, "run_command", command="echo \ud800")
    assert "the limit is 10,000" in await call(tmp_path, "run_command", command="x" * 10_001)
    (tmp_path / "project").mkdir()
    tools = tools_of(tmp_path / "project")
    (tmp_path / "project").rmdir()
    assert "cannot be started: No such file or directory" in await call(tools, "run_command", command="ls")


async def test_the_exact_command_line_is_shown_and_that_it_is_not_sandboxed(tmp_path: Path) -> None:
    command = "echo 'a'  \"$x\" | cat\nrm -r \x1b[8mhidden\x1b[0m \u202e \u200b" + " " * 300 + "; end"
    shown = tools_of(tmp_path)["run_command"].preview({"command": command, "timeout": 5})
    first, second, *rest = shown.splitlines()
    assert first == "echo 'a'  \"$x\" | cat"
    assert second == "rm -r \\x1b[8mhidden\\x1b[0m \\u202e \\u200b" + " " * 300 + "; end"
    assert rest[-1].startswith(f"Runs in {tmp_path} by ")
    assert rest[-1].endswith("for at most 5 s. It is not sandboxed: it can do whatever this user can, anywhere.")


async def test_commands_run_beside_each_other(tmp_path: Path) -> None:
    waiting = "i=0; while ! [ -e {other} ]; do sleep 0.01; i=$((i+1)); [ $i -lt 2000 ] || exit 9; done"
    said = await asyncio.gather(
        call(tmp_path, "run_command", command=f"touch a; {waiting.format(other='b')}"),
        call(tmp_path, "run_command", command=f"touch b; {waiting.format(other='a')}"),
    )
    assert set(said) == {"exit status 0, and no output"}


async def test_no_thread_and_no_descriptor_is_left(tmp_path: Path) -> None:
    tools = tools_of(tmp_path)
    await call(tools, "run_command", command="true")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        await call(tools, "run_command", command="echo x")
    await asyncio.sleep(0)
    assert len(os.listdir("/proc/self/fd")) <= before
    assert GRACE_SECONDS > 0
    assert threading.active_count() < 50
