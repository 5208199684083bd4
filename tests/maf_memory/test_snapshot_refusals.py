"""What only a snapshot can have wrong: its header, its session, its messages, its tool calls."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from agent_framework._types import ContentType
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maf_memory.conversation import KINDS
from maf_memory.errors import FileRefused, MafMemoryError, VersionRefused
from maf_memory.payload import framework_version
from tests.maf_memory.samples import (
    identity,
    session_of,
    snapshot_store,
    talked,
    texts,
    untouched,
    user,
    with_tool_call,
)

Document = dict[str, Any]


async def saved(root: Path, session: object = None) -> tuple[Path, Document]:
    store = snapshot_store(root)
    await store.save(session or talked("module=Reporting"))  # type: ignore[arg-type]
    return store.path, json.loads(store.path.read_bytes())


async def refusal(root: Path, document: Document) -> FileRefused:
    store = snapshot_store(root)
    store.path.write_text(json.dumps(document), encoding="utf-8")
    with untouched(store.path), pytest.raises(FileRefused) as caught:
        await store.load()
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 900
    return caught.value


def messages(document: Document) -> list[Document]:
    found: list[Document] = document["session"]["state"]["in_memory"]["messages"]
    return found


def history(document: Document) -> Document:
    found: Document = document["session"]["state"]["in_memory"]
    return found


def content(document: Document) -> Document:
    found: Document = messages(document)[0]["contents"][0]
    return found


Edit = Callable[[Document], object]

HEADER: dict[str, tuple[Edit, str]] = {
    **{
        f"no {field}": (lambda document, field=field: document.pop(field), f"no field '{field}'")
        for field in ("instruction_version", "lineage", "revision", "saved_at", "framework", "session")
    },
    "revision true": (lambda document: document.update(revision=True), "'revision' is true or false"),
    "revision 1.0": (lambda document: document.update(revision=1.0), "'revision' is a number"),
    "revision as text": (lambda document: document.update(revision="1"), "'revision' is a text"),
    "revision 0": (lambda document: document.update(revision=0), "lineage or revision is not one"),
    "revision -1": (lambda document: document.update(revision=-1), "lineage or revision is not one"),
    "a revision that could not grow": (
        lambda document: document.update(revision=2**64 - 1),
        "lineage or revision is not one",
    ),
    "lineage empty": (lambda document: document.update(lineage=""), "lineage or revision is not one"),
    "lineage of other letters": (lambda document: document.update(lineage="../../etc"), "lineage or revision"),
    "lineage with a line break": (lambda document: document.update(lineage="0123abcd\n"), "lineage or revision"),
    "lineage a number": (lambda document: document.update(lineage=12345678), "'lineage' is an integer"),
    "saved_at no time": (lambda document: document.update(saved_at="yesterday\n"), 'saved_at is "yesterday\\n"'),
    "session null": (lambda document: document.update(session=None), "no field 'session'"),
    "session a list": (lambda document: document.update(session=[]), "its session is a list"),
    "session a text": (lambda document: document.update(session="{}"), "its session is a text"),
    "session empty": (lambda document: document.update(session={}), "its session has no field 'type'"),
    "session of another type": (
        lambda document: document["session"].update(type="message"),
        "its session is of another kind",
    ),
    "session without id": (lambda document: document["session"].pop("session_id"), "no field 'session_id'"),
    "session with an empty id": (lambda document: document["session"].update(session_id=""), "has no id"),
    "session with a null id": (lambda document: document["session"].update(session_id=None), "'session_id' is null"),
    "session with an unknown field": (
        lambda document: document["session"].update(model="x"),
        'unknown field "model"',
    ),
    "service id a number": (
        lambda document: document["session"].update(service_session_id=1),
        "'service_session_id' is an integer",
    ),
    "state a list": (lambda document: document["session"].update(state=[]), "'state' is a list"),
    "history null": (lambda document: document["session"]["state"].update(in_memory=None), "not a list"),
    "history a list": (lambda document: document["session"]["state"].update(in_memory=[]), "not a list"),
    "history a message": (
        lambda document: document["session"]["state"].update(
            in_memory={"type": "message", "role": "user", "contents": []}
        ),
        "not a list",
    ),
    "history under another name": (
        lambda document: history(document).update(mdssages=history(document).pop("messages")),
        "not a list",
    ),
    "history typed": (lambda document: history(document).update(type="message"), "not a list"),
    "messages an object": (lambda document: history(document).update(messages={}), "not a list"),
    "messages null": (lambda document: history(document).update(messages=None), "not a list"),
    "application data that looks like a message": (
        lambda document: document["session"]["state"].update(app={"type": "message", "weight": 5}),
        "the framework cannot rebuild it",
    ),
}


@pytest.mark.parametrize("edit", HEADER)
async def test_a_header_or_session_of_another_shape_is_refused(state_root: Path, edit: str) -> None:
    change, found = HEADER[edit]
    _, document = await saved(state_root)
    change(document)
    assert found in (await refusal(state_root, document)).found


MESSAGES: dict[str, tuple[Edit, str]] = {
    "null": (lambda document: messages(document).__setitem__(0, None), "message 1 is not a message"),
    "a text": (lambda document: messages(document).__setitem__(1, "hello"), "message 2 is not a message"),
    "an object without type": (lambda document: messages(document)[1].pop("type"), "message 2 is not a message"),
    "of another type": (lambda document: messages(document)[0].update(type="session"), "message 1 is not a message"),
    "an unknown role": (lambda document: messages(document)[0].update(role="boss"), 'message 1 has the role "boss"'),
    "a role that commands a terminal": (
        lambda document: messages(document)[0].update(role="\x1b[31m" * 100),
        'message 1 has the role "\\u001b[31m',
    ),
    "no role": (lambda document: messages(document)[0].pop("role"), "message 1 has the role null"),
    "a role in a list": (lambda document: messages(document)[0].update(role=["user"]), 'has the role ["user"]'),
    "an id that is a number": (lambda document: messages(document)[1].update(message_id=7), "message 2 has an id"),
    "an author that is a number": (lambda document: messages(document)[1].update(author_name=7), "has an author"),
    "no contents": (lambda document: messages(document)[0].pop("contents"), "message 1 has no list of contents"),
    "contents that are a text": (
        lambda document: messages(document)[0].update(contents="hi"),
        "message 1 has no list of contents",
    ),
    "a content that is null": (lambda document: messages(document)[0]["contents"].append(None), "content that is not"),
    "a content that is a text": (lambda document: messages(document)[0]["contents"].append("hi"), "content that is"),
    "a content without type": (lambda document: content(document).pop("type"), "a content that is not one"),
    "a content of an unknown kind": (
        lambda document: content(document).update(type="tex4"),
        'message 1 has a content of the unknown kind "tex4"',
    ),
    "a text that is a number": (lambda document: content(document).update(text=5), "a text whose text is not a text"),
    "a text without text": (lambda document: content(document).pop("text"), "a text whose text is not a text"),
    "an unknown field": (lambda document: messages(document)[0].update(weight=1), "weight"),
    "an unknown field that breaks the line": (lambda document: messages(document)[0].update({"a\nb": 1}), "a\\nb"),
    "an unknown field of a content": (lambda document: content(document).update(weight=1), "weight"),
    "properties that are a text": (
        lambda document: messages(document)[0].update(additional_properties="abc"),
        "the framework cannot rebuild it",
    ),
    "NaN in its properties": (
        lambda document: messages(document)[0].update(additional_properties={"score": float("nan")}),
        "it holds NaN",
    ),
}


@pytest.mark.parametrize("edit", MESSAGES)
async def test_a_message_that_is_not_one_is_refused_with_its_number(state_root: Path, edit: str) -> None:
    change, found = MESSAGES[edit]
    _, document = await saved(state_root)
    change(document)
    assert found in (await refusal(state_root, document)).found


async def test_a_repeated_key_is_refused_at_any_depth(state_root: Path) -> None:
    path, _ = await saved(state_root)
    sound = path.read_bytes()
    for key, again in (
        (b'"role":', b'"role":"user",'),
        (b'"text":', b'"text":"",'),
        (b'"messages":', b'"messages":[],'),
    ):
        assert sound.count(key) >= 1
        path.write_bytes(sound.replace(key, again + key, 1))
        before = identity(path)
        with pytest.raises(FileRefused, match="repeats the key"):
            await snapshot_store(state_root).load()
        assert identity(path) == before


CALLS: dict[str, tuple[Edit, str]] = {
    "no result": (lambda document: messages(document).pop(), "message 2 calls the tool 'add' and no result follows"),
    "the result of another call": (
        lambda document: messages(document)[2]["contents"][0].update(call_id="call-2"),
        "message 2 calls the tool 'add' and no result follows",
    ),
    "the result before the call": (
        lambda document: messages(document).insert(0, messages(document).pop()),
        "message 3 calls the tool 'add' and no result follows",
    ),
    "the same call twice, one result": (
        lambda document: messages(document).append(copy.deepcopy(messages(document)[1])),
        "message 4 calls the tool 'add' and no result follows",
    ),
    "no call id": (lambda document: messages(document)[1]["contents"][0].pop("call_id"), "call_id is not a text"),
    "no name": (lambda document: messages(document)[1]["contents"][0].pop("name"), "name is not a text"),
    "arguments that are a number": (
        lambda document: messages(document)[1]["contents"][0].update(arguments=5),
        "arguments is not a text",
    ),
    "a result without call id": (
        lambda document: messages(document)[2]["contents"][0].update(call_id=None),
        "call_id is not a text",
    ),
}


@pytest.mark.parametrize("edit", CALLS)
async def test_a_tool_call_without_its_result_is_refused(state_root: Path, edit: str) -> None:
    change, found = CALLS[edit]
    _, document = await saved(state_root, with_tool_call())
    change(document)
    assert found in (await refusal(state_root, document)).found


async def test_a_tool_call_with_its_result_is_accepted(state_root: Path) -> None:
    await saved(state_root, with_tool_call())
    restored = await snapshot_store(state_root).load()
    assert restored is not None
    assert restored.to_dict() == with_tool_call().to_dict()


async def test_a_pending_approval_is_accepted_and_comes_back(state_root: Path) -> None:
    pending = with_tool_call(result=False, approval=True)
    await saved(state_root, pending)
    restored = await snapshot_store(state_root).load()
    assert restored is not None
    assert restored.to_dict() == pending.to_dict()


@pytest.mark.parametrize(
    "edit",
    [
        lambda request: request.pop("function_call"),
        lambda request: request.update(function_call=5),
        lambda request: request.update(id=5),
        lambda request: request["function_call"].update(call_id="another"),
        lambda request: request["function_call"].update(type="bogus"),
        lambda request: request["function_call"].pop("name"),
    ],
)
async def test_a_pending_approval_of_another_shape_is_refused(state_root: Path, edit: Edit) -> None:
    _, document = await saved(state_root, with_tool_call(result=False, approval=True))
    edit(messages(document)[1]["contents"][1])
    assert "message 2" in (await refusal(state_root, document)).found


async def test_other_instructions_are_refused_with_both_versions(state_root: Path) -> None:
    _, document = await saved(state_root)
    document["instruction_version"] = "memory-1.0"
    error = await refusal(state_root, document)
    assert isinstance(error, VersionRefused)
    assert "memory-1.0" in error.found
    assert "memory-1.1" in error.expected


async def test_instructions_that_command_a_terminal_stay_one_line(state_root: Path) -> None:
    _, document = await saved(state_root)
    document["instruction_version"] = "\x1b]0;title\x07\n\u202e" * 100
    assert isinstance(await refusal(state_root, document), VersionRefused)


async def test_another_framework_version_is_accepted_when_it_rebuilds_exactly(state_root: Path) -> None:
    path, document = await saved(state_root)
    document["framework"] = "agent-framework-core 1.999.0"
    path.write_text(json.dumps(document))
    assert texts(await snapshot_store(state_root).load()) == ["module=Reporting", "You said: module=Reporting"]


async def test_another_framework_version_is_refused_with_both_versions_when_it_differs(state_root: Path) -> None:
    _, document = await saved(state_root)
    document["framework"] = "agent-framework-core 1.999.0"
    content(document).pop("additional_properties")  # this framework writes it always, so that one was another
    error = await refusal(state_root, document)
    assert "differently" in error.found
    assert "agent-framework-core 1.999.0" in error.expected
    assert framework_version() in error.expected


def test_the_known_kinds_of_content_are_the_frameworks() -> None:
    assert frozenset(get_args(ContentType)) == KINDS


async def test_a_flipped_bit_is_refused_or_changes_a_text_and_nothing_else(state_root: Path) -> None:
    """Whole loads for every bit of a small snapshot: an error of the family, or a session of the same shape."""
    path, _ = await saved(state_root, session_of(user("hi", 1)))
    sound = path.read_bytes()
    accepted = 0
    for bit in range(len(sound) * 8):
        flipped = bytearray(sound)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        status = path.stat()
        try:
            session = await snapshot_store(state_root).load()
        except FileRefused as error:
            assert str(error).isprintable()  # noqa: PT017 - a refusal is one of two right outcomes
        else:
            assert session is not None
            assert path.read_bytes() == flipped
            (state,) = session.to_dict()["state"].values()
            assert [message["role"] for message in state["messages"]] == ["user"]
            accepted += 1
        after = path.stat()
        assert (after.st_mtime_ns, after.st_ino) == (status.st_mtime_ns, status.st_ino)
    free = sum(
        len(text) for text in ("memory", "01234567", "session-1", "hi", "user-1", "in_memory", framework_version())
    )
    assert 0 < accepted < 8 * (free + len("2026-01-01T00:00:00Z")), "only a text, a name or a time changes unseen"


@settings(derandomize=True, deadline=None, max_examples=300, suppress_health_check=list(HealthCheck))
@given(data=st.data())
async def test_any_edit_of_the_document_is_refused_or_can_be_saved_again(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """An accepted file never leads to a crash later: it loads, serialises and saves."""
    root = tmp_path_factory.mktemp("edit")
    _, document = await saved(root, with_tool_call(approval=True))
    place = data.draw(st.sampled_from(list(_places(document))))
    value = data.draw(ANYTHING)
    *parents, last = place
    target: Any = document
    for step in parents:
        target = target[step]
    if data.draw(st.booleans()):
        target[last] = value
    elif isinstance(target, dict):
        del target[last]
        target[data.draw(st.sampled_from(["type", "id", "text", "items", "result", "\x1b\n"]))] = value
    else:
        target.insert(last, value)
    store = snapshot_store(root)
    store.path.write_text(json.dumps(document), encoding="utf-8")
    before = identity(store.path)
    try:
        session = await store.load()
    except MafMemoryError as error:
        assert isinstance(error, FileRefused)  # noqa: PT017 - a refusal is one of two right outcomes
        assert str(error).isprintable()  # noqa: PT017
        assert identity(store.path) == before
    else:
        assert session is not None
        assert identity(store.path) == before
        await store.save(session)


ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.sampled_from(["message", "text", "function_call", "function_result", "session", "data"]),
    st.lists(st.none() | st.text(max_size=2) | st.integers(), max_size=2),
    st.dictionaries(st.sampled_from(["type", "text", "a"]), st.text(max_size=3) | st.just("message"), max_size=2),
)


def _places(value: Any, place: tuple[Any, ...] = ()) -> Any:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*place, key)
        yield from _places(item, (*place, key))
