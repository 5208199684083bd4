"""The life of a conversation: begun, gone on in, left for a new one, compacted, searched and recalled."""

from __future__ import annotations

import json
import re
import shutil
import sys
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from maf_memory.chat.scripted import ScriptedChatClient
from mm.agent_yaml import read_config
from mm.assembly import assembled
from mm.compaction import HEADER, UNDERSTOOD
from mm.config import Compaction, Config, Hook, Model
from mm.conversation import Conversation
from mm.keeper import Keeper
from mm.terminal.recall import asked_elsewhere, asked_here
from tests.mm.brain import CONFIG, conversation_of, drawn, files, outline, told


def read(path: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return record


def hook_that_says(folder: Path, **said: str) -> Hook:
    script = folder / f"{next(iter(said))}.py"
    script.write_text(f"print({json.dumps(json.dumps(said))})\n", encoding="utf-8")
    return Hook((sys.executable, str(script)))


async def recalled(keeper: Keeper) -> list[str]:
    return [*asked_here(None, keeper), *[question async for question in asked_elsewhere(keeper)]]


@pytest.mark.parametrize("text", ["", "name: x\n", "sessions: {}\n", "sessions: {enabled: true}\n"])
def test_sessions_are_on_unless_the_key_says_otherwise(tmp_path: Path, text: str) -> None:
    (tmp_path / "agent.yaml").write_text(text, encoding="utf-8")
    assert read_config(tmp_path).sessions_enabled
    assert Keeper(tmp_path, read_config(tmp_path)).enabled


async def test_a_conversation_is_one_json_file_beside_its_project_whole_after_each_turn(tmp_path: Path) -> None:
    conversation, _ = conversation_of(tmp_path, ["1", "2", "3"])
    for number in range(1, 4):
        await drawn(conversation.ask(f"q{number}"))
        (file,) = files(tmp_path)
        record = read(file)
        assert re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]{8}", file.stem)
        assert (record["id"], record["cwd"], record["turns"]) == (file.stem, str(tmp_path), number)
        assert len(record["messages"]) == 1 + 2 * number
    assert {path.name for path in (tmp_path / ".mm").iterdir()} == {".gitignore", ".lock", "sessions"}, "and no index"


async def test_recall_goes_with_the_files(tmp_path: Path) -> None:
    conversation, _ = conversation_of(tmp_path, ["1"])
    await drawn(conversation.ask("a"))
    assert await recalled(Keeper(tmp_path, CONFIG)) == ["a"]
    shutil.rmtree(tmp_path / ".mm")
    assert await recalled(Keeper(tmp_path, CONFIG)) == []


async def test_each_launch_is_a_new_conversation_and_takes_nothing_of_the_last_one_along(tmp_path: Path) -> None:
    first, _ = conversation_of(tmp_path, ["1"])
    await drawn(first.ask("a"))
    second, client = conversation_of(tmp_path, ["2"])
    await drawn(second.ask("b"))
    assert [message.text for message in client.requests[0].messages] == ["b"]
    assert [read(path)["title"] for path in files(tmp_path)] in (["a", "b"], ["b", "a"])


async def test_a_resumed_conversation_goes_on_in_its_file_under_todays_instructions_and_model(tmp_path: Path) -> None:
    first, _ = conversation_of(tmp_path, ["1"], instructions="Be brief.")
    await drawn(first.ask("Which port?"))
    (file,) = files(tmp_path)
    before = read(file)
    other = Model("script", "another-model")
    second, client = conversation_of(tmp_path, ["2"], instructions="Be kind.", model=other)
    await second.resume(first.keeper.record.id[:15])
    assert read(file) == before, "to resume writes nothing"
    await drawn(second.ask("And now?"))
    assert files(tmp_path) == [file]
    assert client.requests[0].options["instructions"] == "Be kind."
    assert [message.text for message in client.requests[0].messages] == ["Which port?", "1", "And now?"]
    after = read(file)
    assert (before["provider"], before["model"]) == ("openai", "scripted")
    assert (after["provider"], after["model"]) == ("script", "another-model")
    assert [m["contents"][0]["text"] for m in after["messages"] if m["role"] == "system"] == ["Be kind."]
    assert after["messages"][1:3] == before["messages"][1:3]
    assert (after["title"], after["turns"]) == ("Which port?", 2)


