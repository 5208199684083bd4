"""agent.yaml says what the agent is; each mistake is one line with the file, the line and the nearest right key."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from maf_memory.chat.offline import OfflineChatClient
from maf_memory.errors import ChatUnavailable
from mm.agent_yaml import ALL_KEYS, read_config
from mm.config import Compaction, Config, Hook, Model
from mm.connecting import connect_model
from mm.errors import ConfigRefused
from mm.example import EXAMPLE, write_example


def written(folder: Path, text: str) -> Path:
    path = folder / "agent.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def refusal(folder: Path, text: str) -> str:
    path = written(folder, text)
    with pytest.raises(ConfigRefused) as caught:
        read_config(folder)
    line = str(caught.value)
    assert line.isprintable()
    assert line.startswith(str(path))
    return line.removeprefix(str(path))


def test_without_a_file_the_defaults_hold_and_nothing_is_written(tmp_path: Path) -> None:
    assert read_config(tmp_path) == Config()
    assert read_config(tmp_path).source is None
    assert not list(tmp_path.iterdir())


def test_the_example_holds_every_key_and_says_the_defaults(tmp_path: Path) -> None:
    path = write_example(tmp_path)
    assert replace(read_config(tmp_path), source=None) == Config()
    for key in ALL_KEYS:
        assert f"{key.rpartition('.')[2]}:" in EXAMPLE, key
    before = path.read_bytes()
    with pytest.raises(ConfigRefused, match="is there already and was left as it is"):
        write_example(tmp_path)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["agent.yaml"]


def test_every_key_is_read(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
name: helper
instructions: Be brief.
model: {provider: openai, name: qwen, baseURL: "http://127.0.0.1:8080/v1", keyVariable: MY_KEY, script: r.json}
maxOutput: 5_000
watchdogTimeout: 1m30s
sessions: {enabled: false}
memory: {command: true, tool: yes}
compaction: {threshold: 0.8, contextSize: 8000, keepOriginal: true, keepTurns: 3}
tools: [read_file, read_file, run_command]
hooks:
  preGeneration:
    - [sh, -c, "echo x"]
    - python3 'a b.py'
    - {command: check, timeout: 500}
""",
    )
    assert read_config(tmp_path) == Config(
        name="helper",
        instructions="Be brief.",
        model=Model("openai", "qwen", "http://127.0.0.1:8080/v1", "MY_KEY", Path("r.json")),
        max_output=5000,
        watchdog_timeout=90.0,
        sessions_enabled=False,
        memory_command=True,
        memory_tool=True,
        compaction=Compaction(0.8, 8000, keep_original=True, keep_turns=3),
        tools=("read_file", "run_command"),
        pre_generation=(Hook(("sh", "-c", "echo x")), Hook(("python3", "a b.py")), Hook(("check",), 500.0)),
        source=path,
    )


