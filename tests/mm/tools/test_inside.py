"""Whatever path a model gives, the file tools stay inside the project folder."""

from __future__ import annotations

import ctypes
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mm.tools.inside import ProjectFolder
from mm.tools.reading import read_bytes
from mm.tools.refused import Refused
from tests.mm.tools.calling import call, put, tools_of

SECRET = "the secret of another folder"

READING = ("read_file", "list_files", "search_text")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    put(tmp_path, "outside/secret.txt", SECRET)
    put(tmp_path, "shop/notes.md", "notes\n")
    return tmp_path / "shop"


async def everything(project: Path, path: str) -> list[str]:
    """What each file tool says of a path."""
    return [
        await call(project, "read_file", path=path),
        await call(project, "list_files", path=path),
        await call(project, "list_files", pattern=f"{path}/*"),
        await call(project, "search_text", text="s", path=path),
        await call(project, "write_file", path=path, content="x"),
        await call(project, "write_file", path=f"{path}/new.txt", content="x"),
        await call(project, "edit_file", path=path, old="secret", new="x"),
    ]


@contextmanager
def untouched(folder: Path) -> Iterator[None]:
    """Claim that a folder is what it was."""

    def seen() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    before = seen()
    yield
    assert seen() == before


OUTSIDE = (
    "..",
    "../outside",
    "../outside/secret.txt",
    "a/../../outside/secret.txt",
    "/etc/passwd",
    "/",
    "///etc/passwd",
)


@pytest.mark.parametrize("path", OUTSIDE)
async def test_a_path_that_leads_outside_is_refused_by_each_tool(project: Path, path: str) -> None:
    with untouched(project.parent):
        for said in await everything(project, path):
            assert said.startswith("Error: ")
            assert "is outside the project folder" in said
            assert SECRET not in said


async def test_a_sibling_folder_whose_name_begins_alike_is_outside(project: Path) -> None:
    put(project.parent, "shop-private/secret.txt", SECRET)
    assert "is outside" in await call(project, "read_file", path="../shop-private/secret.txt")
    assert "is outside" in await call(project, "read_file", path=f"{project}-private/secret.txt")


async def test_an_absolute_path_inside_is_a_path_like_any_other(project: Path) -> None:
    assert await call(project, "read_file", path=str(project / "notes.md")) == "[notes.md, 1 line]\nnotes"
    assert "is written" in await call(project, "write_file", path=str(project / "a" / "b.txt"), content="b")
    assert (project / "a" / "b.txt").read_text(encoding="utf-8") == "b"
    found = await call(project, "list_files", pattern=str(project / "a" / "*.txt"))
    assert found.endswith("\na/b.txt")


async def test_a_path_that_goes_out_and_in_again_by_words_is_inside(project: Path) -> None:
    assert "notes" in await call(project, "read_file", path="nowhere/../notes.md")
    assert "notes" in await call(project, "read_file", path="../shop/notes.md")


async def test_a_project_reached_through_a_link_is_the_folder_behind_it(project: Path) -> None:
    link = project.parent / "link"
    link.symlink_to(project)
    assert "notes" in await call(link, "read_file", path=str(link / "notes.md"))
    assert "notes" in await call(link, "read_file", path=str(project / "notes.md"))
    assert "is written" in await call(link, "write_file", path=str(link / "new.md"), content="x")


async def test_a_link_that_leads_out_is_refused_wherever_it_stands_in_the_path(project: Path) -> None:
    (project / "file").symlink_to("../outside/secret.txt")
    (project / "folder").symlink_to(project.parent / "outside")
    (project / "chain").symlink_to("folder")
    (project / "gone").symlink_to("../outside/not-there.txt")
    with untouched(project.parent / "outside"):
        for path in ("file", "folder", "chain", "folder/secret.txt", "chain/secret.txt", "gone"):
            for said in await everything(project, path):
                assert said.startswith("Error: ")
                assert "leads out of the project folder through a link" in said
    assert not (project.parent / "outside" / "not-there.txt").exists()


async def test_a_search_does_not_follow_links(project: Path) -> None:
    (project / "folder").symlink_to(project.parent / "outside")
    (project / "file.txt").symlink_to("../outside/secret.txt")
    (project / "loop").symlink_to(".")
    assert SECRET not in await call(project, "search_text", text="secret")
    found = (await call(project, "list_files", pattern="*")).splitlines()
    assert found[1:] == ["file.txt", "folder", "loop", "notes.md"]
    listed = await call(project, "list_files")
    assert "file.txt -> ../outside/secret.txt" in listed


