"""The versioned envelope around a session: who wrote it, under which instructions, and which save it was.

A session serialised by the framework holds no version and no instructions; restored silently, it would run under
new ones. The envelope carries both, and the pair that tells whether a file is still the one that was loaded.

The layout is one valid JSON document that people and line tools can read: the header first, one field a line, then
the session with one message a line.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from maf_memory.checkpoint import HISTORY_SOURCE_ID
from maf_memory.conversation import Event, NotAConversation, check_messages
from maf_memory.decoding import check_fields, decode_json
from maf_memory.errors import FileRefused, SaveFailed, VersionRefused
from maf_memory.lines import encoded
from maf_memory.payload import Serialised, messages_of
from maf_memory.stamp import Stamp
from maf_memory.text import one_line

VERSION = 1
EXPECTED = f"a session snapshot of version {VERSION}"

_HEADER = {
    "version": int,
    "instruction_version": str,
    "lineage": str,
    "revision": int,
    "saved_at": str,
    "framework": str,
}
_SESSION: dict[str, type | tuple[type, ...]] = {
    "type": str,
    "session_id": str,
    "service_session_id": (type(None), str, dict),
    "state": dict,
}
_SESSION_LINE = b'\n"session": '


@dataclass(frozen=True, slots=True)
class Header:
    """What stands before the session in a snapshot."""

    instruction_version: str
    stamp: Stamp
    saved_at: str
    framework: str


@dataclass(frozen=True, slots=True)
class Envelope(Header):
    """One snapshot: the header and the session as the framework serialises it (``AgentSession.to_dict``).

    ``lines`` are its messages as the file has them, one a line; none where somebody re-formatted the file.
    """

    session: dict[str, Any]
    events: Sequence[tuple[Event, ...]] = ()
    lines: Sequence[bytes] = ()

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The serialised messages of the conversation, oldest first."""
        messages: list[dict[str, Any]] = messages_of(self.session)
        return messages


def encode(header: Header, session: Serialised, path: Path) -> bytes:
    """Return the file's bytes, proven to decode to the same header and session again.

    The fast encoder changes some values in silence: NaN becomes null, bytes and sets something else. The lines of the
    messages were proven one by one; here the rest is.

    Raises:
        SaveFailed: what would be written could not be read back.
    """
    fields = {
        "version": VERSION,
        "instruction_version": header.instruction_version,
        "lineage": header.stamp.lineage,
        "revision": header.stamp.revision,
        "saved_at": header.saved_at,
        "framework": header.framework,
    }
    try:
        again = msgspec.json.decode(_laid_out(fields, session.rest, ()))
        rest = again.pop("session")
        _checked_header(again, path)
        _check_session(rest, path)
        if rest != session.rest:
            raise ValueError("a value that JSON cannot hold")
        return _laid_out(fields, session.rest, session.lines)
    except FileRefused as error:
        raise _unreadable(path, error.found) from error
    except (ValueError, TypeError, RecursionError) as error:
        raise _unreadable(path, str(error)) from error


def _laid_out(header: dict[str, Any], rest: dict[str, Any], lines: Sequence[bytes]) -> bytes:
    fields = [b"%s: %s," % (encoded(name), encoded(value)) for name, value in header.items()]
    before, after = _around_messages(rest) if lines else (encoded(rest), b"")
    opening = b"{\n" + b"\n".join(fields) + _SESSION_LINE + before
    closing = after + b"\n}\n"
    if not lines:
        return opening + closing
    # One join of everything: a copy of a long conversation for each part would cost as much as its encoding.
    pieces = list(lines)
    pieces[0] = opening + pieces[0]
    pieces[-1] += closing
    return b",\n".join(pieces)


def _unreadable(path: Path, why: str) -> SaveFailed:
    return SaveFailed(
        f"{path} was not saved: the session holds something that could not be read back ({one_line(why)}). "
        "The old file is as it was."
    )


