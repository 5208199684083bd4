"""The context survives; what is not accepted changes nothing."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maf_memory.context import MAXIMUM, ContextStore, checked_context
from maf_memory.errors import ContextRefused, FileRefused
from tests.maf_memory.samples import context_store, untouched

STEADY = settings(derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
DOTNET_SPACES = (
    "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
)
"""Every character for which .NET's ``char.IsWhiteSpace`` is true."""


@pytest.fixture
async def store(state_root: Path) -> ContextStore:
    store = context_store(state_root)
    await store.open()
    return store


async def test_opening_creates_what_is_missing(state_root: Path) -> None:
    store = context_store(state_root)
    await store.open()
    assert json.loads(store.path.read_bytes()) == {"version": 1, "entries": {}}
    assert await store.get() is None


async def test_opening_never_clears_an_entry(store: ContextStore) -> None:
    await store.set("module=Reporting")
    with untouched(store.path):
        await store.open()
        await ContextStore(store.path).open()
    assert await ContextStore(store.path).get() == "module=Reporting"


async def test_reading_creates_nothing(state_root: Path) -> None:
    store = context_store(state_root)
    assert await store.get() is None
    assert await store.entries() == {}
    assert not state_root.exists()  # noqa: ASYNC240 - the only task of the test


async def test_the_layout_is_the_documented_one(store: ContextStore) -> None:
    await store.set("é\u2028🙂\0\n")
    assert store.path.read_text("utf-8") == (
        '{\n  "version": 1,\n  "entries": {\n    "context": "é\u2028🙂\\u0000\\n"\n  }\n}\n'
    )


