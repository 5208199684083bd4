"""Outputs that fit: the beginning and the end are kept, and what was cut between them is told."""

from __future__ import annotations

from collections import deque

from maf_memory.text import sound

_MORE_ROOM = "Ask for less, to see it."


def capped(text: str, limit: int, advice: str = _MORE_ROOM) -> str:
    """Return ``text`` in at most ``limit`` characters (or the note alone, where even that is longer)."""
    if len(text) <= limit:
        return text
    note = _note(f"{len(text) - limit:,} of {len(text):,} characters", advice)
    return _ends(text, text, limit, note)


def _note(what: str, advice: str) -> str:
    return f"\n[… about {what} were cut here. {advice} …]\n"


def _ends(beginning: str, end: str, limit: int, note: str) -> str:
    room = max(0, limit - len(note))
    head = room // 3  # what a program says last is most often what matters
    return beginning[:head] + note + (end[-(room - head) :] if room else "")


class Ends:
    """Takes in an output of any length, and keeps its beginning and its end in bounded memory."""

    def __init__(self, limit: int) -> None:
        """``limit`` is how many characters will be wanted."""
        self._limit = limit
        self._bytes = max(4 * limit, 4096)  # a character has at most four bytes
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._in_tail = 0
        self.total = 0

    def take(self, block: bytes) -> None:
        """Take in the next block."""
        self.total += len(block)
        room = self._bytes - len(self._head)
        if room > 0:
            self._head += block[:room]
            block = block[room:]
        if block:
            self._tail.append(block)
            self._in_tail += len(block)
            while self._in_tail - len(self._tail[0]) >= self._bytes:
                self._in_tail -= len(self._tail.popleft())

    def text(self, advice: str) -> str:
        """Return the output as text that fits; bytes that are no UTF-8 are U+FFFD, and nothing else is changed."""
        tail = b"".join(self._tail)
        if self.total == len(self._head) + len(tail):
            return capped(_text(bytes(self._head) + tail), self._limit, advice)
        note = _note(f"{self.total - self._limit:,} of {self.total:,} bytes", advice)
        return _ends(_text(bytes(self._head)), _text(tail), self._limit, note)


def _text(output: bytes) -> str:
    return sound(output.decode("utf-8", "replace"))
