"""From the bytes of a session file to a record, checked in every part; from a record to the bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from maf_memory.conversation import Event, NotAConversation, check_messages
from maf_memory.decoding import check_fields, decode_json
from maf_memory.errors import FileRefused, SaveFailed
from maf_memory.lines import encoded, message_of
from maf_memory.payload import framework_version
from maf_memory.plain_forms import plain_message
from maf_memory.sessions.ids import is_id
from maf_memory.sessions.journal import Journal
from maf_memory.sessions.layout import EXPECTED, FORMAT, HEADER, OPTIONAL, Around, around, in_order
from maf_memory.sessions.migrations import as_of_today
from maf_memory.sessions.record import Head, SessionRecord
from maf_memory.sessions.titles import settled_title, title_of
from maf_memory.stamp import Stamp
from maf_memory.text import one_line


@dataclass(frozen=True, slots=True)
class Read:
    """A record as its file gave it, and the file's own lines where they are as this package writes them."""

    record: SessionRecord
    head: Head
    events: Sequence[tuple[Event, ...]]
    around: Around | None
    lines: Sequence[bytes]


def decode(content: bytes, path: Path) -> Read:
    """Return the record in ``content``; nothing of an error record can make a file unreadable.

    A file that encodes again to the same bytes is proven sound at the encoder's speed; any other one is judged by the
    slow, strict decoder.

    Raises:
        VersionRefused: a newer format wrote it.
        FileRefused: it is damaged, or not a session file.
    """
    proven = _as_written(content)
    parts, lines = (None, ()) if proven is None else proven[1:]
    document = decode_json(content, path, expected=EXPECTED) if proven is None else proven[0]
    try:
        document = as_of_today(document, path)
        head = checked_head(document, path)
        forms = document["messages"]
        try:
            events = check_messages(forms, kind=None)
            messages = [plain_message(form) or message_of(form) for form in forms]
        except NotAConversation as error:
            raise FileRefused(path, str(error), "a conversation of whole messages") from error
    except RecursionError as error:
        raise FileRefused(path, "it nests too deeply", EXPECTED) from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        written_by = one_line(str(document.get("framework")), 60) if isinstance(document, dict) else ""
        raise FileRefused(
            path,
            f"the framework cannot rebuild a message ({one_line(str(error), 160)})",
            f"messages that {framework_version()} can rebuild (the file says {written_by})",
        ) from error
    _refuse_lost_contents(forms, messages, path)
    record = SessionRecord(
        id=head.id,
        created=head.created,
        updated=head.updated,
        cwd=head.cwd,
        messages=messages,
        state=document["state"],
        errors=Journal.decode(document.get("errors")),
        title=settled_title(head.title, messages),
        key=head.key,
        session_id=document.get("session_id"),
        service_session_id=document.get("service_session_id"),
        provider=head.provider,
        model=head.model,
        continued_in=head.continued_in,
        stamp=head.stamp,
    )
    return Read(record, head, events, parts, lines)


def document_of(content: bytes, path: Path) -> dict[str, Any]:
    """Return the document in ``content``, strictly decoded and in today's format; its messages are not checked.

    Raises:
        VersionRefused, FileRefused: as :func:`decode`.
    """
    document = as_of_today(decode_json(content, path, expected=EXPECTED), path)
    checked_head(document, path)
    return document


def _as_written(content: bytes) -> tuple[dict[str, Any], Around, list[bytes]] | None:
    """Return the document, when ``content`` is to the byte what this package writes for it."""
    try:
        document = msgspec.json.decode(content)
        if not in_order(document):
            return None
        lines = [encoded(form) for form in document["messages"]]
        parts = around(document, document["state"], document.get("errors"))
        if parts.whole(lines) == content:
            return document, parts, lines
    except (ValueError, TypeError, RecursionError, KeyError, AttributeError):
        return None  # the strict decoder says what is wrong
    return None


def _refuse_lost_contents(forms: Sequence[dict[str, Any]], messages: Sequence[Any], path: Path) -> None:
    for number, (form, message) in enumerate(zip(forms, messages, strict=True), start=1):
        if len(message.contents) != len(form["contents"]):
            raise FileRefused(path, f"message {number} holds a content of an unknown kind", EXPECTED)


