"""Eight real processes save, delete, list and search in one folder at once: nothing acknowledged is lost.

The suite lets each do a few dozen works; ``MAF_SESSIONS_SECONDS=30`` lets them go on for so long.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from maf_memory.errors import UnknownSession
from maf_memory.sessions.contract.base import texts
from maf_memory.sessions.files import FileSessions
from tests.maf_memory.sessions.session_files import names
from tests.maf_memory.sessions.session_worker import SHARED

WORKER = Path(__file__).with_name("session_worker.py")
PROCESSES = 8
ROUNDS = 60
SECONDS = float(os.environ.get("MAF_SESSIONS_SECONDS", "0"))

Told = list[dict[str, Any]]


def race(folder: Path) -> list[Told]:
    """Start the processes at once, and return what each was told."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONWARNINGS": "error::ResourceWarning"}
    processes = [
        subprocess.Popen(
            [sys.executable, str(WORKER), str(folder), f"p{number}", str(ROUNDS), str(SECONDS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for number in range(PROCESSES)
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n", process.communicate()[1]
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        told = []
        for process in processes:
            output, errors = process.communicate(timeout=60 + SECONDS)
            assert (process.returncode, errors) == (0, "")
            told.append([json.loads(line) for line in output.splitlines()])
        return told
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.communicate()


async def test_of_eight_processes_at_once_every_acknowledged_save_is_kept_once_and_every_other_was_told(
    tmp_path: Path,
) -> None:
    told = [line for lines in race(tmp_path / "sessions") for line in lines]
    saved = [line for line in told if "saved" in line]
    conflicts = [line for line in told if "conflict" in line]
    deleted = {line["deleted"] for line in told if "deleted" in line}
    assert conflicts, "the processes did meet"
    assert deleted
    assert {line["conflict"] for line in conflicts} <= set(SHARED), "nobody is told of a conflict with itself"
    sessions = FileSessions(tmp_path / "sessions")
    of_session = {session_id: [line for line in saved if line["saved"] == session_id] for session_id in _ids(saved)}
    for session_id, lines in of_session.items():
        assert len({line["lineage"] for line in lines}) == 1, "born once"
        assert sorted(line["revision"] for line in lines) == list(range(1, len(lines) + 1)), "no save replaced another"
        if session_id in deleted:
            continue
        record = await sessions.load(session_id)
        by_revision = sorted(lines, key=lambda line: line["revision"])
        assert texts(record) == [line["turn"] for line in by_revision]
        assert record.stamp is not None
        assert record.stamp.revision == len(lines)
    for session_id in deleted:
        try:
            await sessions.load(session_id)
        except UnknownSession:
            continue
        raise AssertionError(f"{session_id} came back")
    left = set(of_session) - deleted
    page = await sessions.page()
    assert ({head.id for head in page.heads}, list(page.damaged)) == (left, [])
    assert names(sessions) == sorted(f"{session_id}.json" for session_id in left), "no temporary file is left"
    assert await sessions.sweep() == []
    kept = Counter([text for one in left for text in texts(await sessions.load(one))])
    assert max(kept.values()) == 1
    assert not set(kept) & {line["turn"] for line in conflicts}


def _ids(saved: Told) -> list[str]:
    return sorted({line["saved"] for line in saved})
