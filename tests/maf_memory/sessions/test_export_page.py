"""The page of a session: whatever the session holds, it runs nothing, loads nothing and hides nothing."""

from __future__ import annotations

import base64
import hashlib
import re
import time
from html.parser import HTMLParser

import pytest
from agent_framework import Content
from hypothesis import given, settings
from hypothesis import strategies as st

from maf_memory.sessions.export import as_html
from maf_memory.sessions.export.pictures import Pictures
from maf_memory.sessions.export.prose import MAXIMUM, prose
from maf_memory.sessions.export.visible import visible
from maf_memory.sessions.items import Attachment
from maf_memory.sessions.transcript import transcript
from tests.maf_memory.sessions.export_samples import (
    HOSTILE,
    assistant,
    by_program,
    call,
    error,
    hostile,
    journal,
    ordinary,
    png,
    record_of,
    result,
    user,
)

STEADY = settings(derandomize=True, deadline=None, max_examples=60)

TAGS = """
html head meta link title style body header main nav article aside h1 h2 h3 h4 h5 h6 p div span dl dt dd time
details summary figure figcaption img pre code a b strong em s blockquote hr br ul ol li table thead tbody tr th td
"""
ATTRIBUTES = """
lang charset http-equiv content name rel href class id dir datetime aria-label aria-labelledby alt src value title start
data-lines
"""


