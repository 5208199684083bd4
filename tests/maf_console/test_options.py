"""The options that both demos take."""

from __future__ import annotations

import pytest

from maf_console.options import Options, parse


def parsed(*arguments: str) -> Options:
    return parse("demo999", "A demo.", "demo999/file.json", arguments)


def test_without_options_nothing_is_chosen_destroyed_or_echoed() -> None:
    assert parsed() == Options(chat=None, reset_state=False, echo=False)


@pytest.mark.parametrize(
    ("arguments", "destroys"),
    [
        (["--reset-state"], True),
        (["--reset-state=true"], True),
        (["--reset-state", "true"], True),
        (["--reset-state=false"], False),
    ],
)
def test_reset_state_means_true_unless_it_says_false(arguments: list[str], destroys: bool) -> None:
    assert parsed(*arguments).reset_state is destroys


@pytest.mark.parametrize(
    "argument",
    [
        "--reset-state=yes",
        "--reset-state=",
        "--reset-state=True",
        "--reset-state=1",
        "--reset",
        "--reset-stat=true",
        "file",
        "--chat",
    ],
)
def test_any_other_option_or_value_is_a_usage_error_with_status_2(
    argument: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parsed(argument)
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("usage: demo999 ")


def test_help_names_the_file_that_reset_state_destroys_and_every_variable(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parsed("--help")
    assert ended.value.code == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "destroy demo999/file.json on purpose" in shown
    for variable in ("MAF_STATE_ROOT", "MAF_CHAT", "OPENAI_BASE_URL", "OPENAI_API_KEY", "NO_COLOR"):
        assert variable in shown
