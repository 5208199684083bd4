"""search_text finds lines in bounded time, and says where it did not look."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from mm.tools.arguments import SearchText
from mm.tools.inside import ProjectFolder
from mm.tools.searching import search_text
from mm.tools.working import Bounds
from tests.mm.tools.calling import call, put, tools_of


@pytest.fixture
def project(tmp_path: Path) -> Path:
    put(tmp_path, "src/a.py", "import os\n\ndef total(x):\n    return x.total  # Total\n")
    put(tmp_path, "src/b.txt", "the total is 3.5 (net)\r\nend\r\n")
    put(tmp_path, "build/out.py", "total\n")
    put(tmp_path, ".gitignore", "build\n")
    put(tmp_path, ".env", "total=1\n")
    return tmp_path


async def test_each_line_comes_after_its_file_and_number(project: Path) -> None:
    assert (await call(project, "search_text", text="total")).splitlines() == [
        "[3 lines in 2 files of the project folder]",
        "src/a.py:3: def total(x):",
        "src/a.py:4:     return x.total  # Total",
        "src/b.txt:1: the total is 3.5 (net)",
    ]


async def test_a_text_is_taken_as_it_is_written(project: Path) -> None:
    assert (await call(project, "search_text", text="3.5 (net)")).endswith("\nsrc/b.txt:1: the total is 3.5 (net)")
    assert (await call(project, "search_text", text="x.t")).endswith("\nsrc/a.py:4:     return x.total  # Total")
    assert (await call(project, "search_text", text="tot.l")).startswith("[no line holds tot.l; 2 text files in ")


async def test_a_regular_expression_is_one_of_pythons(project: Path) -> None:
    said = await call(project, "search_text", text=r"^def (\w+)\(", regex=True)
    assert said.splitlines()[1:] == ["src/a.py:3: def total(x):"]
    assert "src/b.txt:1:" in await call(project, "search_text", text=r"\(net\)$", regex=True)
    for wrong in ("(", "a{2,1}", "(?R)", r"\p{L}", "(?e)x", "[", "(" * 400 + ")" * 400):
        said = await call(project, "search_text", text=wrong, regex=True)
        assert said.startswith("Error: ")
        assert "is no regular expression" in said


async def test_case_can_be_ignored(project: Path) -> None:
    assert "src/b.txt" not in await call(project, "search_text", text="THE")
    assert "src/b.txt:1:" in await call(project, "search_text", text="THE", ignore_case=True)


async def test_a_search_can_be_kept_to_a_folder_a_file_or_a_pattern(project: Path) -> None:
    assert (await call(project, "search_text", text="total", pattern="*.txt")).startswith("[1 line in 1 file of")
    assert (await call(project, "search_text", text="total", pattern="src/*.py")).startswith(
        "[2 lines in 1 file of src"
    )
    assert (await call(project, "search_text", text="total", path="src/b.txt")).startswith("[1 line in 1 file of src/b")
    assert (await call(project, "search_text", text="total", path="build")).endswith("\nbuild/out.py:1: total")
    assert (await call(project, "search_text", text="total", path=".env")).endswith("\n.env:1: total=1")
    assert await call(project, "search_text", text="x", path="scr") == "Error: there is no scr. Is it src?"


async def test_text_over_several_lines_is_found_where_it_begins(project: Path) -> None:
    assert (await call(project, "search_text", text="(x):\n    return")).endswith("\nsrc/a.py:3: def total(x):")
    assert (await call(project, "search_text", text="(net)\nend")).endswith("\nsrc/b.txt:1: the total is 3.5 (net)")


async def test_a_match_of_nothing_is_each_line_once(project: Path) -> None:
    said = await call(project, "search_text", text="q*", regex=True, path="src/a.py")
    assert said.splitlines()[1:] == ["src/a.py:1: import os", "src/a.py:2: ", *said.splitlines()[3:]]
    assert len(said.splitlines()) == 5


async def test_a_long_line_is_cut_around_what_was_found(tmp_path: Path) -> None:
    put(tmp_path, "min.js", "a" * 5000 + "needle" + "b" * 5000)
    (line,) = (await call(tmp_path, "search_text", text="needle")).splitlines()[1:]
    assert "needle" in line
    assert line.startswith("min.js:1: …a")
    assert line.endswith("b…")
    assert len(line) < 330


async def test_other_encodings_are_searched_and_binaries_passed_over(tmp_path: Path) -> None:
    put(tmp_path, "latin.txt", "für".encode("latin-1"))
    put(tmp_path, "utf16.txt", "für".encode("utf-16"))
    put(tmp_path, "a.bin", b"\0f\xc3\xbcr")
    said = await call(tmp_path, "search_text", text="für")
    assert said.splitlines()[1:] == ["latin.txt:1: für", "utf16.txt:1: für"]


async def test_many_lines_are_cut_and_counted(tmp_path: Path) -> None:
    put(tmp_path, "many.txt", "needle\n" * 20_000)
    said = await call(tools_of(tmp_path, max_output=1000), "search_text", text="needle")
    assert len(said) <= 1000
    assert said.startswith("[20,000 lines in 1 file of ")
    assert "more are left out. Narrow it with path or pattern.]" in said


@pytest.mark.parametrize("expression", ["(a+)+$", "(a|a)*$", r"(\w+\s?)*$x", "(?:a|aa)+$"])
def test_a_costly_expression_ends_in_time(tmp_path: Path, expression: str) -> None:
    put(tmp_path, "a.txt", ("a" * 5000 + "!\n") * 50)
    begun = time.monotonic()
    wanted = SearchText(text=expression, regex=True)
    said = search_text(ProjectFolder(tmp_path), wanted, 1000, Bounds(1.0))
    assert time.monotonic() - begun < 10
    assert said.startswith("[")


async def test_a_search_that_is_cancelled_ends_soon(tmp_path: Path) -> None:
    put(tmp_path, "a.txt", "ab\n" * 3_000_000)
    for number in range(2000):
        put(tmp_path, f"{number}.txt", "x")
    begun = time.monotonic()
    search = asyncio.ensure_future(call(tmp_path, "search_text", text="b|x", regex=True))
    await asyncio.sleep(0.05)
    search.cancel()
    with pytest.raises(asyncio.CancelledError):
        await search
    assert time.monotonic() - begun < 5


async def test_a_text_is_needed(tmp_path: Path) -> None:
    assert "a text to look for is needed" in await call(tmp_path, "search_text", text="")
    assert "the limit is 1,000" in await call(tmp_path, "search_text", text="x" * 1001)
