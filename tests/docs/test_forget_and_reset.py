"""Every line of the tables in the forget-and-reset pages is run on real stores, with all three supports filled."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from demo130.demo import Demo130
from demo140.demo import Demo140
from maf_console.places import Places
from maf_console.screen import Screen
from maf_console.supports import ROWS
from maf_memory.chat import chat_choice, connect

from .command_table import AFTER_CLOSED_WINDOW, LANGUAGES, QUESTION, RESTARTS, WITH_RESET_STATE, Language, Row, rows
from .running_demo import RunningDemo

TABLES = {language: list(rows(language)) for language in LANGUAGES}


@dataclass(frozen=True, slots=True)
class Observed:
    """What a line did: to each support, to the other files, and what the program showed."""

    supports: tuple[str, str, str]
    left_the_others_alone: bool
    shown: list[str]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trial in which everything is filled: both files, an older snapshot, and files that no demo owns."""
    trial = tmp_path_factory.mktemp("trial")
    places = Places(trial / "root")
    with RunningDemo("demo130", places.root) as demo:
        demo.say("setctx module=Reporting")
    with RunningDemo("demo140", places.root) as demo:
        demo.say("module=Reporting")
        shutil.copy(places.snapshot, trial / "older.json")
        demo.say("The report is late.")
    shutil.copy(places.snapshot, places.snapshot.with_name("backup.json"))
    (places.root / "notes.txt").write_text("module=Reporting", encoding="utf-8")
    shutil.copytree(places.root, trial / "another root")
    return trial


def _others(trial: Path, places: Places) -> dict[Path, bytes]:
    """What lies in the trial and is neither store's own file, nor its lock."""
    files = (path for path in trial.rglob("*") if path.is_file() and path.suffix != ".lock")
    return {path: path.read_bytes() for path in files if path not in (places.snapshot, places.context)}


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _of_conversation(before: int, after: int) -> str:
    if after == before:
        return "stays"
    if after == 0:
        return "emptied"
    return "grows" if after > before else "replaced"


def _of_snapshot(before: bytes | None, after: bytes | None) -> str:
    if after == before:
        return "stays"
    return "deleted" if after is None else "rewritten"


def _of_context(before: bytes | None, after: bytes | None) -> str:
    if after == before:
        return "stays"
    if after is None:
        return "deleted"
    return "replaced" if json.loads(after)["entries"] else "emptied"


@pytest.fixture(scope="module")
def observed(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Row], Observed]:
    """Runs a line, once: the pages of all languages speak of the same programs."""
    seen: dict[tuple[str, str], Observed] = {}

    def observe(row: Row) -> Observed:
        line = (row.program, row.command)
        if line not in seen:
            trial = tmp_path_factory.mktemp("line") / "trial"
            seen[line] = _observe(row, Path(shutil.copytree(filled, trial)))
        return seen[line]

    return observe


def _observe(row: Row, trial: Path) -> Observed:
    places = Places(trial / "root")
    others = _others(trial, places)
    shown: list[str] = []
    with RunningDemo(row.program, places.root) as demo:
        if row.program == "demo130":
            demo.say("The dialogue of demo130 is not kept.")
        messages = demo.messages()
        if row.typed == "load":  # as another console may have left it; else load finds what is active already
            shutil.copy(trial / "older.json", places.snapshot)
        snapshot, context = _content(places.snapshot), _content(places.context)
        assert messages > 0
        assert snapshot is not None
        assert context is not None
        if row.command in RESTARTS:
            if row.command == AFTER_CLOSED_WINDOW:
                demo.kill()
            else:
                demo.quit()
            options = ["--reset-state=true"] if row.command == WITH_RESET_STATE else []
            with RunningDemo(row.program, places.root, *options) as again:
                messages_after = again.messages()
        else:
            typed = "Is it late?" if row.command == QUESTION else (row.typed or "").replace("TEXT", "module=Billing")
            shown = demo.say(typed)
            messages_after = demo.messages()
    supports = (
        _of_conversation(messages, messages_after),
        _of_snapshot(snapshot, _content(places.snapshot)),
        _of_context(context, _content(places.context)),
    )
    return Observed(supports, _others(trial, places) == others, shown)


@pytest.mark.parametrize("row", [row for table in TABLES.values() for row in table], ids=str)
def test_the_command_does_to_each_support_what_the_page_says(row: Row, observed: Callable[[Row], Observed]) -> None:
    seen = observed(row)
    assert row.cells == tuple(word if word == "stays" else f"**{word}**" for word in seen.supports)
    assert seen.left_the_others_alone
    _check_ledger(row, seen.shown, seen.supports)


def _check_ledger(row: Row, shown: list[str], seen: tuple[str, ...]) -> None:
    """The ledger says the same as the files; there is one after every command that changed something."""
    ledger = {
        words[0]: words[1] for line in shown if (words := line.split()) and words[1:2] in (["changed"], ["unchanged"])
    }
    is_command = row.command not in (QUESTION, *RESTARTS)
    if is_command and set(seen) != {"stays"}:
        assert tuple(ledger) == ROWS
    if ledger:
        assert ledger == {
            name: "unchanged" if word == "stays" else "changed" for name, word in zip(ROWS, seen, strict=True)
        }


@pytest.mark.parametrize("language", LANGUAGES, ids=str)
@pytest.mark.parametrize("make", [Demo130, Demo140])
def test_every_command_has_its_line(make: type[Demo130] | type[Demo140], language: Language, tmp_path: Path) -> None:
    commands = make(Places(tmp_path), connect(chat_choice(None)), Screen()).commands
    named = Counter(row.command for row in TABLES[language] if row.program == make.name)
    expected = [f"`{command.usage}`" for command in commands if command.name != "quit"]
    assert named == Counter([QUESTION, *expected, *RESTARTS])


@pytest.mark.parametrize("language", LANGUAGES, ids=str)
def test_the_page_names_what_lies_outside_every_command(language: Language) -> None:
    """The files that the test above leaves untouched stand for the kinds that the page lists."""
    outside = language.text.partition(f"## {language.outside}")[2].partition("\n## ")[0]
    for kind in language.kinds_outside:
        assert kind in outside, f"{language.page} does not name {kind}"
