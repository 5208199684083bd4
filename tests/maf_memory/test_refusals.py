"""Whatever is wrong with a file, each store refuses it in one line and leaves it as it is, to the byte."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from maf_memory.context import ContextStore
from maf_memory.errors import FileRefused, SaveFailed, VersionRefused
from maf_memory.reading import DEFAULT_LIMIT
from maf_memory.snapshot import SnapshotStore
from tests.maf_memory.conftest import no_waiting
from tests.maf_memory.samples import context_store, identity, snapshot_store, talked, texts, untouched

Store = ContextStore | SnapshotStore
VALUE = "module=Reporting é 🙂"


async def take(store: Store) -> object:
    """What a reader gets: the context, or the loaded conversation."""
    if isinstance(store, ContextStore):
        return await store.get()
    session = await store.load()
    return None if session is None else texts(session)


@pytest.fixture(params=["context", "snapshot"])
async def store(request: pytest.FixtureRequest, state_root: Path) -> Store:
    """Each of the two stores, with a sound file on the disk."""
    if request.param == "context":
        context = context_store(state_root)
        await context.set(VALUE)
        return context
    await snapshot_store(state_root).save(talked(VALUE))
    return snapshot_store(state_root)


async def refused(store: Store, content: bytes) -> FileRefused:
    """The refusal of ``content``, checked to be one line that names the file, and to touch nothing."""
    store.path.write_bytes(content)
    with untouched(store.path):
        with pytest.raises(FileRefused) as caught:
            await take(store)
        if isinstance(store, ContextStore):
            for write in (store.open(), store.set("another"), store.reset()):
                with pytest.raises(FileRefused):
                    await write
    error = caught.value
    line = str(error)
    assert error.path == store.path
    assert str(store.path) in line
    assert error.found in line
    assert error.expected in line
    assert line.isprintable(), "an error is one line that commands no terminal"
    assert len(line) < 800
    return error


def edited(content: bytes, edit: Callable[[dict[str, object]], object]) -> bytes:
    document = json.loads(content)
    edit(document)
    return json.dumps(document).encode()


async def test_what_is_written_is_accepted(store: Store) -> None:
    assert await take(store) in (VALUE, [VALUE, f"You said: {VALUE}"])


async def test_a_reformatted_file_is_still_accepted(store: Store) -> None:
    expected = await take(store)
    for options in ({"indent": 2}, {"indent": None, "separators": (",", ":")}, {"sort_keys": True}):
        store.path.write_text(json.dumps(json.loads(store.path.read_bytes()), **options), encoding="utf-8")
        assert await take(store) == expected
    store.path.write_bytes(b"\r\n \t" + store.path.read_bytes() + b" \r\n")
    assert await take(store) == expected


DAMAGE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda _: b"", "it is empty"),
    "white space": (lambda _: b" \n\t\r\n", "only white space"),
    "a byte order mark": (lambda sound: b"\xef\xbb\xbf" + sound, "byte order mark"),
    "a UTF-16 text": (lambda sound: sound.decode().encode("utf-16"), "NUL bytes"),
    "not UTF-8": (lambda sound: sound.replace("é".encode(), b"\xe9"), "not UTF-8 at byte"),
    "a surrogate in UTF-8": (lambda sound: sound.replace("é".encode(), b"\xed\xa0\x80"), "not UTF-8 at byte"),
    "NUL bytes only": (lambda sound: b"\0" * len(sound), "NUL bytes"),
    "a NUL block at the end": (lambda sound: sound[:-20] + b"\0" * 20, "NUL bytes"),
    "a NUL block inside": (lambda sound: sound[:40] + b"\0" * 512 + sound[40:], "NUL bytes"),
    "trailing text": (lambda sound: sound + b"x", "goes on after its end"),
    "two documents": (lambda sound: sound + sound, "goes on after its end"),
    "a merge conflict": (
        lambda sound: b"<<<<<<< HEAD\n" + sound + b"=======\n" + sound + b">>>>>>> theirs\n",
        "not JSON at line 1 column 1",
    ),
    "a merge conflict inside": (
        lambda sound: sound.replace(b"\n", b"\n<<<<<<< HEAD\n", 1),
        "not JSON at line 2 column 1",
    ),
    "a list": (lambda _: b"[]", "it is a list"),
    "null": (lambda _: b"null", "it is null"),
    "a text": (lambda _: b'"version"', "it is a text"),
    "a number": (lambda _: b"1", "it is an integer"),
    "an empty object": (lambda _: b"{}", "no field 'version'"),
    "NaN": (lambda sound: sound.replace(b'"version": 1', b'"version": NaN'), "it holds NaN"),
    "Infinity": (lambda sound: sound.replace(b'"version": 1', b'"version": Infinity'), "it holds Infinity"),
    "-Infinity": (lambda sound: sound.replace(b'"version": 1', b'"version": -Infinity'), "it holds -Infinity"),
    "1e999": (lambda sound: sound.replace(b'"version": 1', b'"version": 1e999'), "a number that is too large"),
    "a number of 5,000 digits": (
        lambda sound: sound.replace(b'"version": 1', b'"version": ' + b"1" * 5000),
        "too many digits",
    ),
    "a repeated key": (lambda sound: sound.replace(b"{", b'{"version": 1,', 1), 'repeats the key "version"'),
    "a repeated key whose text is escaped": (
        lambda sound: sound.replace(b"{", b'{"\\u0076ersion": 1,', 1),
        'repeats the key "version"',
    ),
    "deep lists": (lambda sound: sound.replace(b'"version": 1', b'"version": ' + b"[" * 200_000), "nests too deeply"),
    "deep objects": (
        lambda sound: sound.replace(b'"version": 1', b'"version": ' + b'{"a":' * 200_000),
        "nests too deeply",
    ),
    "a lone surrogate": (
        lambda sound: sound.replace("é".encode(), rb"\ud800"),
        "a lone surrogate",
    ),
    "a lone low surrogate in capitals": (
        lambda sound: sound.replace("é".encode(), rb"\uDC00"),
        "a lone surrogate",
    ),
    "a lone surrogate in a key": (
        lambda sound: sound.replace(b"{", rb'{"\udfff": 1,', 1),
        "a lone surrogate",
    ),
    "a raw line break in a text": (lambda sound: sound.replace("é".encode(), b"\n"), "not JSON at line"),
    "a raw control character in a text": (lambda sound: sound.replace("é".encode(), b"\x1b"), "not JSON at line"),
    "a half escape": (lambda sound: sound.replace("é".encode(), rb"\u12"), "not JSON at line"),
    "a comment": (lambda sound: b"// mine\n" + sound, "not JSON at line 1"),
    "a trailing comma": (lambda sound: sound.rstrip()[:-1] + b",}", "not JSON at line"),
    "single quotes": (lambda sound: sound.replace(b'"', b"'"), "not JSON at line 2"),
}


@pytest.mark.parametrize("damage", DAMAGE)
async def test_damage_is_refused_by_name(store: Store, damage: str) -> None:
    spoil, found = DAMAGE[damage]
    sound = store.path.read_bytes()
    spoilt = spoil(sound)
    assert spoilt != sound
    assert found in (await refused(store, spoilt)).found


async def test_a_file_that_ends_at_any_byte_is_refused(store: Store) -> None:
    sound = store.path.read_bytes()
    assert sound.endswith(b"}\n")
    for length in range(len(sound) - 1):
        store.path.write_bytes(sound[:length])
        before = identity(store.path)
        with pytest.raises(FileRefused, match=r"truncated|empty|white space|not UTF-8"):
            await take(store)
        assert identity(store.path) == before
    store.path.write_bytes(sound[:-1])
    assert await take(store) is not None, "only the last line break is missing: nothing is lost"


async def test_a_file_that_begins_at_any_later_byte_is_refused(store: Store) -> None:
    sound = store.path.read_bytes()
    for start in range(1, len(sound)):
        store.path.write_bytes(sound[start:])
        before = identity(store.path)
        with pytest.raises(FileRefused):
            await take(store)
        assert identity(store.path) == before


EDITS: dict[str, tuple[Callable[[dict[str, object]], object], type[FileRefused], str]] = {
    "no version": (lambda document: document.pop("version"), FileRefused, "no field 'version'"),
    "version true": (lambda document: document.update(version=True), FileRefused, "'version' is true or false"),
    "version as text": (lambda document: document.update(version="1"), FileRefused, "'version' is a text"),
    "version 1.0": (lambda document: document.update(version=1.0), FileRefused, "'version' is a number"),
    "version null": (lambda document: document.update(version=None), FileRefused, "'version' is null"),
    "version 0": (lambda document: document.update(version=0), VersionRefused, "version 0"),
    "version 2": (lambda document: document.update(version=2), VersionRefused, "version 2"),
    "a version of 4,000 digits": (
        lambda document: document.update(version=10**4000),
        VersionRefused,
        "version 1000",
    ),
    "version 2 with other fields": (
        lambda document: document.update(version=2, later="field"),
        VersionRefused,
        "version 2",
    ),
    "an unknown field": (lambda document: document.update(extra=1), FileRefused, 'unknown field "extra"'),
    "an unknown field that commands a terminal": (
        lambda document: document.update({"\x1b[2J\n\u202e" + "x" * 10_000: 1}),
        FileRefused,
        'unknown field "\\u001b[2J\\n',
    ),
}


@pytest.mark.parametrize("edit", EDITS)
async def test_another_shape_is_refused_by_name(store: Store, edit: str) -> None:
    change, kind, found = EDITS[edit]
    error = await refused(store, edited(store.path.read_bytes(), change))
    assert type(error) is kind
    assert found in error.found


@pytest.mark.parametrize("length", [16, 17, 4096, 70_000])
async def test_a_file_of_anything_is_refused(store: Store, length: int) -> None:
    noise = bytes((number * 167 + number // 7) % 256 for number in range(length))
    await refused(store, noise)


async def test_a_file_that_is_too_large_is_refused_unread(store: Store) -> None:
    with store.path.open("r+b") as file:
        file.truncate(DEFAULT_LIMIT + 1)  # a hole: nothing of it is on the disk
    with untouched_status(store.path), pytest.raises(FileRefused, match="67,108,865 bytes; expected at most"):
        await take(store)


class untouched_status:  # noqa: N801 - reads as a statement
    """As :func:`untouched`, without reading 64 MiB."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        self.before = os.lstat(self.path)

    def __exit__(self, *_: object) -> None:
        after = os.lstat(self.path)
        assert (after.st_ino, after.st_size, after.st_mtime_ns) == (
            self.before.st_ino,
            self.before.st_size,
            self.before.st_mtime_ns,
        )


