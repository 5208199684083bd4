"""The Markdown of a session: its structure is the export's own, and nothing that it quotes is live."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from maf_memory.sessions.export import as_markdown
from maf_memory.sessions.export.inert import code, fenced, one_line, quoted
from maf_memory.sessions.export.prose import MAXIMUM
from maf_memory.sessions.export.visible import visible
from tests.maf_memory.sessions.export_samples import (
    HOSTILE,
    assistant,
    by_program,
    call,
    hostile,
    ordinary,
    png,
    record_of,
    result,
    user,
)

STEADY = settings(derandomize=True, deadline=None, max_examples=150)


class Careless(MarkdownIt):
    """A viewer that takes everything Markdown can hold."""

    def __init__(self) -> None:
        super().__init__("commonmark", {"html": True, "maxNesting": 200})
        self.enable(["table", "strikethrough"])

    def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802 - the library's own name
        return True


def read(markdown: str) -> list[Token]:
    tokens = Careless().parse(markdown)
    return [one for token in tokens for one in (token, *(token.children or ()))]


def assert_inert(markdown: str) -> list[Token]:
    tokens = read(markdown)
    assert {token.type for token in tokens} & {"html_block", "html_inline", "image"} == set()
    for token in tokens:
        if token.type == "link_open":
            assert re.match(r"(?i)https?://|mailto:|[^:]*([/?#]|$)", str(token.attrs["href"]))
    markdown.encode()
    assert visible(markdown) == markdown
    return tokens


def headings(markdown: str) -> list[str]:
    """The headings that stand in no quote."""
    tokens = Careless().parse(markdown)
    return [
        tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open" and not token.level
    ]


def test_an_ordinary_session_reads_from_the_top() -> None:
    markdown = as_markdown(ordinary())
    assert_inert(markdown)
    assert headings(markdown) == [
        "Quel format pour les logs ?",
        "Before the first question",
        "Turn 1",
        "Turn 2",
        "Turn 3",
    ]
    for told in (
        "- Model: `openai · qwen3.5-4b`",
        "> Quel format pour les logs ?  \n> Texte ou JSON, et avec quelle bibliothèque ?\n",
        "**Tool call** `read_file`: done\n\n- `path`: `internal/log/log.go`\n- `first_line`: `1`",
        "> | text   | a person at a terminal | `slog.NewTextHandler` |",
        "> ```go\n> logger :=",
        '`text`:\n\n```\npackage log\n\nimport "log/slog"',
        "**Tool call** `run`: unfinished",
        "*No result was recorded; what the tool did is not known.*",
        "**Image** `dashboard.png, image/png, ",
        "**Error (generation)**, beside the conversation, not in it",
        "**Context, written by mm**",
    ):
        assert told in markdown


def test_a_hostile_session_keeps_the_structure_of_the_export() -> None:
    markdown = as_markdown(hostile())
    assert_inert(markdown)
    turns = [f"Turn {number}" for number in range(1, len(HOSTILE) + 3)]
    assert headings(markdown)[1:] == ["Before the first question", *turns]


@STEADY
@given(st.lists(st.sampled_from(HOSTILE) | st.text(max_size=20), max_size=4), st.sampled_from(["", " ", "\n", "\n\n"]))
def test_no_mixture_of_hostile_texts_is_live_or_ends_its_place(pieces: list[str], between: str) -> None:
    text = between.join(pieces)
    record = record_of(
        user(text), assistant(text, call(text, text, {text: text})), result(text, text), by_program("user", text, text)
    )
    markdown = as_markdown(record)
    assert_inert(markdown)
    assert len(headings(markdown)) == 2


def test_what_looks_like_html_is_text_outside_code_and_untouched_inside() -> None:
    assert quoted("a <b>c</b> `<b>` and ``<i> ` </i>`` 1 < 2") == ("> a &lt;b>c&lt;/b> `<b>` and ``<i> ` </i>`` 1 < 2")
    assert quoted("```html\n<b>\n```") == "> ```html\n> <b>\n> ```"
    assert quoted("    <b>") == ">     <b>"
    assert quoted("\\<b> \\`<b>`") == "> &lt;b> \\`&lt;b>`"
    assert quoted("| `<b>` |\n|---|\n| <b> |") == "> | `<b>` |\n> |---|\n> | &lt;b> |"


def test_an_image_becomes_a_link_that_loads_nothing() -> None:
    assert quoted("![a](https://example.org/a.png)") == "> \\![a](https://example.org/a.png)"


@pytest.mark.parametrize(
    "text",
    [
        "[x](javascript:alert(1))",
        "[x](JAVA&#115;cript:alert(1))",
        "[x]\n\n[x]: data:text/html,x",
        "[x](file:///etc/passwd)",
        "&#x202e;",
        "- " * 300 + "<b>",
        "> " * 300 + "<b>",
    ],
)
def test_what_cannot_be_quoted_safely_stands_in_a_fence(text: str) -> None:
    assert quoted(text) == f"```\n{text}\n```"


def test_a_text_too_long_to_be_proven_stands_in_a_fence() -> None:
    assert quoted("x" * MAXIMUM) == "> " + "x" * MAXIMUM
    assert quoted("x" * (MAXIMUM + 1)).startswith("```\n")


def test_a_fence_is_longer_than_any_in_its_content() -> None:
    assert fenced("a") == "```\na\n```"
    assert fenced("a\n") == "```\na\n```"
    assert fenced("````\n```\n") == "`````\n````\n```\n`````"


@STEADY
@given(st.text(st.sampled_from("`a ~\n\\<>"), max_size=30))
def test_a_fence_holds_its_content_to_the_letter(text: str) -> None:
    (token,) = read(fenced(text))
    assert token.type == "fence"
    assert token.content == (text if text.endswith("\n") else text + "\n")


@STEADY
@given(st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"), exclude_characters="\u00a0"), max_size=30))
def test_a_line_and_a_code_span_read_as_they_were_written(text: str) -> None:
    flat = " ".join(visible(text).split())
    assert "".join(token.content for token in read(f"x{one_line(text)}") if token.type != "inline") == f"x{flat}"
    (span,) = [token for token in read(f"x {code(text)}") if token.type == "code_inline"]
    assert span.content == (flat or " ")


def test_no_image_is_held_and_its_absence_is_told() -> None:
    from agent_framework import Content

    markdown = as_markdown(record_of(user(Content.from_data(png(), "image/png"))))
    assert "(not in this file)" in markdown
    assert "base64" not in markdown


def test_a_session_of_nothing_is_a_file_too() -> None:
    assert as_markdown(record_of()).endswith("\n\nNothing was said in this session.\n")


def test_the_same_session_gives_the_same_text() -> None:
    assert as_markdown(ordinary()) == as_markdown(ordinary())
