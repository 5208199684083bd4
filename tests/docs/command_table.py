"""The tables of the forget-and-reset pages: what each command does to each of the three supports, as a page says it.

The pages are in several languages. A row is read into the English words, so that one test serves them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .terminal_page import ROOT

QUESTION = "a question"
AFTER_QUIT = "`quit`, then a new start"
AFTER_CLOSED_WINDOW = "a closed window, then a new start"
WITH_RESET_STATE = "a new start with `--reset-state=true`"
RESTARTS = (AFTER_QUIT, AFTER_CLOSED_WINDOW, WITH_RESET_STATE)

_HEADING = re.compile(r"## (demo1[34]0)\b")
_ENGLISH = {word: word for word in ("stays", "grows", "replaced", "rewritten", "emptied", "deleted")}


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """One page and its words: for lines that name no command, for what happens to each support, for what is outside."""

    name: str
    page: Path
    first_column: str
    lines: Mapping[str, str]
    conversation: Mapping[str, str]
    snapshot: Mapping[str, str]
    context: Mapping[str, str]
    outside: str
    kinds_outside: tuple[str, ...]

    def __str__(self) -> str:
        """Return the language's name for a test report."""
        return self.name

    @property
    def text(self) -> str:
        """The page."""
        return self.page.read_text(encoding="utf-8")


LANGUAGES = (
    Language(
        "en",
        ROOT / "docs" / "forget-and-reset.md",
        "command",
        {line: line for line in (QUESTION, *RESTARTS)},
        _ENGLISH,
        _ENGLISH,
        _ENGLISH,
        "What none of them touches",
        ("another state root", "a backup", "a log", "the provider", "the pages of the disk"),
    ),
    Language(
        "fr",
        ROOT / "docs" / "forget-and-reset.fr.md",
        "commande",
        {
            "une question": QUESTION,
            "`quit`, puis une relance": AFTER_QUIT,
            "une fenêtre fermée, puis une relance": AFTER_CLOSED_WINDOW,
            "une relance avec `--reset-state=true`": WITH_RESET_STATE,
        },
        {"inchangée": "stays", "allongée": "grows", "remplacée": "replaced", "vidée": "emptied"},
        {"inchangé": "stays", "réécrit": "rewritten", "supprimé": "deleted"},
        {"inchangé": "stays", "remplacé": "replaced", "vidé": "emptied"},
        "Hors de portée",
        ("une autre racine", "une sauvegarde", "un journal", "le fournisseur", "les pages du disque"),
    ),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table in English words: its page, the program, the first cell, and the cells of the supports.

    What changes a support is set in bold; a word that the language does not know stands as it is.
    """

    language: str
    program: str
    command: str
    cells: tuple[str, str, str]

    def __str__(self) -> str:
        """Return the line's name for a test report."""
        return f"{self.language}, {self.program}: {self.command}"

    @property
    def typed(self) -> str | None:
        """The command as it is typed, from the first cell's code; ``None`` for a line that names none."""
        code = re.search(r"`([^`]+)`", self.command)
        return code[1] if code else None


def rows(language: Language) -> Iterator[Row]:
    """Yield the lines of the tables that stand under a heading which starts with a program's name."""
    program = None
    for line in language.text.split("\n"):
        if line.startswith("## "):
            heading = _HEADING.match(line)
            program = heading[1] if heading else None
        elif program and line.startswith("| ") and not line.startswith(f"| {language.first_column} |"):
            command, conversation, snapshot, context = (cell.strip() for cell in line.strip("|").split("|"))
            cells = (
                _in_english(conversation, language.conversation),
                _in_english(snapshot, language.snapshot),
                _in_english(context, language.context),
            )
            yield Row(language.name, program, language.lines.get(command, command), cells)


def _in_english(cell: str, words: Mapping[str, str]) -> str:
    word = cell.strip("*")
    return cell.replace(word, words.get(word, word))
