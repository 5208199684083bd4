"""Search by words in the conversations of a project: every message is looked at, nothing is indexed.

What is held in memory is the best hits and no conversation. Best are the messages with the most different words; among
these, those of the session that was last active; in one session, the later ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from maf_memory.sessions.excerpt import excerpt, shortened
from maf_memory.sessions.folding import fold
from maf_memory.sessions.found import Found, Hit
from maf_memory.sessions.matching import Matcher, Strange
from maf_memory.sessions.query import Query, Word
from maf_memory.sessions.searched import StoredMessage, answer_to, is_found_before, searched_text, stored

if TYPE_CHECKING:
    from agent_framework import Message

    from maf_memory.sessions.record import Damaged, SessionRecord

MAXIMUM_ANSWER = 1200
"""About how many characters of an answer come with its question."""

_Rank = tuple[int, float, str, int]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One session to be searched.

    ``texts`` are what is searched, by the place of their messages; a message that cannot hold a word may be missing
    there. ``strange`` are at least the characters of the texts that are not ASCII, where that is known.
    """

    session_id: str
    title: str
    updated: datetime
    messages: Sequence[StoredMessage]
    texts: Mapping[int, str]
    strange: Strange | None = None


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A hit before its excerpt is cut; it keeps two texts, and nothing else of its conversation."""

    title: str
    updated: datetime
    role: str
    kind: str | None
    text: str
    words: tuple[Word, ...]
    answer: str | None


class Search:
    """One search under way: conversations are added in any order, and the result is the same."""

    def __init__(self, query: Query, *, without: Iterable[Message | Mapping[str, Any]] = (), limit: int = 10) -> None:
        """Look for ``query``; messages that say the same as one of ``without`` are left out."""
        if limit < 0:
            raise ValueError(f"the limit is {limit}; it is how many hits are wanted")
        self.matcher = Matcher(query.words)
        self._words = query.words
        self._known = {key for message in stored(without) if (key := _key(searched_text(message)))}
        self._limit = limit
        self._best: list[tuple[_Rank, _Candidate]] = []
        self._matched = 0

    def add(self, conversation: Conversation) -> None:
        """Search one conversation; where an error comes out of its messages, nothing of it is found."""
        places, texts = list(conversation.texts), list(conversation.texts.values())
        found = self.matcher.words_in(texts, conversation.strange)
        if self._known:
            found = {index: words for index, words in found.items() if _key(texts[index]) not in self._known}
        messages = conversation.messages
        found = {index: words for index, words in found.items() if not is_found_before(messages, places[index])}
        if found:
            self._keep(conversation, {places[index]: (texts[index], words) for index, words in found.items()})
            self._matched += len(found)

    def _keep(self, conversation: Conversation, found: Mapping[int, tuple[str, list[int]]]) -> None:
        """Put the hits among the best that belong there."""
        full = len(self._best) >= self._limit
        older = -conversation.updated.timestamp()
        most = max(len(words) for _, words in found.values())
        if full and (self._limit == 0 or (-most, older, conversation.session_id) > self._best[-1][0][:3]):
            return
        ranks = sorted((-len(words), older, conversation.session_id, -place) for place, (_, words) in found.items())
        ranked = [(rank, self._candidate(conversation, -rank[3], *found[-rank[3]])) for rank in ranks[: self._limit]]
        self._best = sorted([*self._best, *ranked], key=itemgetter(0))[: self._limit]

    def _candidate(self, conversation: Conversation, place: int, text: str, words: Iterable[int]) -> _Candidate:
        message = conversation.messages[place]
        return _Candidate(
            title=conversation.title,
            updated=conversation.updated,
            role=message.role,
            kind=message.kind,
            text=text,
            words=tuple(self._words[number] for number in words),
            answer=answer_to(conversation.messages, place) if message.is_question else None,
        )

    def found(self, searched: int, unread: Iterable[Damaged] = ()) -> Found:
        """Return what was found until now; ``searched`` and ``unread`` are for the caller to count."""
        hits = [
            Hit(
                session_id=session_id,
                title=candidate.title,
                updated=candidate.updated,
                number=1 - before,
                role=candidate.role,
                kind=candidate.kind,
                excerpt=excerpt(candidate.text, candidate.words),
                words=tuple(word.text for word in candidate.words),
                answer=None if candidate.answer is None else shortened(candidate.answer, MAXIMUM_ANSWER),
            )
            for (_, _, session_id, before), candidate in self._best
        ]
        return Found(tuple(hits), self._matched, searched, tuple(unread))


def search_records(
    records: Iterable[SessionRecord],
    query: Query,
    *,
    without: Iterable[Message | Mapping[str, Any]] = (),
    limit: int = 10,
) -> Found:
    """Return the best hits in sessions that are in memory.

    Raises:
        ValueError: the limit is negative.
    """
    search = Search(query, without=without, limit=limit)
    searched = 0
    for record in records:
        messages = stored(record.messages)
        texts = dict(enumerate(map(searched_text, messages)))
        search.add(Conversation(record.id, record.title, record.updated, messages, texts))
        searched += 1
    return search.found(searched)


def _key(text: str) -> str:
    """Return what makes two messages say the same: their letters, folded, without white space."""
    return "".join(fold(text).split())