async def test_a_folder_in_the_place_of_the_file_is_refused(store: Store) -> None:
    store.path.unlink()
    store.path.mkdir()
    with pytest.raises(FileRefused, match=r"it is (a folder|not a regular file)"):
        await take(store)
    assert store.path.is_dir()


@pytest.mark.skipif(os.name != "posix", reason="links need no privilege on POSIX only")
async def test_a_link_in_the_place_of_the_file_is_refused(store: Store, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.json"
    store.path.rename(elsewhere)
    for target in (elsewhere, tmp_path / "missing"):
        store.path.unlink(missing_ok=True)
        store.path.symlink_to(target)
        with pytest.raises(FileRefused, match="it is a symbolic link"):
            await take(store)
    assert store.path.is_symlink()
    assert not (tmp_path / "missing").exists()


@pytest.mark.skipif(os.name != "posix", reason="links need no privilege on POSIX only")
async def test_a_link_in_the_place_of_the_folder_is_refused(store: Store, tmp_path: Path) -> None:
    folder = store.path.parent
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved", target_is_directory=True)
    before = sorted(os.listdir(tmp_path / "moved"))
    with pytest.raises(FileRefused, match="its folder is a symbolic link"):
        await take(store)
    if isinstance(store, SnapshotStore):
        with pytest.raises(FileRefused, match="its folder is a symbolic link"):
            await store.delete()
    else:
        with pytest.raises(FileRefused, match="its folder is a symbolic link"):
            await store.set("x")
    assert sorted(os.listdir(tmp_path / "moved")) == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this platform has no named pipes")
async def test_a_named_pipe_is_refused_without_waiting_for_its_writer(store: Store) -> None:
    store.path.unlink()
    os.mkfifo(store.path)
    with no_waiting(store.path), pytest.raises(FileRefused, match="it is not a regular file"):
        await take(store)


@pytest.mark.parametrize("closed", ["the folder", "the root"])
async def test_a_store_that_cannot_be_reached_is_refused_and_not_taken_for_empty(
    unprivileged: Path, closed: str
) -> None:
    root = unprivileged / "root"
    for store in (context_store(root), snapshot_store(root)):
        await (store.set("x") if isinstance(store, ContextStore) else store.save(talked("x")))
        folder = store.path.parent if closed == "the folder" else root
        folder.chmod(0)
        try:
            with pytest.raises(FileRefused, match="Permission denied"):
                await take(store)
            with pytest.raises(SaveFailed, match="Permission denied"):
                await (store.destroy() if isinstance(store, ContextStore) else store.delete())
        finally:
            folder.chmod(0o700)
        assert await take(store) is not None


async def test_a_file_in_the_place_of_the_folder_is_refused(state_root: Path) -> None:
    state_root.mkdir()  # noqa: ASYNC240 - the only task of the test
    for store in (context_store(state_root), snapshot_store(state_root)):
        store.path.parent.write_text("mine")
        with pytest.raises(FileRefused, match="cannot be read"):
            await take(store)
        assert store.path.parent.read_text() == "mine"


async def test_the_explicit_command_destroys_what_was_refused(store: Store) -> None:
    await refused(store, b"{")
    destroy = store.destroy if isinstance(store, ContextStore) else store.delete
    assert await destroy()
    assert not store.path.exists()
    assert not await destroy()
    assert await take(store) is None
