"""«where» and «trace» cover session files: of the project in this folder, and of a host under the state root."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.consoles import files_under, needs_posix, piped
from tests.maf_command.session_runs import CONTINUED, LOGS, ORDERS, damage, file_of, memory


@pytest.fixture
def hosted(project: Path, state_root: Path) -> Path:
    """A host's folder of sessions under the state root."""
    state_root.mkdir(mode=0o700)
    return shutil.copytree(project / ".mm" / "sessions", state_root / "sessions")


def test_where_tells_of_the_sessions_of_this_folder_s_project(project: Path) -> None:
    out = memory("where", cwd=project).out
    size = sum(path.stat().st_size for path in (project / ".mm" / "sessions").iterdir())
    assert (
        f"  sessions      {project / '.mm' / 'sessions'}\n"
        f"                4 sessions, 5 turns, ⚠️ 2 error(s), {size:,} bytes, of the project the shöp\n"
        "                last activity 2026-09-21T14:10:05+02:00\n"
    ) in out
    assert "none; a host that keeps its sessions under the state root has them here" in out


def test_where_names_what_is_damaged_left_over_or_no_session(project: Path) -> None:
    damage(file_of(project, LOGS), lambda content: content[:-20])
    folder = project / ".mm" / "sessions"
    (folder / f".{LOGS}.json.0123456789abcdef.tmp").touch()
    (folder / "notes.txt").touch()
    out = memory("where", cwd=project).out
    assert "3 sessions, 3 turns, ⚠️ 1 error(s), 1 damaged, " in out
    assert f"                damaged: {LOGS}: it is truncated" in out
    assert f"left over from a killed save of a session: .{LOGS}.json.0123456789abcdef.tmp\n" in out
    assert "no session, left alone: notes.txt\n" in out
    assert "left alone: .lock" not in out


def test_where_tells_of_a_host_s_sessions_under_the_state_root(project: Path, hosted: Path, tmp_path: Path) -> None:
    (hosted / "notes.txt").touch()
    out = memory("where", cwd=tmp_path).out
    assert f"  host          {hosted}\n                4 sessions, 5 turns, " in out
    assert "none; the project in this folder has no session" in out
    assert out.count("notes.txt") == 1
    report = json.loads(memory("where", "--json", "--project", str(project), cwd=tmp_path).out)
    assert report["sessions"]["path"] == str(project / ".mm" / "sessions")
    assert report["sessions"]["holds"] == report["host"]["holds"] == "4 sessions, 5 turns, ⚠️ 2 error(s)"
    assert report["others"] == ["sessions/notes.txt"]


@needs_posix
def test_a_folder_that_is_a_link_is_described_as_refused(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / ".mm").symlink_to(project / ".mm")
    run = memory("where", cwd=other)
    assert run.status == 0
    assert "refused: it or a folder above it is a symbolic link" in run.out
    traced = memory("trace", "PostgreSQL", cwd=other)
    assert "not read: a link, which is not followed" in traced.out


def test_the_demos_say_that_the_sessions_are_a_host_s_and_leave_them_alone(hosted: Path) -> None:
    (hosted / "notes.txt").touch()
    before = files_under(hosted)
    out = piped("demo140", "where", "trace PostgreSQL").out
    assert "session files of a host, left alone: sessions\n" in out
    assert "not of these demos, left alone: sessions/notes.txt\n" in out
    assert f"  sessions/{ORDERS}.json:16  a session of a host\n" in out
    assert files_under(hosted) == before


def test_a_folder_of_that_name_without_a_session_is_somebody_else_s(state_root: Path) -> None:
    (state_root / "sessions").mkdir(parents=True)
    (state_root / "sessions" / "a.txt").touch()
    out = piped("demo130", "where").out
    assert "session files of a host" not in out
    assert "left alone: sessions/a.txt" in out


def test_trace_names_each_session_that_holds_the_text_and_never_the_text(project: Path, hosted: Path) -> None:
    run = memory("trace", "postgresql", cwd=project)
    for folder in (f"Under {hosted.parent}:", f"Under {project / '.mm'}:"):
        assert folder in run.out
    assert f"  sessions/{ORDERS}.json:16  a session of this project\n" in run.out
    assert f"  sessions/{CONTINUED}.json:15  a session of a host\n" in run.out
    assert "the sessions of other projects: --project FOLDER looks into another one" in run.out
    assert "postgresql" not in run.out.lower()

    report = json.loads(memory("trace", "postgresql", "--json", cwd=project).out)
    assert [place["path"] for place in report["places"]] == [f"sessions/{one}.json" for one in (ORDERS, CONTINUED)]
    assert {place["role"] for place in report["project"]["places"]} == {"a session of this project"}
    assert report["project"]["folder"] == str(project / ".mm")


def test_trace_reads_damaged_sessions_and_what_killed_saves_left(project: Path) -> None:
    damage(file_of(project, ORDERS), lambda content: content[:-20])
    left = project / ".mm" / "sessions" / f".{LOGS}.json.0123456789abcdef.tmp"
    left.write_text('{"text":"In Postgre\\u0053QL', encoding="utf-8")
    (project / ".mm" / "notes.txt").write_text("PostgreSQL\n", encoding="utf-8")
    out = memory("trace", "PostgreSQL", cwd=project).out
    assert f"{ORDERS}.json:16 " in out
    assert "left over from a killed save of a session\n" in out
    assert "notes.txt:1" in out
    assert "  no session\n" in out


def test_a_project_that_is_none_is_a_usage_error(tmp_path: Path) -> None:
    for arguments in (["where"], ["trace", "x"]):
        run = memory(*arguments, "--project", "nowhere", cwd=tmp_path)
        assert run.status == 2
        assert "there is no folder nowhere" in run.err
