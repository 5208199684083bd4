"""«maf-memory sessions export» writes one private file, whole or not at all, and never over another by accident."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from maf_command.sessions.private_file import write_private
from maf_memory.errors import SaveFailed
from tests.consoles import environment, needs_posix
from tests.maf_command.session_runs import CONTINUED, LOGS, damage, file_of, on_terminal, sessions, told


@pytest.mark.parametrize(
    ("name", "options", "begins"),
    [
        ("out.html", [], "<!doctype html>"),
        ("out.HTM", [], "<!doctype html>"),
        ("out.md", [], "# Quel format pour les logs ?"),
        ("out.markdown", [], "# Quel format pour les logs ?"),
        ("out.txt", ["--md"], "# Quel format pour les logs ?"),
        ("out.md", ["--html"], "<!doctype html>"),
    ],
)
def test_the_name_decides_the_format_unless_an_option_does(
    project: Path, name: str, options: list[str], begins: str
) -> None:
    run = sessions("export", LOGS, name, *options, cwd=project)
    assert (run.status, run.err) == (0, "")
    content = (project / name).read_bytes()
    assert run.out == f"Written: {name} ({len(content):,} bytes, readable by you alone).\n"
    assert content.decode("utf-8").lower().startswith(begins.lower())


@needs_posix
def test_the_file_is_readable_by_its_owner_alone_whatever_the_umask_says(project: Path) -> None:
    command = f"umask 0; exec {sys.executable} -m maf_command sessions export {LOGS} out.md"
    subprocess.run(["/bin/sh", "-c", command], cwd=project, env=environment(), check=True, capture_output=True)
    assert stat.S_IMODE((project / "out.md").stat().st_mode) == 0o600


def test_a_file_that_is_there_stays_unless_force_is_given(project: Path) -> None:
    (project / "out.md").write_text("mine", encoding="utf-8")
    run = sessions("export", LOGS, "out.md", cwd=project)
    assert (run.status, run.out) == (1, "")
    assert run.err == "error: out.md was not written: it is there already; --force writes over it.\n"
    assert (project / "out.md").read_text(encoding="utf-8") == "mine"

    assert sessions("export", LOGS, "out.md", "--force", cwd=project).status == 0
    assert "log/slog" in (project / "out.md").read_text(encoding="utf-8")
    assert sorted(path.name for path in project.iterdir()) == [".mm", "out.md"]


@needs_posix
def test_not_even_force_writes_over_a_link_a_folder_or_a_device(project: Path, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("kept", encoding="utf-8")
    (project / "link.md").symlink_to(tmp_path / "kept")
    (project / "folder.md").mkdir()
    for name in ("link.md", "folder.md", "/dev/null"):
        run = sessions("export", LOGS, name, "--md", "--force", cwd=project)
        assert run.status == 1
        assert run.err.endswith("it is there already and no regular file.\n")
    assert (tmp_path / "kept").read_text(encoding="utf-8") == "kept"


def test_a_failure_leaves_nothing_behind_and_the_old_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import maf_command.sessions.private_file as module

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "old.md").write_text("old", encoding="utf-8")
    monkeypatch.setattr(module, "flush_file", full)
    for name, force in (("new.md", False), ("old.md", True)):
        with pytest.raises(SaveFailed, match="was not written: No space left on device"):
            write_private(tmp_path / name, b"new", force=force)
    assert [path.name for path in tmp_path.iterdir()] == ["old.md"]
    assert (tmp_path / "old.md").read_text(encoding="utf-8") == "old"


def test_a_file_that_appears_after_the_first_look_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "out.md").write_text("theirs", encoding="utf-8")
    with pytest.raises(SaveFailed, match="it is there already"):
        write_private(tmp_path / "out.md", b"mine", force=False)
    assert (tmp_path / "out.md").read_text(encoding="utf-8") == "theirs"


def test_a_folder_that_is_not_there_is_one_line(project: Path) -> None:
    run = sessions("export", LOGS, "nowhere/out.md", cwd=project)
    assert run.status == 1
    assert run.err == f"error: {Path('nowhere', 'out.md')} was not written: No such file or directory.\n"


def test_a_dash_writes_the_very_same_bytes_to_the_standard_output(project: Path) -> None:
    for options, name in (([], "out.html"), (["--md"], "out.md")):
        sessions("export", LOGS, name, cwd=project)
        run = sessions("export", LOGS, "-", *options, cwd=project)
        assert run.out.encode() == (project / name).read_bytes()


def test_what_cannot_be_meant_is_a_usage_error(project: Path) -> None:
    for arguments in (["out.txt"], ["out"], ["out.md", "--md", "--html"], ["-", "--json"], []):
        assert sessions("export", LOGS, *arguments, cwd=project).status == 2
    assert sorted(path.name for path in project.iterdir()) == [".mm"]


def test_json_says_what_was_written(project: Path) -> None:
    report = told("export", LOGS[:9], "out.md", cwd=project)
    written = project / "out.md"
    assert report == {"id": LOGS, "path": str(written), "format": "md", "bytes": written.stat().st_size}


def test_a_damaged_session_exports_nothing(project: Path) -> None:
    damage(file_of(project, LOGS), lambda content: content[:-2])
    assert sessions("export", LOGS, "out.md", cwd=project).status == 1
    assert not (project / "out.md").exists()


def test_path_prints_the_path_and_nothing_else(project: Path) -> None:
    run = sessions("path", CONTINUED[:8], cwd=project)
    assert (run.status, run.out, run.err) == (0, f"{file_of(project, CONTINUED)}\n", "")
    damage(file_of(project, CONTINUED), lambda content: content[:10])
    assert sessions("path", CONTINUED, cwd=project).out == run.out
    assert told("path", CONTINUED, cwd=project) == {"id": CONTINUED, "path": str(file_of(project, CONTINUED))}


@needs_posix
def test_a_path_stays_one_line_on_a_narrow_terminal_and_drives_nothing(project: Path) -> None:
    folder = project.with_name("a b c \x1b[2J " + "long " * 20)
    project.rename(folder)
    _, shown = on_terminal("path", LOGS, cwd=folder, columns=60)
    assert shown.count("\n") == 1
    assert "\x1b" not in shown
    assert json.loads(sessions("path", LOGS, "--json", cwd=folder).out)["path"] == str(file_of(folder, LOGS))