def checked_head(document: dict[str, Any], path: Path) -> Head:
    """Return the head of a document of today's format, checked field by field.

    Raises:
        FileRefused: a field is missing, unknown, or has another type; or the file holds another session than its name
            says.
    """
    optional = {name: types for name, types in OPTIONAL.items() if name in document}
    rest: dict[str, tuple[type, ...]] = {"messages": (list,), "state": (dict,)}
    fields = {name: value for name, value in document.items() if name != "errors"}
    check_fields(fields, {**HEADER, **optional, **rest}, path)
    stamp = Stamp(document["lineage"], document["revision"])
    if not stamp.is_one:
        raise FileRefused(path, "its lineage or revision is not one", EXPECTED)
    if not is_id(document["id"]):
        raise FileRefused(path, f"its id is {one_line(repr(document['id']), 60)}", "an id as this package gives them")
    if path.stem != document["id"]:
        raise FileRefused(path, f"it holds the session {document['id']}", f"the name {document['id']}.json for it")
    if document["turns"] < 0 or document.get("error_count", 0) < 0:
        raise FileRefused(path, "it counts less than nothing", EXPECTED)
    return Head(
        id=document["id"],
        stamp=stamp,
        created=_time(document, "created", path),
        updated=_time(document, "updated", path),
        cwd=document["cwd"],
        title=document["title"],
        turns=document["turns"],
        error_count=document.get("error_count", 0),
        key=document.get("key"),
        provider=document.get("provider"),
        model=document.get("model"),
        continued_in=document.get("continued_in"),
    )


def _time(document: dict[str, Any], field: str, path: Path) -> datetime:
    try:
        time = datetime.fromisoformat(document[field])
    except ValueError as error:
        raise FileRefused(
            path, f"{field} is {one_line(repr(document[field]), 60)}", "a date and time with its offset"
        ) from error
    if time.tzinfo is None:
        raise FileRefused(path, f"{field} has no offset", "a date and time with its offset")
    try:
        time.astimezone(UTC)
    except OverflowError as error:  # before the year 1, or after 9999, elsewhere: no two such times can be compared
        raise FileRefused(path, f"{field} is at the end of all dates", "a date that every clock can show") from error
    return time


def encode_around(record: SessionRecord, stamp: Stamp, path: Path, *, turns: int) -> Around:
    """Return what stands around the record's messages, proven to decode to the same values again.

    The record is given its title once that is settled; ``turns`` is how many questions of a person it holds.

    Raises:
        SaveFailed: something in it could not be read back.
    """
    title = title_of(record.title, record.messages, record.errors)
    header: dict[str, Any] = {
        "format": FORMAT,
        "id": record.id,
        "lineage": stamp.lineage,
        "revision": stamp.revision,
        "created": record.created.isoformat(),
        "updated": record.updated.isoformat(),
        "cwd": record.cwd,
        "key": record.key,
        "service_session_id": record.service_session_id,
        **({} if record.session_id is None else {"session_id": record.session_id}),
        "title": title,
        "turns": turns,
        "error_count": len(record.errors),
        "provider": record.provider,
        "model": record.model,
        **({} if record.continued_in is None else {"continued_in": record.continued_in}),
        "framework": framework_version(),
    }
    errors = record.errors.encode()
    try:
        parts = around(header, record.state, errors)
        again = msgspec.json.decode(parts.whole(()))
        checked_head(again, path)
        if again != {**header, "messages": [], "state": record.state, "errors": errors}:
            raise ValueError("a value that JSON cannot hold")
    except FileRefused as error:
        raise unreadable(path, error.found) from error
    except (ValueError, TypeError, RecursionError) as error:
        raise unreadable(path, str(error)) from error
    record.title = settled_title(title, record.messages)
    return parts


def unreadable(path: Path, why: str) -> SaveFailed:
    """Return the error of a save whose file could not be read back."""
    return SaveFailed(
        f"{path} was not saved: the session holds something that could not be read back ({one_line(why, 240)}). "
        "The old file is as it was."
    )
