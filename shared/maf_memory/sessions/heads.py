"""The heads of many session files, read without their conversations: what a listing needs.

Of each file one block is read, up to the line on which the messages begin, and the last bytes. What is damaged there
shows; the rest shows on opening.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable
from datetime import MAXYEAR, MINYEAR, datetime
from pathlib import Path
from typing import Any

import msgspec

from maf_memory.decoding import decode_json
from maf_memory.disk import Folder
from maf_memory.errors import FileRefused
from maf_memory.ownership import stranger
from maf_memory.reading import DEFAULT_LIMIT, ReadFile, reason
from maf_memory.sessions.decoding import decode
from maf_memory.sessions.layout import FORMAT, HEADER_LINES
from maf_memory.sessions.record import Damaged, Head
from maf_memory.stamp import Stamp

BLOCK = 4096
_LONGEST_HEAD = 1024 * 1024
_AS_WRITTEN = b'\n"messages": [\n'
_MESSAGES = re.compile(rb'(?<!\\)"messages"[ \t\r\n]*:[ \t\r\n]*\[')
_SPACE = b" \t\r\n"
"""What JSON calls white space; a regular expression's own would let other bytes pass."""
_END = re.compile(rb"\]\r?\n\}[ \t\r\n]*\Z")
"""A brace at the start of its line: a file that was cut after a message ends in brackets, too."""
_TAIL = 256
_USUAL = sum(map(len, HEADER_LINES)) - len(("session_id", "continued_in"))
"""How many fields a head has, the two that are written only when they are set apart."""


class _Fields(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The header as the fast decoder reads it."""

    format: int
    id: str
    lineage: str
    revision: int
    created: datetime
    updated: datetime
    cwd: str
    title: str
    turns: int
    framework: str
    key: str | None = None
    service_session_id: str | dict[str, Any] | None = None
    session_id: str | None = None
    error_count: int = 0
    provider: str | None = None
    model: str | None = None
    continued_in: str | None = None


_decoded = msgspec.json.Decoder(_Fields, strict=True).decode


def read_head(folder: Folder, name: str, session_id: str, file_of: Callable[[str], ReadFile]) -> Head | Damaged | None:
    """Return the head of one file, or why it has none; ``None`` when it is gone.

    ``file_of`` is asked for the file only where its head or its end is not as expected: then the whole of it decides.
    """
    try:
        descriptor = folder.open(name)
        try:
            head = _head_of(descriptor, session_id)
        finally:
            os.close(descriptor)
        return head if head is not None else _judged(file_of(session_id))
    except FileNotFoundError:
        return None
    except FileRefused as error:
        return Damaged(session_id, error.path, error.problem)
    except OSError as error:
        path = file_of(session_id).path
        link = path.is_symlink()
        return Damaged(session_id, path, "it is a symbolic link" if link else f"it cannot be read ({reason(error)})")


def _head_of(descriptor: int, session_id: str) -> Head | None:
    """Return the head when nothing about the file is suspicious; nothing is taken out of a pipe."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_size > DEFAULT_LIMIT or stranger(status) is not None:
        return None
    block = os.read(descriptor, BLOCK)
    end = _end_of_head(block)
    while end < 0 and len(block) < _LONGEST_HEAD and (more := os.read(descriptor, len(block))):
        block += more
        end = _end_of_head(block)
    if end < 0 or not _ends_well(descriptor, status.st_size, block):
        return None
    before = block[:end].rstrip(_SPACE)
    if not before.endswith(b","):
        return None
    head = before[:-1] + b"}"
    try:
        fields = _decoded(head)
    except (ValueError, RecursionError):
        return None
    usual = _USUAL + (fields.session_id is not None) + (fields.continued_in is not None)
    if head.count(b'": ') != usual and _repeats(head):
        return None
    stamp = Stamp(fields.lineage, fields.revision)
    sound = fields.format == FORMAT and fields.id == session_id and stamp.is_one
    if not sound or fields.turns < 0 or fields.error_count < 0:
        return None
    for time in (fields.created, fields.updated):
        if time.tzinfo is None or time.year in (MINYEAR, MAXYEAR):  # whether every clock can show it, the whole decides
            return None
    return Head(
        fields.id,
        stamp,
        fields.created,
        fields.updated,
        sys.intern(fields.cwd),  # one folder's sessions name the same one
        fields.title,
        fields.turns,
        fields.error_count,
        fields.key,
        fields.provider and sys.intern(fields.provider),
        fields.model and sys.intern(fields.model),
        fields.continued_in,
    )


def _repeats(head: bytes) -> bool:
    """Whether a key stands twice in the head: the fast decoder takes the last one in silence."""
    try:
        decode_json(head, Path())
    except FileRefused:
        return True
    return False


def _end_of_head(block: bytes) -> int:
    """Return where the messages begin, or -1: at first sight in the package's own layout, else in any other."""
    end = block.find(_AS_WRITTEN)
    if end < 0 and (found := _MESSAGES.search(block)) is not None:
        return found.start()
    return end


def _ends_well(descriptor: int, size: int, block: bytes) -> bool:
    if size <= len(block):
        tail = block[-_TAIL:]
    else:
        os.lseek(descriptor, max(0, size - _TAIL), os.SEEK_SET)
        tail = os.read(descriptor, _TAIL)
    return (tail.endswith(b"]\n}\n") or _END.search(tail) is not None) and b"\0" not in tail


def _judged(file: ReadFile) -> Head | None:
    """Return what the strict decoder says of the whole file."""
    content = file.read()
    return None if content is None else decode(content, file.path).head
