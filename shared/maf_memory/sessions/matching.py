"""Which texts hold which words, at the speed of a plain search wherever letters allow it.

Folding every character of every text costs thirty times what a search costs. So only what can matter to the words is
folded: plain ASCII needs ``lower()`` and nothing else, and of the other characters in a text only those that fold to a
letter of a word. The result is the same as that of folding everything; the tests hold the two against each other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from maf_memory.sessions.folding import fold, fold_character, is_contextual
from maf_memory.sessions.query import Word

_ASCII = bytes(range(128))
_BETWEEN, _IN_PLACE_OF_IT = "\0", "\1"  # no word holds either

Strange = frozenset[str]
"""The characters of a text that are not ASCII."""


def strange_in(content: bytes) -> Strange:
    """Return the characters of UTF-8 that are not ASCII, each once."""
    return frozenset(content.translate(None, _ASCII).decode("utf-8", "replace"))


class Matcher:
    """Finds words in texts."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._letters = frozenset("".join(" ".join(word.pieces) for word in words))
        self._plain = all(map(str.isascii, self._letters))
        self._needles = [_needle(word) for word in words]

    def words_in(self, texts: Sequence[str], strange: Strange | None = None) -> dict[int, list[int]]:
        """Return the place of each text that holds a word, with the places of the words that it holds.

        ``strange`` are at least the characters of the texts that are not ASCII, where the caller knows them.
        """
        found: dict[int, list[int]] = {}
        folded = self._all_folded(texts, strange)
        for number, needle in enumerate(self._needles):
            if isinstance(needle, bytes):
                places = [place for place, text in enumerate(folded) if needle in text]
            else:
                places = [place for place, text in enumerate(folded) if needle.search(text)]
            for place in places:
                found.setdefault(place, []).append(number)
        return found

    def _all_folded(self, texts: Sequence[str], strange: Strange | None) -> list[bytes]:
        if all(map(str.isascii, texts)):
            return [text.encode().lower() for text in texts]
        joined = _BETWEEN.join(texts)
        if strange is None:
            strange = strange_in(joined.encode())
        folded = self.folded(joined, strange).split(_BETWEEN.encode())
        if len(folded) == len(texts):
            return folded
        return self._all_folded([text.replace(_BETWEEN, _IN_PLACE_OF_IT) for text in texts], strange)

    def folded(self, text: str, strange: Strange) -> bytes:
        """Return ``text`` in UTF-8 with all folded that can matter to the words.

        ``strange`` are at least its characters that are not ASCII.
        """
        if not self.is_simple(strange):
            return fold(text).encode()
        for character in self.relevant(strange):
            text = text.replace(character, fold_character(character))
        return text.encode().lower()

    def is_simple(self, strange: Strange) -> bool:
        """Whether each character can be folded on its own, as far as the words go: what melts is never ASCII."""
        return self._plain or not any(map(is_contextual, strange))

    def relevant(self, strange: Strange) -> list[str]:
        """Return the characters that fold to something with a letter of the words in it, or to nothing."""
        return [
            character
            for character in strange
            if (folded := fold_character(character)) != character
            and (not folded or not self._letters.isdisjoint(folded))
        ]


def _needle(word: Word) -> bytes | re.Pattern[bytes]:
    """Return what finds the word in a folded text: the word itself, or its pieces with white space between them."""
    return word.pieces[0].encode() if len(word.pieces) == 1 else re.compile(word.pattern.encode())
