"""write_file and edit_file change exactly what was shown, in one step, and keep what they were not asked to change."""

from __future__ import annotations

import asyncio
import os
import resource
import threading
from pathlib import Path

import pytest

from mm.tools.spec import ToolSpec
from tests.mm.tools.calling import call, names, put, tools_of


def mode_of(path: Path) -> str:
    return oct(path.stat().st_mode & 0o7777)


def preview(tools: dict[str, ToolSpec], name: str, **arguments: object) -> str:
    return tools[name].preview(arguments)


async def test_a_new_file_is_written_with_its_folders(tmp_path: Path) -> None:
    said = await call(tmp_path, "write_file", path="a/b/c.txt", content="é\n")
    assert said == "a/b/c.txt is written: a new file of 3 bytes."
    assert (tmp_path / "a" / "b" / "c.txt").read_bytes() == "é\n".encode()
    assert os.listdir(tmp_path / "a" / "b") == ["c.txt"]


async def test_a_new_file_has_the_mode_that_the_user_gives_new_files(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        await call(tmp_path, "write_file", path="d/new.txt", content="x")
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "d" / "new.txt") == "0o640"
    assert mode_of(tmp_path / "d") == "0o750"


async def test_a_file_keeps_its_mode(tmp_path: Path) -> None:
    script = put(tmp_path, "run.sh", "#!/bin/sh\necho a\n")
    script.chmod(0o755)
    await call(tmp_path, "edit_file", path="run.sh", old="echo a", new="echo b")
    assert mode_of(script) == "0o755"
    await call(tmp_path, "write_file", path="run.sh", content="#!/bin/sh\n")
    assert mode_of(script) == "0o755"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only an administrator gives files away")
async def test_a_file_keeps_its_owner(tmp_path: Path) -> None:
    file = put(tmp_path, "a.txt", "a")
    os.chown(file, 1234, 5678)
    await call(tmp_path, "write_file", path="a.txt", content="b")
    assert (file.stat().st_uid, file.stat().st_gid) == (1234, 5678)


async def test_a_file_is_replaced_in_one_step_and_another_name_of_it_stays_as_it_was(tmp_path: Path) -> None:
    file = put(tmp_path, "a.txt", "before")
    os.link(file, tmp_path / "other-name.txt")
    await call(tmp_path, "write_file", path="a.txt", content="after")
    assert file.read_text(encoding="utf-8") == "after"
    assert (tmp_path / "other-name.txt").read_text(encoding="utf-8") == "before"


async def test_a_reader_sees_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    contents = {"a" * 100_000, "b" * 100_000}
    file = put(tmp_path, "a.txt", "a" * 100_000)
    seen: set[str] = set()
    ending = threading.Event()

    def read() -> None:
        while not ending.is_set():
            seen.add(file.read_text(encoding="utf-8"))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for number in range(50):
            await call(tmp_path, "write_file", path="a.txt", content="ab"[number % 2 - 1] * 100_000)
    finally:
        ending.set()
        reader.join()
    assert seen <= contents


async def test_a_file_that_is_marked_read_only_is_left_alone(tmp_path: Path) -> None:
    put(tmp_path, "a.txt", "a").chmod(0o444)
    assert "is read-only, and was not changed" in await call(tmp_path, "write_file", path="a.txt", content="b")
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "a"


async def test_line_ends_are_kept(tmp_path: Path) -> None:
    file = put(tmp_path, "dos.txt", "one\r\ntwo\r\nthree\r\n")
    assert "changed: +2 -1 lines" in await call(tmp_path, "edit_file", path="dos.txt", old="two\nth", new="2\n2\nth")
    assert file.read_bytes() == b"one\r\n2\r\n2\r\nthree\r\n"
    await call(tmp_path, "edit_file", path="dos.txt", old="one", new="1\n1")
    assert file.read_bytes() == b"1\r\n1\r\n2\r\n2\r\nthree\r\n"
    await call(tmp_path, "write_file", path="dos.txt", content="a\nb\n")
    assert file.read_bytes() == b"a\r\nb\r\n"
    unix = put(tmp_path, "unix.txt", "a\nb\n")
    await call(tmp_path, "write_file", path="unix.txt", content="c\r\nd\r\n")
    assert unix.read_bytes() == b"c\nd\n"


async def test_mixed_line_ends_stay_as_they_are_where_nothing_is_edited(tmp_path: Path) -> None:
    file = put(tmp_path, "mixed.txt", "a\r\nb\nc\r\nd\n\re\n")
    await call(tmp_path, "edit_file", path="mixed.txt", old="b\nc", new="B\nC")
    assert file.read_bytes() == b"a\r\nB\nC\r\nd\n\re\n"
    await call(tmp_path, "edit_file", path="mixed.txt", old="a\r\nB", new="A\r\nx")
    assert file.read_bytes() == b"A\r\nx\nC\r\nd\n\re\n"


