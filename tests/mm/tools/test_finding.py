"""list_files lists a folder and finds files; what nobody wants to see is passed over until it is named."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest

from mm.tools.arguments import ListFiles
from mm.tools.finding import list_files
from mm.tools.inside import Place, ProjectFolder
from mm.tools.walking import walked
from mm.tools.working import Bounds
from tests.mm.tools.calling import call, put, tools_of


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for path in (
        "README.md",
        "src/a.py",
        "src/lib/b.py",
        "src/lib/b.ts",
        "src/lib/style.css",
        "tests/test_a.py",
        ".github/workflows/ci.yml",
        ".env",
        ".git/config",
        ".git/objects/a.py",
        "node_modules/x/index.py",
        "build/out.py",
        "debug.log",
    ):
        put(tmp_path, path)
    put(tmp_path, ".gitignore", "node_modules/\n/build\n*.log\n.env\n")
    return tmp_path


async def found(project: Path, pattern: str, path: str = ".") -> list[str]:
    return (await call(project, "list_files", pattern=pattern, path=path)).splitlines()[1:]


async def test_a_folder_is_listed_with_what_is_hidden_or_ignored_and_without_git(project: Path) -> None:
    assert (await call(project, "list_files")).splitlines() == [
        "[the project folder, 9 entries]",
        ".env",
        ".github/",
        ".gitignore",
        "README.md",
        "build/",
        "debug.log",
        "node_modules/",
        "src/",
        "tests/",
    ]
    assert (await call(project, "list_files", path="src")).splitlines() == ["[src, 2 entries]", "a.py", "lib/"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.py", ["src/a.py", "src/lib/b.py", "tests/test_a.py"]),
        ("**/*.py", ["src/a.py", "src/lib/b.py", "tests/test_a.py"]),
        ("src/*.py", ["src/a.py"]),
        ("./src/*.py", ["src/a.py"]),
        ("src/**", ["src/a.py", "src/lib/b.py", "src/lib/b.ts", "src/lib/style.css"]),
        ("src/", ["a.py", "lib/"]),
        ("s*/", ["src/a.py", "src/lib/b.py", "src/lib/b.ts", "src/lib/style.css"]),
        ("src/**/*.{ts,css}", ["src/lib/b.ts", "src/lib/style.css"]),
        ("{src,tests}/*.py", ["src/a.py", "tests/test_a.py"]),
        ("test_?.py", ["tests/test_a.py"]),
        ("[Rr]eadme*", []),
        ("b.py", ["src/lib/b.py"]),
        ("src/lib", ["b.py", "b.ts", "style.css"]),
        (".github/**", [".github/workflows/ci.yml"]),
        ("**/.github/**/*.yml", [".github/workflows/ci.yml"]),
        ("{.github,src}/**/*.{yml,py}", [".github/workflows/ci.yml", "src/a.py", "src/lib/b.py"]),
        (".git/*", [".git/config"]),
        ("build/*", ["build/out.py"]),
        ("node_modules/**/*.py", ["node_modules/x/index.py"]),
        ("*.log", []),
        ("*/../../*", []),
        ("nothing*", []),
    ],
)
async def test_a_pattern_finds_files(project: Path, pattern: str, expected: list[str]) -> None:
    assert await found(project, pattern) == expected


async def test_a_pattern_counts_from_the_folder_that_is_given(project: Path) -> None:
    assert await found(project, "*.py", "src") == ["src/a.py", "src/lib/b.py"]
    assert await found(project, "lib/*.ts", "src") == ["src/lib/b.ts"]
    assert await found(project, "**/*.py", "node_modules") == ["node_modules/x/index.py"]


async def test_the_count_and_the_pattern_are_told(project: Path) -> None:
    assert (await call(project, "list_files", pattern="*.ts")).startswith(
        "[1 file matches *.ts in the project folder]\n"
    )
    said = await call(project, "list_files", pattern="*.rs", path="src")
    assert said == "[0 files match *.rs in src; hidden and ignored files are found only in a folder that is named]"


async def test_a_folder_that_is_not_there_is_told(project: Path) -> None:
    assert await call(project, "list_files", path="scr") == "Error: there is no folder scr. Is it src?"
    assert await call(project, "list_files", pattern="scr/*.py") == "Error: there is no folder scr. Is it src?"
    assert await call(project, "list_files", path="README.md") == (
        "Error: README.md is no folder. read_file reads a file."
    )


async def test_a_long_list_is_cut_between_lines_and_tells_how_many_are_left_out(project: Path) -> None:
    for number in range(300):
        put(project, f"many/file-{number:03}.txt")
    tools = tools_of(project, max_output=1000)
    for arguments in ({"path": "many"}, {"pattern": "many/*"}):
        said = await call(tools, "list_files", **arguments)
        lines = said.splitlines()
        assert len(said) <= 1000
        assert lines[0].startswith(("[many, 300 entries]", "[300 files match"))
        left = 300 - (len(lines) - 2)
        assert lines[-1].startswith(f"[{left} more are left out.")
        assert lines[-2].endswith(f"file-{299 - left:03}.txt")


@pytest.mark.parametrize("pattern", ["{1..100000}", "{a,b}" * 20, "*" * 501])
async def test_a_pattern_that_asks_for_too_much_is_refused(project: Path, pattern: str) -> None:
    said = await call(project, "list_files", pattern=pattern)
    assert said.startswith("Error: ")
    assert "pattern" in said


async def test_odd_patterns_are_answered(project: Path) -> None:
    for pattern in (
        "[",
        "]",
        "[]",
        "[!",
        "{",
        "}",
        "{}",
        "{,}",
        "!",
        "\\",
        "a\\",
        "**/",
        "//",
        "***",
        "(?R)",
        "~",
        "-",
    ):
        said = await call(project, "list_files", pattern=pattern)
        assert said.startswith(("[", "Error: "))


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        ("*a" * 20 + "b", "a" * 100 + "b" + "a" * 99),
        ("*[ab]" * 20 + "[xc]", "ab" * 100 + "c" + "ab" * 20),
        ("*?" * 40 + "[xc]", "ab" * 100),
        ("**/*a*/" * 20 + "x", "aaa/" * 40 + "y"),
    ],
)
def test_a_costly_rule_does_not_hold_a_search_up(tmp_path: Path, rule: str, name: str) -> None:
    """Ignore rules come with the project, and may be a stranger's."""
    put(tmp_path, ".gitignore", f"{rule}\n")
    put(tmp_path, name)
    begun = time.monotonic()
    said = list_files(ProjectFolder(tmp_path), ListFiles(pattern="*"), 1000, Bounds(2.0))
    assert time.monotonic() - begun < 10
    assert said.splitlines()[1:] == [name]


