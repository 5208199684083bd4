"""Search over session files: most are read and put aside again without their JSON being decoded."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import msgspec

from maf_memory.errors import FileRefused, VersionRefused
from maf_memory.sessions.decoding import document_of
from maf_memory.sessions.layout import EXPECTED, FORMAT
from maf_memory.sessions.record import Damaged
from maf_memory.sessions.search import Conversation, Search
from maf_memory.sessions.searched import StoredMessage, plain, searched_text
from maf_memory.sessions.sieve import OpenFile, Sieve
from maf_memory.text import one_line

if TYPE_CHECKING:
    from agent_framework import Message

    from maf_memory.sessions.found import Found
    from maf_memory.sessions.query import Query

Progress = Callable[[int, int], None]
"""Is told how many sessions are done, of how many."""

Decoder = Callable[[bytes, Path], Mapping[str, Any]]
"""Returns the document of a file, strictly decoded and in today's format, or raises FileRefused."""


class _File(msgspec.Struct):
    """A session file, as far as it is searched; its messages are decoded where one may hold a word."""

    format: int
    id: str
    updated: str
    messages: list[msgspec.Raw]
    title: str = ""


class _NotAtFirstSight(Exception):
    """The strict decoder is to judge the file."""


_BEGINNING = re.compile(rb'\{\s*"format"\s*:\s*%d\s*,' % FORMAT)
_END = 256
"""How many last bytes of a file are looked at for its end."""

_decode_file = msgspec.json.Decoder(_File).decode
_decode_message = msgspec.json.Decoder(StoredMessage).decode


class _Messages(Sequence[StoredMessage]):
    """The messages of a file, each decoded when it is asked for."""

    def __init__(self, raw: Sequence[msgspec.Raw]) -> None:
        self._raw = raw

    def __len__(self) -> int:
        return len(self._raw)

    @overload
    def __getitem__(self, place: int) -> StoredMessage: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[StoredMessage]: ...
    def __getitem__(self, place: int | slice) -> StoredMessage | Sequence[StoredMessage]:
        return _Messages(self._raw[place]) if isinstance(place, slice) else _decode_message(self._raw[place])


def search_files(
    ids: Collection[str],
    query: Query,
    *,
    path_of: Callable[[str], Path],
    read: Callable[[str], bytes | None],
    without: Iterable[Message | Mapping[str, Any]] = (),
    limit: int = 10,
    progress: Progress | None = None,
    decode: Decoder = document_of,
) -> Found:
    """Return the best hits in the files of the sessions ``ids``; only the hits are held in memory.

    ``read`` returns a file's content, or ``None`` where it is gone meanwhile, or raises FileRefused. ``decode``
    judges each file that is not one at first sight. What is refused stands in ``unread``, and the search goes on.

    Raises:
        ValueError: the limit is negative.
    """
    search = Search(query, without=without, limit=limit)
    sieve = Sieve(query.words, search.matcher)
    unread: list[Damaged] = []
    searched = 0
    for done, session_id in enumerate(sorted(ids, reverse=True), start=1):  # new ones first: fewer hits are replaced
        try:
            content = read(session_id)
            if content is not None:
                _search_one(search, sieve, session_id, content, path_of, decode)
                searched += 1
        except FileRefused as error:
            problem = f"{error.found}; {error.expected}" if isinstance(error, VersionRefused) else error.found
            unread.append(Damaged(session_id, error.path, problem))
        if progress is not None:
            progress(done, len(ids))
    return search.found(searched, unread)


def _search_one(
    search: Search, sieve: Sieve, session_id: str, content: bytes, path_of: Callable[[str], Path], decode: Decoder
) -> None:
    opened = sieve.opened(content)
    if opened is None and _looks_whole(content):
        return
    try:
        search.add(_conversation(session_id, content, opened))
    except (_NotAtFirstSight, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        path = path_of(session_id)
        again = _written_again(decode(content, path), path)
        try:
            search.add(_conversation(session_id, again, sieve.opened(again)))
        except (_NotAtFirstSight, msgspec.MsgspecError, RecursionError) as error:
            raise FileRefused(path, f"it cannot be searched ({one_line(str(error))})", EXPECTED) from error


def _written_again(document: Mapping[str, Any], path: Path) -> bytes:
    """Return a document as this program writes it, its messages without what is no text where one is expected."""
    try:
        return msgspec.json.encode({**document, "messages": [plain(message) for message in document["messages"]]})
    except (KeyError, TypeError, AttributeError) as error:
        raise FileRefused(path, "its messages are not a list of messages", EXPECTED) from error


def _looks_whole(content: bytes) -> bool:
    """Whether it is of this format, and no damage is visible without decoding it: a cut end, a block of NULs.

    Another format may keep its texts in another way, so that not finding a word in its bytes would prove nothing.
    """
    return _BEGINNING.match(content) is not None and content[-_END:].rstrip().endswith(b"}") and b"\0" not in content


def _conversation(session_id: str, content: bytes, opened: OpenFile | None) -> Conversation:
    file = _decode_file(content)
    if file.format != FORMAT or file.id != session_id:
        raise _NotAtFirstSight("it is another file than its name says")
    try:
        updated = datetime.fromisoformat(file.updated)
    except ValueError:
        raise _NotAtFirstSight("updated is not a time") from None
    if updated.tzinfo is None:
        raise _NotAtFirstSight("updated has no offset")
    if opened is None:
        return Conversation(session_id, file.title, updated, (), {})
    texts = {place: searched_text(_decode_message(message)) for place, message in opened.passing(file.messages)}
    strange = None if opened.has_escapes else opened.strange
    return Conversation(session_id, file.title, updated, _Messages(file.messages), texts, strange)
