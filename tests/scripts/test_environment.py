"""Set-up in real processes: made once, then found again; whatever is broken is made again or named."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from .conftest import SampleProject, make_venv, pretend_installed

FIRST = "Setting up .venv (first run only; needs a package index)…"
AGAIN = "Installing into .venv (needs a package index)…"


def shown(stdout: str) -> list[dict]:
    """What the stand-ins for the tools printed about their calls."""
    return [json.loads(line) for line in stdout.splitlines() if line.startswith("{")]


def same(one: str | Path, other: str | Path) -> bool:
    """Whether two paths name one place."""
    return Path(one).resolve() == Path(other).resolve()


def test_one_command_sets_up_with_venv_and_pip_and_the_next_one_installs_nothing(sample):
    first = sample.run("test.py", "-k", "a b", "--maxfail=1", FAILING="pytest")
    assert first.stderr.splitlines() == [FIRST]
    assert first.returncode == 7
    [call] = shown(first.stdout)
    assert call["arguments"] == ["-k", "a b", "--maxfail=1"]
    assert same(call["prefix"], sample.venv)
    assert same(call["cwd"], sample.root)
    assert (sample.root / "builds").read_text() == "built\n"

    second = sample.run("test.py")
    assert (second.returncode, second.stderr) == (0, "")
    assert (sample.root / "builds").read_text() == "built\n"


def test_uv_is_used_where_it_is_installed(with_uv):
    run = with_uv.run("test.py")
    assert (run.returncode, run.stderr.splitlines()) == (0, [FIRST])
    made, installed = with_uv.calls()
    assert made[:2] == ["uv", "venv"]
    assert installed[:3] == ["uv", "pip", "install"]
    assert installed[-4:] == ["-c", "constraints.txt", "-e", ".[test]"]
    assert "--index-url" not in installed


def test_where_uv_finds_no_index_pip_is_asked(with_uv):
    run = with_uv.run("test.py", OFFLINE="uv")
    assert run.returncode == 0
    assert [call[0] for call in with_uv.calls()] == ["uv", "uv", "pip"]
    assert with_uv.run("test.py").stderr == ""


def test_less_than_what_is_installed_installs_nothing_and_more_adds_to_it(with_uv):
    with_uv.run("test.py")
    assert with_uv.installed() == [".[test]"]
    assert with_uv.run("check.py").stderr.splitlines() == [AGAIN]
    assert with_uv.installed() == [".[check,test]"]
    assert with_uv.run("test.py").stderr == ""
    assert with_uv.run("check.py").stderr == ""
    assert with_uv.calls() == []


@pytest.mark.parametrize(
    ("file", "old", "new", "installs"),
    [
        ("pyproject.toml", "dependencies = []", 'dependencies = ["more"]', True),
        ("constraints.txt", "# no pins", "client==1.0", True),
        ("pyproject.toml", "line-length = 110", "line-length = 100", False),
    ],
)
def test_only_what_changes_the_installation_installs_again(with_uv, file, old, new, installs):
    with_uv.run("test.py")
    with_uv.calls()
    with_uv.change(file, old, new)
    with_uv.run("test.py")
    assert with_uv.installed() == [".[test]"] * installs


def test_a_failed_installation_says_so_in_one_line_and_the_next_run_tries_again(with_uv):
    run = with_uv.run("test.py", OFFLINE="uv pip")
    assert (run.returncode, run.stdout) == (1, "")
    *_, said_by_pip, last = run.stderr.splitlines()
    assert said_by_pip == "pip finds no index"
    assert last.startswith("The installation into .venv failed (see above). It needs a package index")
    with_uv.calls()
    assert with_uv.run("test.py").returncode == 0
    assert with_uv.installed() == [".[test]"]


def test_after_a_failed_addition_what_was_there_before_is_no_longer_taken_for_granted(with_uv):
    with_uv.run("test.py")
    assert with_uv.run("check.py", OFFLINE="uv pip").returncode == 1
    with_uv.calls()
    assert with_uv.run("test.py").returncode == 0
    assert with_uv.installed() == [".[test]"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal that ends one process only")
def test_an_interrupted_set_up_is_taken_up_by_the_next_run(with_uv):
    run = with_uv.run("test.py", INTERRUPT="yes")
    assert run.returncode == 130
    assert run.stderr.splitlines() == [FIRST, "Set-up interrupted; the next run takes it up again."]
    with_uv.calls()
    assert with_uv.run("test.py").returncode == 0
    assert with_uv.installed() == [".[test]"]


def test_an_environment_whose_python_is_gone_is_made_again(with_uv):
    with_uv.run("test.py")
    left_over = with_uv.venv / "left-over"
    left_over.touch()
    with_uv.python.unlink()
    with_uv.python.symlink_to(with_uv.root / "removed-python") if os.name == "posix" else None
    run = with_uv.run("test.py")
    assert (run.returncode, run.stderr.splitlines()) == (0, [FIRST])
    assert same(shown(run.stdout)[0]["prefix"], with_uv.venv)
    assert not left_over.exists()


def test_an_environment_made_by_hand_is_completed_and_never_removed(with_uv):
    make_venv(with_uv.venv)
    kept = with_uv.venv / "mine"
    kept.touch()
    run = with_uv.run("test.py")
    assert (run.returncode, run.stderr.splitlines()) == (0, [AGAIN])
    assert [call[:3] for call in with_uv.calls()] == [["uv", "pip", "install"]]
    assert kept.exists()


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_is_no_environment_is_refused_and_left_alone(with_uv, kind):
    mine = with_uv.venv if kind == "file" else with_uv.venv / "letters.txt"
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("mine")
    run = with_uv.run("test.py")
    assert run.returncode == 1
    assert "is in the way: it is no virtual environment. Move it" in run.stderr.splitlines()[-1]
    assert mine.read_text() == "mine"
    assert with_uv.calls() == []


def test_a_folder_that_was_moved_is_installed_again_because_the_old_path_is_gone(with_uv):
    with_uv.run("test.py")
    with_uv.calls()
    moved = SampleProject(with_uv.root.with_name("moved"), with_uv.environment)
    shutil.move(with_uv.root, moved.root)
    assert moved.run("test.py").stderr.splitlines() == [AGAIN]
    assert moved.installed() == [".[test]"]


def test_a_missing_ensurepip_is_named_with_what_to_install(sample, environment, monkeypatch, capsys):
    monkeypatch.setenv("PATH", sample.environment["PATH"])
    found = environment.importlib.util.find_spec
    monkeypatch.setattr(
        environment.importlib.util, "find_spec", lambda name: None if name == "ensurepip" else found(name)
    )
    with pytest.raises(SystemExit) as ended:
        environment.ensure(("test",), root=sample.root)
    assert "has no module ensurepip, so .venv cannot be made" in str(ended.value)
    assert "apt install python3-venv" in str(ended.value)
    assert capsys.readouterr().err.splitlines() == [FIRST]
    assert not sample.venv.exists()


def test_a_script_goes_on_inside_the_environment_with_its_arguments_input_and_exit_status(with_uv):
    (with_uv.root / "scripts" / "walk.py").write_text(
        "import sys\n"
        "from _environment import reexec_inside\n"
        "reexec_inside(('openai',))\n"
        "print(sys.prefix, *sys.argv[1:], sys.stdin.read(), sep='\\n')\n"
        "sys.exit(9)\n"
    )
    for _ in range(2):
        run = with_uv.run("walk.py", "--chat", "a b", stdin="typed before")
        prefix, *rest = run.stdout.splitlines()
        assert same(prefix, with_uv.venv)
        assert rest == ["--chat", "a b", "typed before"]
        assert run.returncode == 9
    assert with_uv.installed() == [".[openai]"]
    assert with_uv.run("walk.py", python=with_uv.python).returncode == 9
    assert with_uv.calls() == []


def test_an_interpreter_that_holds_this_very_folder_is_used_as_it_is(with_uv, tmp_path):
    venv = tmp_path / "theirs"
    theirs = make_venv(venv)

    def runs_in() -> str:
        [call] = shown(with_uv.run("test.py", python=theirs).stdout)
        return call["prefix"]

    pretend_installed(venv, "sample", with_uv.root.as_uri())
    pretend_installed(venv, "client", "file:///anywhere")
    pretend_installed(venv, "runner", "file:///anywhere")
    assert same(runs_in(), venv)
    assert not with_uv.venv.exists()

    pretend_installed(venv, "sample", with_uv.root.parent.as_uri())
    assert same(runs_in(), with_uv.venv)


def test_an_interpreter_that_lacks_a_requirement_is_not_used(with_uv, tmp_path):
    theirs = make_venv(tmp_path / "theirs")
    pretend_installed(tmp_path / "theirs", "sample", with_uv.root.as_uri())
    pretend_installed(tmp_path / "theirs", "client", "file:///anywhere")
    [call] = shown(with_uv.run("test.py", python=theirs).stdout)
    assert same(call["prefix"], with_uv.venv)


def test_inside_the_environment_of_the_project_only_the_stamp_counts(with_uv):
    make_venv(with_uv.venv)
    for name in ("sample", "client", "runner"):
        pretend_installed(with_uv.venv, name, with_uv.root.as_uri())
    assert with_uv.run("test.py", python=with_uv.python).stderr.splitlines() == [AGAIN]
    assert with_uv.run("test.py", python=with_uv.python).stderr == ""


@pytest.mark.parametrize("failing", ["none", "ruff format", "ruff check", "mypy"])
def test_check_asks_all_three_and_fails_if_one_of_them_does(with_uv, failing):
    run = with_uv.run("check.py", FAILING=failing)
    calls = [[call["tool"], *call["arguments"]] for call in shown(run.stdout)]
    assert calls == [["ruff", "format", "--check"], ["ruff", "check"], ["mypy"]]
    assert run.returncode == (failing != "none")


def test_check_with_fix_applies_the_fixes_before_the_formatter(with_uv):
    calls = [[call["tool"], *call["arguments"]] for call in shown(with_uv.run("check.py", "--fix").stdout)]
    assert calls == [["ruff", "check", "--fix"], ["ruff", "format"], ["mypy"]]