async def test_an_error_names_the_model_that_failed_and_the_file_the_one_that_wrote_last(tmp_path: Path) -> None:
    first, _ = conversation_of(tmp_path, ["1", {"error": "gone"}])
    await drawn(first.ask("a"))
    await drawn(first.ask("b"))
    second, _ = conversation_of(tmp_path, ["2"], model=Model("script", "another-model"))
    await second.resume(first.keeper.record.id)
    await drawn(second.ask("b again"))
    (file,) = files(tmp_path)
    assert read(file)["errors"][0]["model"] == "scripted"
    assert read(file)["model"] == "another-model"


def test_a_model_that_only_the_environment_names_is_recorded_too(tmp_path: Path) -> None:
    environ = {"OPENAI_API_KEY": "k", "OPENAI_CHAT_COMPLETION_MODEL": "qwen3.5-4b"}
    conversation = assembled(tmp_path, Config(model=Model("openai", base_url="http://127.0.0.1:9/v1")), environ)
    assert (conversation.keeper.record.provider, conversation.keeper.record.model) == ("openai", "qwen3.5-4b")
    assert assembled(tmp_path, Config(), environ).keeper.record.model is None, "the stand-in has no model"


async def test_a_new_conversation_leaves_the_old_file_to_the_byte(tmp_path: Path) -> None:
    conversation, _ = conversation_of(tmp_path, ["1", "2", {"error": "gone"}])
    await drawn(conversation.ask("a"))
    (old,) = files(tmp_path)
    before = old.read_bytes()
    conversation.begin_anew()
    assert files(tmp_path) == [old]
    await drawn(conversation.ask("b"))
    await drawn(conversation.ask("c"))
    assert old.read_bytes() == before
    (new,) = [path for path in files(tmp_path) if path != old]
    assert (read(new)["title"], len(read(new)["errors"])) == ("b", 1)