async def test_a_link_inside_is_read_and_not_written_through(project: Path) -> None:
    put(project, "docs/real.md", "real\n")
    (project / "link.md").symlink_to("docs/real.md")
    (project / "d").symlink_to("docs")
    assert await call(project, "read_file", path="link.md") == "[docs/real.md, 1 line]\nreal"
    assert "real" in await call(project, "read_file", path="d/real.md")
    for path in ("link.md", "d/real.md"):
        said = await call(project, "write_file", path=path, content="x")
        assert said == f"Error: {path} goes through a link to docs/real.md. Write to that path."
    assert "through a link to docs/new.md" in await call(project, "write_file", path="d/new.md", content="x")
    (project / "deep").symlink_to("docs/deeper")
    (project / "docs" / "deeper").mkdir()
    assert "through a link to docs/new.md" in await call(project, "write_file", path="deep/../new.md", content="x")
    assert (project / "docs" / "real.md").read_text(encoding="utf-8") == "real\n"


async def test_a_loop_of_links_is_told(project: Path) -> None:
    (project / "a").symlink_to("b")
    (project / "b").symlink_to("a")
    for said in await everything(project, "a"):
        assert said.startswith("Error: ")
        assert "is a link" in said or "leads" in said


def test_a_folder_that_is_swapped_for_a_link_after_the_check_is_not_followed(project: Path) -> None:
    put(project, "sub/secret.txt", "mine")
    folder = ProjectFolder(project)
    place = folder.place("sub/secret.txt")
    shutil.rmtree(project / "sub")
    (project / "sub").symlink_to(project.parent / "outside")
    with pytest.raises(Refused, match=r"no folder|is a link"):
        read_bytes(folder, place)


async def test_a_race_of_swaps_never_shows_or_changes_what_is_outside(project: Path) -> None:
    exchange = getattr(ctypes.CDLL(None), "renameat2", None)
    if exchange is None:
        pytest.skip("this system does not exchange two names in one step")
    put(project, "sub/secret.txt", "mine\n")
    (project / "away").symlink_to(project.parent / "outside")
    ending = threading.Event()

    def swap() -> None:
        names = [os.fsencode(project / name) for name in ("sub", "away")]
        while not ending.is_set():
            exchange(-100, names[0], -100, names[1], 2)

    swapper = threading.Thread(target=swap)
    swapper.start()
    tools = tools_of(project)
    said = []
    try:
        with untouched(project.parent / "outside"):
            for number in range(150):
                said += [
                    await call(tools, "read_file", path="sub/secret.txt"),
                    await call(tools, "search_text", text="e", path="sub"),
                    await call(tools, "write_file", path="sub/secret.txt", content=f"mine {number}\n"),
                    await call(tools, "write_file", path=f"sub/new-{number}.txt", content="mine\n"),
                    await call(tools, "list_files", path="sub"),
                ]
    finally:
        ending.set()
        swapper.join()
    assert not any("another folder" in one for one in said)
    assert any(one.startswith("Error: ") for one in said)
    assert any("mine" in one for one in said)
    assert [path.name for path in (project.parent / "outside").iterdir()] == ["secret.txt"]


@pytest.mark.parametrize("path", [".mm/sessions/x.json", ".mm", ".MM/x", ".Mm./x", ".mm /x", "sub/.mm/x", "x/../.mm/y"])
async def test_the_conversations_are_read_and_never_written(project: Path, path: str) -> None:
    put(project, ".mm/sessions/a.json", '{"title": "Logs"}')
    put(project, ".mm/.gitignore", "*\n")
    with untouched(project):
        said = await call(project, "write_file", path=path, content="x")
    assert said.startswith("Error: ")
    assert said.endswith("is not written: mini-me keeps its conversations there.")
    assert "Logs" in await call(project, "read_file", path=".mm/sessions/a.json")
    assert (await call(project, "list_files", pattern=".mm/**/*.json")).endswith("\n.mm/sessions/a.json")
    assert ".mm/sessions/a.json:1:" in await call(project, "search_text", text="Logs", path=".mm")
    said = await call(project, "edit_file", path=".mm/sessions/a.json", old="Logs", new="x")
    assert said.startswith("Error: .mm/sessions/a.json is not written")


