"""``mm -p``: one question in a real process; the answer on one stream, everything else on the other."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.consoles import environment
from tests.mm.brain import files


def mm(project: Path, *arguments: str, stdin: str = "", status: int = 0) -> subprocess.CompletedProcess[str]:
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-m", "mm", *arguments],
        cwd=project,
        env=environment(),
        input=stdin,
        capture_output=True,
        encoding="utf-8",
    )
    assert ended.returncode == status, ended.stderr
    return ended


def scripted(project: Path, *replies: Any, more: str = "") -> None:
    (project / "replies.json").write_text(json.dumps(list(replies)), encoding="utf-8")
    (project / "agent.yaml").write_text(
        f"model: {{provider: script, name: scripted, script: replies.json}}\n{more}", encoding="utf-8"
    )


def kept(project: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text(encoding="utf-8")) for path in files(project)]


def test_the_answer_is_on_one_stream_and_the_way_back_on_the_other(tmp_path: Path) -> None:
    scripted(tmp_path, {"stream": ["Hel", "lo"]})
    ended = mm(tmp_path, "-p", "Hi")
    (record,) = kept(tmp_path)
    assert ended.stdout == "Hello\n"
    assert ended.stderr == f"Go on with: mm --resume {record['id']}\n"


def test_a_question_can_come_from_a_pipe_and_go_on_in_an_old_conversation(tmp_path: Path) -> None:
    scripted(tmp_path, "One.", "Two.")
    mm(tmp_path, stdin="First\n")
    (record,) = kept(tmp_path)
    scripted(tmp_path, "Two.")
    mm(tmp_path, "--resume", record["id"][:15], "-p", "-", stdin="Second")
    (record,) = kept(tmp_path)
    assert [message["role"] for message in record["messages"]] == ["system", *["user", "assistant"] * 2]


def test_each_event_is_one_line_of_json(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("seen", encoding="utf-8")
    scripted(tmp_path, {"calls": [{"name": "read_file", "arguments": {"path": "notes"}, "id": "c1"}]}, "Done.")
    events = [json.loads(line) for line in mm(tmp_path, "-p", "Go", "--json").stdout.splitlines()]
    assert [event["event"] for event in events] == ["tool_started", "tool_finished", "text", "turn_ended"]
    assert events[0]["arguments"]["path"] == "notes"
    assert "seen" in events[1]["output"]
    (record,) = kept(tmp_path)
    assert events[3] == {"event": "turn_ended", "outcome": "answered", "session": record["id"]}


def test_a_conversation_that_is_not_kept_has_no_way_back(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("sessions: {enabled: false}\n", encoding="utf-8")
    *_, last = mm(tmp_path, "-p", "Go", "--json").stdout.splitlines()
    assert json.loads(last) == {"event": "turn_ended", "outcome": "answered", "session": None}
    assert "--resume" not in mm(tmp_path, "-p", "Go").stderr


def test_writing_is_refused_where_nobody_can_be_asked_unless_it_is_allowed(tmp_path: Path) -> None:
    call = {"calls": [{"name": "write_file", "arguments": {"path": "made", "content": "x"}}]}
    scripted(tmp_path, call, "As you like.")
    ended = mm(tmp_path, "-p", "Go")
    assert "not run: nobody can be asked here, and mm -p allows it with --yes only" in ended.stderr
    assert not (tmp_path / "made").exists()
    mm(tmp_path, "-p", "Go", "--yes")
    assert (tmp_path / "made").read_text(encoding="utf-8").strip() == "x"


def test_a_failure_is_one_line_and_a_status_and_stands_in_the_journal(tmp_path: Path) -> None:
    scripted(tmp_path, {"error": "the server is gone"})
    ended = mm(tmp_path, "-p", "Hi", status=1)
    assert ended.stdout == ""
    assert ended.stderr.startswith("Error: The question got no answer: the server is gone")
    (record,) = kept(tmp_path)
    assert record["errors"][0]["question"] == "Hi"


def test_without_a_configuration_the_stand_in_answers_and_says_so(tmp_path: Path) -> None:
    ended = mm(tmp_path, "-p", "Hi")
    assert ended.stderr.startswith("No agent.yaml here: an offline stand-in answers. mm init writes one.\n")
    assert (
        mm(tmp_path, "init").stdout
        == f"{tmp_path}/agent.yaml is written. Everything in it is the default; change what you need.\n"
    )
    assert "No agent.yaml" not in mm(tmp_path, "-p", "Hi").stderr
    assert "is there already" in mm(tmp_path, "init", status=1).stderr


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--resume", "2026", "-p", "x"), "No session 2026 in "),
        (("--config", "nowhere.yaml", "-p", "x"), "nowhere.yaml is not there."),
        (("-p", "see @big"), "big was not attached: it has 300,000 bytes."),
    ],
)
def test_what_cannot_be_done_is_one_line_and_nothing_is_written(
    tmp_path: Path, arguments: tuple[str, ...], line: str
) -> None:
    scripted(tmp_path, "never")
    (tmp_path / "big").write_bytes(b"x" * 300_000)
    ended = mm(tmp_path, *arguments, status=1)
    assert line in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert files(tmp_path) == []


def test_a_blank_question_is_a_usage_error(tmp_path: Path) -> None:
    assert "the question is blank" in mm(tmp_path, "-p", " ", status=2).stderr


def test_sessions_that_are_off_leave_nothing(tmp_path: Path) -> None:
    scripted(tmp_path, "Hello.", more="sessions: {enabled: false}\n")
    assert mm(tmp_path, "-p", "Hi").stderr == ""
    assert not (tmp_path / ".mm").exists()


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupted_turn_keeps_what_was_shown(tmp_path: Path) -> None:
    scripted(tmp_path, {"stream": ["Half an ans", {"hang": True}]})
    with subprocess.Popen(
        [sys.executable, "-m", "mm", "-p", "Hi"], cwd=tmp_path, env=environment(), stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read(11) == b"Half an ans"
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 130
    (record,) = kept(tmp_path)
    assert record["messages"][2]["contents"][0]["text"] == "Half an ans"
    assert record["errors"] == []


KILLS = 50


def contents(record: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [one for message in record["messages"] for one in message["contents"] if one["type"] == kind]


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_killed_at_any_moment_no_acknowledged_turn_is_missing_and_no_file_is_damaged(tmp_path: Path) -> None:
    """The moments are drawn with a seed, as bytes of the run's output; a run that says less ends by itself.

    Each run's tool leaves a trace of its own: no tool may have run that the conversation does not show.
    """
    dice = random.Random(20260916)
    acknowledged: list[str] = []
    session: str | None = None
    for number in range(KILLS):
        call = {"name": "run_command", "arguments": {"command": f"echo {number} >> ran"}}
        scripted(tmp_path, {"calls": [call]}, {"stream": ["answer ", str(number)]})
        arguments = ["--resume", session, "-p", f"question {number}"] if session else ["-p", f"question {number}"]
        with subprocess.Popen(
            [sys.executable, "-m", "mm", "--json", "--yes", *arguments],
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process:
            assert process.stdout is not None
            output = process.stdout.read(dice.randrange(1, 1_000))
            process.kill()
        if b'"turn_ended"' in output:
            acknowledged.append(f"question {number}")
        for record in kept(tmp_path):
            session = record["id"]
            calls = [one["call_id"] for one in contents(record, "function_call")]
            assert [one["call_id"] for one in contents(record, "function_result")] == calls
            asked = {one["text"] for one in contents(record, "text")}
            assert asked.issuperset(acknowledged), f"after kill {number}"
    ran = (tmp_path / "ran").read_text(encoding="utf-8").split()
    shown = [one["arguments"]["command"].split()[1] for one in contents(record, "function_call")]
    assert set(ran) <= set(shown), "whatever ran can be seen"
    assert len(ran) == len(set(ran)), "and nothing ran twice"
    assert len(files(tmp_path)) == 1
    assert 5 < len(acknowledged) < KILLS, "some moments are before the end of a turn, and some after"
