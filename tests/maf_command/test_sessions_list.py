"""«maf-memory sessions list» shows the conversations of this folder's project, newest first, and what is damaged."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.consoles import needs_posix
from tests.maf_command.session_runs import (
    CONTINUED,
    LOGS,
    ORDERS,
    SEARCH,
    damage,
    file_of,
    on_terminal,
    sessions,
    told,
)


def test_the_one_that_was_last_active_comes_first_with_turns_age_and_errors(project: Path) -> None:
    run = sessions("list", cwd=project)
    assert (run.status, run.err) == (0, "")
    lines = [re.sub(r"\d+ \w+ ago", "AGE", line) for line in run.out.splitlines()]
    assert lines == [
        f"{SEARCH}  How does the search rank what it finds? · 0 turns · AGE · ⚠️ 1 error(s)",
        f"{LOGS}  Quel format pour les logs ? · 2 turns · AGE · ⚠️ 1 error(s)",
        f"{CONTINUED}  Where should the shop keep its orders? · 1 turn · AGE",
        f"{ORDERS}  Where should the shop keep its orders? · 2 turns · AGE · continued in {CONTINUED}",
    ]


def test_json_holds_every_fact_of_a_head_and_the_file(project: Path) -> None:
    report = told("list", cwd=project)
    assert report["folder"] == str(project / ".mm" / "sessions")
    assert (report["total"], report["damaged"], report["next"]) == (4, [], None)
    (logs,) = [one for one in report["sessions"] if one["id"] == LOGS]
    assert logs == {
        "id": LOGS,
        "title": "Quel format pour les logs ?",
        "turns": 2,
        "errors": 1,
        "created": "2026-09-16T10:15:30+02:00",
        "updated": "2026-09-16T10:21:07+02:00",
        "cwd": "/home/ada/shop",
        "key": None,
        "provider": "openai",
        "model": "qwen3.5-4b",
        "continued_in": None,
        "revision": 3,
        "path": str(file_of(project, LOGS)),
    }


def test_without_sessions_one_line_says_where_it_looked_and_nothing_is_created(tmp_path: Path) -> None:
    run = sessions("list", cwd=tmp_path)
    assert (run.status, run.out) == (0, "")
    assert run.err == f"No sessions in {tmp_path / '.mm' / 'sessions'}.\n"
    assert list(tmp_path.iterdir()) == []


def test_no_folder_above_is_looked_at(project: Path) -> None:
    (project / "src").mkdir()
    assert "No sessions in" in sessions("list", cwd=project / "src").err


def test_pages_hold_each_session_once_and_say_how_to_go_on(project: Path) -> None:
    seen: list[str] = []
    arguments: list[str] = []
    for _ in range(5):
        report = told("list", "--limit", "1", *arguments, cwd=project)
        seen += [one["id"] for one in report["sessions"]]
        if report["next"] is None:
            break
        arguments = ["--after", report["next"]]
    assert seen == [SEARCH, LOGS, CONTINUED, ORDERS]

    run = sessions("list", "--limit", "3", cwd=project)
    assert run.err == f"1 more of 4: maf-memory sessions list --after {CONTINUED}, or --limit 0.\n"
    assert len(sessions("list", "--limit", "0", cwd=project).out.splitlines()) == 4
    assert "No sessions after this one in" in sessions("list", "--after", ORDERS, cwd=project).err


def test_a_damaged_file_is_listed_with_the_reason_and_the_others_as_usual(project: Path) -> None:
    damage(file_of(project, CONTINUED), lambda content: content[:700])
    run = sessions("list", cwd=project)
    assert run.status == 0
    lines = run.out.splitlines()
    assert [line[:24] for line in lines] == [SEARCH, LOGS, ORDERS, CONTINUED]
    assert re.fullmatch(rf"{CONTINUED}  damaged: it is truncated: .+; expected a session file of format 1", lines[-1])
    assert run.err == "maf-memory sessions repair ID writes what is whole in a damaged one to a new session.\n"

    report = told("list", "--limit", "1", cwd=project)
    assert [one["id"] for one in report["damaged"]] == [CONTINUED]
    assert told("list", "--after", SEARCH, cwd=project)["damaged"] == []


def test_a_project_or_a_host_s_folder_can_be_named_and_hints_name_it_too(project: Path, tmp_path: Path) -> None:
    named = sessions("list", "--limit", "1", "--project", project.name, cwd=tmp_path)
    assert named.out.startswith(SEARCH)
    assert f"--after {SEARCH} --project 'the shöp'" in named.err
    shutil.copytree(project / ".mm" / "sessions", tmp_path / "hosted")
    assert len(told("list", "--folder", "hosted", cwd=tmp_path)["sessions"]) == 4
    assert not (tmp_path / ".mm").exists()


def test_a_place_that_is_none_is_a_usage_error_and_no_empty_list(tmp_path: Path) -> None:
    for arguments, why in (
        (["--project", "shpo"], "there is no folder shpo"),
        (["--folder", "shpo"], "there is no folder shpo"),
        (["--project", ".", "--folder", "."], "give one of them"),
    ):
        run = sessions("list", *arguments, cwd=tmp_path)
        assert (run.status, run.out) == (2, "")
        assert why in run.err


@needs_posix
def test_a_current_folder_that_was_deleted_is_one_line(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    remove = 'import os, sys; os.rmdir(os.getcwd()); os.execv(sys.executable, [sys.executable, "-m", *sys.argv[1:]])'
    ended = subprocess.run(
        [sys.executable, "-c", remove, "maf_command", "sessions", "list"],
        cwd=gone,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr == "error: The current folder was deleted. Name a project with --project.\n"


@needs_posix
def test_a_linked_folder_is_refused_and_not_followed(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / ".mm").symlink_to(project / ".mm")
    run = sessions("list", cwd=other)
    assert run.status == 1
    assert "symbolic link" in run.err


@needs_posix
@pytest.mark.parametrize("columns", [60, 120])
def test_on_a_terminal_no_line_is_wider_than_it_and_nothing_but_the_title_is_cut(project: Path, columns: int) -> None:
    long = "Why does the search of a project find the word storage, and never the word database? " * 2
    document = json.loads(file_of(project, LOGS).read_text(encoding="utf-8"))
    document["title"] = long
    document["error_count"] = 12
    file_of(project, LOGS).write_text(json.dumps(document), encoding="utf-8")
    status, shown = on_terminal("list", cwd=project, columns=columns)
    assert status == 0
    lines = shown.splitlines()
    assert max(map(len, lines)) <= columns
    about_logs = lines[[line[:24] for line in lines].index(LOGS) :]
    rest = r"2 turns · .* ago · ⚠️ 12 error\(s\)"
    if columns == 120:
        assert re.fullmatch(rf"{LOGS}  Why does the .*… · {rest}", about_logs[0])
    else:
        assert re.fullmatch(rf"{LOGS}  Why does the .*…", about_logs[0])
        assert re.fullmatch(f"  {rest}", about_logs[1])


@needs_posix
def test_no_text_of_a_file_drives_the_terminal(project: Path) -> None:
    evil = "\x1b]0;owned\x07\x1b[31mred\u202egnp.\x9b2J\nsecond line"
    document = json.loads(file_of(project, LOGS).read_text(encoding="utf-8"))
    document["title"] = document["cwd"] = document["model"] = evil
    document["messages"][1]["contents"][0]["text"] = evil
    file_of(project, LOGS).write_text(json.dumps(document), encoding="utf-8")
    for arguments in (["list"], ["show", LOGS], ["search", "second"], ["list", "--json"], ["search", "red", "--json"]):
        _, shown = on_terminal(*arguments, cwd=project, columns=200)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", shown), arguments


def test_a_listing_reads_no_conversation(project: Path) -> None:
    damage(file_of(project, LOGS), lambda content: content.replace(b'"function_result"', b'"function_rasult"'))
    assert LOGS in sessions("list", cwd=project).out
    run = sessions("show", LOGS, cwd=project)
    assert (run.status, run.out) == (1, "")


def test_a_wrong_option_is_a_usage_error(project: Path) -> None:
    run = sessions("list", "--nope", cwd=project)
    assert run.status == 2
    assert "No such option: --nope" in run.err
