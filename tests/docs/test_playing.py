"""The player itself: a wrong page is shown and repaired, a right one is left alone, and nothing waits for ever."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from .masking import masked, settled
from .page import PageFailure
from .terminal_page import difference, play

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a page is played in a POSIX pseudo-terminal with sh")

RIGHT = """\
# A page

```console
$ export MAF_STATE_ROOT="$HOME/trial é"
$ demo130
demo130: Session Persistence. A context survives, the dialogue does not.
  chat          offline: not a model; it quotes what this program hands it.
  conversation  new: it lives in this process only and is never written
  context       none yet
  state root    /home/you/trial é
Type help for the commands; any other line is a question.
demo130> setctx module=Comptabilité 会計
Context replaced; an empty session starts.
  conversation  unchanged  empty
  snapshot      unchanged  none
  context       changed    none -> 22 characters
demo130> showctx
context: module=Comptabilité 会計
```

Some prose. <!-- a comment -->

```text
$ this is not played
```

<!-- the window is closed -->

   ```console
   $ echo "root: $MAF_STATE_ROOT"
   root:
   $ grep -c Comptabilité "$HOME/trial é/demo130/agent-state.json"
   1
   $ echo 2026-01-02T03:04:05Z
   2020-12-31T23:59:59Z
   ```
"""


def test_a_page_that_is_right_comes_back_to_the_byte(tmp_path: Path) -> None:
    assert play(RIGHT, tmp_path) == RIGHT


def test_a_wrong_line_is_shown_as_a_difference_and_repaired_and_nothing_else_changes(tmp_path: Path) -> None:
    wrong = RIGHT.replace("context: module=Comptabilité 会計", "context: (none)")
    played = play(wrong, tmp_path)
    assert played == RIGHT
    found = difference("page.md", wrong, played).split("\n")
    assert [line for line in found if line[0] in "+-"] == [
        "--- page.md (the page)",
        "+++ page.md (the terminal)",
        "-context: (none)",
        "+context: module=Comptabilité 会計",
    ]


@pytest.mark.parametrize(
    ("missing", "instead"),
    [
        ("  snapshot      unchanged  none\n", ""),
        ("   1\n", ""),
        ("   root:\n", "   root:\n   a line too many\n"),
        ("demo130> showctx\n", "demo130> showctx\na line too many\n\n"),
    ],
)
def test_missing_lines_and_lines_too_many_are_repaired(tmp_path: Path, missing: str, instead: str) -> None:
    wrong = RIGHT.replace(missing, instead)
    assert wrong != RIGHT
    assert play(wrong, tmp_path) == RIGHT


def test_the_closed_window_ends_the_program_and_the_new_terminal_starts_without_its_variables(tmp_path: Path) -> None:
    page = """\
```console
$ export KEPT=yes MAF_STATE_ROOT="$HOME/r"
$ demo140 --reset-state 2>/dev/null
demo140> hello
```
<!-- the window is closed -->
```console
$ echo "kept: $KEPT"
$ test -s "$HOME/r/demo140/session.json" && echo saved
```
"""
    played = play(page, tmp_path)
    assert '\n$ echo "kept: $KEPT"\nkept:\n$ test' in played
    assert played.endswith("echo saved\nsaved\n```\n")


def test_two_terminals_take_turns(tmp_path: Path) -> None:
    page = """\
```console
$ name=first
```
<!-- terminal 2 -->
```console
$ echo "[$name]"
[]
$ name=second
```
<!-- terminal 1 -->
```console
$ echo "[$name]"
[first]
```
<!-- terminal 2 -->
```console
$ echo "[$name]"
[second]
```
"""
    assert play(page, tmp_path) == page


def _failure(page: str, folder: Path) -> str:
    with pytest.raises(PageFailure) as caught:
        play(page, folder, seconds=1.0)
    return str(caught.value)


def test_a_prompt_that_no_page_knows_ends_in_a_clear_failure_within_the_bound(tmp_path: Path) -> None:
    started = time.monotonic()
    failure = _failure("```console\n$ printf 'name? '; read answer\n```\n", tmp_path)
    assert failure == (
        "line 2: After «$ printf 'name? '; read answer» no prompt came within 1 s; "
        "the terminal ends with \"printf 'name? '; read answer\\r\\nname? \""
    )
    assert time.monotonic() - started < 20


def test_a_quote_left_open_is_named(tmp_path: Path) -> None:
    assert "waits for the rest of a command" in _failure("Text\n\n```console\n$ echo 'a\n```\n", tmp_path)


def test_a_shell_that_ends_is_named(tmp_path: Path) -> None:
    assert "the shell ended" in _failure("```console\n$ exit\n```\n", tmp_path)


def test_a_line_typed_at_another_prompt_than_the_terminals_is_not_sent(tmp_path: Path) -> None:
    failure = _failure('```console\n$ true\ndemo130> touch "$HOME/sent"\n```\n', tmp_path)
    assert failure.startswith('line 3: the page types «touch "$HOME/sent"» at «demo130> »')
    assert not (tmp_path / "home" / "sent").exists()


def test_a_block_that_starts_with_output_is_refused(tmp_path: Path) -> None:
    assert _failure("```console\nhello\n```\n", tmp_path).startswith(
        "line 2: a console block starts with what is typed"
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("saved 2026-11-30T18:03:39Z", "saved 2027-01-01T00:00:00Z"),
        ('"lineage": "a91b57d1",', '"lineage": "00000000",'),
        ("revision 2 of lineage a91b57d1, saved", "revision 2 of lineage 00000000, saved"),
        ("left .session.json.0123456789abcdef.tmp", "left .session.json.fedcba9876543210.tmp"),
        ("4 messages, agent-framework-core 1.23.0", "4 messages, agent-framework-core 1.24.1"),
    ],
)
def test_what_varies_is_masked_and_the_pages_line_stays(one: str, other: str) -> None:
    assert masked(one) == masked(other)
    assert settled([one], [other]) == [one]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("revision 2 of lineage a91b57d1", "revision 3 of lineage a91b57d1"),
        ("1,219 bytes, version 1", "1,220 bytes, version 1"),
        ("exit status: 1", "exit status: 0"),
    ],
)
def test_what_does_not_vary_is_not_masked(one: str, other: str) -> None:
    assert settled([one], [other]) == [other]