MISTAKES = {
    "nam: x": ", line 1: there is no key nam; did you mean name?",
    "a: 1\n": ", line 1: there is no key a; the keys here are name,",
    "enabled: false": ", line 1: there is no key enabled; did you mean sessions.enabled?",
    "sessions:\n  enable: true": ", line 2: there is no key sessions.enable; did you mean sessions.enabled?",
    "sessions: true": ", line 1: sessions must hold keys, such as enabled: ….",
    "\n\nsessions: {enabled: 1}": ", line 3: sessions.enabled must be true or false.",
    "name: 1": ", line 1: name must be a text, in quotes.",
    "name: ''": ", line 1: name must be a text.",
    "name: a\nname: b": ", line 2: name stands here a second time.",
    "watchdogTimeout: 5 minutes": ", line 1: watchdogTimeout must be a duration up to 24 hours, such as 90s",
    "watchdogTimeout: -1": ", line 1: watchdogTimeout must be a duration",
    "watchdogTimeout: 0": ", line 1: watchdogTimeout must be a duration",
    "watchdogTimeout: 1:30": ", line 1: watchdogTimeout must be a duration",
    "watchdogTimeout: .inf": ", line 1: watchdogTimeout must be a duration",
    "maxOutput: many": ", line 1: maxOutput must be a whole number from 200 to 1,000,000.",
    "maxOutput: 0x10": ", line 1: maxOutput must be a whole number",
    "compaction: {threshold: 80}": ", line 1: compaction.threshold must be a number from 0.1 to 1, or off.",
    "model: {provider: opnai}": ", line 1: model.provider must be one of offline, openai, script.",
    "model: {baseURL: 'http://a:b@c/v1'}": ", line 1: model.baseURL must be an address",
    "tools: [read_fil]": ", line 1: tools names read_fil, which is no tool; did you mean read_file?",
    "tools: read_file": ", line 1: tools must be a list, of read_file,",
    "hooks: {preGeneration: ['\"a']}": ", line 1: hooks.preGeneration holds a command that cannot be split",
    "hooks: {preGeneration: [{cmd: a}]}": ", line 1: hooks.preGeneration holds a hook with other keys",
    "hooks:\n  preGeneration:\n    - ok\n    - {cmd: a}": ", line 4: hooks.preGeneration holds a hook with other keys",
    "hooks:\n  preGeneration:\n    - command: a\n      timeout: x": ", line 4: hooks.preGeneration holds a hook whose "
    "timeout must be a duration up to 24 hours",
    "hooks: {preGeneration: [1]}": ", line 1: hooks.preGeneration holds a command that must be a text, in quotes.",
    "hooks: {preGeneration: check}": ", line 1: hooks.preGeneration must be a list of commands.",
    "tools:\n  - read_file\n  - wite_file": ", line 3: tools names wite_file, which is no tool; did",
    "max_output: 1": ", line 1: there is no key max_output; did you mean maxOutput?",
    "model:\n  base_url: x": ", line 2: there is no key model.base_url; did you mean model.baseURL?",
    "NAME: x": ", line 1: there is no key NAME; did you mean name?",
    "memory: {tool: 1}": ", line 1: memory.tool must be true or false.",
    "compaction: {keepOriginal: 'true'}": ", line 1: compaction.keepOriginal must be true or false.",
    "model: gpt": ", line 1: model must hold keys, such as provider: ….",
    "name: &x a\ninstructions: *x": ", line 2: aliases (*name) are not used here; write the value out.",
    "name: [": ", line 1: it is not YAML: ",
    "- a": ", line 1: the file must hold keys, such as name: ….",
    "name: a\n# \x07": ", line 2: it holds a character that YAML does not allow, U+0007.",
    "name: \x00": ", line 1: it holds a character that YAML does not allow, U+0000.",
    "name: !!python/name:os.system x": ", line 1: name must be a text.",
    "[" * 5000: ", line 1: it is not YAML: ",
}


@pytest.mark.parametrize("text", MISTAKES, ids=range(len(MISTAKES)))
def test_each_mistake_is_one_line_that_says_where_and_what_is_right(tmp_path: Path, text: str) -> None:
    line = refusal(tmp_path, text)
    assert line.startswith(MISTAKES[text])


def test_a_key_in_the_place_of_a_name_is_not_repeated(tmp_path: Path) -> None:
    line = refusal(tmp_path, "model: {keyVariable: sk-abcdefghijklmnop}")
    assert "never the key itself" in line
    assert "abcdef" not in line


def test_a_file_that_is_not_utf_8_or_too_large_is_refused(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_bytes(b"name: a\nname: \xff")
    with pytest.raises(ConfigRefused, match="line 2: it is not UTF-8"):
        read_config(tmp_path)
    (tmp_path / "agent.yaml").write_bytes(b"#" * 300_000)
    with pytest.raises(ConfigRefused, match="300,000 bytes"):
        read_config(tmp_path)


def test_a_file_that_was_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigRefused, match="is not there"):
        read_config(tmp_path, tmp_path / "other.yaml")


def test_an_empty_file_is_the_defaults_and_says_where_they_come_from(tmp_path: Path) -> None:
    path = written(tmp_path, "# nothing yet\n")
    assert read_config(tmp_path) == Config(source=path)


def test_the_model_gets_its_own_key_and_no_other_endpoints() -> None:
    client, line = connect_model(Config(), {})
    assert isinstance(client, OfflineChatClient)
    assert line.startswith("offline")
    model = Model("openai", "qwen", "http://example.test/v1", "MY_KEY")
    with pytest.raises(ChatUnavailable, match="needs a key"):
        connect_model(Config(model=model), {"OPENAI_API_KEY": "another"})
    with pytest.raises(
        ChatUnavailable, match=r"needs a key for example\.test: set MY_KEY, or set model\.baseURL in agent"
    ):
        connect_model(Config(model=model), {})
    with pytest.raises(ChatUnavailable, match=r"^model\.provider openai needs the name of a model: set model\.name in"):
        connect_model(Config(model=Model("openai")), {})
    _, line = connect_model(Config(model=model), {"MY_KEY": "secret-of-mine"})
    assert "qwen" in line
    assert "secret" not in line


def test_a_script_stands_beside_the_file_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text('["hi"]', encoding="utf-8")
    written(tmp_path, "model: {provider: script, script: r.json}")
    connect_model(read_config(tmp_path), {})
    with pytest.raises(ChatUnavailable, match=r"model\.script names no file"):
        connect_model(Config(model=Model("script")), {})