RULES = {
    ".gitignore": "*.tmp\n!keep.tmp\n/top\nsub/inner/\n**/deep/*.x\n\\#odd\n# not a rule\ntrailing \n"
    "foo/*\n!foo/bar\n[ab].z\n!\na[\n",
    "sub/.gitignore": "!*.tmp\nlocal\n/only-here\n",
    "sub/again/.gitignore": "*\n!.gitignore\n!yes\n",
}

FILES = (
    "a.tmp", "keep.tmp", "top", "sub/top", "sub/inner/x", "other/sub/inner/x", "q/deep/a.x", "q/deep/r/a.x", "#odd",
    "trailing", "foo/baz", "foo/bar", "foo/sub/c", "a.z", "c.z", "sub/a.tmp", "sub/local", "local", "sub/only-here",
    "sub/q/only-here", "sub/again/no", "sub/again/yes", "sub/again/more/yes", "é/a.tmp", "é/ü",
)  # fmt: skip


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")
def test_the_same_files_are_ignored_as_by_git(tmp_path: Path) -> None:
    for path, content in RULES.items():
        put(tmp_path, path, content)
    for path in FILES:
        put(tmp_path, path)
    git = ["git", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    listed = subprocess.run(
        [*git, "ls-files", "--others", "--exclude-standard", "-z"], check=True, capture_output=True, text=True
    ).stdout
    seen = walked(ProjectFolder(tmp_path), Place(()), Bounds(60), hidden=True)
    assert sorted("/".join(parts) for parts, _ in seen) == sorted(listed.rstrip("\0").split("\0"))
