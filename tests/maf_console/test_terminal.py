"""A console on a pseudo-terminal, as a person sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.consoles import PROGRAMS, needs_posix
from tests.scripted_model import Script
from tests.terminals import Terminal

pytestmark = needs_posix


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_terminal_shows_the_banner_then_a_prompt_for_each_line(program: str) -> None:
    with Terminal(program) as terminal:
        banner = terminal.until(terminal.prompt)
        assert banner.startswith(f"{program}: ")
        assert "chat          offline: not a model;" in banner
        assert "Type help for the commands; any other line is a question." in banner
        assert "Commands (each is a whole line):" in terminal.says("help")
        assert "The line" not in terminal.says("")
        terminal.press("quit\n")
        assert terminal.ends() == (0, "quit\n")


def test_hints_and_failures_do_not_change_the_exit_status_on_a_terminal(tmp_path: Path) -> None:
    with Terminal("demo130", Script.of(tmp_path, {"error": "no"}).option) as terminal:
        terminal.until(terminal.prompt)
        assert "usage: setctx TEXT" in terminal.says("setctx")
        assert "error: The question got no answer: no." in terminal.says("one?")
        terminal.press("quit\n")
        assert terminal.ends()[0] == 0


def test_an_error_is_red_on_a_terminal_and_begins_with_the_word_error(tmp_path: Path) -> None:
    script = Script.of(tmp_path, {"error": "no \x1b[32mgreen"}, "a2")
    with Terminal("demo130", script.option, TERM="xterm-256color") as terminal:
        terminal.until(terminal.prompt)
        shown = terminal.says("one?")
        assert "\x1b[31merror: The question got no answer: no \u241b[32mgreen. " in shown
        assert shown.count("\x1b[31m") == shown.count("\x1b[0m") == 1
        assert "\x1b" not in terminal.says("two?").replace("\x1b[?2004", "")


def test_no_color_leaves_no_escape_code_on_a_terminal(tmp_path: Path) -> None:
    script = Script.of(tmp_path, {"error": "no"})
    with Terminal("demo130", script.option, TERM="xterm-256color", NO_COLOR="1") as terminal:
        terminal.until(terminal.prompt)
        assert terminal.says("one?").startswith("error: The question got no answer: no.")


def test_nothing_that_is_data_drives_the_terminal(tmp_path: Path, state_root: Path) -> None:
    (state_root / "demo130").mkdir(parents=True)
    state_root.chmod(0o700)
    (state_root / "demo130" / "agent-state.json").write_text(
        '{"version": 1, "entries": {"context": "a\\u001b[2J\\u009b31m\\u0007"}}', encoding="utf-8"
    )
    (state_root / "\x1b[31m.txt").touch()
    script = Script.of(tmp_path, {"stream": ["answer \x1b", "]0;title\x07"]})
    with Terminal("demo130", script.option) as terminal:
        shown = terminal.until(terminal.prompt)
        shown += terminal.says("showctx") + terminal.says("one?") + terminal.says("where")
        assert not [letter for letter in shown if letter != "\n" and (ord(letter) < 32 or 127 <= ord(letter) < 160)]
        assert "context: a\u241b[2J\\x9b31m\u2407" in shown
        assert "answer \u241b]0;title\u2407" in shown
        assert "left alone: \u241b[31m.txt" in shown


def test_a_line_of_accents_and_of_4096_characters_is_typed_as_it_is() -> None:
    with Terminal("demo130") as terminal:
        terminal.until(terminal.prompt)
        terminal.press("setctx été 文 \U0001f600\n")
        terminal.until("context       changed    none -> 8 characters\n")
        terminal.until(terminal.prompt)
        assert terminal.says("showctx") == "context: été 文 \U0001f600\n"
        terminal.press("setctx " + "x" * 4096 + "\n")
        terminal.until("context       changed    8 characters -> 4,096 characters\n")


def test_what_was_typed_is_not_kept_in_a_history_file(tmp_path: Path, state_root: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with Terminal("demo130", HOME=str(home)) as terminal:
        terminal.until(terminal.prompt)
        terminal.says("canary is here.")
        assert '"canary is here."' in terminal.says("Where is the canary?")
        terminal.press("quit\n")
        terminal.ends()
    for folder in (home, state_root):
        assert not [path for path in folder.rglob("*") if path.is_file() and b"canary" in path.read_bytes()]
