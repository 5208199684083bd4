"""↑ brings back what the model read, from this conversation first, then from the others; nothing is written for it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.consoles import needs_posix
from tests.mm.brain import conversation_of, drawn, files
from tests.mm.terminal.windows import (
    ALT_ENTER,
    CTRL_C,
    CTRL_D,
    DOWN,
    ENTER,
    UP,
    Window,
    last_question,
    pasted,
    scripted,
)

pytestmark = needs_posix


async def asked(project: Path, *questions: str, updated: str | None = None) -> Path:
    """An earlier conversation with these questions; its file is returned."""
    conversation, _ = conversation_of(project, ["ok"] * len(questions))
    for question in questions:
        await drawn(conversation.ask(question))
    path = conversation.keeper.path
    if updated is not None:
        record = json.loads(path.read_text(encoding="utf-8"))
        text = path.read_text(encoding="utf-8").replace(record["updated"], updated, 1)
        path.write_text(text.replace(f'"updated": "{record["updated"]}"', f'"updated": "{updated}"'), encoding="utf-8")
    return path


def copies(path: Path, number: int) -> None:
    """As many conversations like this one, each a day later than the one before."""
    text = path.read_text(encoding="utf-8")
    record = json.loads(text)
    for day in range(number):
        name = f"20200101-000000-{day:08x}"
        moved = text.replace(record["id"], name).replace("question 0", f"question {day + 1}")
        moved = moved.replace(
            f'"updated": "{record["updated"]}"', f'"updated": "{2000 + day // 28}-01-{day % 28 + 1:02}T00:00:00Z"'
        )
        path.with_name(f"{name}.json").write_text(moved, encoding="utf-8")


def test_up_goes_up_every_row_of_a_line_that_is_higher_than_the_terminal(tmp_path: Path) -> None:
    scripted(tmp_path, "One.")
    line = "".join(f"{number:04}" for number in range(100))
    with Window(tmp_path, columns=42, rows=8) as window:
        window.ask("earlier")
        window.press(line)
        window.wait("0099")
        window.press(UP * 10 + "x")  # ten whole rows and a cell of the eleventh
        window.wait("x0000")
        window.press(UP)
        window.prompt("> earlier").press(DOWN)
        window.prompt("  9").press(ENTER)
        window.wait(lambda _: last_question(tmp_path) == f"x{line}")


def test_up_goes_up_rows_of_wide_characters_and_the_lines_above_them(tmp_path: Path) -> None:
    scripted(tmp_path, "One.", "Two.")
    with Window(tmp_path, columns=61) as window:
        window.ask("早い")
        window.press(f"one{ALT_ENTER}{'字' * 40}")  # a row of 59 cells holds 29 of them
        window.prompt(f"  {'字' * 11}").press(f"{UP}a")
        window.prompt(f"  {'字' * 11}a{'字' * 18}").press(f"{UP}b")
        window.prompt("> oneb").press(UP)
        window.prompt("> 早い").press(DOWN)
        window.prompt("> oneb").press(ENTER)
        window.wait("Two.").prompt()
    assert last_question(tmp_path) == f"oneb\n{'字' * 11}a{'字' * 29}"


async def test_down_goes_back_to_the_draft_with_all_its_lines(tmp_path: Path) -> None:
    await asked(tmp_path, "first line\nsecond line")
    scripted(tmp_path, "One.")
    with Window(tmp_path) as window:
        window.prompt().press(f"a{ALT_ENTER}draft")
        window.prompt("  draft").press(UP)
        window.prompt("> a").press(UP)
        window.prompt("  second line").press(UP)
        window.prompt("> first line").press(f"{UP}{UP}!")
        window.prompt("> first line!").press(DOWN)
        window.prompt("  second line").press(DOWN)
        window.prompt("> a")
        assert "> a\n  draft\n" in window.seen
        window.press(ENTER)
        window.wait("One.").prompt()
    assert last_question(tmp_path) == "a\ndraft"


async def test_the_other_sessions_come_by_their_instant_newest_first(tmp_path: Path) -> None:
    await asked(tmp_path, "at nine in Tokyo", updated="2026-01-02T09:00:00+09:00")
    await asked(tmp_path, "at one in London", updated="2026-01-02T01:00:00Z")
    await asked(tmp_path, "the evening before in New York", updated="2026-01-01T20:30:00-05:00")
    scripted(tmp_path)
    with Window(tmp_path) as window:
        window.prompt()
        for question in ("the evening before in New York", "at one in London", "at nine in Tokyo"):
            window.press(UP)
            window.prompt(f"> {question}")
        window.press(f"{UP}{UP}.")
        window.prompt("> at nine in Tokyo.")


def test_what_is_recalled_is_what_the_model_read(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("its content", encoding="utf-8")
    scripted(tmp_path, "One.", "Two.", "Three.", "Four.")
    long = "\n".join(f"line {number}" for number in range(9))
    with Window(tmp_path) as window:
        window.ask("see @notes.md")
        read = [last_question(tmp_path)]
        window.press(pasted(long))
        window.prompt("> [pasted 9 lines]").press(ENTER)
        window.wait("Two.").prompt()
        read.append(last_question(tmp_path))
        window.ask("/ask is it so?")
        read.append(last_question(tmp_path))
        window.press(UP)
        window.prompt("> [asked is it so?]").press(UP)
        window.prompt("  line 8").press(UP * 9)
        window.prompt("  its content")
        assert "> see @notes.md\n  [attached file: notes.md]\n  its content" in window.seen
    assert read == ["see @notes.md\n[attached file: notes.md]\nits content", long, "[asked is it so?]"]


async def test_what_mm_wrote_is_never_recalled(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text('print(\'{"context": "from the hook"}\')', encoding="utf-8")
    broken = {"calls": [{"name": "no such tool", "arguments": "{"}]}
    more = "hooks: {preGeneration: [python3 hook.py]}\ncompaction: {keepTurns: 1, keepOriginal: true}\n"
    scripted(tmp_path, "One.", broken, "Two.", "A summary.", "Three.", more=more)
    with Window(tmp_path) as window:
        for question in ("first", "second", "/compact", "third"):
            window.ask(question)
        window.press(CTRL_D)
        window.ends()
        assert window.said("is kept as")
    said = "".join(path.read_text(encoding="utf-8") for path in files(tmp_path))
    assert {kind for kind in ("summary", "acknowledgement", "context", "note") if f'"kind":"{kind}"' in said} >= {
        "summary",
        "acknowledgement",
        "context",
    }
    with Window(tmp_path) as window:
        window.prompt()
        for question in ("third", "second"):
            window.press(UP)
            window.prompt(f"> {question}")
        window.press(f"{UP}{UP}.")  # the original, with the first question, went on in the other one
        window.prompt("> second.")


def test_a_question_that_got_no_answer_is_recalled_until_the_next_one(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"x" * 300_000)
    scripted(tmp_path, {"error": "gone"}, "One.")
    with Window(tmp_path) as window:
        window.ask("lost")
        for between in ("/where", "/new", "/nonsense"):
            window.ask(between)
            window.press(UP)
            window.prompt("> lost").press(CTRL_C)
        window.ask("see @big")
        window.ask("/help")
        window.press(UP)
        window.prompt("> see @big").press(f"{UP}.")
        window.prompt("> see @big.").press(CTRL_C)
        window.ask("answered")
        window.press(f"{UP}{UP}.")
        window.prompt("> answered.")
        window.press(CTRL_C)
        window.prompt().press(CTRL_D)
        window.ends()
    for path in files(tmp_path):
        record = json.loads(path.read_text(encoding="utf-8"))
        assert "lost" not in json.dumps(record["messages"])
        assert "@big" not in path.read_text(encoding="utf-8")


async def test_damaged_files_do_not_break_recall_and_are_shown_where_sessions_are_listed(tmp_path: Path) -> None:
    whole = await asked(tmp_path, "the oldest", updated="1990-01-01T00:00:00Z")
    half = await asked(tmp_path, "half of it")
    torn = half.read_text(encoding="utf-8")
    half.write_text(torn[: torn.index('"role":"assistant"')], encoding="utf-8")
    deep = await asked(tmp_path, "deep")
    deep.write_text(deep.read_text(encoding="utf-8").replace("ok", "\\ud800"), encoding="utf-8")
    whole.with_name("20300101-000000-00000000.json").write_bytes(b"\xff\xfe nothing")
    whole.with_name("20300101-000000-00000001.json").mkdir()
    whole.with_name("20300101-000000-00000002.json").write_text("[" * 100_000, encoding="utf-8")
    newer = (
        whole.read_text(encoding="utf-8")
        .replace('"format": 1', '"format": 99')
        .replace(whole.stem, "20300101-000000-00000003")
    )
    whole.with_name("20300101-000000-00000003.json").write_text(newer, encoding="utf-8")
    scripted(tmp_path)
    with Window(tmp_path) as window:
        window.prompt().press(UP)
        window.prompt("> the oldest").press(f"{UP}.")
        window.prompt("> the oldest.").press(CTRL_C)
        window.prompt().press(f"/sessions{ENTER}")
        window.wait("Enter opens")
        assert window.seen.count("damaged · ") >= 4


async def test_three_hundred_sessions_are_recalled_without_a_pause_and_the_line_stays_alive(tmp_path: Path) -> None:
    copies(await asked(tmp_path, "question 0", updated="1990-01-01T00:00:00Z"), 300)
    scripted(tmp_path)
    with Window(tmp_path) as window:
        window.prompt().press(f"{UP}{UP}{UP}")
        window.prompt("> question 298").press("!")
        window.prompt("> question 298!").press(UP * 400)
        window.prompt("> question 0").press(f"{UP}.")
        window.prompt("> question 0.").press(DOWN * 500)
        window.prompt().press(UP)
        window.prompt("> question 300")


def test_nothing_is_written_for_recall_anywhere(tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    project.mkdir()
    home.mkdir()
    scripted(project, "One.")
    with Window(project, HOME=str(home), XDG_STATE_HOME=None, XDG_CACHE_HOME=None, XDG_CONFIG_HOME=None) as window:
        window.ask("asked")
        window.press(UP)
        window.prompt("> asked").press(CTRL_C)
        window.prompt().press("never sent")
        window.prompt("> never sent").press(CTRL_C)
        window.prompt().press(CTRL_D)
        assert window.ends() == 0
    assert [*home.iterdir()] == []
    assert {one.name for one in project.iterdir()} == {".mm", "agent.yaml", "replies.json", "requests.jsonl"}
    kept = [path for path in (project / ".mm").rglob("*") if path.is_file() and path.stat().st_size]
    assert {path.suffix or path.name for path in kept} == {".json", ".gitignore"}
    assert not any("never sent" in path.read_text(encoding="utf-8") for path in kept)
