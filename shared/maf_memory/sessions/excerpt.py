"""The part of a message that shows why it was found: from the first found word to the last.

Cut after the first word, a summary that named the deployment in its first line lost its line on backups. So an excerpt
reaches the last found word; where that is too long, the middle is left out, and each found word still stands in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from maf_memory.sessions.folding import Folded, starts_cluster
from maf_memory.sessions.query import Word

MAXIMUM_EXCERPT = 800
"""About how many characters an excerpt has at most; it is longer only where the found words themselves are."""

CONTEXT = 80
"""How many characters stand before the first found word and after the last."""

_LEAST_CONTEXT = 12
_LEFT_OUT = " … "
_SPACE = re.compile(r"\s")


def excerpt(text: str, words: Iterable[Word], limit: int = MAXIMUM_EXCERPT) -> str:
    """Return the original text around the words that it holds; ``…`` stands where something is left out."""
    places = _places(text, words)
    if not places:
        return shortened(text, limit)
    first, last = places[0][0], max(end for _, end in places)
    if last - first + 2 * CONTEXT <= limit:
        return _windows(text, [(first, last)], CONTEXT)
    places = [part for start, end in places for part in _bounded(start, end, limit)]
    room = (limit - sum(end - start for start, end in places)) // (2 * len(places))
    return _windows(text, places, max(_LEAST_CONTEXT, min(CONTEXT, room)))


def shortened(text: str, limit: int) -> str:
    """Return ``text`` trimmed, with its middle left out where it is longer than ``limit``."""
    text = text.strip()
    return text if len(text) <= limit else _windows(text, [(0, 0), (len(text), len(text))], limit // 2)


def _places(text: str, words: Iterable[Word]) -> list[tuple[int, int]]:
    """Return where each word stands first, and where the last of all stands, in order."""
    folded = Folded(text)
    found: set[tuple[int, int]] = set()
    ends: set[tuple[int, int]] = set()
    for word in words:
        matches = [(match.start(), match.end()) for match in _first_and_last(word, folded.text)]
        found |= set(matches[:1])
        ends |= set(matches[-1:])
    if ends:
        found.add(max(ends, key=lambda place: place[1]))
    return sorted(folded.span(start, end) for start, end in found)


def _first_and_last(word: Word, folded: str) -> list[re.Match[str]]:
    pattern = re.compile(word.pattern)
    first = pattern.search(folded)
    if first is None:
        return []
    last = first
    for last in pattern.finditer(folded, first.end()):  # noqa: B007 - the last one counts
        pass
    return [first, last]


def _bounded(start: int, end: int, limit: int) -> list[tuple[int, int]]:
    """Return the place itself, or its two ends where it is too long: a phrase may hold any amount of white space."""
    if end - start <= limit:
        return [(start, end)]
    return [(start, start + limit // 3), (end - limit // 3, end)]


def _windows(text: str, places: Sequence[tuple[int, int]], around: int) -> str:
    """Return ``text`` at the places and ``around`` them, joined where they meet, ``…`` where something is left out."""
    windows: list[tuple[int, int]] = []
    for place in places:
        start, end = _edge_before(text, place[0], around), _edge_after(text, place[1], around)
        if windows and start <= windows[-1][1] + len(_LEFT_OUT):
            start, end = windows[-1][0], max(end, windows.pop()[1])
        windows.append((start, end))
    shown = _LEFT_OUT.join(text[start:end].strip() for start, end in windows)
    left_out_before, left_out_after = text[: windows[0][0]].strip(), text[windows[-1][1] :].strip()
    return f"{'… ' if left_out_before else ''}{shown}{' …' if left_out_after else ''}"


def _edge_before(text: str, place: int, around: int) -> int:
    """Return where to begin before ``place``: at a word where there is one, never between a letter and its mark."""
    start = max(0, place - around)
    if start == 0:
        return 0
    if space := _SPACE.search(text, start - 1, place):
        return space.end()
    while start > 0 and not starts_cluster(text[start]):
        start -= 1
    return start


def _edge_after(text: str, place: int, around: int) -> int:
    """Return where to end after ``place``, likewise."""
    end = min(len(text), place + around)
    if end == len(text):
        return end
    if spaces := list(_SPACE.finditer(text, place, end + 1)):
        return spaces[-1].start()
    while end < len(text) and not starts_cluster(text[end]):
        end += 1
    return end
