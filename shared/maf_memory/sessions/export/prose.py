"""Markdown as a model writes it, made HTML that holds nothing but text, structure and links to elsewhere.

Raw HTML is text, an image is its description and its address, and a link leads to the web or to a mailbox or is text.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt

from maf_memory.sessions.export.links import leads_elsewhere_safely
from maf_memory.sessions.export.visible import visible

if TYPE_CHECKING:
    from markdown_it.renderer import RendererProtocol
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict

MAXIMUM = 100_000
"""The longest text that is read as Markdown, in characters: whatever it holds, that takes a second or two."""

_HEADINGS_BELOW = 2
"""A heading of an answer stands below the page's title and the question."""


def prose(text: str) -> str | None:
    """Return ``text`` as safe HTML, or ``None`` where it is too long to be read as Markdown."""
    if len(text) > MAXIMUM:
        return None
    return visible(_parser().render(visible(text)))  # again: Markdown writes any character as an entity


class _Inert(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802 - the library's own name
        return leads_elsewhere_safely(url)


@cache
def _parser() -> MarkdownIt:
    parser = _Inert("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.core.ruler.push("fit_for_the_page", _fit)
    parser.add_render_rule("image", _described)
    parser.add_render_rule("table_open", _table_open)
    parser.add_render_rule("table_close", _table_close)
    return parser


def _fit(state: StateCore) -> None:
    for token in state.tokens:
        _fit_block(token)
        for inner in token.children or ():
            if inner.type == "link_open":
                inner.attrSet("rel", "noopener noreferrer nofollow")
                inner.attrSet("title", str(inner.attrGet("href")))  # where a link leads, whatever it is called


def _fit_block(token: Token) -> None:
    if token.type in {"heading_open", "heading_close"}:
        token.tag = f"h{min(int(token.tag[1:]) + _HEADINGS_BELOW, 6)}"
    if style := token.attrs.pop("style", None):  # the page's policy admits no style but its own
        token.attrSet("class", str(style).replace("text-align:", "align-"))


def _described(
    _self: RendererProtocol, tokens: Sequence[Token], number: int, _options: OptionsDict, _env: EnvType
) -> str:
    image = tokens[number]
    address = escape(str(image.attrs.get("src", "")))
    name = escape(image.content) or "without a description"
    return f'<span class="unloaded">Image, not loaded: {name} <span class="address">({address})</span></span>'


def _table_open(*_: Any) -> str:
    return '<div class="table"><table>\n'


def _table_close(*_: Any) -> str:
    return "</table></div>\n"