def test_the_conversations_are_not_written_under_another_name_of_their_folder(project: Path) -> None:
    """A file system without regard to case, or a bind mount, has more than one name for a folder."""
    put(project, ".mm/sessions/a.json", "{}")
    (project / "alias").mkdir()
    program = (
        "import asyncio, sys; from pathlib import Path; from tests.mm.tools.calling import call\n"
        "print(asyncio.run(call(Path(sys.argv[1]), 'write_file', path='alias/sessions/a.json', content='x')))"
    )
    command = 'mount --bind "$1/.mm" "$1/alias" && exec "$2" -c "$3" "$1"'
    script = ["unshare", "--mount", "sh", "-c", command, "sh", str(project), sys.executable, program]
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("a second name for a folder needs an administrator")
    ran = subprocess.run(script, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[3])
    if "mount:" in ran.stderr or "unshare:" in ran.stderr:
        pytest.skip("this machine mounts nothing")
    assert "is not written: mini-me keeps its conversations there" in ran.stdout
    assert (project / ".mm" / "sessions" / "a.json").read_text(encoding="utf-8") == "{}"


async def test_what_git_keeps_is_not_written(project: Path) -> None:
    put(project, ".git/config", "[core]\n")
    for path in (".git/config", ".git/hooks/pre-commit", ".GIT/config", "sub/.git"):
        said = await call(project, "write_file", path=path, content="x")
        assert said.endswith("is not written: it is git's own; use run_command with git.")
    assert "[core]" in await call(project, "read_file", path=".git/config")


@pytest.mark.parametrize("path", ["a\0b", "\0", "../\0"])
async def test_a_nul_in_a_path_is_told(project: Path, path: str) -> None:
    for said in await everything(project, path):
        assert said.startswith("Error: ")
        assert "holds a NUL character" in said


@pytest.mark.parametrize("path", ["a" * 300, "d/" * 3000 + "x", "é" * 200])
async def test_a_path_that_is_too_long_is_told_in_a_short_line(project: Path, path: str) -> None:
    for said in await everything(project, path):
        assert said.startswith("Error: ")
        assert "too long" in said or "there is no" in said
        assert len(said) < 600
    assert os.listdir(project) == ["notes.md"]


@pytest.mark.parametrize("path", ["", "  "])
async def test_a_path_is_needed(project: Path, path: str) -> None:
    assert "a path is needed" in await call(project, "read_file", path=path)
    assert "a path is needed" in await call(project, "write_file", path=path, content="x")


async def test_what_is_no_regular_file_is_told_and_never_waited_for(project: Path) -> None:
    os.mkfifo(project / "pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        here = os.open(project, os.O_RDONLY)
        try:
            bound.bind(f"/proc/self/fd/{here}/socket")
        finally:
            os.close(here)
        names = ["pipe", "socket"]
        if os.geteuid() == 0:
            os.mknod(project / "device", 0o666 | 0o020000, os.makedev(1, 5))  # gives zeros without end
            names.append("device")
        for name in names:
            assert "is no regular file" in await call(project, "read_file", path=name)
            assert "is no regular file" in await call(project, "write_file", path=name, content="x")
            assert "is no regular file" in await call(project, "edit_file", path=name, old="a", new="b")
            assert "1 could not be read" in await call(project, "search_text", text="x", path=name)
        assert "0 files match" in await call(project, "list_files", pattern="[pds]*[!d]")


async def test_a_name_that_would_command_a_terminal_is_shown_harmless(project: Path) -> None:
    put(project, "\x1b]0;evil\x07.txt", "x\n")
    put(project, "two\nlines.txt", "x\n")
    for said in (
        await call(project, "list_files"),
        await call(project, "list_files", pattern="*.txt"),
        await call(project, "search_text", text="x"),
        await call(project, "read_file", path="\x1b[2J"),
    ):
        assert "\x1b" not in said
        assert "\\x1b" in said
        assert "two\nlines" not in said


async def test_a_name_that_is_no_text_is_shown_and_cannot_be_asked_for(project: Path) -> None:
    (project / os.fsdecode(b"caf\xe9.txt")).write_text("x", encoding="utf-8")
    listed = await call(project, "list_files", pattern="*.txt")
    listed.encode("utf-8")
    assert "caf\\udce9.txt" in listed
    assert "there is no file" in await call(project, "read_file", path="caf\udce9.txt")
