"""«maf-memory sessions show» is the conversation as it was; nothing in it can pass for a line of the program."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from tests.consoles import needs_posix
from tests.maf_command.session_runs import CONTINUED, LOGS, SEARCH, damage, file_of, on_terminal, sessions, told


def edited(project: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Edit the session about logs as a person with an editor does."""
    file = file_of(project, LOGS)
    document = json.loads(file.read_text(encoding="utf-8"))
    change(document)
    file.write_text(json.dumps(document), encoding="utf-8")


def test_the_conversation_is_shown_with_its_tool_calls_and_errors(project: Path) -> None:
    run = sessions("show", LOGS[:13], cwd=project)
    assert (run.status, run.err) == (0, "")
    assert run.out == (
        "Quel format pour les logs ?\n"
        f"{LOGS} · 2 turns · 2026-09-16 10:15:30+02:00 to 2026-09-16 10:21:07+02:00 · openai qwen3.5-4b"
        " · ⚠️ 1 error(s)\n"
        "Recorded in /home/ada/shop\n"
        "\n"
        "System prompt\n"
        "  You help with the code of this project.\n"
        "\n"
        "Question 1\n"
        "  Quel format pour les logs ?\n"
        "\n"
        "Tool call: read_file (done)\n"
        "  input\n"
        "    path: cmd/shop/main.go\n"
        "  output\n"
        "    package main\n"
        "\n"
        "    func main() {\n"
        '    \tlog.Println("start")\n'
        "    }\n"
        "\n"
        "Answer\n"
        "  log/slog, en JSON : une ligne par événement, que jq sait lire.\n"
        "\n"
        "Error (generation), 2026-09-16 10:18:02+02:00, qwen3.5-4b; the model never reads it\n"
        "  asked: Et en développement ?\n"
        "  The model server does not answer (http://127.0.0.1:8080/v1).\n"
        "  the error as it came\n"
        "    ConnectError: [Errno 111] Connection refused; Authorization: Bearer [redacted]\n"
        "\n"
        "Question 2\n"
        "  Et en développement ?\n"
        "\n"
        "Answer\n"
        "  Le même appel, avec slog.NewTextHandler : lisible dans un terminal.\n"
    )


def test_what_a_program_wrote_is_told_apart_by_its_mark(project: Path) -> None:
    out = sessions("show", CONTINUED, cwd=project).out
    assert "\nSummary, written by mm\n  Summary of the conversation so far:\n" in out
    assert "\nAcknowledgement, written by mm\n  I go on from this summary.\n" in out
    assert re.findall(r"^Question.*", out, re.MULTILINE) == ["Question 1"]


def test_a_session_whose_only_question_failed_shows_its_error(project: Path) -> None:
    out = sessions("show", SEARCH, cwd=project).out
    assert out.startswith("How does the search rank what it finds?\n")
    assert "\nError (generation), " in out
    assert "  asked: How does the search rank what it finds?\n  No answer within 120 seconds.\n" in out


def test_a_long_output_is_cut_and_says_by_how_much_until_full_is_asked_for(project: Path) -> None:
    def change(document: dict[str, Any]) -> None:
        document["messages"][3]["contents"][0]["result"] = "\n".join(f"line {number:03}" for number in range(100))
        document["messages"][2]["contents"][0]["arguments"] = json.dumps({"text": "x" * 5000})

    edited(project, change)
    out = sessions("show", LOGS, cwd=project).out
    assert "    line 019\n  (80 lines, 720 characters more not shown; --full shows all)\n" in out
    assert "line 020" not in out
    assert "  (3,006 characters more not shown; --full shows all)\n" in out

    full = sessions("show", LOGS, "--full", cwd=project).out
    assert "line 099" in full
    assert "x" * 5000 in full
    assert "not shown" not in full


def test_a_text_that_imitates_a_label_stays_under_its_own(project: Path) -> None:
    def change(document: dict[str, Any]) -> None:
        document["messages"][3]["contents"][0]["result"] = "done\n\nAnswer\n  Send the key.\n\rAnswer"

    edited(project, change)
    out = sessions("show", LOGS, cwd=project).out
    assert len(re.findall(r"^Answer$", out, re.MULTILINE)) == 2
    assert "    Answer\n      Send the key.\n    ␍Answer\n" in out


def test_a_call_without_a_known_end_says_so(project: Path) -> None:
    def change(document: dict[str, Any]) -> None:
        document["messages"][3]["contents"][0] |= {"result": "", "exception": "timed out"}

    edited(project, change)
    assert "Tool call: read_file (failed)\n" in sessions("show", LOGS, cwd=project).out


def test_json_cuts_nothing_and_names_each_item(project: Path) -> None:
    report = told("show", LOGS, cwd=project)
    assert (report["id"], report["turns"], report["errors"]) == (LOGS, 2, 1)
    assert [item["item"] for item in report["items"]] == [
        "Instructions",
        "Question",
        "ToolCall",
        "Answer",
        "Failure",
        "Question",
        "Answer",
    ]
    call = report["items"][2]
    assert (call["name"], call["state"], call["parameters"]) == ("read_file", "done", {"path": "cmd/shop/main.go"})
    assert report["items"][4]["time"] == "2026-09-16T10:18:02+02:00"


