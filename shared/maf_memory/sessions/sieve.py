"""Which files, and which messages in them, cannot hold a word: judged on their bytes, before any JSON is decoded.

A sieve never lets a hit slip away; what it lets through is decoded and looked at again. A word is looked for by its
*probe*: its longest part that JSON writes as it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import msgspec

from maf_memory.sessions.folding import fold_character
from maf_memory.sessions.matching import Matcher, Strange, strange_in
from maf_memory.sessions.query import Word
from maf_memory.sessions.searched import GLUE

_WRITTEN_OTHERWISE = re.compile("[" + re.escape('"\\/' + "".join(sorted(GLUE))) + "]+")
"""What JSON escapes, or may escape, and what the file does not hold where the text that is searched does."""

_FIELD = b'"messages"'
_ESCAPE = re.compile(rb"\\u")  # a pattern finds these two bytes in half the time that ``in`` takes


class Sieve:
    """Sorts out files that hold none of the words."""

    def __init__(self, words: Sequence[Word], matcher: Matcher) -> None:
        self._matcher = matcher
        self._probes = [_longest_part(word.pieces) for word in words]
        self._spelled = _without_longer_ones(probe.encode() for probe in self._probes)
        self._spelled_in_ascii = [probe for probe in self._spelled if probe.isascii()]

    def opened(self, content: bytes) -> OpenFile | None:
        """Return what to judge the messages of a JSON file by; ``None`` where no message of it holds a word."""
        start = max(0, content.find(_FIELD))  # the first such bytes are the field itself, or stand before it
        content = content[start:]
        has_escapes = _ESCAPE.search(content) is not None
        lowered = content.lower()
        if content.isascii():
            opened = OpenFile(content, lowered, self._spelled_in_ascii, has_escapes, frozenset(), False)
            return opened if has_escapes or _is_in(lowered, opened.spelled) else None
        strange = strange_in(content)
        relevant = self._matcher.relevant(strange)
        melts = not self._matcher.is_simple(strange)
        opened = OpenFile(content, lowered, self._spelled, has_escapes, strange, melts or bool(relevant))
        if has_escapes or melts:
            return opened
        if not relevant:
            return opened if _is_in(lowered, self._spelled) else None
        return opened if self._may_stand_disguised(content, lowered, strange, relevant) else None

    def _may_stand_disguised(self, content: bytes, lowered: bytes, strange: Strange, relevant: Sequence[str]) -> bool:
        """Whether a word may stand there of which some letters are written by ``relevant`` characters."""
        if all(map(str.isascii, self._probes)):
            letters = frozenset("".join(map(fold_character, relevant)))
            return any(_disguise(probe, letters)(lowered) for probe in self._probes)
        folded = self._matcher.folded(content.decode("utf-8", "replace"), strange)
        return any(probe.encode() in folded for probe in self._probes)


@dataclass(frozen=True, slots=True)
class OpenFile:
    """One file that may hold a word, from its messages on.

    ``has_escapes`` says that any letter may be hidden in it; ``is_disguised`` that some of its ``strange`` characters
    may be letters of a word.
    """

    content: bytes
    lowered: bytes
    spelled: Sequence[bytes]
    has_escapes: bool
    strange: Strange
    is_disguised: bool

    def passing(self, messages: Iterable[msgspec.Raw]) -> Iterator[tuple[int, bytes]]:
        """Yield the place and the JSON of each message of the file that may hold a word."""
        dumped = [bytes(message) for message in messages]
        starts = None if self.has_escapes or self.is_disguised else self._starts(dumped)
        places = (
            enumerate(map(self._may_hold, dumped)) if starts is None else ((at, True) for at in self._places(starts))
        )
        return ((place, dumped[place]) for place, passes in places if passes)

    def _may_hold(self, message: bytes) -> bool:
        if self.is_disguised and not message.isascii():
            return True
        return _is_in(message.lower(), self.spelled) or (self.has_escapes and b"\\u" in message)

    def _starts(self, messages: Sequence[bytes]) -> list[int] | None:
        """Return where the messages begin in the file, each seen to stand there; ``None`` where one is not seen."""
        starts: list[int] = []
        end = 0
        for message in messages:
            start = self.content.find(b"{", end)
            if not self.content.startswith(message, start):
                return None
            starts.append(start)
            end = start + len(message)
        return starts or None

    def _places(self, starts: Sequence[int]) -> list[int]:
        """Return the places of the messages in which a word is spelled, seen from where they begin in the file."""
        places: set[int] = set()
        for spelled in self.spelled:
            found = self.lowered.find(spelled, starts[0])
            while found >= 0:
                place = bisect_right(starts, found) - 1
                places.add(place)
                found = self.lowered.find(spelled, starts[place + 1]) if place + 1 < len(starts) else -1
        return sorted(places)


def _is_in(lowered: bytes, spelled: Sequence[bytes]) -> bool:
    for one in spelled:  # noqa: SIM110 - any() would cost as much as what it looks for
        if one in lowered:
            return True
    return False


@cache
def _disguise(probe: str, letters: frozenset[str]) -> Callable[[bytes], object]:
    """Return what finds an ASCII probe in lowered UTF-8 where other characters may write its ``letters``, or seem to.

    Where such letters stand, any number of them and of other characters may; between other letters may be what nobody
    sees. Such letters at the ends are not looked for: it would take long. No part of the pattern takes what the next
    one begins with, so that it takes time in proportion to the text and no more.
    """
    either = re.escape("".join(sorted(letters)))
    runs = re.split(f"[{either}]+", probe) if letters else [probe]
    known = [r"[\x80-\xff]*".join(map(re.escape, run)) for run in runs]
    return re.compile(rf"[{either}\x80-\xff]+".join(_without_empty_ends(known)).encode()).search


def _without_empty_ends(parts: list[str]) -> list[str]:
    return [part for place, part in enumerate(parts) if part or 0 < place < len(parts) - 1]


def _longest_part(pieces: Iterable[str]) -> str:
    """Return the longest part that JSON writes as it is; an empty one, which is everywhere, where there is none."""
    return max((part for piece in pieces for part in _WRITTEN_OTHERWISE.split(piece)), key=len, default="")


def _without_longer_ones(probes: Iterable[bytes]) -> list[bytes]:
    """Return the probes without those that hold another one."""
    ordered = sorted(set(probes), key=lambda probe: (len(probe), probe))
    return [probe for place, probe in enumerate(ordered) if not any(other in probe for other in ordered[:place])]
