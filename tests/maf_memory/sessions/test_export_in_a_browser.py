"""The page of a session in a real browser: silent, self-contained and readable, on a phone and on a screen.

Needs Chromium on the PATH and the playwright package, which drives it; the browser is started once.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from maf_memory.sessions.export import as_html
from maf_memory.sessions.record import SessionRecord
from tests.maf_memory.sessions.export_samples import hostile, ordinary

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDTHS = (400, 1200)

LOOK = """
() => {
  const problems = new Set();
  const name = (element) => {
    const kind = element.className ? "." + element.className : "";
    return element.tagName.toLowerCase() + kind + " " + JSON.stringify(element.textContent.trim().slice(0, 30));
  };
  const page = document.documentElement;
  if (page.scrollWidth > page.clientWidth) problems.add(`the page is ${page.scrollWidth} wide`);

  const light = (color) => {
    const parts = color.match(/[\\d.]+/g).map(Number);
    if (parts.length === 4 && parts[3] === 0) return null;
    const [r, g, b] = parts.map((p) => p / 255).map((p) => (p <= 0.04045 ? p / 12.92 : ((p + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const found = light(getComputedStyle(each).backgroundColor);
      if (found !== null) return found;
    }
    throw new Error("nothing is painted behind");
  };
  const cutOff = (element) => element.closest(".what, .table") !== null;

  for (const element of document.body.querySelectorAll("*")) {
    if (!element.checkVisibility({ contentVisibilityAuto: true })) continue;
    const style = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    const ownText = [...element.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
    if (ownText) {
      if (parseFloat(style.fontSize) < 14) problems.add(`too small: ${style.fontSize} ${name(element)}`);
      const [low, high] = [light(style.color), behind(element)].sort((a, b) => a - b);
      const contrast = (high + 0.05) / (low + 0.05);
      if (contrast < 4.5) problems.add(`contrast ${contrast.toFixed(2)}: ${name(element)}`);
    }
    if (box.width && !cutOff(element) && (box.left < -0.5 || box.right > innerWidth + 0.5))
      problems.add(`out of the window: ${name(element)}`);
    const next = element.nextElementSibling;
    if (next && next.checkVisibility() && style.display !== "inline" && !cutOff(element)) {
      const after = next.getBoundingClientRect();
      if (after.top < box.bottom - 0.5 && after.left < box.right - 0.5 && box.left < after.right - 0.5 && after.height)
        problems.add(`overlaps the next: ${name(element)}`);
    }
  }
  return [...problems].slice(0, 20);
}
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no Chromium on the PATH: the page is not opened in a browser")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: nothing drives the browser")
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    with api.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=found, args=["--no-sandbox"] if as_root else [])
        yield started
        started.close()


class Opened:
    """A page in the browser, and everything that it asked for or said since."""

    def __init__(self, browser: Browser, path: Path, width: int = 1200, scheme: Any = "light") -> None:
        self.url = path.as_uri()
        self.happened: list[str] = []
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
        self.page: Page = self.context.new_page()
        self._note("request", lambda request: request.url)
        self._note("console", lambda message: message.text)
        self._note("pageerror", str)
        self._note("popup", lambda page: page.url)
        self.page.on("dialog", self._dialog)
        self.page.goto(self.url)

    def _note(self, event: Any, told: Callable[[Any], str]) -> None:
        self.page.on(event, lambda what: self.happened.append(f"{event}: {told(what)[:200]}"))

    def _dialog(self, dialog: Any) -> None:
        self.happened.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def unfold(self) -> None:
        self.page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


def written(record: SessionRecord, folder: Path) -> Path:
    path = folder / "session é.html"
    path.write_text(as_html(record), encoding="utf-8")
    return path


def test_a_page_that_loads_and_says_something_is_noticed(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        "<body style='background:#fff;color:#aaa;width:2000px'>grey"
        "<img src='https://evil.example/x.png'><script>console.log('said')</script>"
    )
    with Opened(browser, path) as opened:
        opened.page.wait_for_load_state()
        seen = " ".join(opened.happened)
        problems = " ".join(opened.page.evaluate(LOOK.replace("body.querySelectorAll", "querySelectorAll")))
    assert "request: https://evil.example/x.png" in seen
    assert "console: said" in seen
    assert "wide" in problems
    assert "contrast 2.3" in problems


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("session", [ordinary, hostile], ids=["ordinary", "hostile"])
def test_the_page_is_silent_self_contained_and_readable(
    browser: Browser, tmp_path: Path, session: Callable[[], SessionRecord], scheme: str, width: int
) -> None:
    with Opened(browser, written(session(), tmp_path), width, scheme) as opened:
        assert opened.page.evaluate(LOOK) == []
        opened.unfold()
        assert opened.page.evaluate(LOOK) == []
        column = opened.page.evaluate("document.querySelector('main').clientWidth")
        assert column == 400 - 32 if width == 400 else 600 < column < 900
        shade = opened.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert (max(map(int, shade[4:-1].split(","))) < 60) == (scheme == "dark")
        assert opened.happened == [f"request: {opened.url[:200]}"]


def test_images_show_links_lead_to_the_turns_and_calls_unfold(browser: Browser, tmp_path: Path) -> None:
    with Opened(browser, written(ordinary(), tmp_path)) as opened:
        page = opened.page
        assert page.evaluate("[...document.images].map((image) => [image.complete, image.naturalWidth])") == [
            [True, 320]
        ]
        output = page.get_by_text("func Info(text string)")
        assert not output.is_visible()
        page.locator("summary", has_text="read_file").click()
        assert output.is_visible()
        page.locator("nav summary").click()
        page.locator("nav a").last.click()
        assert page.url == f"{opened.url}#turn-3"
        assert opened.happened == [f"request: {opened.url}"]


def test_on_paper_everything_folded_is_open(browser: Browser, tmp_path: Path) -> None:
    with Opened(browser, written(ordinary(), tmp_path)) as opened:
        opened.page.emulate_media(media="print")
        assert opened.page.get_by_text("func Info(text string)").is_visible()
        assert not opened.page.locator("nav").is_visible()
