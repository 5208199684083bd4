"""«maf-memory sessions repair» makes a new session of what is whole, and leaves the damaged file as it is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.maf_command.session_runs import LOGS, damage, file_of, sessions, told


def new_one(project: Path) -> Path:
    (found,) = [path for path in (project / ".mm" / "sessions").glob("20260916-*.json") if path.stem != LOGS]
    return found


def test_what_is_whole_is_a_new_session_and_each_loss_is_a_line(project: Path) -> None:
    damaged = file_of(project, LOGS)
    damage(damaged, lambda content: content.replace(b'"text":"log/slog', b'"text":"log/slog\x00', 1))
    before = damaged.read_bytes()
    run = sessions("repair", LOGS, cwd=project)
    assert run.status == 0
    made = new_one(project)
    lines = run.out.splitlines()
    assert lines[:4] == [
        "Repaired: Quel format pour les logs ?",
        f"  session       created    {made.stem}: 2 turns, 6 messages · ⚠️ 1 error(s)",
        f"  damaged       unchanged  {damaged}",
        "Lost, or not as it was:",
    ]
    assert any(re.match(r"  Line 19 is lost: ", line) for line in lines[4:])
    assert run.err == (
        f"Read it: maf-memory sessions show {made.stem}\nWhen nothing is missed: maf-memory sessions delete {LOGS}\n"
    )
    assert damaged.read_bytes() == before

    shown = sessions("show", made.stem, cwd=project).out
    assert "Quel format pour les logs ?" in shown
    assert "slog.NewTextHandler" in shown
    assert told("list", cwd=project)["sessions"][1]["updated"] == "2026-09-16T10:21:07+02:00"


def test_json_names_both_sessions_and_the_losses(project: Path) -> None:
    damage(file_of(project, LOGS), lambda content: content[:-30])
    report = told("repair", LOGS[:12], cwd=project)
    assert report["damaged"] == LOGS
    assert report["id"] == new_one(project).stem
    assert report["path"] == str(new_one(project))
    assert report["lost"] != []
    assert json.loads(new_one(project).read_text(encoding="utf-8"))["turns"] == 2


def test_a_sound_session_is_refused_because_there_is_nothing_to_repair(project: Path) -> None:
    before = sorted(project.rglob("*"))
    run = sessions("repair", LOGS, cwd=project)
    assert (run.status, run.out) == (1, "")
    assert run.err == f"error: {LOGS} is sound: there is nothing to repair.\n"
    assert sorted(project.rglob("*")) == before


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "no message is left whole in it"),
        (b"\x00" * 4096, "no message is left whole in it"),
        (b'{\n"format": 2,\n"id": "' + LOGS.encode() + b'"\n}\n', "format 2"),
    ],
)
def test_where_nothing_is_whole_or_the_format_is_newer_nothing_is_made(project: Path, content: bytes, why: str) -> None:
    file_of(project, LOGS).write_bytes(content)
    before = sorted(project.rglob("*"))
    run = sessions("repair", LOGS, cwd=project)
    assert (run.status, run.out) == (1, "")
    assert why in run.err
    assert sorted(project.rglob("*")) == before
    assert file_of(project, LOGS).read_bytes() == content