@pytest.mark.parametrize(
    "text",
    [
        "x",
        " x ",
        "\0",
        "a\u2028b\u2029c\x85d",
        "a\nb\r\nc\td",
        "🙂👩‍👩‍👧",
        "\u202eright to left \u05d0\u05d1",
        '"}, "version": 2, {"',
        "\\u0000 \\ud800",
        "\x1b[2J",
        "\ufeff",
        "\u200b",
        "\x1c\x1d\x1e\x1f",
        "x" * MAXIMUM,
        "é" * MAXIMUM,
        "🙂" * (MAXIMUM // 2),
        "\0" * MAXIMUM,
    ],
)
async def test_an_accepted_text_comes_back_unchanged(store: ContextStore, text: str) -> None:
    assert await store.set(text) == text
    assert await store.get() == text
    assert await ContextStore(store.path).get() == text


async def test_a_lone_surrogate_is_made_sound(store: ContextStore) -> None:
    assert await store.set("a\ud800b") == "a\ufffdb"
    assert await store.get() == "a\ufffdb"
    await store.set("\udfff")
    assert await store.get() == "\ufffd"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Context must not be empty or only white space."),
        (" ", "Context must not be empty or only white space."),
        (DOTNET_SPACES, "Context must not be empty or only white space."),
        (" " * 5000, "Context must not be empty or only white space."),
        ("x" * (MAXIMUM + 1), "Context must not exceed 4096 characters."),
        ("🙂" * (MAXIMUM // 2 + 1), "Context must not exceed 4096 characters."),
        ("🙂" * (MAXIMUM // 2) + "x", "Context must not exceed 4096 characters."),
        ("x" * 1_000_000, "Context must not exceed 4096 characters."),
        (" " * MAXIMUM + "x", "Context must not exceed 4096 characters."),
    ],
)
async def test_a_refused_text_changes_nothing(store: ContextStore, text: str, message: str) -> None:
    await store.set("before")
    with untouched(store.path), pytest.raises(ContextRefused) as caught:
        await store.set(text)
    assert str(caught.value) == message
    assert await store.get() == "before"


@pytest.mark.parametrize("space", DOTNET_SPACES)
def test_what_is_white_space_for_dotnet_is_refused(space: str) -> None:
    with pytest.raises(ContextRefused):
        checked_context(space)


@pytest.mark.parametrize(
    "character", ["\x1c", "\x1d", "\x1e", "\x1f", "\u200b", "\u200d", "\u2060", "\ufeff", "\u180e"]
)
def test_what_only_python_or_only_the_eye_takes_for_white_space_is_accepted(character: str) -> None:
    assert checked_context(character) == character


async def test_a_set_keeps_the_other_entries(store: ContextStore) -> None:
    store.path.write_text('{"version": 1, "entries": {"theirs": "kept", "context": "old", "": "\\u0000"}}')
    await store.set("new")
    assert await store.entries() == {"theirs": "kept", "context": "new", "": "\0"}


async def test_reset_empties_every_entry_and_keeps_the_file(store: ContextStore) -> None:
    store.path.write_text('{"version": 1, "entries": {"theirs": "x", "context": "y"}}')
    assert await store.reset() == 2
    assert json.loads(store.path.read_bytes()) == {"version": 1, "entries": {}}
    assert await store.get() is None
    assert await store.reset() == 0
    assert store.path.exists()


async def test_destroy_deletes_the_file_once(store: ContextStore) -> None:
    await store.set("x")
    assert await store.destroy()
    assert not store.path.exists()
    assert await store.get() is None
    assert not await store.destroy()


async def test_destroy_creates_no_folder(state_root: Path) -> None:
    assert not await context_store(state_root).destroy()
    assert not state_root.exists()  # noqa: ASYNC240 - the only task of the test


async def test_every_get_reads_the_disk(store: ContextStore) -> None:
    other = ContextStore(store.path)
    await store.set("mine")
    assert await other.get() == "mine"
    await other.set("theirs")
    assert await store.get() == "theirs"
    await other.reset()
    assert await store.get() is None
    store.path.write_text('{"version": 1, "entries": {"context": "by hand"}}')
    assert await store.get() == "by hand"
    store.path.unlink()
    assert await store.get() is None
    await store.set("again")
    assert await other.get() == "again"


async def test_concurrent_sets_leave_one_of_the_values_whole(store: ContextStore) -> None:
    values = [f"value {number} " + "x" * 3000 for number in range(20)]
    await asyncio.gather(*(ContextStore(store.path).set(value) for value in values), *map(store.set, values))
    assert await store.get() in values
    assert [name for name in store.path.parent.iterdir() if name.suffix == ".tmp"] == []


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ('{"version": 1}', "no field 'entries'"),
        ('{"version": 1, "entries": null}', "'entries' is null"),
        ('{"version": 1, "entries": []}', "'entries' is a list"),
        ('{"version": 1, "entries": {"context": null}}', 'the entry "context" is not a text'),
        ('{"version": 1, "entries": {"context": 5}}', 'the entry "context" is not a text'),
        ('{"version": 1, "entries": {"other": ["x"]}}', 'the entry "other" is not a text'),
        ('{"version": 1, "entries": {"\\u001b[2J\\n": 1}}', 'the entry "\\u001b[2J\\n" is not a text'),
        ('{"version": 1, "entries": {"context": "a", "context": "b"}}', 'repeats the key "context"'),
        ('{"version": 1, "entries": {"context": ""}}', "must not be empty"),
        ('{"version": 1, "entries": {"context": " \\u3000"}}', "must not be empty"),
        ('{"version": 1, "entries": {"context": "%s"}}' % ("x" * 4097), "must not exceed 4096"),
    ],
)
async def test_entries_that_set_would_not_write_are_refused(store: ContextStore, content: str, found: str) -> None:
    store.path.write_text(content)
    for use in (store.get, store.open, store.reset, lambda: store.set("x")):
        with untouched(store.path), pytest.raises(FileRefused) as caught:
            await use()
        assert found in caught.value.found
        assert str(caught.value).isprintable()


@STEADY
@given(st.text(st.characters(exclude_categories=()), max_size=50))
async def test_any_text_is_refused_or_comes_back_sound(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    store = context_store(tmp_path_factory.mktemp("root"))
    try:
        stored = await store.set(text)
    except ContextRefused:
        assert await store.get() is None
        assert not store.path.exists()
    else:
        assert stored == checked_context(text)
        assert await ContextStore(store.path).get() == stored
