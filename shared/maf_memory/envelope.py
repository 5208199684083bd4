"""The versioned envelope around a session: who wrote it, under which instructions, and which save it was.

A session serialised by the framework holds no version and no instructions; restored silently, it would run under
new ones. The envelope carries both, and the pair that tells whether a file is still the one that was loaded.

The layout is one valid JSON document that people and line tools can read: the header first, one field a line, then
the session with one message a line.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from maf_memory.checkpoint import HISTORY_SOURCE_ID
from maf_memory.conversation import NotAConversation, check_messages
from maf_memory.decoding import check_fields, decode_json
from maf_memory.errors import FileRefused, SaveFailed, VersionRefused
from maf_memory.payload import messages_of
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
class Envelope:
    """One snapshot: the header and the session as the framework serialises it (``AgentSession.to_dict``)."""

    instruction_version: str
    stamp: Stamp
    saved_at: str
    framework: str
    session: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The serialised messages of the conversation, oldest first."""
        messages: list[dict[str, Any]] = messages_of(self.session)
        return messages


def encode(envelope: Envelope) -> bytes:
    """Return the file's bytes; the same envelope always gives the same bytes.

    Raises:
        ValueError, TypeError, RecursionError: the session holds something that JSON cannot.
    """
    header = {
        "version": VERSION,
        "instruction_version": envelope.instruction_version,
        "lineage": envelope.stamp.lineage,
        "revision": envelope.stamp.revision,
        "saved_at": envelope.saved_at,
        "framework": envelope.framework,
    }
    lines = [b"%s: %s," % (_json(name), _json(value)) for name, value in header.items()]
    return b"{\n" + b"\n".join(lines) + _SESSION_LINE + _encode_session(envelope.session) + b"\n}\n"


_json = msgspec.json.Encoder().encode


def encode_proven(envelope: Envelope, path: Path) -> bytes:
    """Return the file's bytes, proven to decode to the same envelope again.

    The fast encoder changes some values in silence: NaN becomes null, bytes and sets something else. That the session
    is a conversation was checked when it was serialised.

    Raises:
        SaveFailed: what would be written could not be read back.
    """
    try:
        content = encode(envelope)
        again = msgspec.json.decode(content)
        session = again.pop("session")
        _checked_header(again, path)
        _check_session(session, path)
    except FileRefused as error:
        raise _unreadable(path, error.found) from error
    except (ValueError, TypeError, RecursionError) as error:
        raise _unreadable(path, str(error)) from error
    if session != envelope.session:
        raise _unreadable(path, "a value that JSON cannot hold")
    return content


def _unreadable(path: Path, why: str) -> SaveFailed:
    return SaveFailed(
        f"{path} was not saved: the session holds something that could not be read back ({one_line(why)}). "
        "The old file is as it was."
    )


def _encode_session(session: dict[str, Any]) -> bytes:
    history = session["state"].get(HISTORY_SOURCE_ID)
    if type(history) is not dict or type(history.get("messages")) is not list or not history["messages"]:
        return _json(session)
    others = {key: value for key, value in session["state"].items() if key != HISTORY_SOURCE_ID}
    before = {key: value for key, value in session.items() if key != "state"}
    kept = {key: value for key, value in history.items() if key != "messages"}
    return b"".join(
        (
            _opened(before),
            b'"state":',
            _opened(others),
            _json(HISTORY_SOURCE_ID),
            b":",
            _opened(kept),
            b'"messages":[\n',
            b",\n".join(_json(message) for message in history["messages"]),
            b"\n]}}}",
        )
    )


def _opened(fields: dict[str, Any]) -> bytes:
    """Return the object without its closing brace, ready for one more field."""
    return _json(fields)[:-1] + (b"," if fields else b"")


def decode(content: bytes, path: Path, *, instruction_version: str) -> Envelope:
    """Return the envelope in ``content``, checked in every part.

    A file that encodes again to the same bytes is proven sound at the encoder's speed; any other one is judged by
    the slow, strict decoder.

    Raises:
        VersionRefused: another format or other instructions wrote it.
        FileRefused: it is damaged, or not a session snapshot.
    """
    document: object = _decoded_as_written(content)
    if document is None:
        document = decode_json(content, path, expected=EXPECTED)
    try:
        envelope = _checked(document, path)
    except RecursionError as error:
        raise FileRefused(path, "it nests too deeply", EXPECTED) from error
    if envelope.instruction_version != instruction_version:
        raise VersionRefused(
            path,
            f"it was written by instructions {one_line(envelope.instruction_version)}",
            f"this program runs {instruction_version}",
        )
    return envelope


def _decoded_as_written(content: bytes) -> dict[str, Any] | None:
    """Return the document when ``content`` is to the byte what :func:`encode` writes for it, else ``None``."""
    try:
        document: dict[str, Any] = msgspec.json.decode(content)
        if _again(document) == content:
            return document
    except (ValueError, TypeError, RecursionError, KeyError, AttributeError):
        return None  # the strict decoder says what is wrong
    return None


def _again(document: dict[str, Any]) -> bytes:
    fields = {key: value for key, value in document.items() if key != "session"}
    lines = [b"%s: %s," % (_json(name), _json(value)) for name, value in fields.items()]
    return b"{\n" + b"\n".join(lines) + _SESSION_LINE + _encode_session(document["session"]) + b"\n}\n"


def _checked(document: object, path: Path) -> Envelope:
    fields = dict(document) if isinstance(document, dict) else document
    session = fields.pop("session", None) if isinstance(fields, dict) else None
    stamp = _checked_header(fields, path)
    if not isinstance(fields, dict) or session is None:
        raise FileRefused(path, "it has no field 'session'", EXPECTED)
    _check_session(session, path)
    try:
        check_messages(messages_of(session))
    except NotAConversation as error:
        raise FileRefused(path, str(error), "a conversation of whole messages") from error
    return Envelope(fields["instruction_version"], stamp, fields["saved_at"], fields["framework"], session)


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
