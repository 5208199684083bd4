"""Text is made sound once, counted as .NET counts it, and quoted in one line."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from maf_memory.text import one_line, sound, utf16_length

STEADY = settings(derandomize=True, deadline=None)
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=40)


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    assert sound("a\ud800b\udfffc") == "a\ufffdb\ufffdc"
    assert sound("\udc00\ud800") == "\ufffd\ufffd"


def test_everything_else_survives_unchanged() -> None:
    for text in ("", "\0", "\u2028\u2029\x85", "🙂👩‍👩‍👧", "\u202eabc", "\ufeff", "\uffff\ufffe", "é" * 1_000_000):
        assert sound(text) == text


@STEADY
@given(ANY_TEXT)
def test_sound_text_is_utf8_and_is_sound_already(text: str) -> None:
    once = sound(text)
    assert once.encode("utf-8").decode("utf-8") == once
    assert sound(once) == once
    assert len(once) == len(text)


@STEADY
@given(ANY_TEXT)
def test_length_is_counted_in_utf16_code_units(text: str) -> None:
    assert utf16_length(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2


@STEADY
@given(ANY_TEXT, st.integers(2, 20))
def test_a_quoted_text_is_one_bounded_line_that_prints(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert line.isprintable()
    assert len(line) <= limit * len("\\U0010ffff")


def test_a_quoted_text_is_readable() -> None:
    assert one_line("memory-1.1 é 日本") == "memory-1.1 é 日本"
    assert one_line("a\nb\x1b[2J\u202e") == "a\\nb\\x1b[2J\\u202e"
    assert one_line("\ud800") == "\\ud800"
    assert one_line("abcdef", 4) == "abc…"
    assert one_line("abcd", 4) == "abcd"
