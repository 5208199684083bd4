"""``maf-memory qualify`` as a real process: a table or JSON, one line a check, and a status that a script can trust."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from tests.consoles import PATIENCE, Run, environment
from tests.maf_memory.chat import misbehaving
from tests.maf_memory.chat.misbehaving import Behaviour, closed_port, serving

KEY = "sk-a-very-secret-key"


def maf_memory(*arguments: str, **environ: str | None) -> Run:
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-m", "maf_command", *arguments],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        encoding="utf-8",
        env=environment(**environ),
        timeout=PATIENCE,
        check=False,
    )
    assert "Traceback" not in ended.stderr, ended.stderr
    return Run(ended.returncode, ended.stdout, ended.stderr)


def rows(run: Run) -> list[tuple[str, str]]:
    """The check and the outcome of each line of the table."""
    return re.findall(
        r"^(\S.*?) {2,}(passed|FAILED|yes|no|not listed|not tried) +\d+\.\d s  \S.*$", run.out, re.MULTILINE
    )


def test_a_good_endpoint_gets_a_table_and_status_0() -> None:
    with serving() as server:
        run = maf_memory("qualify", **server.settings(OPENAI_API_KEY=KEY))
    assert run.status == 0
    assert rows(run) == [
        ("reachable", "passed"),
        ("model listed", "yes"),
        ("stream", "passed"),
        ("recall", "passed"),
        ("context", "passed"),
        ("tools", "yes"),
        ("two user messages", "yes"),
    ]
    lines = run.out.splitlines()
    assert len(lines) == 10  # a heading, a line a check, an empty line, the verdict
    assert lines[-1] == "Qualified: the demos work with this model."
    column = lines[0].index("detail")
    assert all(line[column - 2 : column] == "  " and line[column] != " " for line in lines[1:8])
    assert run.err == (
        f"Testing small at {server.base_url}\nAn endpoint that is silent for 120 s fails; no request is repeated.\n\n"
    )
    assert KEY not in run.out + run.err


def test_options_take_the_place_of_the_environment() -> None:
    with serving() as server:
        settings = server.settings(OPENAI_BASE_URL="http://127.0.0.1:1/v1", OPENAI_CHAT_COMPLETION_MODEL="other")
        run = maf_memory("qualify", "--base-url", server.base_url, "--model", "small", **settings)
        asked_for = {request["model"] for request in server.requests}
    assert run.status == 0
    assert asked_for == {"small"}


def test_json_is_one_object_with_a_finding_a_check() -> None:
    with serving(misbehaving.forgets) as server:
        run = maf_memory("qualify", "--json", **server.settings(OPENAI_API_KEY=KEY))
    assert run.status == 1
    assert run.err == ""
    report = json.loads(run.out)
    assert (report["endpoint"], report["model"], report["qualified"]) == (server.base_url, "small", False)
    outcomes = {check["check"]: (check["outcome"], check["required"]) for check in report["checks"]}
    assert outcomes["recall"] == ("FAILED", True)
    assert outcomes["tools"] == ("no", False)
    assert set(report["checks"][0]) == {"check", "outcome", "required", "seconds", "detail"}
    assert KEY not in run.out


FAILURES: list[tuple[Behaviour, str]] = [
    (misbehaving.unauthorised, "does not accept the key (401); check OPENAI_API_KEY"),
    (misbehaving.hangs, "was silent for 2 s"),
    (misbehaving.cuts_unmarked_stream, "broke the answer off"),
    (misbehaving.error_in_stream, "reported an error in its answer: out of memory for Bearer [the key]"),
]


@pytest.mark.parametrize(("behaviour", "detail"), FAILURES, ids=lambda value: getattr(value, "__name__", ""))
def test_an_endpoint_that_gives_no_answer_ends_with_status_1_and_shows_no_key(
    behaviour: Behaviour, detail: str
) -> None:
    with serving(behaviour) as server:
        run = maf_memory("qualify", **server.settings(OPENAI_API_KEY=KEY, MAF_CHAT_TIMEOUT="2"))
    assert run.status == 1
    assert ("stream", "FAILED") in rows(run)
    assert detail in run.out
    assert run.out.endswith("\nNot qualified: the demos need what failed (stream).\n")
    assert KEY not in run.out + run.err


def test_nobody_on_the_port_fails_the_first_check() -> None:
    url = f"http://127.0.0.1:{closed_port()}/v1"
    run = maf_memory("qualify", "--base-url", url, "--model", "small", NO_PROXY="127.0.0.1")
    assert run.status == 1
    assert rows(run)[0] == ("reachable", "FAILED")
    assert f"the endpoint {url} refused the connection; check that the server runs" in run.out


def test_a_missing_setting_is_one_line() -> None:
    run = maf_memory("qualify", "--base-url", "http://127.0.0.1:1/v1")
    assert (run.status, run.out) == (1, "")
    assert run.err == ("error: qualify needs the name of a model: give --model, or set OPENAI_CHAT_COMPLETION_MODEL.\n")
    run = maf_memory("qualify", "--base-url", "nonsense", "--model", "small")
    assert (run.status, run.out) == (1, "")
    assert run.err == "error: OPENAI_BASE_URL is not an address such as http://127.0.0.1:8080/v1; set it again.\n"


def test_a_missing_package_is_one_line() -> None:
    program = (
        "import sys\n"
        "sys.modules['httpx2'] = sys.modules['openai'] = None\n"
        "from maf_command.__main__ import main\n"
        "sys.exit(main())"
    )
    ended = subprocess.run(
        [
            sys.executable,
            "-W",
            "error",
            "-c",
            program,
            "qualify",
            "--base-url",
            "http://127.0.0.1:1/v1",
            "--model",
            "m",
        ],
        capture_output=True,
        encoding="utf-8",
        env=environment(),
        timeout=PATIENCE,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == (
        "error: --chat openai needs the package agent-framework-openai. "
        "In the project's folder: pip install '.[openai]'."
    )


def test_a_wrong_option_is_a_usage_error() -> None:
    run = maf_memory("qualify", "--nope")
    assert run.status == 2
    assert "No such option: --nope" in run.err


def test_help_gives_an_example_before_the_options() -> None:
    for arguments in (["--help"], ["qualify", "--help"]):
        run = maf_memory(*arguments)
        assert run.status == 0
        assert 0 < run.out.index("Example:") < run.out.index("Options:")


def test_help_loads_neither_the_framework_nor_a_network_client() -> None:
    program = (
        "import sys; sys.argv = ['maf-memory', 'qualify', '--help']\n"
        "from maf_command.__main__ import main\n"
        "try:\n    main()\n"
        "except SystemExit:\n    pass\n"
        "print(sorted(m for m in ('agent_framework', 'openai', 'httpx2') if m in sys.modules))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        encoding="utf-8",
        env=environment(),
        timeout=PATIENCE,
        check=True,
    )
    assert ended.stdout.splitlines()[-1] == "[]"
