"""What ``mm -p`` promises to scripts, as a real process: streams, statuses, refusals, a kill while a tool runs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.consoles import PATIENCE, environment, needs_posix
from tests.mm.brain import files
from tests.mm.tools.calling import is_gone

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000 1f15c4890000000d49444154789c6360000002000001000548afa4"
    "710000000049454e44ae426082".replace(" ", "")
)


def start(project: Path, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    environ = options.pop("environ", {})
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "mm", *arguments], cwd=project, env=environment(**environ), **options
    )


def run(project: Path, *arguments: str, stdin: bytes = b"", **environ: str | None) -> tuple[int, str, str]:
    with start(
        project,
        *arguments,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        environ=environ,
    ) as process:
        out, err = process.communicate(stdin, timeout=PATIENCE)
    assert b"Traceback" not in err, err
    return process.returncode, out.decode(), err.decode()


def scripted(project: Path, *replies: Any, more: str = "", name: str = "scripted") -> None:
    script = {"replies": list(replies), "record": "requests.jsonl"}
    (project / "replies.json").write_text(json.dumps(script), encoding="utf-8")
    (project / "agent.yaml").write_text(
        f"model: {{provider: script, name: {name}, script: replies.json}}\n{more}", encoding="utf-8"
    )


def requests(project: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (project / "requests.jsonl").read_text(encoding="utf-8").splitlines()]


def record_of(project: Path) -> dict[str, Any]:
    (file,) = files(project)
    record: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return record


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"name": name, "arguments": arguments, "id": f"c-{name}"}]}


@needs_posix
def test_killed_while_a_tool_runs_the_file_says_that_it_may_have_run_and_the_next_question_shows_it(
    tmp_path: Path,
) -> None:
    """The tool itself kills the program without warning, after it has done something."""
    scripted(tmp_path, call("run_command", command="echo x >> ran; kill -9 $PPID; sleep 60"))
    status, out, _ = run(tmp_path, "-p", "Run it", "--yes")
    assert (status, out) == (-signal.SIGKILL, "")
    assert (tmp_path / "ran").read_text(encoding="utf-8") == "x\n"
    record = record_of(tmp_path)
    assert [message["role"] for message in record["messages"]] == ["system", "user", "assistant", "tool"]
    assert record["messages"][3]["contents"][0]["result"] == "interrupted; may have run"
    assert (record["title"], record["turns"], record["errors"]) == ("Run it", 1, [])
    scripted(tmp_path, "It may have run already; I look first.")
    status, out, _ = run(tmp_path, "--resume", record["id"], "-p", "Run it")
    assert (status, out) == (0, "It may have run already; I look first.\n")
    sent = requests(tmp_path)[-1]["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "user"]
    assert sent[2]["contents"][0]["result"] == "interrupted; may have run"
    assert (tmp_path / "ran").read_text(encoding="utf-8") == "x\n", "what was recorded is sent, and nothing runs again"


@needs_posix
def test_killed_before_anything_was_done_nothing_is_left(tmp_path: Path) -> None:
    scripted(tmp_path, {"hang": True})
    with start(tmp_path, "-p", "Hi", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        while not (tmp_path / "requests.jsonl").exists() or not (tmp_path / "requests.jsonl").stat().st_size:
            assert process.poll() is None
        process.kill()
    assert files(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("write_file", {"path": "made", "content": "x"}),
        ("edit_file", {"path": "there", "old": "old", "new": "new"}),
        ("run_command", {"command": "touch made"}),
    ],
)
def test_writing_and_running_are_refused_unless_they_are_allowed(
    tmp_path: Path, name: str, arguments: dict[str, Any]
) -> None:
    (tmp_path / "there").write_text("old", encoding="utf-8")
    scripted(tmp_path, call(name, **arguments), "As you like.")
    status, out, err = run(tmp_path, "-p", "Go")
    assert (status, out) == (0, "As you like.\n")
    assert "nobody can be asked here, and mm -p allows it with --yes only" in err
    assert "nobody can be asked here" in requests(tmp_path)[-1]["messages"][-1]["contents"][0]["result"]
    assert not (tmp_path / "made").exists()
    assert (tmp_path / "there").read_text(encoding="utf-8") == "old"
    run(tmp_path, "-p", "Go", "--yes")
    assert (tmp_path / "made").exists() or (tmp_path / "there").read_text(encoding="utf-8") == "new"


def test_an_image_goes_to_the_model_as_an_image_and_comes_back_from_the_file(tmp_path: Path) -> None:
    (tmp_path / "dot.png").write_bytes(PIXEL)
    scripted(tmp_path, "A dot.")
    run(tmp_path, "-p", "What is in @dot.png?")
    text, line, image = requests(tmp_path)[0]["messages"][0]["contents"]
    assert (text["text"], line["text"]) == ("What is in @dot.png?", "[attached file: dot.png]")
    assert image["type"] == "data"
    assert image["uri"].startswith("data:image/png;base64,")
    scripted(tmp_path, "Still a dot.")
    run(tmp_path, "--resume", record_of(tmp_path)["id"], "-p", "And now?")
    assert requests(tmp_path)[-1]["messages"][0]["contents"][2]["uri"] == image["uri"]


def hook(project: Path, **said: str) -> str:
    (project / "hook.py").write_text(f"print({json.dumps(json.dumps(said))})\n", encoding="utf-8")
    return f"hooks: {{preGeneration: [[{json.dumps(sys.executable)}, hook.py]]}}\n"


def test_a_blocked_question_is_told_and_has_a_status_of_its_own(tmp_path: Path) -> None:
    scripted(tmp_path, "never", more=hook(tmp_path, block="no passwords"))
    status, out, err = run(tmp_path, "-p", "My password is x")
    assert (status, out) == (1, "")
    assert err.startswith("The question was not sent: no passwords\n")
    assert not (tmp_path / "requests.jsonl").read_text(encoding="utf-8")
    assert record_of(tmp_path)["messages"][1]["additional_properties"] == {"written_by": "mm", "kind": "blocked"}


def test_with_tools_notices_and_a_hook_the_answer_alone_is_on_standard_output(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    more = f"hooks: {{preGeneration: [[{json.dumps(sys.executable)}, bad.py]]}}\n"
    scripted(tmp_path, call("read_file", path="agent.yaml"), call("read_file", path="no-such"), "Done.", more=more)
    status, out, err = run(tmp_path, "-p", "Go")
    assert (status, out) == (0, "Done.\n")
    lines = err.splitlines()
    assert lines[0].startswith("The hook ")
    assert lines[1] == "· read_file agent.yaml"
    assert lines[2] == "· read_file no-such"
    assert lines[3].startswith("  Error: ")
    assert lines[4].startswith("Go on with: mm --resume ")


def test_what_libraries_log_does_not_stand_among_the_lines(tmp_path: Path) -> None:
    """The framework logs each call that fails, and gives up after some of them."""
    scripted(tmp_path, *[call("no_such_tool")] * 6)
    status, _, err = run(tmp_path, "-p", "Go")
    assert status in (0, 1)
    assert [line for line in err.splitlines() if not line.startswith(("Go on with: ", "Error: "))] == []


@pytest.mark.parametrize(
    ("replies", "status", "events"),
    [
        (["Hello."], 0, ["text", "turn_ended"]),
        ([{"error": "gone"}], 1, ["error", "turn_ended"]),
        ([{"stream": ["Half", {"error": "cut"}]}], 1, ["text", "error", "turn_ended"]),
        (
            [call("run_command", command="ls"), "ok"],
            0,
            ["tool_started", "permission_wanted", "tool_finished", "text", "turn_ended"],
        ),
    ],
)
def test_each_line_is_an_event_and_nothing_else_is_said(
    tmp_path: Path, replies: list[Any], status: int, events: list[str]
) -> None:
    scripted(tmp_path, *replies)
    ended, out, err = run(tmp_path, "-p", "Hi é\u2028", "--json", PYTHONIOENCODING="ascii")
    assert [json.loads(line)["event"] for line in out.split("\n")[:-1]] == events
    assert (ended, err) == (status, "")


def test_a_question_can_be_any_bytes_and_need_not_end_in_a_line_end(tmp_path: Path) -> None:
    scripted(tmp_path, "Fine.")
    assert run(tmp_path, stdin=b"caf\xc3\xa9 \xff\r\nsecond", PYTHONIOENCODING="utf-8:strict")[:2] == (0, "Fine.\n")
    assert requests(tmp_path)[0]["messages"][0]["contents"][0]["text"] == "café \ufffd\nsecond"


def test_an_answer_that_the_encoding_cannot_say_is_written_all_the_same(tmp_path: Path) -> None:
    scripted(tmp_path, "déjà ✓")
    assert run(tmp_path, "-p", "Hi", PYTHONIOENCODING="ascii")[:2] == (0, "d?j? ?\n")


@needs_posix
def test_without_a_standard_input_the_question_of_the_command_line_is_asked(tmp_path: Path) -> None:
    scripted(tmp_path, "Fine.")
    shell = f'exec {sys.executable} -W error -m mm "$@" <&-'
    for arguments, status in (("-p", "Hi"), 0), ((), 2):
        ended = subprocess.run(
            ["sh", "-c", shell, "sh", *arguments], cwd=tmp_path, env=environment(), capture_output=True, check=False
        )
        assert ended.returncode == status, ended.stderr
        assert b"Traceback" not in ended.stderr


@needs_posix
def test_on_a_terminal_nothing_that_a_model_says_commands_it(tmp_path: Path) -> None:
    scripted(tmp_path, "red \x1b[31m and\x07 bell")
    master, slave = os.openpty()
    try:
        with start(tmp_path, "-p", "Hi", stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.DEVNULL) as process:
            assert process.wait(PATIENCE) == 0
        shown = os.read(master, 4096)
    finally:
        os.close(master)
        os.close(slave)
    assert "red ␛[31m and␇ bell".encode() in shown
    assert "\x1b[31m" in run(tmp_path, "-p", "Hi")[1], "a program gets what the model wrote"


@needs_posix
def test_a_reader_that_goes_away_ends_the_turn_and_keeps_what_was_done(tmp_path: Path) -> None:
    scripted(tmp_path, {"stream": ["one\n", {"delay": 0.05}, *(["more\n", {"delay": 0.01}] * 50)]})
    with start(
        tmp_path, "-p", "Hi", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(4) == b"one\n"
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
        assert process.wait(PATIENCE) == 1
    assert record_of(tmp_path)["messages"][2]["contents"][0]["text"].startswith("one\nmore\n")


@needs_posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_question_has_the_status_of_one_and_no_way_back_to_nothing(tmp_path: Path, number: int) -> None:
    scripted(tmp_path, {"hang": True})
    with start(
        tmp_path, "-p", "Hi", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        while not (tmp_path / "requests.jsonl").exists() or not (tmp_path / "requests.jsonl").stat().st_size:
            assert process.poll() is None
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (130, b"", b"")
    assert files(tmp_path) == []


@needs_posix
def test_a_command_that_runs_when_the_question_is_interrupted_is_ended_and_what_is_kept_says_so(tmp_path: Path) -> None:
    scripted(tmp_path, call("run_command", command="echo $$ > made; mv made pid; sleep 600; touch ran"))
    with start(tmp_path, "-p", "Go", "--yes", stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        while not (tmp_path / "pid").exists():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert b"Go on with: mm --resume " in err
    assert is_gone(int((tmp_path / "pid").read_text(encoding="utf-8")))
    record = record_of(tmp_path)
    assert record["messages"][3]["contents"][0]["result"] == "interrupted; may have run"
    assert record["messages"][4]["contents"][0]["text"].startswith("[The turn broke off: it was interrupted.")
    assert record["errors"] == []
    assert not (tmp_path / "ran").exists()


def test_where_sessions_are_off_the_way_back_names_the_key(tmp_path: Path) -> None:
    scripted(tmp_path, "never", more="sessions: {enabled: false}\n")
    status, out, err = run(tmp_path, "--resume", "2026", "-p", "Hi")
    assert (status, out) == (1, "")
    assert (
        err == "Sessions are off in this project: set sessions.enabled to true in agent.yaml to keep and find them.\n"
    )
    assert not (tmp_path / ".mm").exists()


def test_the_way_back_names_the_configuration_that_was_given(tmp_path: Path) -> None:
    scripted(tmp_path, "Fine.")
    (tmp_path / "agent.yaml").rename(tmp_path / "my agent.yaml")
    status, _, err = run(tmp_path, "--config", "my agent.yaml", "-p", "Hi")
    assert (status, err) == (0, f"Go on with: mm --config 'my agent.yaml' --resume {record_of(tmp_path)['id']}\n")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("sessions:\n  enable: true\n", "line 2: there is no key sessions.enable; did you mean sessions.enabled?"),
        ("watchdogTimeout: soon\n", "line 1: watchdogTimeout must be a duration up to 24 hours, such as 90s, 2m or"),
        ("tools: all\n", "line 1: tools must be a list, of read_file,"),
        ("name: {\n", "line 2: it is not YAML: "),
    ],
)
def test_a_mistake_in_agent_yaml_is_one_line_and_starts_nothing(tmp_path: Path, text: str, line: str) -> None:
    (tmp_path / "agent.yaml").write_text(text, encoding="utf-8")
    status, out, err = run(tmp_path, "-p", "Hi")
    assert (status, out) == (1, "")
    assert f"{tmp_path / 'agent.yaml'}, {line}" in err
    assert err.count("\n") == 1
    assert not (tmp_path / ".mm").exists()


@pytest.mark.parametrize(("keys", "has"), [("", False), ("command: true", False), ("tool: true", True)])
def test_the_model_may_search_earlier_conversations_only_where_that_key_is_on(
    tmp_path: Path, keys: str, has: bool
) -> None:
    scripted(tmp_path, "Fine.", more=f"memory: {{{keys}}}\n")
    run(tmp_path, "-p", "Hi")
    assert ("search_memory" in requests(tmp_path)[0]["options"]["tools"]) is has


def test_an_option_that_there_is_not_is_a_usage_error(tmp_path: Path) -> None:
    assert run(tmp_path, "--no-such-option")[0] == 2


def test_the_watchdog_ends_a_silent_question_with_a_line_that_names_its_key(tmp_path: Path) -> None:
    scripted(tmp_path, {"hang": True}, more="watchdogTimeout: 0.2\n")
    status, _, err = run(tmp_path, "-p", "Hi")
    assert status == 1
    assert err.startswith("Error: The question got no answer: the model was silent for 0.2 s (watchdogTimeout).")
    assert record_of(tmp_path)["errors"][0]["kind"] == "generation"


def test_it_compacts_by_itself_at_the_threshold_and_says_so(tmp_path: Path) -> None:
    scripted(tmp_path, "long " * 1_000)
    run(tmp_path, "-p", "First")
    more = "compaction: {threshold: 0.5, contextSize: 2000, keepTurns: 0, keepOriginal: true}\n"
    scripted(tmp_path, "They said long.", "Second answer.", more=more)
    session = record_of(tmp_path)["id"]
    status, out, err = run(tmp_path, "--resume", session, "-p", "Second")
    assert (status, out) == (0, "Second answer.\n")
    assert "The conversation was compacted: 2 messages became 2." in err
    kept = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in files(tmp_path)}
    original = next(record for name, record in kept.items() if name != session)
    assert original["continued_in"] == session
    assert kept[session]["title"] == original["title"] == "First"
    assert len(kept[session]["messages"]) == 5
