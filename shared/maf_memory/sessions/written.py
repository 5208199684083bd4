"""What a store knows of the file behind a record: enough to save again at the cost of the write, and see a change."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Sequence

from maf_memory.lines import MessageLines, line_form, message_of
from maf_memory.sessions.layout import Around
from maf_memory.stamp import Stamp

Fingerprint = tuple[int, int, int, int]


def fingerprint(status: os.stat_result) -> Fingerprint:
    """Return what changes when a file is replaced, edited, or put back from a backup, in all but hostile cases."""
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


class Known:
    """One save as its file holds it: its stamp, what the file looked like, and what it said, to the byte.

    It goes with the record, and with each copy of the record: whoever saves it sees what happened to the file since.
    """

    def __init__(
        self,
        stamp: Stamp,
        status: os.stat_result | None,
        *,
        parts: tuple[Around, Sequence[bytes]] | None = None,
        content: bytes = b"",
    ) -> None:
        """Know a file by its ``parts`` where it has the package's own layout, else by its ``content``."""
        self.stamp = stamp
        self._fingerprint = None if status is None else fingerprint(status)
        self._parts = parts
        self._digest = None if parts is not None else hashlib.sha256(content).digest()

    def is_untouched(self, status: os.stat_result) -> bool:
        """Whether nothing at all happened to the file; if so, it need not be read."""
        return fingerprint(status) == self._fingerprint

    def is_same(self, content: bytes) -> bool:
        """Whether ``content`` is to the byte what the file held."""
        if self._parts is not None:
            around, lines = self._parts
            return around.whole(lines) == content
        return hashlib.sha256(content).digest() == self._digest


class Written:
    """How one record is saved: one work at a time, each message encoded once.

    ``asked`` and ``saved`` number the saves, as they were asked for and as they came to the disk.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.lines = MessageLines(line_form, message_of, kind=None)
        self.asked = 0
        self.saved = 0
