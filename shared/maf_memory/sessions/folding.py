"""Text folded for search: what a reader takes for the same letters compares equal, in every script.

Case, accents, ligatures and full-width forms make no difference; nor do soft hyphens and other characters that nobody
sees. What makes another letter stays: the voicing mark of kana, the parts of a Hangul syllable, the vowel signs of
Indic scripts and of Thai. So ``が`` is not ``か``, and ``가`` does not begin ``각``.

Text is folded a *cluster* at a time: a character with the marks that follow it. Folding a text is folding its
clusters one after the other, which is how a place in the folded text is found again in the original.
"""
# ruff: noqa: RUF001 - letters that look alike are what this is about

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache

_LETTERS = str.maketrans(
    {
        "œ": "oe",
        "æ": "ae",
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "ħ": "h",
        "ŧ": "t",
        "þ": "th",
        "ı": "i",
        **dict.fromkeys("‘’‚‛′", "'"),
        **dict.fromkeys("“”„‟″", '"'),
        **dict.fromkeys("‐‒–—―−", "-"),
        **dict.fromkeys("\x85\u1680\u2028\u2029", " "),
        "⁄": "/",
    }
)
"""What Unicode does not decompose and readers take for the same all the same; looked up after case is folded."""

_UNSEEN = re.compile("[\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
_BLOCK = 256


def fold(text: str) -> str:
    """Return ``text`` folded; a folded text folds to itself."""
    if text.isascii():
        return text.lower()
    characters = set(text)
    if any(map(is_contextual, characters)):
        return "".join(map(_folded, clusters(text)))
    return text.translate({ord(character): fold_character(character) for character in characters})


@cache
def fold_character(character: str) -> str:
    """Return what one character folds to where nothing that is contextual follows it; nothing for a mere accent."""
    return _folded(character)


@cache
def is_contextual(character: str) -> bool:
    """Whether the character can melt with the one before it into another letter."""
    first = unicodedata.normalize("NFKD", character)[0]
    return not _is_dropped(first) and (unicodedata.category(first).startswith("M") or "\u1160" <= first <= "\u11ff")


@cache
def starts_cluster(character: str) -> bool:
    """Whether the character begins something of its own, and is not a mark on the one before it."""
    first = unicodedata.normalize("NFKD", character)[0]
    return not (_is_dropped(first) or is_contextual(character))


def clusters(text: str) -> Iterator[str]:
    """Yield the clusters of ``text``, in order."""
    start = 0
    for place in range(1, len(text)):
        if starts_cluster(text[place]):
            yield text[start:place]
            start = place
    if text:
        yield text[start:]


class Folded:
    """A text and its folded form, in which places are found again in the original."""

    def __init__(self, original: str) -> None:
        self.original = original
        self._blocks: list[tuple[int, int]] = []
        """Where blocks of the text begin, folded and in the original: the map is drawn only where it is asked for."""
        if original.isascii():
            self.text = original.lower()
            return
        parts: list[str] = []
        length = start = 0
        while start < len(original):
            end = min(start + _BLOCK, len(original))
            while end < len(original) and not starts_cluster(original[end]):
                end += 1
            self._blocks.append((length, start))
            parts.append(fold(original[start:end]))
            length += len(parts[-1])
            start = end
        self.text = "".join(parts)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return from where to where the original holds the folded characters from ``start`` to ``end``, whole."""
        if not self._blocks:
            return start, end
        return self._cluster_at(start)[0], self._cluster_at(end - 1)[1]

    def _cluster_at(self, place: int) -> tuple[int, int]:
        """Return where the cluster begins and ends in the original that the folded character at ``place`` is of."""
        index = bisect_right(self._blocks, place, key=lambda block: block[0]) - 1
        length, start = self._blocks[index]
        end = self._blocks[index + 1][1] if index + 1 < len(self._blocks) else len(self.original)
        for cluster in clusters(self.original[start:end]):
            length += len(_folded(cluster))
            if length > place:
                return start, start + len(cluster)
            start += len(cluster)
        raise IndexError(f"the folded text has no character {place}")


def _folded(cluster: str) -> str:
    if cluster.isascii():
        return cluster.lower()
    plain = _without_accents(_without_accents(cluster).casefold()).translate(_LETTERS)
    return unicodedata.normalize("NFC", plain)


def _without_accents(text: str) -> str:
    return "".join(character for character in unicodedata.normalize("NFKD", text) if not _is_dropped(character))


def _is_dropped(character: str) -> bool:
    """Whether a decomposed character is an accent, a vowel point, or nothing that a reader sees.

    Unicode tells them by their class: strokes through a letter (1), points of Hebrew and Arabic (10 to 36), and
    accents (from 200). Voicing marks, viramas and the signs of Thai have classes of their own.
    """
    kind = unicodedata.combining(character)
    return kind == 1 or 10 <= kind <= 36 or kind >= 200 or _UNSEEN.match(character) is not None
