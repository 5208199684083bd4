"""Who answers is chosen once, by name, before anything is loaded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from maf_memory.chat import chat_choice, connect, describe
from maf_memory.errors import ChatUnavailable

REAL = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_CHAT_COMPLETION_MODEL": "tiny"}


def test_the_option_wins_over_the_variable_and_offline_is_the_default() -> None:
    assert chat_choice(None, {}) == "offline"
    assert chat_choice(None, {"MAF_CHAT": ""}) == "offline"
    assert chat_choice(None, {"MAF_CHAT": "openai"}) == "openai"
    assert chat_choice("script:a b.json", {"MAF_CHAT": "openai"}) == "script:a b.json"
    assert chat_choice("offline", {"MAF_CHAT": "nonsense"}) == "offline"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("oflline", "offline"),
        ("Offline", "offline"),
        ("OpenAI", "openai"),
        ("scirpt:x.json", "script:FILE"),
        ("script", "script:FILE"),
        ("script:", "script:FILE"),
        ("replies.json", "script:FILE"),
    ],
)
def test_an_unknown_choice_names_the_three_forms_and_the_nearest(written: str, meant: str) -> None:
    with pytest.raises(ChatUnavailable) as refused:
        chat_choice(written, {})
    assert str(refused.value) == (
        f"--chat cannot be {written!r}. Did you mean {meant}? Choose offline, openai or script:FILE."
    )


def test_a_choice_near_to_none_gets_no_guess_and_the_variable_is_named() -> None:
    with pytest.raises(ChatUnavailable) as refused:
        chat_choice(None, {"MAF_CHAT": "42"})
    assert str(refused.value) == "MAF_CHAT cannot be '42'. Choose offline, openai or script:FILE."


@pytest.mark.parametrize("written", ["", "a\nb\x1b[31m", "x" * 5000, "\ud800"])
def test_the_refusal_of_any_choice_is_one_short_line(written: str) -> None:
    for refuse in (lambda: chat_choice(written, {}), lambda: connect(written, {}), lambda: describe(written, {})):
        with pytest.raises(ChatUnavailable) as refused:
            refuse()
        assert str(refused.value).isprintable()
        assert len(str(refused.value)) < 200


def test_the_banner_says_that_offline_is_not_a_model() -> None:
    assert describe("offline", {}) == ("offline: not a model; it quotes what this program hands it.")


def test_the_banner_names_the_script() -> None:
    assert describe("script:trial.json", {}) == "script: not a model. It replies what trial.json says."


def test_the_banner_names_model_and_address_but_no_secret() -> None:
    environ = REAL | {"OPENAI_BASE_URL": "https://ada:pass@models.example:8443/v1?token=pass", "OPENAI_API_KEY": "sk-1"}
    assert describe("openai", environ) == "openai: tiny at https://models.example:8443/v1"


def test_each_choice_connects_its_own_client(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('{"replies": []}')
    assert type(connect("offline", {})).__name__ == "OfflineChatClient"
    assert type(connect(f"script:{script}", {})).__name__ == "ScriptedChatClient"
    assert type(connect("openai", REAL)).__name__ == "OpenAIChatCompletionClient"


def test_choosing_and_describing_load_neither_the_framework_nor_a_provider() -> None:
    program = (
        "import sys; from maf_memory.chat import chat_choice, describe\n"
        f"describe(chat_choice('openai', {{}}), {REAL!r}); describe('offline', {{}})\n"
        "heavy = ('agent_framework', 'openai', 'httpx', 'asyncio')\n"
        "print([name for name in sys.modules if name.split('.')[0] in heavy])"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "[]\n"


def test_the_stand_ins_load_no_provider() -> None:
    program = (
        "import sys; from maf_memory.chat import connect; import maf_memory.chat.scripted; connect('offline', {})\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('agent_framework_openai', 'openai', 'httpx')])"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "[]\n"
