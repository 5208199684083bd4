"""A damaged session file: it is named in one line, left as it is, and hides no other session."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from agent_framework import Message

from maf_memory.errors import FileRefused, StateConflict, UnknownSession
from maf_memory.reading import DEFAULT_LIMIT
from maf_memory.sessions.decoding import decode
from maf_memory.sessions.files import FileSessions
from maf_memory.sessions.folder import LOCK
from maf_memory.stamp import Stamp
from tests.maf_memory.sessions.golden_samples import ID, golden, listed, put, refusal

SOUND = "20260916-101530-00000001"
KNOWN = Stamp("b81f0c2e", 3)


def numbered(number: int) -> str:
    return f"20260917-000000-{number:08x}"


def as_session(content: bytes, session_id: str) -> bytes:
    """The same file for another id, of the same length."""
    return content.replace(ID.encode(), session_id.encode())


def assert_one_line(error: FileRefused, path: Path) -> None:
    assert str(path) in str(error)
    assert str(error).isprintable()
    assert len(str(error)) < 1_000
    assert error.problem.isprintable()


def on_disk(folder: Path) -> dict[str, tuple[object, ...]]:
    """The files of a folder, the lock apart: content, identity and date of each."""
    return {
        path.name: (path.read_bytes(), *(status := path.lstat())[:7], status.st_mtime_ns)
        for path in folder.iterdir()
        if path.name != LOCK
    }


@contextmanager
def all_untouched(folder: Path) -> Iterator[None]:
    """Claim that no file in the folder is changed, and that none comes or goes."""
    before = on_disk(folder)
    yield
    assert on_disk(folder) == before


async def assert_refused_everywhere(folder: Path, *, visible: bool = True) -> str:
    """Claim that the file of :data:`ID` is refused by all that reads or replaces it; return the problem."""
    path = put(folder, as_session(golden(), SOUND), SOUND).with_name(f"{ID}.json")
    with all_untouched(folder):
        error = await refusal(folder)
        assert error is not None
        assert_one_line(error, path)
        shown, damaged = await listed(folder)
        assert (ID in shown) is not visible
        assert SOUND in shown, "the others are listed as usual"
        assert damaged == ({ID: error.problem} if visible else {})
        with pytest.raises(FileRefused, match=ID):
            await FileSessions(folder).delete(ID, expected=KNOWN)
    return error.problem


async def refuse_save(folder: Path, spoil: Callable[[Path], object]) -> None:
    """Claim that a session loaded before its file was spoilt is not saved over it, and is saved nowhere else."""
    path = put(folder, golden())
    storage = FileSessions(folder)
    record = await storage.load(ID)
    spoil(path)
    record.messages += [Message("user", ["Later."])]
    with all_untouched(folder):
        with pytest.raises((FileRefused, StateConflict), match=ID):
            await storage.save(record)
        with pytest.raises((FileRefused, StateConflict), match=ID):
            await storage.create(record)
    assert record.stamp == KNOWN


@pytest.mark.parametrize("name", ["format-1-full", "format-1-early"])
async def test_a_file_cut_at_any_byte_is_refused_and_listed_as_damaged(tmp_path: Path, name: str) -> None:
    whole = golden(name)
    put(tmp_path, as_session(golden(), SOUND), SOUND)
    cuts = range(len(whole) - 1)  # what lacks its last line end only is whole
    for cut in cuts:
        put(tmp_path, as_session(whole, numbered(cut))[:cut], numbered(cut))
    with all_untouched(tmp_path):
        for cut in cuts:
            path = tmp_path / f"{numbered(cut)}.json"
            with pytest.raises(FileRefused) as refused:
                decode(path.read_bytes(), path)
            assert_one_line(refused.value, path)
        shown, damaged = await listed(tmp_path)
    assert shown == [SOUND]
    assert list(damaged) == [numbered(cut) for cut in cuts]
    assert all(problem.isprintable() for problem in damaged.values())


@pytest.mark.parametrize("name", ["format-1-full", "format-1-early", "format-1-nothing-said"])
async def test_a_flipped_bit_is_refused_or_says_something_else(tmp_path: Path, name: str) -> None:
    """In a text it makes another text; nowhere does it go unseen, and nothing worse than a refusal comes of it."""
    whole = golden(name)
    path = tmp_path / f"{ID}.json"
    refused = 0
    for place in range(len(whole)):
        for bit in range(8) if len(whole) < 1_000 else [place % 8]:
            flipped = bytearray(whole)
            flipped[place] ^= 1 << bit
            try:
                decode(bytes(flipped), path)
            except FileRefused as error:
                assert_one_line(error, path)
                refused += 1
            else:
                assert json.loads(flipped) != json.loads(whole)
    assert refused > len(whole) / 2


async def test_a_flipped_bit_before_the_messages_is_seen_in_the_listing(tmp_path: Path) -> None:
    """What the listing shows of a file is what opening it shows, or that it is damaged."""
    whole = golden()
    end = whole.index(b'"messages"') + len(b'"messages": [')
    flips = [(place, bit) for place in range(end) for bit in range(8)]
    readable = []
    for number, (place, bit) in enumerate(flips):
        flipped = bytearray(as_session(whole, numbered(number)))
        flipped[place] ^= 1 << bit
        path = put(tmp_path, bytes(flipped), numbered(number))
        try:
            readable.append(decode(bytes(flipped), path).head)
        except FileRefused:
            continue
    page = await FileSessions(tmp_path).page()
    titled = [head for head in readable if head.title]
    assert sorted(page.heads, key=lambda head: head.id) == sorted(titled, key=lambda head: head.id)
    assert len(page.damaged) == len(flips) - len(readable)


@pytest.mark.parametrize("place", [0, 1, 20, 200, 460, 600, 1_500, -600, -300, -100, -5, -1])
async def test_a_block_of_nul_bytes_is_refused(tmp_path: Path, place: int) -> None:
    whole = bytearray(golden())
    start = place % len(whole)
    whole[start : start + 512] = bytes(len(whole[start : start + 512]))
    put(tmp_path, bytes(whole))
    seen = start < whole.index(b"\n{") or start + 512 > len(whole) - 256
    problem = await assert_refused_everywhere(tmp_path, visible=seen)
    assert problem.startswith(f"it holds NUL bytes, the first at byte {start}")


WHOLE = golden().decode()
DAMAGED = {
    "empty": "",
    "white space": " \r\n\t\n",
    "a line of text": "Quel format ?\n",
    "null": "null",
    "a list": "[]",
    "an empty object": "{}",
    "a byte order mark": "\ufeff" + WHOLE,
    "two documents, the second cut": WHOLE + WHOLE[:1_000],
    "a document and more": WHOLE + "x",
    "a key twice in the head": WHOLE.replace('"turns": 2', '"turns": 2, "turns": 2'),
    "a key twice in another layout": json.dumps(json.loads(WHOLE))[:-1] + ', "title": "x"}',
    "no messages": WHOLE.replace('"messages"', '"massages"'),
    "an unknown field": WHOLE.replace('"turns": 2', '"turns": 2, "x": 2'),
    "a comma too many": WHOLE.replace(',\n"messages"', ',\n,"messages"'),
    "a comma that is missing": WHOLE.replace(',\n"messages"', '\n"messages"'),
    "white space that JSON does not know": WHOLE.removesuffix("\n") + "\v",
    "a missing field": WHOLE.replace('"cwd": "/home/ada/shop",\n', ""),
    "NaN": WHOLE.replace('"turns": 2', '"turns": NaN'),
    "an infinity": WHOLE.replace('"turns": 2', '"turns": 1e999'),
    "a number with too many digits": WHOLE.replace('"turns": 2', f'"turns": {"9" * 5_000}'),
    "a fraction": WHOLE.replace('"turns": 2', '"turns": 2.0'),
    "less than nothing": WHOLE.replace('"turns": 2', '"turns": -1'),
    "fewer errors than none": WHOLE.replace('"error_count": 2', '"error_count": -1'),
    "turns that are a text": WHOLE.replace('"turns": 2', '"turns": "2"'),
    "turns that are true": WHOLE.replace('"turns": 2', '"turns": true'),
    "a title that is a number": WHOLE.replace('"title": "Quel format pour les logs ?"', '"title": 7'),
    "a service that is a list": WHOLE.replace('{"id":"resp-1"}', "[1]"),
    "half an emoji in the title": WHOLE.replace("Quel format pour les logs", "\\ud83d"),
    "a date without its offset": WHOLE.replace("10:15:30+02:00", "10:15:30", 1),
    "a day that does not exist": WHOLE.replace("2026-09-16T10:21", "2026-02-30T10:21"),
    "a date that is a number": WHOLE.replace('"2026-09-16T10:21:07+02:00"', "1789546867"),
    "another session's id": WHOLE.replace(ID, SOUND),
    "an id that is none": WHOLE.replace(ID, "../../etc/passwd"),
    "a lineage that is none": WHOLE.replace("b81f0c2e", "B81F0C2E"),
    "a revision that is none": WHOLE.replace('"revision": 3', '"revision": 0'),
    "marks of a merge in the head": WHOLE.replace(
        '"turns": 2,', '<<<<<<< HEAD\n"turns": 2,\n=======\n"turns": 1,\n>>>>>>> theirs'
    ),
    "marks of a merge around all": f"<<<<<<< HEAD\n{WHOLE}=======\n{WHOLE}>>>>>>> theirs\n",
    "UTF-16": WHOLE.encode("utf-16").decode("latin-1"),
    "deep nesting": WHOLE.replace('{"id":"resp-1"}', "[" * 100_000),
}
"""What a listing sees, because it stands before the messages or at the very end."""

INSIDE = {
    "two documents": WHOLE + WHOLE,
    "a key twice in a message": WHOLE.replace('"author_name":"mini"', '"author_name":"mini","author_name":"mini"'),
    "a key twice in the state": WHOLE.replace('"seen":3', '"seen":3,"seen":3'),
    "NaN in the state": WHOLE.replace('"seen":3', '"seen":NaN'),
    "deep nesting in the state": WHOLE.replace('"seen":3', '"seen":' + "[" * 5_000 + "]" * 5_000),
    "half an emoji in a message": WHOLE.replace("Delete it.", "\\ud83d"),
    "marks of a merge between messages": WHOLE.replace(
        '{"role":"assistant","contents":[{"type":"text"', '<<<<<<< HEAD\n{"role":"assistant","contents":[{"type":"text"'
    ),
    "a line that is gone": "\n".join(line for line in WHOLE.split("\n") if '"call_id":"c2","result"' not in line),
    "an unknown role": WHOLE.replace('"role":"assistant"', '"role":"asistant"', 1),
    "an unknown content": WHOLE.replace('"type":"hosted_file"', '"type":"hosted_fill"'),
    "a text that is a number": WHOLE.replace('"text":"Delete it."', '"text":7'),
    "a message that is none": WHOLE.replace('"messages": [\n', '"messages": [\n7,\n'),
    "a message that names its type": WHOLE.replace('{"role":"system"', '{"type":"message","role":"system"'),
    "a state that is a list": WHOLE[: WHOLE.index('"state"')] + '"state": [\n]\n}\n',
}
"""What only opening the file shows."""


@pytest.mark.parametrize("name", DAMAGED)
async def test_damage_that_a_listing_sees_is_refused_and_listed_with_its_reason(tmp_path: Path, name: str) -> None:
    assert DAMAGED[name] != WHOLE
    content = DAMAGED[name].encode("latin-1" if name == "UTF-16" else "utf-8")
    put(tmp_path, content)
    await assert_refused_everywhere(tmp_path)


@pytest.mark.parametrize("name", INSIDE)
async def test_damage_inside_the_conversation_shows_on_opening(tmp_path: Path, name: str) -> None:
    assert INSIDE[name] != WHOLE
    put(tmp_path, INSIDE[name].encode())
    await assert_refused_everywhere(tmp_path, visible=False)


async def test_a_file_over_the_limit_is_refused_and_listed_as_damaged_without_being_read(tmp_path: Path) -> None:
    head, _, tail = golden().partition(b'"state"')
    path = put(tmp_path, head)
    with path.open("r+b") as file:  # a hole: nothing of it is on the disk
        file.seek(DEFAULT_LIMIT)
        file.write(b'"state"' + tail)
    problem = await assert_refused_everywhere(tmp_path)
    assert problem.startswith(f"it has {path.stat().st_size:,} bytes")


@pytest.mark.parametrize(
    "name", ["empty", "two documents, the second cut", "UTF-16", "a byte order mark", "another session's id"]
)
async def test_a_damaged_file_is_not_saved_over_and_is_deleted_only_as_it_is(tmp_path: Path, name: str) -> None:
    content = DAMAGED[name].encode()
    await refuse_save(tmp_path, lambda path: path.write_bytes(content))
    storage = FileSessions(tmp_path)
    with pytest.raises(FileRefused, match=ID):
        await storage.delete(ID, expected=KNOWN)
    assert (tmp_path / f"{ID}.json").read_bytes() == content
    assert await storage.delete(ID) is True
    assert await storage.delete(ID) is False
    assert await listed(tmp_path) == ([], {})


async def test_a_flipped_bit_in_a_text_is_a_conflict_for_who_loaded_the_other(tmp_path: Path) -> None:
    def flip(path: Path) -> None:
        content = path.read_bytes().replace(b"Delete it.", b"Delete it/")
        status = path.stat()
        path.write_bytes(content)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    await refuse_save(tmp_path, flip)


async def test_a_file_cut_to_nothing_while_it_is_open_here_is_not_saved_over(tmp_path: Path) -> None:
    await refuse_save(tmp_path, lambda path: os.truncate(path, 0))
    await refuse_save(tmp_path, lambda path: os.truncate(path, 500))


async def test_a_damaged_file_can_be_read_to_the_byte(tmp_path: Path) -> None:
    put(tmp_path, golden()[:500])
    assert await FileSessions(tmp_path).read(ID) == golden()[:500]


async def test_a_page_names_what_is_damaged_once_and_last(tmp_path: Path) -> None:
    for number in range(5):
        put(tmp_path, as_session(golden(), numbered(number)), numbered(number))
    put(tmp_path, golden()[:500])
    storage = FileSessions(tmp_path)
    page, pages = await storage.page(limit=2), 1
    while page.next is not None:
        assert not page.damaged
        page, pages = await storage.page(limit=2, after=page.next), pages + 1
    assert pages == 3
    assert [one.id for one in page.damaged] == [ID]
    assert page.damaged[0].path == tmp_path / f"{ID}.json"


async def test_a_file_that_is_not_there_is_not_damaged(tmp_path: Path) -> None:
    with pytest.raises(UnknownSession):
        await FileSessions(tmp_path / "nowhere").load(ID)
    assert await listed(tmp_path / "nowhere") == ([], {})
