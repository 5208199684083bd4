"""The French pages do not drift from the English ones: the same session is typed, in the same order."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .page import Block, Typed, steps
from .terminal_page import ROOT

FRENCH = sorted((ROOT / "docs").glob("*.fr.md"))

GREP = 'grep -r %s "$MAF_STATE_ROOT"; echo "exit status: $?"'
TRANSLATED = (
    ("Which module is it?", "De quel module s'agit-il ?"),
    ("Which module did we discuss?", "De quel module avons-nous parlé ?"),
    ("The customer closed the ticket on Monday.", "Le client a fermé le ticket lundi."),
    ("When was the ticket closed?", "Quand le ticket a-t-il été fermé ?"),
    (GREP % "Monday", GREP % "lundi"),
    ("The invoice is late.", "La facture est en retard."),
    ("The customer is in Lyon.", "Le client est à Lyon."),
)
"""What is typed in French. All other lines are typed as they stand in the English page."""

_CODE_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]+)?\)")


def _english(page: Path) -> Path:
    return page.with_name(page.name.removesuffix(".fr.md") + ".md")


def _typed(page: Path) -> list[object]:
    """Return what the page does: the lines of each block as one list, and the terminals it moves to."""
    return [step.typed if isinstance(step, Block) else step for step in steps(page.read_text(encoding="utf-8"))]


def _outline(page: Path) -> list[str]:
    """Return the page without its prose: the levels of its headings, its blocks, its tables, its comments."""
    text = _CODE_BLOCK.sub(lambda block: block[0].partition("\n")[0], page.read_text(encoding="utf-8"))
    marks = [re.match(r"#+ |```\w*|\| *|<!--", line) for line in text.split("\n")]
    return [mark[0].strip() for mark in marks if mark]


def _same_line(english: Typed, french: Typed) -> bool:
    return english.prompt == french.prompt and (
        english.text == french.text or (english.text, french.text) in TRANSLATED
    )


@pytest.mark.parametrize("french", FRENCH, ids=lambda page: page.name)
def test_the_same_lines_are_typed_in_the_same_blocks_and_terminals(french: Path) -> None:
    english = _english(french)
    ours, theirs = _typed(french), _typed(english)
    assert len(ours) == len(theirs)
    for our, their in zip(ours, theirs, strict=True):
        if isinstance(our, list) and isinstance(their, list):
            assert len(our) == len(their), f"{french.name}, line {our[0].number}; {english.name}, {their[0].number}"
            for mine, other in zip(our, their, strict=True):
                assert _same_line(other, mine), f"{french.name}, line {mine.number}: {mine.text} is not {other.text}"
        else:
            assert our == their


@pytest.mark.parametrize("french", FRENCH, ids=lambda page: page.name)
def test_headings_blocks_and_table_rows_stand_in_the_same_order(french: Path) -> None:
    assert _outline(french) == _outline(_english(french))


def test_every_line_listed_as_translated_is_typed() -> None:
    typed = {line.text for page in FRENCH for block in _typed(page) if isinstance(block, list) for line in block}
    assert {french for _, french in TRANSLATED} <= typed


@pytest.mark.parametrize("french", FRENCH, ids=lambda page: page.name)
def test_each_page_links_to_the_other_language_and_its_links_lead_somewhere(french: Path) -> None:
    for page, other in ((french, _english(french)), (_english(french), french)):
        text = page.read_text(encoding="utf-8")
        assert f"]({other.name})" in text.partition("\n## ")[0], f"{page.name} has no link to {other.name} at its top"
        for target, anchor in _LINK.findall(text):
            aim = page.parent / target
            assert aim.is_file(), f"{page.name} links to {target}"
            headings = re.findall(r"^#+ (.*)$", aim.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = {"#" + re.sub(r"[^\w\s-]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert not anchor or anchor in anchors, f"{page.name} links to {target}{anchor}"
