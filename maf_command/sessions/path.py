"""``maf-memory sessions path``: the file of one conversation, for jq, grep, cp and an editor."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from maf_command.ending import end_with
from maf_command.sessions.place import AsJson, Folder, Place, Project, SessionId, json_text
from maf_console.screen import harmless

if TYPE_CHECKING:
    from maf_console.screen import Screen

PATH_HELP = """Example: jq .errors "$(maf-memory sessions path 20260916)"

Print the path of a conversation's file, and nothing else. A damaged one has a path, too.
"""


def path(
    session_id: SessionId,
    project: Project = None,
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Print the path of a conversation's file."""
    end_with(lambda screen: asyncio.run(_path(screen, Place(project, folder), session_id, as_json=as_json)))


async def _path(screen: Screen, place: Place, prefix: str, *, as_json: bool) -> int:
    session_id = await place.find(prefix)
    file = str(place.storage.path_of(session_id))
    if sys.stdout.isatty():
        file = harmless(file)  # a folder's name is data, too; a program gets it as it is
    screen.document(json_text({"id": session_id, "path": file}) if as_json else f"{file}\n")
    return 0
