"""Folded text compares as a reader compares it, in every script, and leads back to the original."""
# ruff: noqa: RUF001 - letters that look alike are what is tested

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maf_memory.sessions.folding import Folded, clusters, fold, fold_character, is_contextual

STEADY = settings(derandomize=True, deadline=None)
TRICKY = (
    "aeoisz EOS\n\u00ad\u200d\u0301\u0308\u3099\u309a\u0327\u0338"
    "éÉœŒßẞİıﬁ①ﬃＡåЙйёΣςᾳかがカｶﾞ가각각กำकि库🦊’‐\u2028\u00a0"
)
TEXTS = st.text(st.sampled_from(TRICKY) | st.characters(codec="utf-8"), max_size=40)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("DONNÉES", "donnees"),
        ("œuvre", "OEUVRE"),
        ("Straße", "STRASSE"),
        ("İSTANBUL", "istanbul"),
        ("ısı", "ISI"),
        ("ﬁchier", "fichier"),
        ("ﬃ", "ffi"),
        ("ＡＰＩ　８０", "api 80"),
        ("naïve", "nai\u0308ve"),
        ("Ørsted", "orsted"),
        ("Łódź", "lodz"),
        ("ΟΔΟΣ", "οδος"),
        ("ἀγαθῷ", "αγαθω"),
        ("Ёлка", "елка"),
        ("l’API", "l'api"),
        ("non\u2011breaking", "non-breaking"),
        ("data\u00adbase", "database"),
        ("data\u200bbase", "database"),
        ("❤\ufe0f", "❤"),
        ("ｶﾞｿﾘﾝ", "ガソリン"),
        ("か\u3099", "が"),
        ("각", "\u1100\u1161\u11a8"),
        ("שָׁלוֹם", "שלום"),
        ("مُحَمَّد", "محمد"),
        ("a\u00a0b\u2028c", "a b c"),
    ],
)
def test_what_a_reader_takes_for_the_same_is_the_same(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize(
    ("part", "whole"),
    [
        ("か", "が"),
        ("は", "ぱ"),
        ("か", "か\u3099"),
        ("ｶ", "ｶﾞ"),
        ("가", "각"),
        ("가", "\u1100\u1161\u11a8"),
        ("ᄀ", "가"),
        ("की", "कि"),
        ("กา", "ก่า"),
        ("數", "数"),
    ],
)
def test_another_letter_stays_another_letter(part: str, whole: str) -> None:
    assert fold(part) not in fold(whole)


def test_ascii_is_only_made_lower_case() -> None:
    text = "".join(map(chr, range(128)))
    assert fold(text) == text.lower()


@STEADY
@given(TEXTS)
def test_a_folded_text_folds_to_itself(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@STEADY
@given(TEXTS)
def test_composition_makes_no_difference(text: str) -> None:
    assert fold(unicodedata.normalize("NFD", text)) == fold(unicodedata.normalize("NFC", text)) == fold(text)


@STEADY
@given(TEXTS)
def test_folding_a_text_is_folding_its_clusters(text: str) -> None:
    assert "".join(clusters(text)) == text
    assert "".join(map(fold, clusters(text))) == fold(text)


@STEADY
@given(st.lists(TEXTS, max_size=5), st.integers(1, 300))
def test_every_place_of_a_folded_text_leads_to_what_it_came_from(parts: list[str], times: int) -> None:
    original = "".join(parts) * times if len("".join(parts)) < 5 else "".join(parts)
    folded = Folded(original)
    assert folded.text == fold(original)
    for place in range(0, len(folded.text), 1 + len(folded.text) // 20):
        start, end = folded.span(place, place + 1)
        assert folded.text[place] in fold(original[start:end])
        assert folded.text.startswith(fold(original[:start]))
        assert len(fold(original[:start])) <= place < len(fold(original[:end]))


def test_a_place_inside_a_ligature_is_the_whole_ligature() -> None:
    folded = Folded("le cœur")
    place = folded.text.index("eur")
    assert "le cœur"[slice(*folded.span(place, place + 3))] == "œur"


def test_every_character_of_unicode_folds_once_and_for_all() -> None:
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if unicodedata.category(character) in {"Cn", "Cs", "Co"}:
            continue
        folded = fold_character(character)
        assert fold(folded) == folded, hex(code)
        assert not (is_contextual(character) and any(map(str.isascii, folded))), hex(code)