class Page(HTMLParser):
    """A page as a browser takes it apart."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.others: list[str] = []
        self._within: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"<{tag}> repeats an attribute"
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        self._within.append(tag)

    def handle_data(self, data: str) -> None:
        if self._within[-1:] != ["style"]:
            self.texts.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._within.append("/" + tag)

    def handle_comment(self, data: str) -> None:
        self.others.append(data)

    def unknown_decl(self, data: str) -> None:
        self.others.append(data)

    def handle_pi(self, data: str) -> None:
        self.others.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def all_of(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.tags if name == tag]


def assert_inert(html: str) -> Page:
    page = Page(html)
    assert {tag for tag, _ in page.tags} <= set(TAGS.split())
    assert {name for _, attributes in page.tags for name in attributes} <= set(ATTRIBUTES.split())
    assert page.others == []
    assert [tag for tag, _ in page.tags].count("style") == 1
    for link in page.all_of("a"):
        assert re.match(r"(?i)https?://|mailto:|#turn-\d+$", link["href"])
        if not link["href"].startswith("#"):
            assert link["rel"] == "noopener noreferrer nofollow"
    for image in page.all_of("img"):
        assert re.match(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$", image["src"])
    assert [link["href"] for link in page.all_of("link")] == ["data:,"]
    html.encode()  # what a file can hold
    assert visible(html) == html
    return page


def test_the_policy_admits_one_style_by_its_hash_and_images_from_their_data() -> None:
    html = as_html(ordinary())
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    (policy,) = [meta["content"] for meta in Page(html).all_of("meta") if "http-equiv" in meta]
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert html.index("Content-Security-Policy") < html.index("<style>")
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def test_an_ordinary_session_is_a_page_that_a_reader_can_use() -> None:
    page = assert_inert(as_html(ordinary()))
    assert page.all_of("html") == [{"lang": "en"}]
    assert len(page.all_of("h1")) == 1
    assert [one["id"] for one in page.all_of("article")] == ["turn-0", "turn-1", "turn-2", "turn-3"]
    assert len(page.all_of("img")) == 1
    assert all(image["alt"] for image in page.all_of("img"))
    tables = [attributes.get("class", "") for attributes in page.all_of("th")]
    assert tables == ["align-left", "align-center", "align-right"]
    for told in ("Quel format pour les logs ?", "openai · qwen3.5-4b", "/home/ada/shop", "2026-09-16 10:15:30+02:00"):
        assert told in page.text
    assert "Not held here: " in page.text


def test_tool_calls_reasoning_and_what_the_program_wrote_are_folded() -> None:
    html = as_html(ordinary())
    folded = re.findall(r'<details class="([\w-]+(?: [\w-]+)?)">', html)
    assert folded == ["program", "reasoning", "call done", "call done", "program", "call done", "call unfinished"]
    assert "<details open" not in html


def test_a_hostile_session_is_nothing_but_text() -> None:
    page = assert_inert(as_html(hostile()))
    assert page.all_of("img") == []
    shown = re.sub(r"\s+", "", page.text)
    for text in HOSTILE:
        assert shown.count(re.sub(r"\s+", "", visible(text))) >= 3  # asked, called with, brought


@STEADY
@given(st.lists(st.sampled_from(HOSTILE) | st.text(max_size=20), max_size=4), st.sampled_from(["", " ", "\n", "\n\n"]))
def test_no_mixture_of_hostile_texts_is_more_than_text(pieces: list[str], between: str) -> None:
    text = between.join(pieces)
    page = assert_inert(as_html(record_of(user(text), assistant(text, call(text, text, text)), result(text, text))))
    assert page.text.count(visible(text).strip()) >= 2


def test_texts_of_tools_and_of_people_stand_to_the_letter() -> None:
    text = "\n\n  two  spaces\n\ttab <b>&amp;</b> *stars* [x](https://example.org)\n"
    page = Page(as_html(record_of(user(text), assistant(call("a", "run", text)), result("a", text))))
    assert page.text.count(text) == 3


def test_markdown_of_an_answer_is_drawn_below_the_headings_of_the_page() -> None:
    page = assert_inert(as_html(record_of(user("?"), assistant("# A\n\n## B\n\n###### F\n\n~~old~~ **new**"))))
    assert [tag for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)] == ["h1", "h2", "h3", "h4", "h6"]
    assert {"s", "strong"} <= {tag for tag, _ in page.tags}


def test_a_link_shows_where_it_leads_and_only_web_and_mail_are_links() -> None:
    html = prose("[bank](https://evil.example/a) <mailto:a@example.org> [no](ftp://x) [rel](../x) [js](JavaScript:x)")
    assert html == (
        '<p><a href="https://evil.example/a" rel="noopener noreferrer nofollow" title="https://evil.example/a">'
        'bank</a> <a href="mailto:a@example.org" rel="noopener noreferrer nofollow" title="mailto:a@example.org">'
        "mailto:a@example.org</a> [no](ftp://x) [rel](../x) [js](JavaScript:x)</p>\n"
    )


def test_an_image_of_an_answer_is_its_description_and_its_address() -> None:
    assert prose("![a *pixel*](https://evil.example/p.png)") == (
        '<p><span class="unloaded">Image, not loaded: a *pixel* <span class="address">(https://evil.example/p.png)</span>'
        "</span></p>\n"
    )


def test_characters_written_as_entities_are_made_visible_too() -> None:
    assert prose("&#x202e;exe &#x2066;") == "<p>\\u202eexe \\u2066</p>\n"


def test_a_text_that_is_too_long_for_markdown_stands_as_it_was_written() -> None:
    assert prose("*" + "x" * MAXIMUM) is None
    page = Page(as_html(record_of(assistant("**bold** " + "x" * MAXIMUM))))
    assert "**bold** xxx" in page.text


@pytest.mark.parametrize("piece", ["![", "[a][", "*a _b ", "> - ", "`<"])
def test_the_worst_markdown_takes_a_bounded_time(piece: str) -> None:
    started = time.process_time()
    assert prose(piece * (MAXIMUM // len(piece))) is not None
    assert time.process_time() - started < 20  # a second or two; what is quadratic takes many minutes


def test_a_line_too_long_to_find_its_direction_in_leaves_that_to_the_whole_text() -> None:
    for text, expected in (("x" * 1_000_000, {"dir": "auto"}), ("x\n" * 500_000, {"dir": "auto", "data-lines": ""})):
        (output,) = Page(as_html(record_of(assistant(call("a", "run", "{}")), result("a", text)))).all_of("pre")
        assert output == expected


def picture(data: bytes, media_type: str = "image/png", pictures: Pictures | None = None) -> tuple[bool, str]:
    (item,) = transcript(record_of(user(Content.from_data(data, media_type))))
    assert isinstance(item, Attachment)
    shown = (pictures or Pictures())(item)
    return shown.source is not None, shown.reason


def test_only_images_of_pixels_are_shown_and_only_as_what_they_are() -> None:
    assert picture(png()) == (True, "")
    assert picture(b"GIF89a...", "image/gif") == (True, "")
    assert picture(b"\xff\xd8\xff\xe0...", "image/jpeg") == (True, "")
    assert picture(b"RIFF\0\0\0\0WEBPVP8 ", "image/webp") == (True, "")
    assert picture(b"<svg/>", "image/svg+xml") == (False, "not shown: only PNG, JPEG, GIF and WebP images are")
    assert picture(b"<svg/>", "image/png") == (False, "not shown: it is no image/png")
    assert picture(png(), "image/gif") == (False, "not shown: it is no image/gif")
    assert picture(b"%PDF", "application/pdf") == (False, "")


def test_an_image_that_is_too_large_is_named_and_not_shown() -> None:
    image = png()
    assert picture(image, pictures=Pictures(largest=len(image))) == (True, "")
    shown, reason = picture(image, pictures=Pictures(largest=len(image) - 1))
    assert not shown
    assert reason.startswith("not shown: an image has at most ")
    budget = Pictures(all_together=2 * len(image))
    assert [picture(image, pictures=budget)[0] for _ in range(3)] == [True, True, False]


@pytest.mark.parametrize(
    "uri",
    [
        'data:image/png;base64,AAAA"onerror="alert(1)',
        "data:image/png;base64,iVBORw0KGgo=!",
        "data:image/png,<svg onload=alert(1)>",
        "data:text/html;base64,PHNjcmlwdD4=",
        "DATA:IMAGE/PNG;base64,",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "//evil.example/x.png",
        "https://evil.example/x.png\u202e",
    ],
)
def test_an_address_that_is_no_sound_image_is_neither_shown_nor_linked(uri: str) -> None:
    content = Content("data", uri=uri, media_type="image/png")
    page = assert_inert(as_html(record_of(user(content))))
    assert page.all_of("img") == page.all_of("a") == []


def test_an_image_elsewhere_is_a_link_and_is_never_loaded() -> None:
    content = Content.from_uri("https://example.org/cat.png", media_type="image/png")
    page = assert_inert(as_html(record_of(user(content))))
    assert page.all_of("img") == []
    assert [link["href"] for link in page.all_of("a")] == ["https://example.org/cat.png"]
    assert "nothing is loaded from elsewhere" in page.text


def test_an_error_stands_in_an_aside_that_says_it_is_not_in_the_conversation() -> None:
    errors = journal(error("the server is gone", 1, raw="ECONNREFUSED", question="lost?"), ["odd"])
    page = assert_inert(as_html(record_of(user("one"), assistant("1"), errors=errors)))
    assert [one["aria-label"] for one in page.all_of("aside")] == ["Error, not part of the conversation"] * 2
    for told in ("the server is gone", "ECONNREFUSED", "lost?", "cannot be read", "beside the conversation, not in it"):
        assert told in page.text


def test_a_session_of_nothing_is_a_page_too() -> None:
    page = assert_inert(as_html(record_of()))
    assert "A session without a question" in page.text
    assert "Nothing was said in this session." in page.text


def test_blank_texts_say_that_they_are_blank() -> None:
    items = record_of(user("?"), assistant(" \n"), by_program("user", "note", ""), assistant(call("a", "run")))
    page = assert_inert(as_html(items))
    assert page.text.count("Nothing was written.") == 2
    assert "It was called without parameters." in page.text
    assert "No result was recorded; what the tool did is not known." in page.text


def test_the_same_session_gives_the_same_page() -> None:
    assert as_html(ordinary()) == as_html(ordinary())
