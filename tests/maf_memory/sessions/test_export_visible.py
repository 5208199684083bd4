"""What would command a terminal, hide in a page or turn a line around shows as what it is."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from maf_memory.sessions.export.links import leads_elsewhere_safely, runs_nothing
from maf_memory.sessions.export.visible import visible

STEADY = settings(derandomize=True, deadline=None)
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=40)


def test_control_characters_overrides_and_lone_surrogates_show() -> None:
    assert visible("\0\a\x1b[2J\x7f\x9b") == "␀␇␛[2J␡\\x9b"
    assert visible("a\u202eb\u2066c") == "a\\u202eb\\u2066c"
    assert visible("\ud800") == "\ufffd"
    assert visible("a\r\nb\rc") == "a\nb␍c"


def test_text_of_every_script_stays_as_it_is() -> None:
    for text in ("é 日本 ✓\n\tx", "العربية", "👩‍👩‍👧 🏳️‍🌈", "क्‍ष", "\u200e\u200f", "e\u0301"):
        assert visible(text) == text


@STEADY
@given(ANY_TEXT)
def test_what_is_visible_stays_and_can_be_written(text: str) -> None:
    once = visible(text)
    once.encode()
    assert visible(once) == once


def test_only_the_web_and_mailboxes_are_led_to() -> None:
    assert all(map(leads_elsewhere_safely, ["https://example.org/?a=b&c#d", "HTTP://x", "mailto:a@example.org"]))
    unsafe = [
        "javascript:x",
        " https://x",
        "https://x y",
        "https:x",
        "//x",
        "/x",
        "",
        "data:,",
        "https://x\n",
        "ftp://x",
    ]
    assert not any(map(leads_elsewhere_safely, [*unsafe, "https://x\u202e", 'https://x"', "https://x<"]))


def test_an_address_without_a_scheme_runs_nothing() -> None:
    assert all(map(runs_nothing, ["", "a/b:c", "#x:y", "?a:b", "//x", "https://x"]))
    assert not any(map(runs_nothing, ["javascript:x", "a:", "data:text/html,x", "file:///x"]))
