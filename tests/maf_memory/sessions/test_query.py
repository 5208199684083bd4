"""A question becomes the words to look for."""
# ruff: noqa: RUF001 - letters that look alike are what is tested

from __future__ import annotations

import pytest

from maf_memory.sessions.query import parse_query


def words(text: str) -> list[str]:
    return [word.text for word in parse_query(text).words]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("database", ["database"]),
        ("format logs", ["format", "logs"]),
        ("base de données | database | storage | SQLite", ["base", "données", "database", "storage", "SQLite"]),
        ("storage|SQLite", ["storage", "SQLite"]),
        ("Quel format pour les logs ?", ["Quel", "format", "pour", "les", "logs"]),
        ("Quel format pour les logs?", ["Quel", "format", "pour", "les", "logs"]),
        ("(storage), `sqlite`; **WAL**!", ["storage", "sqlite", "WAL"]),
        ("log/slog main.go .env --force", ["log/slog", "main.go", ".env", "--force"]),
        ("l'API l’API", ["l'API"]),
        ("Données DONNÉES donnees", ["Données"]),
        ("データベース、数据库　存储｜저장소", ["データベース", "数据库", "存储", "저장소"]),
        ("a\x00b\x1bcde\x7ffgh", ["cde", "fgh"]),
    ],
)
def test_words_stand_between_spaces_and_bars_each_once(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_short_words_count_only_when_no_longer_one_is_given() -> None:
    query = parse_query("base de données | la DB")
    assert [word.text for word in query.words] == ["base", "données"]
    assert query.ignored == ("de", "la", "DB")
    assert words("de la | DB") == ["de", "la", "DB"]


def test_one_wide_character_is_a_word_and_never_too_short() -> None:
    assert words("数据库 库 か 각 🦊 de") == ["数据库", "库", "か", "각", "🦊"]


def test_a_full_width_letter_is_a_letter() -> None:
    assert words("ＡＢ storage") == ["storage"]


@pytest.mark.parametrize("text", ['"base de  données"', "«base de\ndonnées»", "“base de données”", "„base de données“"])
def test_quotes_make_one_word_of_a_phrase(text: str) -> None:
    (word,) = parse_query(text).words
    assert (word.text, word.pieces) == ("base de données", ("base", "de", "donnees"))


def test_a_quoted_phrase_stands_among_words_and_is_never_too_short() -> None:
    assert words('storage "de" "->" SQLite') == ["storage", "de", "->", "SQLite"]


def test_a_quote_that_is_not_closed_is_punctuation() -> None:
    assert words('the "storage') == ["the", "storage"]


@pytest.mark.parametrize("text", ["", " \n", "|", "?", "« » …", '""', '" "', "-- !", "\u00ad", "\u0301"])
def test_a_query_without_a_word_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a word to look for is needed"):
        parse_query(text)
