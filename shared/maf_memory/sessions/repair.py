"""Makes a new session of what is still whole in a damaged session file, and says what is lost.

The damaged file is given as bytes and never touched. The new session is another one, with an id of its own: what the
file said of its own saves, and under which key a host finds it, stays with the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maf_memory.conversation import check_messages
from maf_memory.decoding import decode_json
from maf_memory.errors import FileRefused
from maf_memory.lines import line_form, message_of
from maf_memory.sessions.journal import Journal
from maf_memory.sessions.layout import FORMAT
from maf_memory.sessions.mending import each_once, mended
from maf_memory.sessions.migrations import as_of_today
from maf_memory.sessions.record import SessionRecord, local_now
from maf_memory.sessions.salvage import Piece, salvage
from maf_memory.sessions.titles import turns_of
from maf_memory.text import one_line

if TYPE_CHECKING:
    from agent_framework import Message


@dataclass(frozen=True, slots=True)
class Repaired:
    """A new session, not kept anywhere yet, and a sentence on each thing lost; none where all is whole."""

    record: SessionRecord
    lost: tuple[str, ...]


def repair(content: bytes, path: Path, *, session_id: str, now: datetime | None = None) -> Repaired:
    """Return what is whole in the file ``path``, whose bytes are ``content``, as the session ``session_id``.

    Kept are the messages, the header's fields and the error records that can be read, in a conversation that can be
    saved and sent: no message twice, each tool call with a result. Where a time is lost, it is ``now``.

    Raises:
        FileRefused: no message and no error record is left in it.
        VersionRefused: it is sound, and of a newer format.
    """
    _refuse_newer(content, path)
    found = salvage(content, path)
    said = list(found.lost)
    whole = [piece for piece in found.messages if _can_be_rebuilt(piece, said)]
    forms = [piece.form for piece in mended(each_once(whole, said), said)]
    check_messages(forms, kind=None)
    messages = [message_of(form) for form in forms]
    errors = Journal.decode(found.errors)
    if not messages and not errors:
        raise FileRefused(path, "no message is left whole in it", "a session file with a whole line at least")
    header = found.header
    said += _miscounted(header, messages, errors)
    created, updated = _time(header.get("created")), _time(header.get("updated"))
    now = now or local_now()
    for what, time in (("began", created), ("was last used", updated)):
        if time is None:
            said.append(f"When the session {what} is not known; it says {now.isoformat(timespec='seconds')}.")
    record = SessionRecord(
        id=session_id,
        created=created or now,
        updated=updated or now,
        cwd=header.get("cwd", str(path.parent.parent.parent)),
        messages=messages,
        state=found.state or {},
        errors=errors,
        title=header.get("title", "") if messages else "",
        session_id=header.get("session_id"),
        service_session_id=header.get("service_session_id"),
        provider=header.get("provider"),
        model=header.get("model"),
        continued_in=header.get("continued_in"),
    )
    return Repaired(record, tuple(said))


def _refuse_newer(content: bytes, path: Path) -> None:
    """Refuse a sound file of a newer format: what this program made of it would not be what the newer one wrote."""
    try:
        document = decode_json(content, path)
    except FileRefused:
        return
    if type(document) is dict and type(document.get("format")) is int and document["format"] > FORMAT:
        as_of_today(document, path)


def _can_be_rebuilt(piece: Piece, said: list[str]) -> bool:
    """Whether the framework makes a message of it that would be saved as it is."""
    try:
        message = message_of(piece.form)
        again = message_of(line_form(message))
        if len(message.contents) == len(piece.form["contents"]) and again.to_dict() == message.to_dict():
            return True
        why = "it would be another one"
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        why = one_line(str(error), 160)
    said.append(f"Line {piece.line} is lost: the framework cannot rebuild its message ({why}).")
    return False


def _miscounted(header: dict[str, Any], messages: list[Message], errors: Journal) -> Iterator[str]:
    """Yield what the header counts and is not there, which no line may tell."""
    for name, what, found in (("turns", "question", turns_of(messages)), ("error_count", "error record", len(errors))):
        counted = header.get(name, found)
        if counted > found:
            yield f"The header counts {counted} {what}{'s' if counted != 1 else ''}; found: {found}."


def _time(text: str | None) -> datetime | None:
    try:
        time = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return time if time.utcoffset() is not None else None
