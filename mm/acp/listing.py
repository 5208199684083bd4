"""The list of conversations that an editor shows: of one folder, or of those that this process knows; page by page."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from acp.schema import ListSessionsResponse, SessionInfo

from maf_memory.sessions.files import FileSessions
from maf_memory.sessions.storage import Cursor, place_in_listing
from maf_memory.sessions.titles import as_title
from mm.acp.refusals import bad_parameter

if TYPE_CHECKING:
    from maf_memory.sessions.record import Head

PAGE = 50
"""How many conversations one page holds."""


async def page(folders: Mapping[str, Path], cursor: str | None, *, size: int = PAGE) -> ListSessionsResponse:
    """Return a page of the conversations in ``folders``, newest first; ``folders`` are named as the editor names them.

    Conversations without a question are in no page. Damaged ones stand at the end, and say so in their title.

    Raises:
        RequestError: the cursor is none of ours.
        FileRefused: a folder cannot be read.
    """
    after = None if cursor is None else _decoded(cursor)
    found: list[tuple[Head, str]] = []
    damaged: list[SessionInfo] = []
    for cwd, folder in folders.items():
        part = await FileSessions.of_project(folder).page(limit=size + 1, after=after)
        found += [(head, cwd) for head in part.heads]
        damaged += [
            SessionInfo(session_id=one.id, cwd=cwd, title=as_title(f"damaged: {one.problem}")) for one in part.damaged
        ]
    found.sort(key=lambda one: place_in_listing(one[0]))
    shown = [_info(head, cwd) for head, cwd in found[:size]]
    if len(found) <= size:
        return ListSessionsResponse(sessions=[*shown, *damaged])
    last = found[size - 1][0]
    return ListSessionsResponse(sessions=shown, next_cursor=_encoded(Cursor(last.updated, last.id)))


def _info(head: Head, cwd: str) -> SessionInfo:
    return SessionInfo(session_id=head.id, cwd=cwd, title=head.title, updated_at=head.updated.isoformat())


def _encoded(cursor: Cursor) -> str:
    text = json.dumps([cursor.updated.isoformat(), cursor.id])
    return base64.urlsafe_b64encode(text.encode()).decode()


def _decoded(cursor: str) -> Cursor:
    try:
        updated, session_id = json.loads(base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True))
        when = datetime.fromisoformat(updated)
        if when.utcoffset() is None or not isinstance(session_id, str):
            raise ValueError(cursor)
    except (ValueError, TypeError, binascii.Error, RecursionError) as error:
        raise bad_parameter("cursor", "is none that session/list has given") from error
    return Cursor(when, session_id)