async def test_the_mark_at_the_beginning_and_a_missing_last_line_end_are_kept(tmp_path: Path) -> None:
    file = put(tmp_path, "mark.txt", "\ufeffone\ntwo".encode())
    await call(tmp_path, "edit_file", path="mark.txt", old="one", new="1")
    assert file.read_bytes() == "\ufeff1\ntwo".encode()
    await call(tmp_path, "write_file", path="mark.txt", content="new")
    assert file.read_bytes() == "\ufeffnew".encode()


async def test_an_edit_leaves_every_other_byte_as_it_is(tmp_path: Path) -> None:
    before = "a\u2028b\x0c\x85c\ttrailing  \n\n\nend \x1b[0m é 🎉\n"
    file = put(tmp_path, "odd.txt", before)
    await call(tmp_path, "edit_file", path="odd.txt", old="trailing", new="t")
    assert file.read_bytes() == before.replace("trailing", "t").encode()


async def test_old_must_be_there_exactly_once(tmp_path: Path) -> None:
    file = put(tmp_path, "a.py", "x = 1\ny = 2\nx = 1\n")
    said = await call(tmp_path, "edit_file", path="a.py", old="x = 1", new="x = 3")
    assert said.startswith("Error: old is in a.py 2 times (lines 1, 3). Give more of the lines around")
    said = await call(tmp_path, "edit_file", path="a.py", old="z", new="x")
    assert said.startswith("Error: old is not in a.py exactly as given. Read the file again")
    assert file.read_text(encoding="utf-8") == "x = 1\ny = 2\nx = 1\n"
    assert "changed: +2 -2 lines" in await call(tmp_path, "edit_file", path="a.py", old="x = 1", new="x = 3", all=True)
    assert file.read_text(encoding="utf-8") == "x = 3\ny = 2\nx = 3\n"


async def test_what_differs_in_spaces_only_is_shown_so_that_it_can_be_copied(tmp_path: Path) -> None:
    put(tmp_path, "a.py", "def a():\n    if x:\n        return 1\n")
    said = await call(tmp_path, "edit_file", path="a.py", old="if x:\n  return 1\n", new="pass")
    assert said.endswith("Only the spaces differ from line 2; the file has there:\n    if x:\n        return 1")


async def test_what_is_no_edit_is_told(tmp_path: Path) -> None:
    put(tmp_path, "a.txt", "a")
    assert "old is empty" in await call(tmp_path, "edit_file", path="a.txt", old="", new="x")
    assert "are the same" in await call(tmp_path, "edit_file", path="a.txt", old="a", new="a")
    assert "there is no file" in await call(tmp_path, "edit_file", path="b.txt", old="a", new="b")
    assert "already holds exactly this" in await call(tmp_path, "write_file", path="a.txt", content="a")
    assert ". is the project folder itself" in await call(tmp_path, "write_file", path=".", content="a")
    put(tmp_path, "d/x")
    assert "d is a folder" in await call(tmp_path, "write_file", path="d", content="a")
    assert "no folder" in await call(tmp_path, "write_file", path="a.txt/b", content="a")


async def test_replacements_are_text_and_no_patterns(tmp_path: Path) -> None:
    file = put(tmp_path, "a.txt", "a.b (c) \\1 $x\n")
    await call(tmp_path, "edit_file", path="a.txt", old="a.b (c) \\1 $x", new="\\g<0> \\n $1")
    assert file.read_text(encoding="utf-8") == "\\g<0> \\n $1\n"


async def test_a_file_in_another_encoding_is_not_edited(tmp_path: Path) -> None:
    latin = put(tmp_path, "latin.txt", "für\n".encode("latin-1"))
    put(tmp_path, "utf16.txt", "für\n".encode("utf-16"))
    put(tmp_path, "a.bin", b"a\0b")
    assert "latin.txt is not UTF-8, and edit_file" in await call(
        tmp_path, "edit_file", path="latin.txt", old="r", new="x"
    )
    assert "utf16.txt is UTF-16, and" in await call(tmp_path, "edit_file", path="utf16.txt", old="r", new="x")
    assert "a.bin is not text, and" in await call(tmp_path, "edit_file", path="a.bin", old="a", new="x")
    tools = tools_of(tmp_path)
    assert "is not UTF-8 (Windows-1252), 4 bytes; it is replaced whole" in preview(
        tools, "write_file", path="latin.txt", content="für\n"
    )
    await call(tools, "write_file", path="latin.txt", content="für\n")
    assert latin.read_bytes() == "für\n".encode()


async def test_half_a_character_becomes_one_that_can_be_written(tmp_path: Path) -> None:
    await call(tmp_path, "write_file", path="a.txt", content="a\ud800b")
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "a\ufffdb"


