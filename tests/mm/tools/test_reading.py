"""read_file gives text exactly as it is, says which lines it is, and tells what is no text."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mm.tools.calling import call, put, tools_of


async def test_a_file_comes_without_line_numbers_under_a_line_that_says_what_it_is(tmp_path: Path) -> None:
    put(tmp_path, "src/a.py", "def a():\n\treturn 1  \n")
    assert await call(tmp_path, "read_file", path="src/a.py") == "[src/a.py, 2 lines]\ndef a():\n\treturn 1  "


async def test_a_range_of_lines_is_read_and_named(tmp_path: Path) -> None:
    put(tmp_path, "n.txt", "".join(f"line {number}\n" for number in range(1, 11)))
    assert (
        await call(tmp_path, "read_file", path="n.txt", first=3, last=4) == "[n.txt, lines 3-4 of 10]\nline 3\nline 4"
    )
    assert await call(tmp_path, "read_file", path="n.txt", first=10) == "[n.txt, line 10 of 10]\nline 10"
    assert await call(tmp_path, "read_file", path="n.txt", first=-5, last=1) == "[n.txt, line 1 of 10]\nline 1"
    assert (await call(tmp_path, "read_file", path="n.txt", last=99)).startswith("[n.txt, 10 lines]")
    assert (await call(tmp_path, "read_file", path="n.txt", first=None, last=None)).startswith("[n.txt, 10 lines]")


async def test_a_range_that_is_not_there_is_told(tmp_path: Path) -> None:
    put(tmp_path, "n.txt", "one\ntwo\n")
    said = await call(tmp_path, "read_file", path="n.txt", first=3)
    assert said == "Error: n.txt has only 2 lines; ask for lines up to 2."
    assert "is before first" in await call(tmp_path, "read_file", path="n.txt", first=2, last=1)


async def test_an_empty_file_is_told(tmp_path: Path) -> None:
    put(tmp_path, "empty")
    assert await call(tmp_path, "read_file", path="empty") == "[empty is empty]"


async def test_a_long_file_is_cut_between_lines_and_says_how_to_go_on(tmp_path: Path) -> None:
    lines = [f"line {number:04}" for number in range(1, 1001)]
    put(tmp_path, "long.txt", "\n".join(lines))
    tools = tools_of(tmp_path, max_output=1000)
    read: list[str] = []
    while True:
        said = (await call(tools, "read_file", path="long.txt", first=len(read) + 1)).splitlines()
        assert len("\n".join(said)) <= 1000
        last = said.pop() if said[-1].startswith("[cut") else None
        assert said[0].startswith(f"[long.txt, lines {len(read) + 1}-")
        read += said[1:]
        if last is None:
            break
        assert last == f"[cut at 1,000 characters; go on with first={len(read) + 1}]"
    assert read == lines


async def test_a_line_that_is_too_long_is_cut_and_the_next_can_be_read(tmp_path: Path) -> None:
    put(tmp_path, "wide.txt", "a" * 100_000 + "b\nnext\n")
    tools = tools_of(tmp_path, max_output=1000)
    said = await call(tools, "read_file", path="wide.txt")
    assert len(said) <= 1000
    assert "characters were cut here" in said
    assert said.endswith("b\n[cut at 1,000 characters; go on with first=2]")


@pytest.mark.parametrize("limit", [1, 10, 50, 100, 200, 400])
async def test_any_limit_is_kept(tmp_path: Path, limit: int) -> None:
    put(tmp_path, "a.txt", "some words\n" * 1000)
    said = await call(tools_of(tmp_path, max_output=limit), "read_file", path="a.txt")
    assert len(said) <= max(limit, 130)  # the note alone, where even that is longer


async def test_a_binary_file_is_told_and_not_dumped(tmp_path: Path) -> None:
    put(tmp_path, "a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    put(tmp_path, "noise", bytes(range(1, 256)) * 10)
    for name in ("a.png", "noise"):
        said = await call(tmp_path, "read_file", path=name)
        assert said.startswith(f"Error: {name} is not text (")


async def test_a_huge_file_is_told_and_not_read(tmp_path: Path) -> None:
    with put(tmp_path, "huge.log").open("r+b") as file:
        file.truncate(5_000_000_000)
    said = await call(tmp_path, "read_file", path="huge.log")
    assert said.startswith("Error: huge.log has 5,000,000,000 bytes; the limit is 16,777,216. Use search_text")
    assert "1 could not be read or are too large: huge.log" in await call(tmp_path, "search_text", text="x")


async def test_the_encoding_is_told_where_it_is_not_utf8(tmp_path: Path) -> None:
    put(tmp_path, "latin.txt", "Rechnung für Zoë\nfällig\n".encode("latin-1"))
    put(tmp_path, "windows.txt", "“quoted” 5 €\n".encode("cp1252"))
    put(tmp_path, "utf16.txt", "Größe\r\n".encode("utf-16"))
    put(tmp_path, "mark.txt", "\ufeffGröße\n".encode())
    put(tmp_path, "dos.txt", "a\r\nb\r\n")
    put(tmp_path, "other.txt", b"a\x81b\xe9" + b"text " * 30)
    put(tmp_path, "half.txt", "Gr".encode("utf-16") + b"x")
    assert "[other.txt, 1 line, not UTF-8; read as" in await call(tmp_path, "read_file", path="other.txt")
    assert "half.txt is not text" in await call(tmp_path, "read_file", path="half.txt")
    guess = "not UTF-8; read as Windows-1252, which is a guess"
    assert (
        await call(tmp_path, "read_file", path="latin.txt")
        == f"[latin.txt, 2 lines, {guess}]\nRechnung für Zoë\nfällig"
    )
    assert await call(tmp_path, "read_file", path="windows.txt") == f"[windows.txt, 1 line, {guess}]\n“quoted” 5 €"
    assert await call(tmp_path, "read_file", path="utf16.txt") == "[utf16.txt, 1 line, UTF-16, CRLF line ends]\nGröße"
    assert await call(tmp_path, "read_file", path="mark.txt") == "[mark.txt, 1 line]\nGröße"
    assert await call(tmp_path, "read_file", path="dos.txt") == "[dos.txt, 2 lines, CRLF line ends]\na\nb"


async def test_a_file_that_is_not_there_names_what_is_alike(tmp_path: Path) -> None:
    put(tmp_path, "docs/Notes.md")
    said = await call(tmp_path, "read_file", path="docs/note.md")
    assert said == "Error: there is no file docs/note.md. Is it docs/Notes.md?"
    said = await call(tmp_path, "read_file", path="docs/x.py")
    assert said == "Error: there is no file docs/x.py. list_files shows what is there."
    assert "no folder" in await call(tmp_path, "read_file", path="docs/Notes.md/x")


async def test_a_folder_is_told(tmp_path: Path) -> None:
    put(tmp_path, "docs/a")
    assert await call(tmp_path, "read_file", path="docs") == "Error: docs is a folder. list_files lists it."
    assert await call(tmp_path, "read_file", path=".") == "Error: the project folder is a folder. list_files lists it."


async def test_text_that_commands_a_terminal_stays_text(tmp_path: Path) -> None:
    put(tmp_path, "a.txt", "\x1b[31mred\x1b[0m\u2028same line\x0bsame\n")
    said = await call(tmp_path, "read_file", path="a.txt")
    assert said == "[a.txt, 1 line]\n\x1b[31mred\x1b[0m\u2028same line\x0bsame"
