"""Who answers: the option, the variable, the default, and the one line when it cannot be used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.consoles import PROGRAMS, piped
from tests.scripted_model import Script


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_banner_says_who_answers_and_that_offline_is_not_a_model(program: str) -> None:
    run = piped(program)
    assert "  chat          offline: not a model; it quotes what this program hands it" in run.err


def test_maf_chat_chooses_and_the_option_wins(tmp_path: Path) -> None:
    script = Script.of(tmp_path, "scripted")
    choice = f"script:{script.path}"
    assert piped("demo130", "one?", MAF_CHAT=choice).out == "scripted\n"
    won = piped("demo130", "one.", MAF_CHAT=choice, options=["--chat", "offline"])
    assert won.out.startswith("Noted.")
    assert f"script: not a model. It replies what {script.path} says." in piped("demo140", MAF_CHAT=choice).err


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        ("nobody", "--chat cannot be 'nobody'. Choose offline, openai or script:FILE."),
        ("script:", "--chat cannot be 'script:'. Did you mean script:FILE?"),
        ("a\x1b[31m\nb", "--chat cannot be 'a\\x1b[31m\\nb'."),
        ("script:missing.json", "The script missing.json cannot be read: No such file or directory."),
    ],
)
def test_a_chat_that_does_not_exist_is_one_line_and_exit_1(choice: str, told: str, state_root: Path) -> None:
    run = piped("demo130", "one?", options=["--chat", choice])
    assert (run.status, run.out) == (1, "")
    assert run.err.splitlines() == run.errors
    assert run.errors[0].startswith(f"error: {told}")
    assert list(state_root.glob("*/*")) == []


def test_maf_chat_is_named_when_it_is_the_wrong_one() -> None:
    assert piped("demo140", MAF_CHAT="nobody").errors[0].startswith("error: MAF_CHAT cannot be 'nobody'.")


@pytest.mark.parametrize(
    ("environ", "told"),
    [
        ({}, "set OPENAI_CHAT_COMPLETION_MODEL"),
        ({"OPENAI_CHAT_COMPLETION_MODEL": "m"}, "set OPENAI_API_KEY"),
        ({"OPENAI_CHAT_COMPLETION_MODEL": "m", "OPENAI_BASE_URL": "nonsense"}, "OPENAI_BASE_URL is not an address"),
    ],
)
def test_openai_without_its_settings_is_one_line_that_names_the_variable(environ: dict[str, str], told: str) -> None:
    run = piped("demo140", "one?", options=["--chat=openai"], **environ)
    assert (run.status, run.out) == (1, "")
    assert run.err.splitlines() == run.errors
    assert told in run.errors[0]


def test_openai_without_its_package_is_one_line_that_says_what_to_install(tmp_path: Path) -> None:
    missing = tmp_path / "agent_framework_openai"
    missing.mkdir()
    absent = 'raise ModuleNotFoundError("No module named agent_framework_openai", name="agent_framework_openai")'
    (missing / "__init__.py").write_text(absent, encoding="utf-8")
    paths = os.pathsep.join([str(tmp_path), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))])
    settings = {"OPENAI_CHAT_COMPLETION_MODEL": "m", "OPENAI_API_KEY": "sk-canary"}
    run = piped("demo140", "one?", options=["--chat=openai"], PYTHONPATH=paths, **settings)
    assert run.status == 1
    assert run.errors == [
        (
            "error: --chat openai needs the package agent-framework-openai. "
            "In the project's folder: pip install '.[openai]'."
        )
    ]


def test_an_endpoint_that_does_not_answer_ends_the_turn_in_one_line_and_shows_no_key() -> None:
    settings = {
        "OPENAI_CHAT_COMPLETION_MODEL": "m",
        "OPENAI_API_KEY": "sk-canary",
        "OPENAI_BASE_URL": "http://user:secret@127.0.0.1:9/v1",
    }
    run = piped("demo140", "one?", "where", options=["--chat=openai"], **settings)
    assert run.status == 1
    assert "chat          openai: m at http://127.0.0.1:9/v1" in run.err
    assert len(run.errors) == 1
    assert run.errors[0].startswith("error: The question got no answer: ")
    assert "conversation  empty" in run.out
    assert "canary" not in run.out + run.err
    assert "secret" not in run.out + run.err
