"""Text of a conversation as a Markdown file may hold it: quoted, without HTML and without images, or fenced.

Every quote is proven: it is read as CommonMark with HTML and every link allowed, and what then still holds HTML, an
image, a link that is no plain one, or deeper nesting than the reading follows, stands in a fence instead.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt

from maf_memory.sessions.export.links import runs_nothing
from maf_memory.sessions.export.prose import MAXIMUM
from maf_memory.sessions.export.visible import visible

if TYPE_CHECKING:
    from markdown_it.token import Token

_TICKS = re.compile(r"`+")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_PIECE = re.compile(r"\\.|`+|<(?=[A-Za-z/!?])|!\[", re.DOTALL)
_PUNCTUATION = re.compile(r"[\\`*_{}\[\]#|~!$]")


def one_line(text: str) -> str:
    """Return ``text`` as one line that reads as itself inside a line of Markdown."""
    line = " ".join(visible(text).split())
    escaped = _PUNCTUATION.sub(r"\\\g<0>", line)
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def code(text: str) -> str:
    """Return ``text`` as one code span, whatever backticks it holds."""
    line = " ".join(visible(text).split()) or " "
    ticks = "`" * (_longest(line) + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{space}{line}{space}{ticks}"


def fenced(text: str) -> str:
    """Return ``text`` in a fence that is longer than any run of backticks in it."""
    shown = visible(text)
    fence = "`" * max(3, _longest(shown) + 1)
    end = "" if shown.endswith("\n") else "\n"
    return f"{fence}\n{shown}{end}{fence}"


def quoted(text: str, *, keep_lines: bool = False) -> str:
    """Return ``text`` as a block quote that keeps its Markdown and that nothing in it can end or bring to life.

    With ``keep_lines`` the lines of a paragraph stay lines, as in a text that was not written as Markdown.
    """
    shown = visible(text).strip("\n")
    if len(shown) > MAXIMUM:
        return fenced(shown)
    quote = "\n".join(f"> {line}" if line else ">" for line in _without_html(shown, keep_lines=keep_lines))
    return quote if _is_inert(quote) else fenced(shown)


def _longest(text: str) -> int:
    return max((len(run[0]) for run in _TICKS.finditer(text)), default=0)


@cache
def _reader(*, html: bool) -> MarkdownIt:
    reader = _Willing("commonmark", {"html": html})
    return reader.enable(["table", "strikethrough"])


class _Willing(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802 - what a careless viewer would accept
        return True


def _without_html(text: str, *, keep_lines: bool) -> Iterator[str]:
    """Yield the lines, outside code without what could begin a tag or an image."""
    line_end = "  \n" if keep_lines else "\n"
    lines = text.split("\n")
    place = 0
    for first, end, is_code in _blocks(_reader(html=False).parse(text)):
        if first < place:
            continue
        yield from (_TAG.sub("&lt;", line) for line in lines[place:first])
        block = "\n".join(lines[first:end])
        yield from (block if is_code else _outside_spans(block).replace("\n", line_end)).split("\n")
        place = max(end, first)
    yield from (_TAG.sub("&lt;", line) for line in lines[place:])


def _blocks(tokens: list[Token]) -> Iterator[tuple[int, int, bool]]:
    for token in tokens:
        if token.map and token.type in {"fence", "code_block", "inline", "tr_open"} and token.map[0] < token.map[1]:
            yield token.map[0], token.map[1], token.type in {"fence", "code_block"}


def _outside_spans(text: str) -> str:
    """Return the text of one paragraph, inert outside its code spans."""
    runs: dict[str, deque[int]] = {}
    for run in _TICKS.finditer(text):
        runs.setdefault(run[0], deque()).append(run.start())
    parts: list[str] = []
    place = 0
    while piece := _PIECE.search(text, place):
        parts.append(text[place : piece.start()])
        place = piece.end()
        match piece[0][0], piece[0]:
            case "`", ticks:
                later = runs.get(ticks, deque())
                while later and later[0] < place:
                    later.popleft()
                end = later[0] + len(ticks) if later else place
                parts.append(text[piece.start() : end])
                place = end
            case "<", _:
                parts.append("&lt;")
            case "!", _:
                parts.append("\\![")
            case _, escaped:
                parts.append("&lt;" if escaped == "\\<" else escaped)
    return "".join((*parts, text[place:]))


def _is_inert(quote: str) -> bool:
    environment: dict[str, Any] = {}
    reader = _reader(html=True)
    tokens = reader.parse(quote, environment)
    if not tokens or tokens[0].type != "blockquote_open" or tokens[0].map != [0, quote.count("\n") + 1]:
        return False
    inner = [child for token in tokens for child in token.children or ()]
    if any(token.level >= reader.options["maxNesting"] - 1 for token in tokens):
        return False
    if any(visible(token.content) != token.content for token in inner):
        return False  # a character written as an entity
    if any(token.type in {"html_block", "html_inline", "image"} for token in (*tokens, *inner)):
        return False
    addresses = [str(token.attrs.get("href", "")) for token in inner if token.type == "link_open"]
    addresses += [found["href"] for found in environment.get("references", {}).values()]
    return all(runs_nothing(address) for address in addresses)
