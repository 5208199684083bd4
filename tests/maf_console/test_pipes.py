"""A pipe in the place of a person: what is read, what is printed where, and the exit status."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.consoles import PATIENCE, PROGRAMS, Run, command, environment, needs_posix, piped
from tests.scripted_model import Script


def shell(line: str, *, stdin: str = "") -> Run:
    """Run a shell line in which {demo130} and {demo140} stand for the consoles."""
    programs = {program: " ".join(f"'{word}'" for word in command(program)) for program in PROGRAMS}
    ended = subprocess.run(
        ["/bin/bash", "-o", "pipefail", "-c", line.format(**programs)],
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        env=environment(),
        timeout=PATIENCE,
        check=False,
    )
    assert "Traceback" not in ended.stderr, ended.stderr
    return Run(ended.returncode, ended.stdout, ended.stderr)


def test_without_echo_a_pipe_shows_no_prompt_no_input_and_no_escape_code() -> None:
    run = piped("demo130", "setctx Paris", "help", "showctx")
    assert run.status == 0
    for text in (run.out, run.err):
        assert "demo130>" not in text
        assert "setctx Paris" not in text
        assert "\x1b" not in text


def test_with_echo_the_output_is_the_transcript_that_a_terminal_would_show(tmp_path: Path) -> None:
    script = Script.of(tmp_path, {"stream": ["in ", "parts"]})
    run = piped("demo140", "  What?  ", "", "load it", "quit", options=[script.option, "--echo"])
    assert run.out == "demo140>   What?  \nin parts\ndemo140> \ndemo140> load it\ndemo140> quit\n"


def test_answers_and_results_go_to_stdout_and_everything_about_the_run_to_stderr(tmp_path: Path) -> None:
    script = Script.of(tmp_path, "an answer", {"error": "no"})
    run = piped("demo140", "one?", "two?", "sav", "load", options=[script.option])
    assert run.out.startswith("an answer\nLoaded: 2 messages.\n  conversation ")
    first, *_, hint = run.err.splitlines()
    assert first == "demo140: Native Session. The conversation survives, in one snapshot."
    assert "(saved: revision 1, 2 messages" in run.err
    assert run.errors == ["error: The question got no answer: no. The conversation is as it was before the question."]
    assert hint.startswith("Did you mean save? Nothing was sent.")


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("lines", [[], ["quit"], ["", "  "], ["help"], ["reset"]], ids=repr)
def test_a_run_in_which_all_went_well_is_exit_0(program: str, lines: list[str]) -> None:
    assert piped(program, *lines).status == 0


@pytest.mark.parametrize(
    ("program", "line"), [("demo130", "setctx"), ("demo130", "forget"), ("demo140", "sav"), ("demo140", "setctx x")]
)
def test_a_line_that_did_nothing_makes_the_exit_status_1_and_the_next_lines_are_done(
    program: str, line: str, tmp_path: Path
) -> None:
    script = Script.of(tmp_path, "never sent")
    run = piped(program, line, "where", options=[script.option])
    assert run.status == 1
    assert "state root" in run.out
    assert script.requests() == []


def test_crlf_a_missing_last_line_end_and_a_byte_order_mark_are_no_part_of_a_line() -> None:
    run = piped("demo130", b"\xef\xbb\xbfsetctx caf\xc3\xa9\r\n", b"showctx\r\n", b"quit")
    assert run.status == 0
    assert run.out.endswith("context: café\n")


def test_bytes_that_are_not_utf_8_become_replacement_characters_and_stop_nothing(tmp_path: Path) -> None:
    script = Script.of(tmp_path, "a1")
    run = piped("demo130", b"setctx caf\xe9\n", b"o\xffne?\n", b"showctx\n", options=[script.option, "--echo"])
    assert (run.status, run.errors) == (0, [])
    assert script.requests()[0][1] == ("user", "o\ufffdne?")
    assert run.out.endswith("context: caf\ufffd\n")


def test_a_line_of_a_megabyte_is_one_question(tmp_path: Path) -> None:
    script = Script.of(tmp_path, "a1")
    line = "word " * 200_000 + "end"
    run = piped("demo140", line, "where", options=[script.option])
    assert run.status == 0
    assert script.requests() == [[("user", line)]]
    assert "found again: 2 messages" in piped("demo140").err


def test_nothing_that_is_data_drives_the_terminal(tmp_path: Path) -> None:
    attack = "\x1b]0;title\x07\x1b[2J\x9b31m\r\x7f\x00"
    script = Script.of(tmp_path, {"stream": ["answer \x1b", "[31m red" + attack]}, {"error": attack})
    run = piped(
        "demo130", f"setctx a{attack}", "showctx", "one?", "two?", f"qit{attack}", options=[script.option, "--echo"]
    )
    for text in (run.out, run.err):
        assert not [
            character
            for character in text
            if (ord(character) < 32 and character != "\n") or 127 <= ord(character) < 160
        ]
    assert "context: a\u241b]0;title\u2407\u241b[2J\\x9b31m" in run.out
    assert "answer \u241b[31m red" in run.out
    assert "error: The question got no answer: \u241b]0;title" in run.err


def test_reset_my_password_is_a_question_and_a_near_miss_is_not_sent(tmp_path: Path) -> None:
    script = Script.of(tmp_path, "a1", "a2")
    piped("demo140", "reset my password", "forgot", "newsesion", "setctx my shop", "forget it", options=[script.option])
    assert [request[-1] for request in script.requests()] == [("user", "reset my password"), ("user", "forget it")]


@needs_posix
def test_a_reader_that_is_gone_ends_the_run_quietly() -> None:
    more_than_a_pipe_holds = "one.\n" + "help\n" * 300
    run = shell("{demo140} | head -1", stdin=more_than_a_pipe_holds)
    assert (run.status, run.out) == (1, "Noted. It is now message 1 of this conversation.\n")
    assert "(saved: revision 1, 2 messages, " in run.err.splitlines()[-1]
    both = shell("{demo140} 2>&1 | head -1", stdin=more_than_a_pipe_holds)
    assert both.status == 1
    assert both.out.startswith("demo140: Native Session.")
    assert both.err == ""


@needs_posix
def test_a_full_output_is_one_line_and_exit_1() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("/dev/full is only on Linux")
    run = shell("printf 'one.\\ntwo.\\n' | {demo140} >/dev/full")
    assert run.status == 1
    assert run.errors == ["error: The output cannot be written: No space left on device. Nothing more was done."]
    assert "found again" not in piped("demo140").err


@needs_posix
@pytest.mark.parametrize(("closed", "status"), [("<&-", 0), (">&-", 0), ("2>&-", 0)])
def test_a_stream_that_was_closed_at_the_start_is_nothing_to_read_or_to_write(closed: str, status: int) -> None:
    given = "" if closed == "<&-" else "printf 'one.\\nsave\\n' | "
    assert shell(f"{given}{{demo140}} {closed}").status == status
    assert ("found again: 2 messages" in piped("demo140").err) == bool(given)


@pytest.mark.parametrize("program", PROGRAMS)
def test_help_is_exit_0_and_says_how_to_choose_who_answers(program: str) -> None:
    run = piped(program, options=["--help"])
    assert (run.status, run.err) == (0, "")
    assert "offline (default), openai, or script:FILE" in run.out