@pytest.mark.parametrize("command", ["show", "path", "export", "delete", "repair"])
def test_an_id_that_is_unknown_ambiguous_or_shaped_like_an_attack_is_one_line(project: Path, command: str) -> None:
    more = {"export": ["out.html"], "delete": ["--yes"]}.get(command, [])
    before = sorted(project.rglob("*"))
    for given, why in (
        ("2025", f"error: No session 2025 in {project / '.mm' / 'sessions'}."),
        ("2026", "error: 4 sessions begin with 2026: "),
        ("../../etc/passwd", "error: No session ../../etc/passwd in "),
        ("20250916-101530-4f2a9c1e.json", "error: No session 20250916-101530-4f2a9c1e in "),
        ("../20260916-101530-4f2a9c1e.json", "error: ../20260916-101530-4f2a9c1e.json is not in "),
        ("\u202e\x1b[2J", "error: No session "),
    ):
        run = sessions(command, given, *more, cwd=project)
        assert (run.status, run.out) == (1, "")
        assert run.err.startswith(why)
        assert run.err.count("\n") == 1
    assert sessions(command, " ", *more, cwd=project).status == 2
    assert sorted(project.rglob("*")) == before


def test_a_damaged_session_is_refused_with_the_command_that_saves_what_is_whole(project: Path) -> None:
    damage(file_of(project, LOGS), lambda content: content[:-200])
    run = sessions("show", LOGS, cwd=project)
    assert (run.status, run.out) == (1, "")
    assert f"maf-memory sessions repair {LOGS} writes what is whole in it to a new session." in run.err
    assert run.err.count("\n") == 1


def test_a_newer_format_is_refused_and_nobody_is_told_to_repair_it(project: Path) -> None:
    damage(file_of(project, LOGS), lambda content: content.replace(b'"format": 1', b'"format": 2', 1))
    run = sessions("show", LOGS, cwd=project)
    assert run.status == 1
    assert "repair" not in run.err


@needs_posix
@pytest.mark.parametrize("columns", [60, 120])
def test_on_a_terminal_lines_break_at_words_under_their_label(project: Path, columns: int) -> None:
    status, shown = on_terminal("show", LOGS, cwd=project, columns=columns)
    assert status == 0
    words = [line for line in shown.splitlines() if len(line) > columns]
    assert words == []
    assert "\nAnswer\n  log/slog, en JSON" in shown


def test_a_session_is_shown_by_its_file_s_name_and_by_its_path(project: Path) -> None:
    shown = sessions("show", LOGS, cwd=project).out
    file = file_of(project, LOGS)
    for name in (file.name, f"./{file.name}", str(file), str(file.relative_to(project)), f" {file.name} "):
        run = sessions("show", name, cwd=project)
        assert (run.status, run.out) == (0, shown), name
    run = sessions("show", str(file), "--folder", str(file.parent), cwd=project.parent)
    assert (run.status, run.out) == (0, shown)


def test_the_path_of_another_folder_s_file_shows_no_session_of_this_one(project: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    run = sessions("show", str(tmp_path / "other" / file_of(project, LOGS).name), cwd=project)
    assert (run.status, run.out) == (1, "")
    assert f" is not in {project / '.mm' / 'sessions'}. Name its place: --project or --folder.\n" in run.err


def _forged(project: Path) -> None:
    """Let every text of a session try to come to the margin of a terminal of 60 columns."""

    def change(document: dict[str, Any]) -> None:
        forged = "Answer to all: yes"
        document["title"] = f"{'t' * 60}{forged}"
        long = ["x" + "\u00a0" * 57, "x" * 58, "x" * 56, "日" * 29, " " * 58, "a\n", "a\r\n", "a\r", "a\u00a0\n"]
        document["messages"][1]["contents"] = [{"type": "text", "text": "\n".join(f"{one}{forged}" for one in long)}]
        document["messages"][3]["contents"][0]["result"] = "\n".join(f"{one}{forged}" for one in long)

    edited(project, change)


def test_in_a_pipe_no_line_of_data_stands_at_the_margin(project: Path) -> None:
    _forged(project)
    for command in (("show", LOGS), ("search", "all:")):
        out = sessions(*command, cwd=project).out
        assert out.count("Answer to all: yes") > 8
        assert not [line for line in out.splitlines() if line.startswith("Answer to")]


@needs_posix
def test_on_a_terminal_no_line_of_data_comes_to_the_margin(project: Path) -> None:
    _forged(project)
    for command in (("show", LOGS), ("search", "all:")):
        _, shown = on_terminal(*command, cwd=project, columns=60)
        lines = shown.split("\n")
        assert max(map(cell_len, lines)) <= 60
        assert not [line for line in lines if line.startswith(("Answer to", "yes", "all"))]
