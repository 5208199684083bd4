"""Makes a project folder whose earlier conversations can be searched: ``memory_project.py FOLDER``.

Four recorded conversations, an ``agent.yaml`` that switches both kinds of search on, and a script in the place of a
model. Ids and times are fixed, so that two runs write the same conversations.
"""

import argparse
import asyncio
import importlib.util
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _environment import reexec_inside

if TYPE_CHECKING:
    from maf_memory.sessions import SessionDirectory

PORT, STORAGE, LOGS, HOSTING = (
    "20260908-091500-3c19e7aa",
    "20260910-142000-d2085b16",
    "20260916-101530-4f2a9c1e",
    "20260921-164500-58b7f0d3",
)
"""The ids of the four sessions, oldest first."""

CONFIGURATION = """\
name: mini-me
model:
  provider: script
  name: rehearsal
  script: replies.json
memory:
  command: true
  tool: true
"""


def _search(words: str) -> dict[str, Any]:
    return {"calls": [{"name": "search_memory", "arguments": {"words": words}}]}


REPLIES: tuple[Any, ...] = (
    _search("port convenu | API port"),
    {"calls": [{"name": "write_file", "arguments": {"path": "config/port", "content": "8085\n"}}]},
    "config/port holds 8085, the port that you agreed on for the API.",
    _search("base de données"),
    _search("base de données | database | storage | SQLite"),
    "SQLite, par modernc.org/sqlite : un seul fichier, et pas de compilateur C.",
)
"""What a model with the tool may do, reply after reply."""


def main() -> int:
    """Return 0 when the folder was made; 1 where there is one already that holds sessions."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", metavar="FOLDER", type=Path, help="the project to make")
    folder = options.parse_args().folder
    if importlib.util.find_spec("mm") is None:
        reexec_inside()
    if (folder / ".mm").exists():
        print(f"{folder / '.mm'} is there already; nothing was made.", file=sys.stderr)
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "agent.yaml").write_text(CONFIGURATION, encoding="utf-8")
    lines = ",\n".join(json.dumps(reply, ensure_ascii=False) for reply in REPLIES)
    (folder / "replies.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    asyncio.run(make(folder))
    return 0


async def make(folder: Path) -> None:
    """Record the four conversations beside the project ``folder``."""
    from sample_project import Clock

    from maf_memory.sessions import FileSessions, SessionDirectory

    ids = iter((PORT, STORAGE, LOGS, HOSTING))
    clock = Clock()
    directory = SessionDirectory(
        FileSessions.of_project(folder), cwd="/home/ada/notes", now=clock, draw_id=lambda _: next(ids)
    )
    for time, messages in (
        ("2026-09-08T09:15:00+02:00", _about_the_port()),
        ("2026-09-10T14:20:00+02:00", _about_storage()),
        ("2026-09-16T10:15:30+02:00", _about_logs()),
        ("2026-09-21T16:45:00+02:00", _about_hosting()),
    ):
        clock.set(time)
        await _record(directory, messages)


async def _record(directory: "SessionDirectory", messages: list[Any]) -> None:
    record = directory.new(provider="openai", model="qwen3.5-4b")
    record.messages = messages
    await directory.keep(record)


def _about_the_port() -> list[Any]:
    from sample_project import said

    return [
        said("user", "Sur quel port écoute l'API ?", "d1"),
        said("assistant", "8085 : le port 8080 est déjà pris par le proxy.", "d2"),
    ]


def _about_storage() -> list[Any]:
    from agent_framework import Content, Message
    from sample_project import message_id, said

    return [
        said("user", "Which storage does the server get?", "e1"),
        Message(
            "assistant",
            [Content.from_function_call("call_1", "read_file", arguments='{"path": "go.mod"}')],
            message_id=message_id("e2"),
        ),
        Message(
            "tool",
            [Content.from_function_result("call_1", result="Module example.org/notes, go 1.26")],
            message_id=message_id("e3"),
        ),
        said(
            "assistant",
            "SQLite, through modernc.org/sqlite: a single file, and no C compiler. Deployment stays one copy.",
            "e4",
        ),
    ]


def _about_logs() -> list[Any]:
    from sample_project import said

    return [
        said("user", "Quel format pour les logs ?", "f1"),
        said("assistant", "log/slog, en JSON : une ligne par événement, que jq sait lire.", "f2"),
    ]


def _about_hosting() -> list[Any]:
    from sample_project import said, written

    from mm.compaction import HEADER, UNDERSTOOD

    summary = (
        "Deployment: by rsync to the host lab-2, where systemd runs it as notes.service.\n"
        "Backups: restic, every night at 02:30, kept for 30 days."
    )
    return [
        written("user", "summary", f"{HEADER}\n{summary}", "g1"),
        written("assistant", "acknowledgement", UNDERSTOOD, "g2"),
        said("user", "Who gets the certificate?", "g3"),
        said("assistant", "Caddy, by itself.", "g4"),
    ]


if __name__ == "__main__":
    sys.exit(main())
