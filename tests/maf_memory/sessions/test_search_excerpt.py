"""An excerpt shows the original text from the first found word to the last, and stays readable."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maf_memory.sessions.excerpt import CONTEXT, MAXIMUM_EXCERPT, excerpt, shortened
from maf_memory.sessions.folding import fold
from maf_memory.sessions.query import parse_query

STEADY = settings(derandomize=True, deadline=None)
FILLER = "and so on "


def cut(text: str, query: str, **options: int) -> str:
    return excerpt(text, parse_query(query).words, **options)


def test_it_reaches_the_second_found_line_of_a_summary() -> None:
    summary = (
        "- Deployment: a script copies the binary to the server.\n"
        "- Logs: structured, with log/slog.\n"
        f"- Tests: {'table driven, ' * 20}\n"
        "- Backups: every night, kept for a week.\n"
        f"- Style: {'short functions, ' * 60}"
    )
    shown = cut(summary, "deployment backups")
    assert shown.startswith("- Deployment: a script")
    assert "- Backups: every night, kept for a week." in shown
    assert shown.endswith(" …")
    assert len(shown) <= MAXIMUM_EXCERPT


def test_a_short_text_is_shown_whole_and_as_it_is() -> None:
    assert cut("  Le CŒUR,\n\tdu système ", "coeur") == "Le CŒUR,\n\tdu système"


def test_some_words_stand_on_either_side() -> None:
    shown = cut(f"{FILLER * 50}the storage is chosen {FILLER * 50}", "storage")
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    before, after = shown.strip("… ").split("storage")
    assert CONTEXT - 10 <= len(before) <= CONTEXT
    assert CONTEXT - 10 <= len(after) <= CONTEXT
    assert set(shown.split()) <= {"…", "the", "storage", "is", "chosen", *FILLER.split()}, "no word is cut"


def test_where_first_and_last_are_far_apart_the_middle_is_left_out_and_every_word_still_stands() -> None:
    words = [f"word{letter}" for letter in "abcdef"]
    text = (" " + FILLER * 60).join(["", *words, ""])
    shown = cut(text, " ".join(words))
    assert [part for part in shown.split() if part.startswith("word")] == words
    assert shown.count("…") == len(words) + 1
    assert len(shown) <= MAXIMUM_EXCERPT + 20


def test_it_ends_at_the_last_place_of_a_word_that_stands_several_times() -> None:
    shown = cut(f"storage first {FILLER * 300} storage middle {FILLER * 300} storage last", "storage")
    assert shown.startswith("storage first and so")
    assert shown.endswith("so on  storage last")


def test_a_phrase_over_any_amount_of_white_space_is_bounded() -> None:
    shown = cut(f"la base{' ' * 100_000}de données", '"base de"')
    assert "la base" in shown
    assert "de" in shown
    assert len(shown) <= 2 * MAXIMUM_EXCERPT


def test_a_text_without_spaces_is_cut_between_characters_and_their_marks() -> None:
    shown = cut("か\u3099" * 500 + "数据库" + "e\u0301" * 500, "数据库")
    assert shown.removeprefix("… ").startswith("か\u3099")
    assert shown.removesuffix(" …").endswith("e\u0301")


def test_a_found_ligature_is_shown_whole() -> None:
    assert cut("x" * 300 + "œuvre", "euvre").endswith("œuvre")


def test_a_text_that_is_shortened_keeps_beginning_and_end() -> None:
    assert shortened(" short ", 10) == "short"
    assert shortened("one two three four five six seven eight nine ten", 28) == "one two three … eight nine ten"


@pytest.mark.parametrize("text", ["", "no such word", "-" * 5000])
def test_a_text_without_the_words_is_shortened(text: str) -> None:
    assert len(cut(text, "storage")) <= MAXIMUM_EXCERPT + 10


@STEADY
@given(
    st.lists(
        st.sampled_from(["storage", "ÉTÉ", "œuf", "ﬁn", "x" * 90, "\n", "データ", "e\u0301", "  ", "ab cd "]),
        max_size=60,
    ),
    st.sampled_from(["storage", "ete oeuf", "fin storage ete", "データ", '"storage ete"']),
    st.integers(60, 300),
)
def test_every_found_word_stands_in_it_and_nothing_that_is_not_in_the_text(
    parts: list[str], query: str, limit: int
) -> None:
    text = "".join(parts)
    words = [word for word in parse_query(query).words if _holds(fold(text), word.pieces)]
    shown = excerpt(text, words, limit)
    assert all(_holds(fold(shown), word.pieces) for word in words)
    assert len(shown) <= limit + 100 * (len(words) + 1)
    position = 0
    for part in filter(None, shown.removeprefix("… ").removesuffix(" …").split(" … ")):
        position = text.index(part, position) + len(part)


def _holds(folded: str, pieces: tuple[str, ...]) -> bool:
    return " ".join(pieces) in " ".join(folded.split()) if len(pieces) > 1 else pieces[0] in folded
