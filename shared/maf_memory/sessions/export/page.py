"""A session as one self-contained page: no script, no request, nothing of what it quotes is more than text.

The policy in the page's head forbids all that the page does not do, so that a mistake here stays harmless: it admits
one style by its hash and images from their own data. The template escapes every value; only :mod:`prose`, whose
Markdown library is told to admit no HTML, hands it markup.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from maf_memory.sessions.export import about
from maf_memory.sessions.export.links import leads_elsewhere_safely
from maf_memory.sessions.export.pictures import Pictures
from maf_memory.sessions.export.prose import prose
from maf_memory.sessions.export.visible import visible
from maf_memory.sessions.items import Item, Question
from maf_memory.sessions.titles import as_title
from maf_memory.sessions.transcript import transcript

if TYPE_CHECKING:
    from maf_memory.sessions.record import SessionRecord

_LONG = 20_000


def as_html(record: SessionRecord) -> str:
    """Return the session as one HTML page that loads nothing and runs nothing, readable on paper, phone and screen.

    The same record gives the same page, to the letter. Images are shown from their own data, within the bounds of
    :mod:`pictures`; a text of more than :data:`prose.MAXIMUM` characters stands as it was written.
    """
    turns = [(number, list(items)) for number, items in groupby(transcript(record), key=lambda item: item.turn)]
    style = _style()
    page: str = _template().render(
        title=about.title(record),
        facts=about.facts(record),
        not_held=about.NOT_HELD,
        turns=turns,
        contents=[(number, _first_line(items)) for number, items in turns if number],
        picture=Pictures(),
        style=Markup(style),  # noqa: S704 - this package's own file
        style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii"),
    )
    return page


def _has_a_long_line(text: str) -> bool:
    """Whether finding a direction for each line would take a browser too long: 12 s for a line of 1 MB, not 1 s."""
    return any(len(line) > _LONG for line in text.split("\n"))


def _first_line(items: list[Item]) -> str:
    return next((as_title(item.text) for item in items if isinstance(item, Question) and item.text.strip()), "…")


def _markup(text: str) -> Markup | None:
    rendered = prose(text)
    return None if rendered is None else Markup(rendered)  # noqa: S704 - no HTML but the library's own


def _shown(value: object) -> object:
    return value if isinstance(value, Markup) else visible(str(value))


@cache
def _style() -> str:
    return files(__package__).joinpath("page.css").read_text(encoding="utf-8")


@cache
def _template() -> Template:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_shown
    )
    environment.filters.update(
        prose=_markup, line=as_title, facts=about.facts_of, shape=lambda item: type(item).__name__
    )
    environment.tests.update(safe_link=leads_elsewhere_safely, with_a_long_line=_has_a_long_line)
    return environment.from_string(files(__package__).joinpath("page.html.jinja").read_text(encoding="utf-8"))
