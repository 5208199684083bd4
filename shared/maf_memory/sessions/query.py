"""What to look for: the words of a question, as a person or a model writes it."""
# ruff: noqa: RUF001 - punctuation of other scripts looks like ours

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from maf_memory.sessions.folding import fold

_QUOTED = re.compile(r'"([^"]*)"|“([^”]*)”|„([^“”]*)[“”]|«([^»]*)»')
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_BETWEEN = re.compile(r"[\s\x00-\x1f\x7f|｜、，。；]+")
_BEFORE = "\"'`*«»“”„‘’([{¿¡「『（【"
_AFTER = "\"'`*«»“”„‘’)]}.,;:!?…」』）】：！？"
_SHORT = 2


@dataclass(frozen=True, slots=True)
class Word:
    """One word as it was asked for, and its folded form; a quoted phrase is one word in several ``pieces``."""

    text: str
    pieces: tuple[str, ...]
    is_short: bool = False
    """Whether it has one or two letters: as a part of other words, it would be found nearly everywhere."""

    @property
    def pattern(self) -> str:
        """The regular expression that finds it in a folded text; any white space may stand between its pieces."""
        return r"[\s\x1c-\x1f]+".join(map(re.escape, self.pieces))


@dataclass(frozen=True, slots=True)
class Query:
    """The different words to look for, in the order given; ``ignored`` are those too short to count beside them."""

    words: tuple[Word, ...]
    ignored: tuple[str, ...] = ()


def parse_query(text: str) -> Query:
    """Return the words of ``text``, each once.

    Spaces and ``|`` stand between words: ``base de données | database | storage`` are alternatives, and so are the
    words of one alternative, for a hit holds any of them. Quotes make one word of a phrase, with any white space
    inside it. Punctuation around a word is not part of it. Words of one or two letters count only when no longer one
    is given: « de » stands in Deployment, modernc and Module. A character that is wide is a syllable, a word or a
    picture, and never too short: 库, か, 각, 🦊.

    Raises:
        ValueError: there is no word in it.
    """
    words = {word.pieces: word for word in reversed(list(_words(text))) if word.pieces}
    if not words:
        raise ValueError("a word to look for is needed")
    ordered = tuple(reversed(words.values()))
    longer = tuple(word for word in ordered if not word.is_short)
    if not longer:
        return Query(ordered)
    return Query(longer, tuple(word.text for word in ordered if word.is_short))


def _words(text: str) -> Iterator[Word]:
    start = 0
    for quoted in _QUOTED.finditer(text):
        yield from _plain_words(text[start : quoted.start()])
        phrase = " ".join(_CONTROL.sub(" ", "".join(part or "" for part in quoted.groups())).split())
        yield Word(phrase, tuple(fold(phrase).split()))
        start = quoted.end()
    yield from _plain_words(text[start:])


def _plain_words(text: str) -> Iterator[Word]:
    for part in _BETWEEN.split(text):
        word = part.lstrip(_BEFORE).rstrip(_AFTER)
        if any(map(_says_something, word)):
            pieces = tuple(fold(word).split())
            yield Word(word, pieces, _is_short("".join(pieces)))


def _says_something(character: str) -> bool:
    return unicodedata.category(character)[0] in "LNS"


def _is_short(folded: str) -> bool:
    return len(folded) <= _SHORT and not any(unicodedata.east_asian_width(letter) in "WF" for letter in folded)
