"""The state root as a person can get it wrong, and the paths that are right although they look odd."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.consoles import PROGRAMS, Run, needs_posix, piped, unprivileged


def refused(program: str, root: str, **more: object) -> Run:
    """Run on an unusable root, and check that it is one line before anything else."""
    run = piped(program, "a question", MAF_STATE_ROOT=root, **more)  # type: ignore[arg-type]
    assert (run.status, run.out) == (1, "")
    assert run.err.splitlines() == run.errors
    assert len(run.errors) == 1
    return run


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_relative_root_is_refused_with_the_absolute_path_it_would_have_been(program: str, tmp_path: Path) -> None:
    run = refused(program, "my state", cwd=tmp_path)
    assert "'my state' is relative" in run.errors[0]
    assert str(tmp_path / "my state") in run.errors[0]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("root", ["", "   "])
def test_an_empty_root_is_refused(root: str) -> None:
    assert "MAF_STATE_ROOT is set but empty" in refused("demo130", root).errors[0]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_root_that_is_a_file_is_refused_and_left_alone(program: str, tmp_path: Path) -> None:
    root = tmp_path / "file"
    root.write_text("mine", encoding="utf-8")
    assert f"The state root {root} is a file, not a folder" in refused(program, str(root)).errors[0]
    assert root.read_text(encoding="utf-8") == "mine"


def test_a_root_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused("demo140", str(tmp_path / "file" / "root"))


@needs_posix
def test_a_root_that_cannot_be_written_or_created_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "closed"
    root.mkdir(mode=0o500)
    assert "is not writable" in refused("demo140", str(root), before=unprivileged()).errors[0]
    assert "cannot be created" in refused("demo130", str(root / "inner"), before=unprivileged()).errors[0]
    assert list(root.iterdir()) == []


@needs_posix
def test_a_root_that_every_user_can_write_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "open"
    root.mkdir()
    root.chmod(0o777)
    assert "can be written by every user" in refused("demo130", str(root)).errors[0]


def test_a_missing_root_is_created_and_so_is_everything_above_it(tmp_path: Path) -> None:
    root = tmp_path / "not" / "yet" / "there"
    assert piped("demo130", MAF_STATE_ROOT=str(root)).status == 0
    assert (root / "demo130" / "agent-state.json").is_file()


@needs_posix
def test_folders_and_files_are_private_whatever_the_umask(state_root: Path) -> None:
    before = os.umask(0o000)
    try:
        piped("demo130", "setctx Paris")
        piped("demo140", "one.")
    finally:
        os.umask(before)
    for path in [state_root, *state_root.rglob("*")]:
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


@needs_posix
def test_without_the_variable_the_platforms_state_folder_is_used(tmp_path: Path) -> None:
    run = piped("demo130", MAF_STATE_ROOT=None, HOME=str(tmp_path), XDG_STATE_HOME=None)
    assert run.status == 0
    shown = run.err.split("state root    ")[1].splitlines()[0]
    assert shown.endswith(" (the default: MAF_STATE_ROOT is not set)")
    root = Path(shown.removesuffix(" (the default: MAF_STATE_ROOT is not set)"))
    assert root.is_relative_to(tmp_path)
    assert (root / "demo130" / "agent-state.json").is_file()


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_path_with_spaces_accents_and_quotes_is_a_path(program: str, tmp_path: Path) -> None:
    root = tmp_path / "l'état «de» Zoë 文"
    run = piped(program, "where", "reset", MAF_STATE_ROOT=str(root))
    assert (run.status, run.errors) == (0, [])
    assert f"state root    {root}\n" in run.out


@needs_posix
def test_terminal_escapes_in_file_names_are_made_visible(tmp_path: Path) -> None:
    root = tmp_path / "root\x1b[2J"
    root.mkdir(mode=0o700)
    (root / "\x1b]0;title\x07").touch()
    run = piped("demo130", "where", MAF_STATE_ROOT=str(root))
    assert "left alone: \u241b]0;title\u2407" in run.out
    assert "\x1b" not in run.out + run.err


def test_files_of_another_program_are_named_by_where_and_left_alone(state_root: Path) -> None:
    (state_root / "demo140").mkdir(parents=True, mode=0o700)
    state_root.chmod(0o700)
    foreign = [state_root / "notes.db", state_root / "demo140" / "session.json.old", state_root / "demo140" / ".hidden"]
    for path in foreign:
        path.write_text(f"this is {path.name}", encoding="utf-8")
    run = piped("demo140", "one.", "where", "forget", options=["--reset-state"])
    named = [line.split("left alone: ")[1] for line in run.out.splitlines() if "left alone: " in line]
    assert named == [str(path.relative_to(state_root)) for path in sorted(foreign[1:])] + ["notes.db"]
    piped("demo130", "setctx x", "reset", options=["--reset-state"])
    for path in foreign:
        assert path.read_text(encoding="utf-8") == f"this is {path.name}"


@needs_posix
def test_the_rest_of_a_killed_save_is_swept_at_the_next_start_and_nothing_else(state_root: Path) -> None:
    piped("demo140", "one.")
    rest = state_root / "demo140" / ".session.json.0123456789abcdef.tmp"
    rest.write_text("half", encoding="utf-8")
    near = state_root / "demo140" / "session.json.tmp"
    near.write_text("not ours", encoding="utf-8")
    assert "found again: 2 messages" in piped("demo140").err
    assert (rest.exists(), near.exists()) == (False, True)


@needs_posix
def test_a_folder_of_the_root_that_is_closed_to_this_user_is_refused_in_one_line_and_told_by_where(
    state_root: Path,
) -> None:
    piped("demo130", "setctx Paris")
    closed = state_root / "demo130"
    closed.chmod(0o000)
    try:
        own = piped("demo130", "one?", before=unprivileged())
        other = piped("demo140", "where", "forget", before=unprivileged())
    finally:
        closed.chmod(0o700)
    assert (own.status, own.out, len(own.errors)) == (1, "", 1)
    assert f"{closed / 'agent-state.json'} is refused: " in own.errors[0]
    assert (other.status, other.errors) == (0, [])
    assert f"context       {closed / 'agent-state.json'}\n                refused: " in other.out
