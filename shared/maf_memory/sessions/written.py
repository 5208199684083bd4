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


class Written:
    """The file behind one record as it was last read or written.

    ``lock`` admits one work on the record at a time; ``saved`` is the number of the newest save that is on the disk.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.lines = MessageLines(line_form, message_of, kind=None)
        self.stamp: Stamp | None = None
        self.asked = 0
        self.saved = 0
        self._fingerprint: Fingerprint | None = None
        self._around: Around | None = None
        self._lines: Sequence[bytes] = ()
        self._digest: bytes | None = None

    def know(self, status: os.stat_result | None, around: Around, lines: Sequence[bytes]) -> None:
        """Take note of a file that holds ``lines`` between ``around``."""
        self._fingerprint = None if status is None else fingerprint(status)
        self._around, self._lines, self._digest = around, lines, None

    def know_other(self, status: os.stat_result, content: bytes) -> None:
        """Take note of a file that has another layout than the package's own."""
        self._fingerprint = fingerprint(status)
        self._around, self._lines, self._digest = None, (), hashlib.sha256(content).digest()

    def is_untouched(self, status: os.stat_result) -> bool:
        """Whether nothing at all happened to the file; if so, it need not be read."""
        return fingerprint(status) == self._fingerprint

    def is_same(self, content: bytes) -> bool:
        """Whether ``content`` is to the byte what the file held."""
        if self._around is not None:
            return self._around.whole(self._lines) == content
        return hashlib.sha256(content).digest() == self._digest
