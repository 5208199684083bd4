"""What an editor waits for: the first answer of ``mm acp``, and a conversation sent to it again."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from _measuring import Row

TURNS = 667
"""Turns of a question, a tool call and an answer: 2,001 items."""

HERE = Path(__file__).parent
AGENT = (sys.executable, "-m", "mm", "acp")


def rows(repeats: int) -> list[Row]:
    """Measure the start and the replay."""
    with tempfile.TemporaryDirectory(prefix="maf-bench-") as folder:
        project = Path(folder).resolve() / "project"
        project.mkdir()
        session_id = asyncio.run(_keep_session(project))
        bare, first = _starts(project, repeats)
        ours, raw, once = _replays(project, session_id, repeats)
    return [
        Row("mm acp: from start to the answer of initialize", first, "python -c pass", bare, 70),
        Row(
            f"mm acp: replay of {3 * TURNS:,} items",
            ours,
            "the library's send_notification of each, ready made",
            raw,
            1.5,
        ),
        Row(f"mm acp: replay of {3 * TURNS:,} items", ours, "one write of the same bytes", once, None),
    ]


async def _keep_session(project: Path) -> str:
    from agent_framework import Content, Message

    from maf_memory.sessions.directory import SessionDirectory
    from maf_memory.sessions.files import FileSessions

    directory = SessionDirectory(FileSessions.of_project(project), cwd=project)
    record = directory.new(provider="script", model="none")
    for number in range(TURNS):
        call_id = f"call_{number}"
        call = Content.from_function_call(
            call_id, "read_file", arguments=json.dumps({"path": f"src/module_{number}.py"})
        )
        result = Content.from_function_result(call_id, result="def work() -> None:\n    pass\n" * 20)
        said: list[tuple[str, list[Any]]] = [
            ("user", [f"What does module {number} do, and who calls it?"]),
            ("assistant", [call]),
            ("tool", [result]),
            ("assistant", [f"Module {number} does its work, and nobody calls it. " * 8]),
        ]
        record.messages += [
            Message(role, contents, message_id=f"{number}-{place}") for place, (role, contents) in enumerate(said)
        ]
    await directory.keep(record)
    return record.id


def _starts(project: Path, repeats: int) -> tuple[float, float]:
    bare, first = [], []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        bare.append(time.perf_counter() - start)
        start = time.perf_counter()
        with _agent(AGENT, project) as (requests, answers):
            _send(requests, "initialize", protocolVersion=1)
            answers.readline()
            first.append(time.perf_counter() - start)
    return statistics.median(bare[1:]), statistics.median(first[1:])


def _replays(project: Path, session_id: str, repeats: int) -> tuple[float, float, float]:
    recorded = project.parent / "recorded.jsonl"
    pushed = project.parent / "pushed.py"
    pushed.write_text(
        "import os, sys\n"
        'content = open(sys.argv[1], \'rb\').read() + b\'{"jsonrpc":"2.0","id":0,"result":{}}\\n\'\n'
        "for _ in sys.stdin.buffer:\n"
        "    left = memoryview(content)\n"
        "    while left: left = left[os.write(1, left):]\n",
        encoding="utf-8",
    )
    with _agent(AGENT, project) as mm:
        _send(mm[0], "session/new", cwd=str(project), mcpServers=[])
        mm[1].readline(), mm[1].readline()  # the answer, and the commands; what a session needs is loaded now
        recorded.write_bytes(b"".join(_loaded(*mm, project, session_id)[1]))
        of_items = (sys.executable, str(HERE / "_acp_raw_agent.py"), str(recorded))
        of_bytes = (sys.executable, str(pushed), str(recorded))
        with _agent(of_items, project) as raw, _agent(of_bytes, project) as once:
            rounds = [
                [_loaded(*agent, project, session_id)[0] for agent in (mm, raw, once)] for _ in range(repeats + 1)
            ][1:]
    ours, theirs, bytes_alone = zip(*rounds, strict=True)
    return statistics.median(ours), statistics.median(theirs), statistics.median(bytes_alone)


def _loaded(requests: IO[bytes], answers: IO[bytes], project: Path, session_id: str) -> tuple[float, list[bytes]]:
    """Load the session; return how long it took, and the notifications before the answer."""
    start = time.perf_counter()
    _send(requests, "session/load", cwd=str(project), sessionId=session_id, mcpServers=[])
    lines = []
    line = answers.readline()
    while not line.startswith(b'{"jsonrpc":"2.0","id":0,'):
        if not line:
            raise RuntimeError("the agent has ended")
        lines.append(line)
        line = answers.readline()
    took = time.perf_counter() - start
    if b'"error"' in line[:40]:
        raise RuntimeError(line.decode())
    return took, [line for line in lines if b"_chunk" in line or b"tool_call" in line]


def _send(requests: IO[bytes], method: str, **params: Any) -> None:
    request = {"jsonrpc": "2.0", "id": 0, "method": method, "params": params}
    requests.write(json.dumps(request).encode() + b"\n")
    requests.flush()


@contextmanager
def _agent(command: tuple[str, ...], project: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    environment = {**os.environ, "MAF_STATE_ROOT": str(project.parent / "root")}
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=project, env=environment, stdin=pipe, stdout=pipe, stderr=nowhere)
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("the process has no pipes")
    try:
        yield process.stdin, process.stdout
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()