def _around_messages(session: dict[str, Any]) -> tuple[bytes, bytes]:
    """Return what stands before the first line of the messages and after the last, in a session that has them."""
    history = session["state"][HISTORY_SOURCE_ID]
    others = {key: value for key, value in session["state"].items() if key != HISTORY_SOURCE_ID}
    before = {key: value for key, value in session.items() if key != "state"}
    kept = {key: value for key, value in history.items() if key != "messages"}
    opening = (
        _opened(before),
        b'"state":',
        _opened(others),
        encoded(HISTORY_SOURCE_ID),
        b":",
        _opened(kept),
        b'"messages":[\n',
    )
    return b"".join(opening), b"\n]}}}"


def _opened(fields: dict[str, Any]) -> bytes:
    """Return the object without its closing brace, ready for one more field."""
    return encoded(fields)[:-1] + (b"," if fields else b"")


def decode(content: bytes, path: Path, *, instruction_version: str) -> Envelope:
    """Return the envelope in ``content``, checked in every part.

    A file that encodes again to the same bytes is proven sound at the encoder's speed; any other one is judged by
    the slow, strict decoder.

    Raises:
        VersionRefused: another format or other instructions wrote it.
        FileRefused: it is damaged, or not a session snapshot.
    """
    lines: Sequence[bytes] = ()
    document: object
    as_written = _decoded_as_written(content)
    if as_written is None:
        document = decode_json(content, path, expected=EXPECTED)
    else:
        document, lines = as_written
    try:
        envelope = _checked(document, path, lines)
    except RecursionError as error:
        raise FileRefused(path, "it nests too deeply", EXPECTED) from error
    if envelope.instruction_version != instruction_version:
        raise VersionRefused(
            path,
            f"it was written by instructions {one_line(envelope.instruction_version)}",
            f"this program runs {instruction_version}",
        )
    return envelope


def _decoded_as_written(content: bytes) -> tuple[dict[str, Any], list[bytes]] | None:
    """Return the document and its lines when ``content`` is to the byte what :func:`encode` writes for it."""
    try:
        document: dict[str, Any] = msgspec.json.decode(content)
        fields = dict(document)
        session = fields.pop("session")
        lines = [encoded(message) for message in messages_of(session)]
        if _laid_out(fields, session, lines) == content:
            return document, lines
    except (ValueError, TypeError, RecursionError, KeyError, AttributeError):
        return None  # the strict decoder says what is wrong
    return None


def _checked(document: object, path: Path, lines: Sequence[bytes]) -> Envelope:
    fields = dict(document) if isinstance(document, dict) else document
    session = fields.pop("session", None) if isinstance(fields, dict) else None
    stamp = _checked_header(fields, path)
    if not isinstance(fields, dict) or session is None:
        raise FileRefused(path, "it has no field 'session'", EXPECTED)
    _check_session(session, path)
    try:
        events = check_messages(messages_of(session))
    except NotAConversation as error:
        raise FileRefused(path, str(error), "a conversation of whole messages") from error
    header = (fields["instruction_version"], stamp, fields["saved_at"], fields["framework"])
    return Envelope(*header, session, events, lines)


def _check_session(session: Any, path: Path) -> None:
    check_fields(session, _SESSION, path, what="its session")
    if session["type"] != "session" or not session["session_id"]:
        raise FileRefused(path, "its session is of another kind or has no id", EXPECTED)


def _checked_header(fields: object, path: Path) -> Stamp:
    if isinstance(fields, dict) and type(fields.get("version")) is int and fields["version"] != VERSION:
        raise VersionRefused(
            path, f"it has version {one_line(str(fields['version']))}", f"this program reads version {VERSION}"
        )
    header = check_fields(fields, _HEADER, path)
    stamp = Stamp(header["lineage"], header["revision"])
    if not stamp.is_one:
        raise FileRefused(path, "its lineage or revision is not one", EXPECTED)
    try:
        datetime.fromisoformat(header["saved_at"])
    except ValueError as error:
        raise FileRefused(
            path, f"saved_at is {one_line(json.dumps(header['saved_at']), 40)}", "a date and time"
        ) from error
    return stamp
