"""Which files, and which messages in them, cannot hold a word: judged on their bytes, before any JSON is decoded.

A sieve never lets a hit slip away; what it lets through is decoded and looked at again. A word is looked for by its
*probe*: its longest part that JSON writes as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from maf_memory.sessions.folding import fold_character
from maf_memory.sessions.matching import Matcher, Strange, strange_in
from maf_memory.sessions.query import Word
from maf_memory.sessions.searched import GLUE

_WRITTEN_OTHERWISE = re.compile("[" + re.escape('"\\/' + "".join(sorted(GLUE))) + "]+")
"""What JSON escapes, or may escape, and what the file does not hold where the text that is searched does."""

_ESCAPE = re.compile(rb"\\u")  # a pattern finds these two bytes in half the time that ``in`` takes


class Sieve:
    """Sorts out files that hold none of the words."""

    def __init__(self, words: Sequence[Word], matcher: Matcher) -> None:
        self._matcher = matcher
        self._probes = [_longest_part(word.pieces) for word in words]
        as_asked = [_longest_part(word.text.lower().split()) for word in words]
        self._spelled = _without_longer_ones(probe.encode() for probe in [*self._probes, *as_asked])
        self._spelled_in_ascii = [probe for probe in self._spelled if probe.isascii()]

    def opened(self, content: bytes) -> OpenFile | None:
        """Return what to judge the messages of a JSON file by; ``None`` where no message of it holds a word."""
        has_escapes = _ESCAPE.search(content) is not None
        lowered = content.lower()
        if content.isascii():
            opened = OpenFile(self._spelled_in_ascii, has_escapes, frozenset(), False)
            return opened if has_escapes or opened.spells_one(lowered) else None
        strange = strange_in(content)
        relevant = self._matcher.relevant(strange)
        is_simple = self._matcher.is_simple(strange)
        disguised = bool(relevant) or not is_simple
        opened = OpenFile(self._spelled, has_escapes, strange, disguised)
        if has_escapes or opened.spells_one(lowered):
            return opened
        if not disguised or (is_simple and self._lack_an_undisguised_part(lowered, relevant)):
            return None
        folded = self._matcher.folded(content.decode("utf-8", "replace"), strange)
        return opened if any(probe.encode() in folded for probe in self._probes) else None

    def _lack_an_undisguised_part(self, lowered: bytes, relevant: Sequence[str]) -> bool:
        """Whether each word has a part that only its own letters can write, and that is not there."""
        folded = [fold_character(character) for character in relevant]
        if not folded or not all(folded):
            return False  # something unseen may stand between any two letters
        disguised = frozenset("".join(folded))
        for probe in self._probes:
            part = max("".join(" " if letter in disguised else letter for letter in probe).split(" "), key=len)
            if not part or part.encode() in lowered:
                return False
        return True


@dataclass(frozen=True, slots=True)
class OpenFile:
    """One file that may hold a word.

    ``has_escapes`` says that any letter may be hidden in it, ``disguised`` that some of its ``strange`` characters may
    be letters of a word.
    """

    spelled: Sequence[bytes]
    has_escapes: bool
    strange: Strange
    disguised: bool

    def may_hold(self, message: bytes) -> bool:
        """Whether a message of the file, in its JSON, may hold a word."""
        return (
            (self.disguised and not message.isascii())
            or self.spells_one(message.lower())
            or (self.has_escapes and b"\\u" in message)
        )

    def spells_one(self, lowered: bytes) -> bool:
        """Whether a word stands there as it is."""
        for spelled in self.spelled:  # noqa: SIM110 - any() would cost as much as what it looks for
            if spelled in lowered:
                return True
        return False


def _longest_part(pieces: Iterable[str]) -> str:
    """Return the longest part that JSON writes as it is; an empty one, which is everywhere, where there is none."""
    return max((part for piece in pieces for part in _WRITTEN_OTHERWISE.split(piece)), key=len, default="")


def _without_longer_ones(probes: Iterable[bytes]) -> list[bytes]:
    """Return the probes without those that hold another one."""
    ordered = sorted(set(probes), key=lambda probe: (len(probe), probe))
    return [probe for place, probe in enumerate(ordered) if not any(other in probe for other in ordered[:place])]