async def test_the_preview_is_the_change(tmp_path: Path) -> None:
    put(tmp_path, "a.py", "one\ntwo\nthree\n")
    tools = tools_of(tmp_path)
    assert preview(tools, "edit_file", path="a.py", old="two", new="2") == (
        "Line 2.\na.py: +1 -1 lines\n--- a.py\n+++ a.py\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three"
    )
    assert preview(tools, "write_file", path="b.py", content="x\n") == (
        "A new file.\nb.py: +1 -0 lines\n--- /dev/null\n+++ b.py\n@@ -0,0 +1 @@\n+x"
    )
    assert names(tmp_path) == ["a.py"]


async def test_a_file_that_changed_since_it_was_shown_is_not_written(tmp_path: Path) -> None:
    file = put(tmp_path, "a.txt", "a\n")
    tools = tools_of(tmp_path)
    edit = {"path": "a.txt", "old": "a", "new": "b"}
    preview(tools, "edit_file", **edit)
    file.write_text("a\nmine\n", encoding="utf-8")
    said = await call(tools, "edit_file", **edit)
    assert said.startswith("Error: a.txt is not written: the file changed since it was shown.")
    assert file.read_text(encoding="utf-8") == "a\nmine\n"
    assert "is changed" in await call(tools, "edit_file", **edit)  # asked anew, the change is what is there now


async def test_a_file_that_appeared_or_went_since_it_was_shown_is_not_written(tmp_path: Path) -> None:
    tools = tools_of(tmp_path)
    preview(tools, "write_file", path="new.txt", content="x")
    put(tmp_path, "new.txt", "mine")
    assert "changed since it was shown" in await call(tools, "write_file", path="new.txt", content="x")
    preview(tools, "write_file", path="new.txt", content="y")
    (tmp_path / "new.txt").unlink()
    assert "changed since it was shown" in await call(tools, "write_file", path="new.txt", content="y")
    assert names(tmp_path) == []


async def test_a_call_that_was_shown_as_impossible_is_not_done_when_it_has_become_possible(tmp_path: Path) -> None:
    tools = tools_of(tmp_path)
    shown = preview(tools, "edit_file", path="a.txt", old="a", new="b")
    assert shown == "This call cannot be done as things are: there is no file a.txt. list_files shows what is there."
    file = put(tmp_path, "a.txt", "a")
    assert "changed since it was shown" in await call(tools, "edit_file", path="a.txt", old="a", new="b")
    assert file.read_text(encoding="utf-8") == "a"


async def test_two_edits_of_a_file_that_were_both_shown_are_both_made(tmp_path: Path) -> None:
    file = put(tmp_path, "a.txt", "one\ntwo\n")
    tools = tools_of(tmp_path)
    edits = [{"path": "a.txt", "old": "one", "new": "1"}, {"path": "a.txt", "old": "two", "new": "2"}]
    for edit in edits:
        preview(tools, "edit_file", **edit)
    preview(tools, "write_file", path="a.txt", content="whole")
    said = await asyncio.gather(*(call(tools, "edit_file", **edit) for edit in edits))
    assert said == ["a.txt is changed: +1 -1 lines."] * 2
    assert file.read_text(encoding="utf-8") == "1\n2\n"
    assert "changed since it was shown" in await call(tools, "write_file", path="a.txt", content="whole")


async def test_edits_made_at_once_lose_nothing(tmp_path: Path) -> None:
    file = put(tmp_path, "a.txt", "".join(f"<{number}>\n" for number in range(40)))
    tools = tools_of(tmp_path)
    await asyncio.gather(
        *(call(tools, "edit_file", path="a.txt", old=f"<{number}>", new=f"[{number}]") for number in range(40))
    )
    assert file.read_text(encoding="utf-8") == "".join(f"[{number}]\n" for number in range(40))


async def test_the_agents_own_configuration_is_written_only_after_it_was_shown(tmp_path: Path) -> None:
    """An "always" for writing must not become one for running: hooks in the configuration run without asking."""
    put(tmp_path, "agent.yaml", "name: a\n")
    put(tmp_path, "other.yaml", "name: a\n")
    tools = tools_of(tmp_path, source=tmp_path / "other.yaml")
    for name in ("agent.yaml", "Agent.yaml", "other.yaml"):
        said = await call(tools, "write_file", path=name, content="name: b\n")
        assert "decides what this agent may do, and is written only when" in said
    shown = preview(tools, "edit_file", path="agent.yaml", old="a\n", new="b\n")
    assert "This file decides what the agent may do, from its next start on." in shown
    assert "is changed" in await call(tools, "edit_file", path="agent.yaml", old="a\n", new="b\n")
    assert "is written" in await call(tools, "write_file", path="sub/agent.yaml", content="x")


async def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    """No file may be larger here, which is what a full disk looks like to a program."""
    file = put(tmp_path, "a.txt", "a")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, before[1]))
    try:
        said = await call(tmp_path, "write_file", path="a.txt", content="x" * 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert said.startswith("Error: a.txt cannot be used: File too large")
    assert file.read_text(encoding="utf-8") == "a"
    assert names(tmp_path) == ["a.txt"]
