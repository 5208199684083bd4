"""Finds the passages of a text that share a content word with a question.

Nothing is understood here: words are compared, and passages are cut out unchanged.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

PASSAGE_LIMIT = 200
"""The most characters of one passage that are quoted."""

_LEAD = PASSAGE_LIMIT // 4  # what is shown before the first shared word of a long passage

_WORD = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f])*")  # an accent may be a character of its own
_FOLDED_WORD = re.compile(r"[^\W_]+")
_BREAK = re.compile(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+|(?<=[.!?…])\s+|(?<=[。！？])")  # noqa: RUF001 - CJK ends
_QUESTION_MARK = re.compile(r"[?？؟\u037e][\s\"'’”»)\]*_]*\Z")  # noqa: RUF001 - full-width, Arabic, Greek
_STATEMENT_END = re.compile(r"[.!:;…。！][\s\"'’”»)\]*_]*\Z")  # noqa: RUF001 - full-width ends
_LABEL = re.compile(r"\s*[:=]")
_SHARED_LETTERS = 4
_LETTERS_COMPARED = 64

_INTERROGATIVES = frozenset(
    # "où" stands in is_question: without its accent it is the word for "or"
    """who whom whose what which when where why how
    qui que qu quoi quel quelle quels quelles quand pourquoi comment combien lequel laquelle lesquels lesquelles
    """.split()  # noqa: SIM905 - words read better than a list of strings
)
_REQUESTS = re.compile(
    r"(?:please )?(?:tell|remind|show|give) me\b|est[ -]ce qu|"
    r"(?:dis|dites|rappelle|rappelez|montre|montrez|donne|donnez)[ -]moi\b"
)
_STOP_WORDS = _INTERROGATIVES | frozenset(
    """a about above after again all also am an and any are aren as at be because been before being below between
    both but by can cannot could couldn d did didn do does doesn doing don done down each else ever few for from
    further get give go got had hadn has hasn have haven having he her here hers herself him himself his i if in
    into is isn it its itself just know let ll m may me might more most must my myself no nor not now of off oh ok
    on once only or other ought our ours ourselves out over own please re remind s said same say shall she should
    shouldn show so some such t tell than that the their theirs them themselves then there these they this those
    through to told too under until up us ve very was wasn we were weren will with won would wouldn yes yet you
    your yours yourself yourselves
    ai aie as au aucun aucune aussi autre autres aux avait avant avec avez avoir avons c ce cela celle celles celui
    ces cet cette ceux chaque comme d dans de des dis dit dites donc donne donnez dont du elle elles en encore entre
    es est et etaient etais etait etant ete etes etre eu eux fait faire il ils j je l la le les leur leurs lui m ma
    mais me meme memes mes moi moins mon montre montrez n ne ni nos notre nous on ont ou oui par parce pas peu peut
    plus pour puis qu rappelle rappelez s sa sais sans savez se sera ses si son sont sous suis sur t ta te tes toi
    ton tous tout toute toutes tres tu un une va vers vos votre vous y
    """.split()  # noqa: SIM905 - words read better than a list of strings
)


def fold(text: str) -> str:
    """Return the text without regard to case or accents; compare it, never show it."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter)).casefold()


def passages(text: str) -> Iterator[str]:
    """Yield the sentences and lines of a text, each an unchanged part of it, without the space around it."""
    return filter(None, map(str.strip, _BREAK.split(text)))


def is_question(passage: str) -> bool:
    """Tell whether a passage asks rather than states.

    It asks when it ends with a question mark, or starts with an English or French interrogative and is neither
    closed like a statement ("When it fails, call Ada.") nor a label ("where=Paris").
    """
    if _QUESTION_MARK.search(passage[-20:]):
        return True
    first = _WORD.search(passage)
    if first is None:
        return False
    opening = passage[first.start() : first.start() + 40]
    if _REQUESTS.match(fold(opening)):
        return True
    word = unicodedata.normalize("NFC", first.group()).casefold()
    if fold(word) not in _INTERROGATIVES and word != "où":
        return False
    return not _LABEL.match(passage, first.end()) and not _STATEMENT_END.search(passage[-20:])


class WantedWords:
    """The content words of one question, ready to be looked for in many passages.

    Two words match when they are equal, or when one is a beginning of the other with at least four letters:
    "module" finds "modules". Case and accents do not count, and ``key=value`` is two words.
    """

    def __init__(self, question: str) -> None:
        folded = _FOLDED_WORD.findall(fold(question))
        self.words = frozenset(word[:_LETTERS_COMPARED] for word in folded) - _STOP_WORDS
        self._by_beginning: dict[str, set[str]] = {}
        for word in self.words:
            for length in range(_SHARED_LETTERS, len(word) + 1):
                self._by_beginning.setdefault(word[:length], set()).add(word)
        self._heads = frozenset(word[:_SHARED_LETTERS] for word in self.words)
        self._found: dict[str, frozenset[str]] = {}

    def shared_with(self, passage: str) -> frozenset[str]:
        """Return the question's content words that the passage has too."""
        shared: frozenset[str] = frozenset()
        for word in _FOLDED_WORD.findall(fold(passage)):
            # The first letters decide for nearly all words, which keeps a conversation of megabytes quick.
            if word[:_SHARED_LETTERS] in self._heads:
                shared |= self._matching(word[:_LETTERS_COMPARED])
        return shared

    def excerpt(self, passage: str) -> str:
        """Return the passage, or the part of a long one around its first shared word; ``[...]`` marks a cut."""
        if len(passage) <= PASSAGE_LIMIT:
            return passage
        found = (word.start() for word in _WORD.finditer(passage) if self.shared_with(word.group()))
        start = max(0, min(next(found, 0) - _LEAD, len(passage) - PASSAGE_LIMIT))
        end = start + PASSAGE_LIMIT
        part = passage[start:end]
        if start:
            part = "[...] " + part[part.find(" ", 0, _LEAD) + 1 :].lstrip()
        if end < len(passage):
            whole_words = part.rpartition(" ")[0]
            part = (whole_words if len(whole_words) > 2 * _LEAD else part).rstrip() + " [...]"
        return part

    def _matching(self, word: str) -> frozenset[str]:
        found = self._found.get(word)
        if found is None:
            found = frozenset() if word in _STOP_WORDS else self._compared(word)
            self._found[word] = found
        return found

    def _compared(self, word: str) -> frozenset[str]:
        beginnings = {word[:length] for length in range(_SHARED_LETTERS, len(word))} | {word}
        return frozenset(self.words & beginnings) | frozenset(self._by_beginning.get(word, ()))
