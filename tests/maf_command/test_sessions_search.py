"""«maf-memory sessions search» finds a conversation by any of its words, and says how to open it."""

from __future__ import annotations

import io
import json
import threading
from pathlib import Path

import pytest

from maf_command.sessions.progress import PATIENCE, Bar
from tests.consoles import needs_posix
from tests.maf_command.session_runs import CONTINUED, LOGS, ORDERS, damage, file_of, on_terminal, sessions, told


def test_a_question_comes_with_its_answer_its_session_its_date_and_the_command_that_opens_it(project: Path) -> None:
    run = sessions("search", "FORMAT", "logs", cwd=project)
    assert (run.status, run.err) == (0, "")
    assert run.out.startswith(
        f"{LOGS}  Quel format pour les logs ? · 2026-09-16 10:21+02:00\n"
        "  question, message 2:\n"
        "    Quel format pour les logs ?\n"
        "  the answer to it:\n"
        "    log/slog, en JSON : une ligne par événement, que jq sait lire.\n"
        f"  open: maf-memory sessions show {LOGS}\n"
    )


def test_alternatives_find_what_one_language_does_not(project: Path) -> None:
    none = sessions("search", "base de données", cwd=project)
    assert none.status == 1
    assert none.out == (
        f"Nothing found in what was said in 4 sessions of {project / '.mm' / 'sessions'}; errors and set titles are "
        "not searched. Try other words for the same thing, and the other language: "
        "'base de données | database | storage'.\n"
    )
    found = sessions("search", "base de données | database | PostgreSQL", cwd=project)
    assert found.status == 0
    assert found.out.count("open: maf-memory sessions show") == 2
    assert found.err == "Too short to count beside longer words: de.\n"


def test_what_a_program_wrote_is_called_so(project: Path) -> None:
    out = sessions("search", "pg_dump", cwd=project).out
    assert f"{CONTINUED}  " in out
    assert "  summary of a program, message 1:\n" in out


def test_the_command_that_opens_a_hit_names_the_place_it_was_found_in(project: Path, tmp_path: Path) -> None:
    out = sessions("search", "slog", "--project", project.name, cwd=tmp_path).out
    assert f"  open: maf-memory sessions show {LOGS} --project 'the shöp'\n" in out


def test_a_limit_is_kept_and_said(project: Path) -> None:
    run = sessions("search", "orders", "--limit", "1", cwd=project)
    assert run.out.count("open: ") == 1
    assert run.err.endswith(" messages; --limit N shows more.\n")


def test_a_damaged_session_is_named_as_not_searched(project: Path) -> None:
    damage(file_of(project, ORDERS), lambda content: content[:-100])
    run = sessions("search", "slog", cwd=project)
    assert run.status == 0
    assert run.err.startswith(f"Not searched: {ORDERS}, ")
    assert [one["id"] for one in told("search", "slog", cwd=project)["unread"]] == [ORDERS]


def test_json_says_which_message_of_which_session_holds_which_words(project: Path) -> None:
    report = told("search", "format | logs", cwd=project)
    assert (report["searched"], report["ignored"]) == (4, [])
    hit = report["hits"][0]
    assert (hit["id"], hit["message"], hit["role"], hit["words"]) == (LOGS, 2, "user", ["format", "logs"])
    assert hit["answer"].startswith("log/slog")
    assert told("search", "nowhere", cwd=project)["hits"] == []


def test_a_search_without_a_word_is_a_usage_error(project: Path) -> None:
    for words in ([], ["|"], ["…", "?"], ["--limit", "0", "x"]):
        run = sessions("search", *words, cwd=project)
        assert (run.status, run.out) == (2, "")


def test_a_word_that_begins_with_a_dash_goes_behind_two(project: Path) -> None:
    assert sessions("search", "--", "--nowhere", cwd=project).status == 1


def test_in_a_folder_without_sessions_nothing_is_found_and_nothing_created(tmp_path: Path) -> None:
    run = sessions("search", "word", cwd=tmp_path)
    assert run.status == 1
    assert "Nothing found in what was said in 0 sessions of " in run.out
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_searched_is_said_by_the_help_and_by_a_search_that_finds_nothing(project: Path) -> None:
    page = " ".join(sessions("search", "--help", cwd=project, COLUMNS="80").out.split())
    assert "Not searched: titles that a program set, recorded errors, the model's reasoning, system prompts" in page
    run = sessions("search", "refused", cwd=project)  # the word of a recorded error
    assert run.status == 1
    assert "; errors and set titles are not searched. " in run.out


@needs_posix
@pytest.mark.parametrize("columns", [60, 120])
def test_on_a_narrow_terminal_a_result_breaks_at_words(project: Path, columns: int) -> None:
    status, shown = on_terminal("search", "slog", cwd=project, columns=columns)
    assert status == 0
    assert max(map(len, shown.splitlines())) <= columns


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_bar_is_shown_only_on_a_terminal_and_only_when_the_work_takes_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for name, value in (("TERM", "xterm"), ("COLUMNS", "60")):
        monkeypatch.setenv(name, value)
    shown: dict[tuple[bool, float], str] = {}
    for visible in (True, False):
        for seconds in (PATIENCE / 2, PATIENCE * 2):
            screen, clock = Terminal(), Clock()
            monkeypatch.setattr("sys.stderr", screen)
            with Bar("Searching", visible=visible, clock=clock) as bar:
                clock.now = seconds
                worker = threading.Thread(target=lambda bar=bar: [bar(done, 1000) for done in range(1000)])
                worker.start()
                worker.join()
            shown[visible, seconds] = screen.getvalue()
    assert "Searching" in shown.pop((True, PATIENCE * 2))
    assert set(shown.values()) == {""}


def test_no_bar_reaches_a_pipe(project: Path) -> None:
    for number in range(300):
        name = f"20260101-000000-{number:08x}"
        text = file_of(project, LOGS).read_text(encoding="utf-8").replace(LOGS, name)
        file_of(project, name).write_text(text, encoding="utf-8")
    run = sessions("search", "slog", "--json", cwd=project)
    assert json.loads(run.out)["searched"] == 304
    assert run.err == ""
