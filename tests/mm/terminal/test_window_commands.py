"""The commands of the window that look at things."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from mm.config import Config
from mm.terminal.registry import commands
from tests.consoles import needs_posix, piped
from tests.mm.brain import files
from tests.mm.terminal.windows import ENTER, UP, Window, conversations, last_question, recorded, requests, scripted

pytestmark = needs_posix


def test_an_unknown_word_names_the_nearest_and_a_path_is_a_question(tmp_path: Path) -> None:
    scripted(tmp_path, "A path.", "A folder.")
    with Window(tmp_path) as window:
        window.ask("/sesions")
        assert "Error: There is no command /sesions. Did you mean /sessions?" in window.seen
        window.ask("/new now")
        assert "Error: /new takes nothing after it." in window.seen
        window.ask("/memory words")
        assert "Error: /memory is off in this project: set memory.command to true" in window.seen
        assert requests(tmp_path) == []
        window.ask("/tmp/x is full")
        assert last_question(tmp_path) == "/tmp/x is full"
        window.ask("/tmp is full")
        assert last_question(tmp_path) == "/tmp is full"


async def test_memory_finds_earlier_conversations_where_its_key_is_on(tmp_path: Path) -> None:
    (only,) = await conversations(tmp_path, "Quel format pour les logs ?")
    scripted(tmp_path, more="memory: {command: true}\n")
    with Window(tmp_path) as window:
        window.ask("/memory format logs")
        assert window.said(f"/resume {only})")
        assert "answered: answer to Quel format" in window.seen
        window.ask("/memory |")
        assert "Error: Nothing was searched" in window.seen


def test_export_writes_a_private_page_and_never_over_a_file(tmp_path: Path) -> None:
    scripted(tmp_path, "One.")
    with Window(tmp_path) as window:
        window.ask("/export")
        assert "Error: There is nothing to export yet." in window.seen
        window.ask("Hi <b>")
        window.ask("/export page.html")
        assert window.said("readable by you alone")
        window.ask("/export page.html")
        assert window.said("it is there already")
        window.ask("/export said.md")
        window.ask("/export")
    page = tmp_path / "page.html"
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert "Hi &lt;b&gt;" in page.read_text(encoding="utf-8")
    assert "Hi" in (tmp_path / "said.md").read_text(encoding="utf-8")
    assert (tmp_path / f"{files(tmp_path)[0].stem}.html").exists()


def test_where_names_the_files_and_their_sizes(tmp_path: Path) -> None:
    scripted(tmp_path, "One.")
    with Window(tmp_path, columns=300) as window:
        window.ask("/where")
        assert "(not written yet)" in window.seen
        window.ask("Hi")
        window.ask("/where")
        (file,) = files(tmp_path)
        assert f"{file} ({file.stat().st_size:,} bytes)" in window.seen
        assert f"{file.parent} (1 file, {file.stat().st_size:,} bytes)" in window.seen


def test_help_has_each_command_with_its_docstring_and_quit_leaves(tmp_path: Path) -> None:
    scripted(tmp_path)
    with Window(tmp_path, columns=140, rows=50) as window:
        window.ask("/help")
        for name, one in commands(Config()).items():
            assert one.help == (one.run.__doc__ or "").partition("\n")[0]
            assert one.help.endswith(".")
            assert any(line.startswith(name) and line.endswith(one.help) for line in window.lines), name
        assert "/memory" not in window.seen, "it exists only with its key"
        window.press(f"/quit{ENTER}")
        assert window.ends() == 0


@pytest.mark.parametrize("columns", [36, 60, 80])
def test_help_breaks_no_word_on_a_narrow_terminal(tmp_path: Path, columns: int) -> None:
    scripted(tmp_path, more="memory: {command: true}\n")
    with Window(tmp_path, columns=columns, rows=30) as window:
        window.ask("/help")
        words = " ".join(window.everything.split())
        for one in commands(Config(memory_command=True)).values():
            assert f"{one.usage} {one.help}" in words


def test_export_is_the_page_that_maf_memory_writes(tmp_path: Path) -> None:
    scripted(tmp_path, "One.")
    with Window(tmp_path, columns=200) as window:
        window.ask("Hi")
        (file,) = files(tmp_path)
        window.ask("/export")
        assert f"Written: {tmp_path / file.stem}.html (" in window.seen
        window.ask("/export said.md")
        window.ask("/export no/such/folder.html")
        assert f"Error: {tmp_path / 'no/such/folder.html'} was not written: " in window.seen
    for name in (f"{file.stem}.html", "said.md"):
        told = piped("maf_command", options=("sessions", "export", file.stem, f"theirs-{name}"), cwd=tmp_path)
        assert told.status == 0, told.err
        assert (tmp_path / name).read_bytes() == (tmp_path / f"theirs-{name}").read_bytes()
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_errors_lists_when_what_and_why(tmp_path: Path) -> None:
    scripted(tmp_path, "One.", {"error": "the server is gone"})
    with Window(tmp_path) as window:
        window.ask("/errors")
        assert "No error is recorded in this conversation." in window.seen
        window.ask("Hi")
        window.ask("And?")
        window.ask("/errors")
        (error,) = recorded(files(tmp_path)[0])["errors"]
        time = error["time"][:16].replace("T", " ")
        told = window.seen.split("> /errors\n")[-1]
    assert told.startswith(f"{time} · generation · after 1 turn\n  {error['line']}\n  asked: And?\n  model: scripted\n")


def test_tools_lists_what_the_model_may_use_under_this_configuration(tmp_path: Path) -> None:
    scripted(tmp_path, more="tools: [read_file]\nmemory: {tool: true}\n")
    with Window(tmp_path) as window:
        window.ask("/tools")
        names = [line.split()[0] for line in window.seen.split("> /tools\n")[1].split("\n")[:2]]
        assert names == ["read_file", "search_memory"]
    scripted(tmp_path, more="tools: []\n")
    with Window(tmp_path) as window:
        window.ask("/tools")
        assert "No tool: agent.yaml names none." in window.seen


def test_a_command_is_not_sent_to_the_model_and_is_not_recorded(tmp_path: Path) -> None:
    scripted(tmp_path, "One.", more="memory: {command: true}\n")
    with Window(tmp_path) as window:
        window.ask("Hi")
        (file,) = files(tmp_path)
        before = file.read_bytes()
        for line in ("/help", "/where", "/tools", "/model", "/errors", "/calls", "/memory Hi", "/nonsense", "/compact"):
            window.ask(line)
        assert file.read_bytes() == before
        window.press(UP)
        window.prompt("> Hi")
    assert len(requests(tmp_path)) == 1
