"""Words are compared without understanding; passages are cut out unchanged."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maf_memory.chat.quoting import PASSAGE_LIMIT, WantedWords, fold, is_question, passages

TEXT = st.text(st.characters())  # every character, lone surrogates and controls too


@pytest.mark.parametrize(
    "passage",
    [
        "Reporting?",
        "Reporting ?",
        "Quel module ?",
        '"Is it Reporting?"',
        "モジュールは？",  # noqa: RUF001
        "which module did we discuss",
        "What's the module",
        "Où est le module",
        "qu'avons-nous dit",
        "Est-ce que le module marche",
        "Please tell me the module.",
        "Rappelle-moi le module.",
    ],
)
def test_a_question_mark_or_an_interrogative_makes_a_question(passage: str) -> None:
    assert is_question(passage)


@pytest.mark.parametrize(
    "passage",
    [
        "module=Reporting",
        "where=Paris",
        "Who: Ada",
        "When it fails, call Ada.",
        "Quand ça casse, appeler Ada.",
        "Ou bien Billing",
        "Whatever works",
        "?!.",
        "...",
        "",
    ],
)
def test_a_label_or_a_closed_sentence_states(passage: str) -> None:
    assert not is_question(passage)


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        ("Which module did we discuss?", "module=Reporting"),
        ("Which modules?", "the MODULE failed"),
        ("Which module?", "two modules"),
        ("Le résumé ?", "resume"),
        ("Straße?", "STRASSE 5"),
        ("e\u0301quipe ?", "l'équipe bleue"),
        ("API?", "the api is down"),
        ("v2?", "use v2"),
        ("customer_id?", "customer=Acme"),
    ],
)
def test_words_match_without_case_accents_or_ending(question: str, passage: str) -> None:
    assert WantedWords(question).shared_with(passage)


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        ("What is the plan?", "This is the day."),
        ("Quelle est la couleur ?", "Elle est dans le tiroir."),
        ("API?", "apis"),
        ("The withdrawal?", "with this"),
        ("Reporting?", "rep"),
        ("module?", "mode"),
    ],
)
def test_common_words_and_short_beginnings_do_not_match(question: str, passage: str) -> None:
    assert not WantedWords(question).shared_with(passage)


def test_a_text_is_cut_into_its_lines_and_sentences() -> None:
    text = "  module=Reporting\r\nIt fails. Since v1.2!\u2028Why? \x0b"
    assert list(passages(text)) == ["module=Reporting", "It fails.", "Since v1.2!", "Why?"]


def test_a_long_passage_is_cut_around_its_first_shared_word() -> None:
    passage = f"{'before ' * 100}the module is Reporting {'after ' * 100}".strip()
    excerpt = WantedWords("Which module?").excerpt(passage)
    assert "the module is Reporting" in excerpt
    assert excerpt.startswith("[...] ")
    assert excerpt.endswith(" [...]")
    assert excerpt.removeprefix("[...] ").removesuffix(" [...]") in passage
    assert len(excerpt) <= PASSAGE_LIMIT + len("[...]  [...]")


WORDS = st.lists(st.sampled_from(["the", "a-colour", "of", "x" * 60, "Modules", "é\u0301té", "z" * 300]), max_size=60)


@settings(deadline=None)
@given(WORDS, WORDS)
def test_an_excerpt_is_short_unchanged_and_holds_a_shared_word(before: list[str], after: list[str]) -> None:
    passage = " ".join([*before, "module", *after])
    wanted = WantedWords("Which module?")
    excerpt = wanted.excerpt(passage)
    assert wanted.shared_with(excerpt) == {"module"}
    assert len(excerpt) <= PASSAGE_LIMIT + len("[...]  [...]")
    assert excerpt.removeprefix("[...] ").removesuffix(" [...]") in passage
    assert (excerpt == passage) == (len(passage) <= PASSAGE_LIMIT)


@settings(deadline=None)
@given(TEXT)
def test_passages_are_unchanged_parts_in_their_order_and_lose_only_space(text: str) -> None:
    rest = text
    for passage in passages(text):
        before, found, rest = rest.partition(passage)
        assert found
        assert not before.strip()
    assert not rest.strip()


@settings(deadline=None)
@given(TEXT)
def test_every_content_word_of_a_text_is_found_in_that_text(text: str) -> None:
    wanted = WantedWords(text)
    assert wanted.shared_with(text) == wanted.words


@settings(deadline=None)
@given(TEXT, TEXT)
def test_sharing_a_word_has_no_direction(one: str, other: str) -> None:
    assert bool(WantedWords(one).shared_with(other)) == bool(WantedWords(other).shared_with(one))


@settings(deadline=None)
@given(TEXT)
def test_any_text_either_asks_or_states(text: str) -> None:
    assert is_question(text) in (True, False)
    assert is_question(text.strip(" ") + " ?")


@settings(deadline=None)
@given(TEXT)
def test_case_does_not_count(text: str) -> None:
    assert fold(text.upper().lower()) == fold(text.upper())
