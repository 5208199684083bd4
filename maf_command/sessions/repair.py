"""``maf-memory sessions repair``: a new session of what is whole in a damaged file, and line by line what is lost."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from maf_command.ending import end_with
from maf_command.sessions.place import AsJson, Folder, Place, Project, SessionId, json_text
from maf_memory.errors import FileRefused, FileUnreadable, MafMemoryError, SaveFailed, StateConflict, VersionRefused

if TYPE_CHECKING:
    from maf_console.screen import Screen
    from maf_memory.sessions.files import FileSessions
    from maf_memory.sessions.record import SessionRecord
    from maf_memory.sessions.repair import Repaired

REPAIR_HELP = """Example: maf-memory sessions repair 20260916

Write what is still whole in a damaged file to a new session, and say line by line what is lost. The damaged file stays
as it is, to the byte; delete it when nothing of it is missed.

A sound session is refused, and so is one of a newer format: it is not damaged, and another version reads it.
"""

_ATTEMPTS = 20


def repair(
    session_id: SessionId,
    project: Project = None,
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Write what is whole in a damaged session to a new one."""
    end_with(lambda screen: asyncio.run(_repair(screen, Place(project, folder), session_id, as_json=as_json)))


async def _repair(screen: Screen, place: Place, prefix: str, *, as_json: bool) -> int:
    storage = place.storage
    damaged = await place.find(prefix)
    repaired = await _of(storage, damaged)
    await _keep(storage, repaired.record)
    if as_json:
        path = storage.path_of(repaired.record.id)
        report = {"id": repaired.record.id, "path": str(path), "damaged": damaged, "lost": list(repaired.lost)}
        screen.document(json_text(report))
        return 0
    screen.result(_told(repaired, str(storage.path_of(damaged))))
    show, delete = place.command("show", repaired.record.id), place.command("delete", damaged)
    screen.notice(f"Read it: {show}\nWhen nothing is missed: {delete}")
    return 0


async def _of(storage: FileSessions, session_id: str) -> Repaired:
    """Return what is whole in the session.

    Raises:
        MafMemoryError: it is sound.
        FileRefused: nothing is left in it, it is of a newer format, or it cannot be read at all.
    """
    from maf_memory.sessions import repair as mending

    try:
        await storage.load(session_id)
    except (VersionRefused, FileUnreadable):
        raise
    except FileRefused:
        content = await storage.read(session_id)
        path = storage.path_of(session_id)
        return await asyncio.to_thread(mending.repair, content, path, session_id=session_id)
    raise MafMemoryError(f"{session_id} is sound: there is nothing to repair.")


async def _keep(storage: FileSessions, record: SessionRecord) -> None:
    """Create the session under an id of its own; its last activity stays what it was."""
    from maf_memory.sessions.ids import new_id

    for _ in range(_ATTEMPTS):
        record.id = new_id(record.created)
        try:
            await storage.create(record)
        except StateConflict:
            continue
        return
    raise SaveFailed(f"No session was created: {_ATTEMPTS} ids in a row, the last one {record.id}, are taken.")


def _told(repaired: Repaired, damaged: str) -> str:
    from maf_memory.sessions.journal import errors_suffix
    from maf_memory.sessions.listing import counted
    from maf_memory.sessions.titles import turns_of
    from maf_memory.text import one_line

    record = repaired.record
    held = f"{counted(turns_of(record.messages), 'turn')}, {counted(len(record.messages), 'message')}"
    lines = [
        f"Repaired: {one_line(record.title, 200) or '(no question)'}",
        f"  session       created    {record.id}: {held}{errors_suffix(len(record.errors))}",
        f"  damaged       unchanged  {damaged}",
    ]
    if not repaired.lost:
        return "\n".join([*lines, "No loss was found."])
    return "\n".join([*lines, "Lost, or not as it was:", *(f"  {one_line(line, 400)}" for line in repaired.lost)])