async def test_what_a_hook_added_is_neither_searched_nor_recalled(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    hook = hook_that_says(tmp_path, context="The weather in Quito is mild.")
    conversation, _ = conversation_of(project, ["1"], pre_generation=(hook,))
    await drawn(conversation.ask("How are things?"))
    later = Keeper(project, CONFIG)
    assert not (await later.search("Quito")).hits
    assert (await later.search("things")).hits
    assert await recalled(later) == ["How are things?"]
    assert "Quito" in files(project)[0].read_text(encoding="utf-8"), "what the model read is in the file"


async def test_the_marker_of_a_blocked_question_is_recorded_and_neither_searched_nor_recalled(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    hook = hook_that_says(tmp_path, block="no passwords")
    conversation, _ = conversation_of(project, ["1"])
    await drawn(conversation.ask("first"))
    blocked, client = conversation_of(project, ["2"], pre_generation=(hook,))
    await blocked.resume(conversation.keeper.record.id)
    for _ in range(2):
        assert outline(await drawn(blocked.ask("my password is x")))[-1] == "blocked"
    (file,) = files(project)
    record = read(file)
    marker = {"written_by": "mm", "kind": "blocked"}
    assert [message.get("additional_properties") for message in record["messages"][3:]] == [marker, marker]
    assert (record["turns"], record["title"]) == (1, "first")
    later = Keeper(project, CONFIG)
    assert not (await later.search("passwords | Blocked")).hits
    assert await recalled(later) == ["first"]
    again, client = conversation_of(project, ["3"])
    await again.resume(conversation.keeper.record.id)
    await drawn(again.ask("second"))
    assert [message.text for message in client.requests[0].messages].count("[Blocked by a hook: no passwords]") == 2
    assert told(again)[-2:] == ["user second", "assistant 3"]


async def test_a_summary_is_searched_without_mms_own_words_and_never_recalled(tmp_path: Path) -> None:
    conversation, _ = conversation_of(
        tmp_path, ["1", "2", "They deploy\non Fridays."], compaction=Compaction(None, 9, keep_turns=1)
    )
    await drawn(conversation.ask("a first question"))
    await drawn(conversation.ask("a second question"))
    await drawn(conversation.compact())
    later = Keeper(tmp_path, CONFIG)
    (hit,) = (await later.search("Fridays")).hits
    assert hit.kind == "summary"
    assert not (await later.search("mini-me | Understood")).hits
    assert "mini-me" in HEADER
    assert "Understood" in UNDERSTOOD
    assert await recalled(later) == ["a second question"]


async def test_a_kept_original_is_listed_passed_over_by_recall_and_goes_with_its_successor(tmp_path: Path) -> None:
    ticks = iter(range(1_000))
    start = datetime.now().astimezone().replace(microsecond=0)
    config = replace(CONFIG, compaction=Compaction(keep_original=True, keep_turns=1))
    keeper = Keeper(tmp_path, config, now=lambda: start + timedelta(seconds=next(ticks)))
    conversation = Conversation(keeper, config, ScriptedChatClient(["1", "2", "S", "3", "S2"]), [])
    await drawn(conversation.ask("a"))
    await drawn(conversation.ask("b"))
    await drawn(conversation.compact())
    page = await conversation.keeper.sessions()
    assert [(head.turns, head.continued_in is None) for head in page.heads] == [(1, True), (2, False)]
    assert {head.title for head in page.heads} == {"a"}
    assert await recalled(Keeper(tmp_path, CONFIG)) == ["b"], "what stands in both is recalled once"
    original = await conversation.keeper.load(page.heads[1].id)
    assert [message.text for message in original.messages][1:] == ["a", "1", "b", "2"]
    await drawn(conversation.ask("c"))
    await drawn(conversation.compact())
    assert len(files(tmp_path)) == 3
    other, _ = conversation_of(tmp_path, ["x"])
    await drawn(other.ask("another"))
    deleted = await other.keeper.delete(conversation.keeper.record.id)
    assert len(deleted) == 3
    assert [path.stem for path in files(tmp_path)] == [other.keeper.record.id]


async def test_an_original_in_which_somebody_goes_on_is_a_conversation_of_its_own_again(tmp_path: Path) -> None:
    config = replace(CONFIG, compaction=Compaction(keep_original=True, keep_turns=1))
    conversation, _ = conversation_of(tmp_path, ["1", "2", "S"], config=config)
    await drawn(conversation.ask("a"))
    await drawn(conversation.ask("b"))
    await drawn(conversation.compact())
    (head,) = [head for head in (await conversation.keeper.sessions()).heads if head.continued_in]
    original, client = conversation_of(tmp_path, ["3"])
    await original.resume(head.id)
    await drawn(original.ask("c"))
    assert [message.text for message in client.requests[0].messages] == ["a", "1", "b", "2", "c"]
    await conversation.keeper.delete(conversation.keeper.record.id)
    assert [path.stem for path in files(tmp_path)] == [head.id], "it is a conversation of its own again"
    assert await recalled(Keeper(tmp_path, CONFIG)) == ["c", "b", "a"]


async def test_the_original_is_not_kept_unless_the_key_says_so(tmp_path: Path) -> None:
    conversation, _ = conversation_of(tmp_path, ["1", "2", "S"], compaction=Compaction(keep_turns=1))
    assert not Config().compaction.keep_original
    await drawn(conversation.ask("a"))
    await drawn(conversation.ask("b"))
    await drawn(conversation.compact())
    assert len(files(tmp_path)) == 1


async def test_a_summary_that_fails_keeps_no_original(tmp_path: Path) -> None:
    config = replace(CONFIG, compaction=Compaction(keep_original=True, keep_turns=1))
    conversation, _ = conversation_of(tmp_path, ["1", "2", {"empty": True}], config=config)
    await drawn(conversation.ask("a"))
    await drawn(conversation.ask("b"))
    await drawn(conversation.compact())
    assert len(files(tmp_path)) == 1
