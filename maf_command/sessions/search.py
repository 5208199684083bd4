"""``maf-memory sessions search``: the messages of a project's conversations that hold a word."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maf_command.ending import end_with
from maf_command.sessions.place import AsJson, Folder, Place, Project, json_text
from maf_command.sessions.progress import Bar

if TYPE_CHECKING:
    from maf_console.screen import Screen
    from maf_memory.sessions.files import FileSessions
    from maf_memory.sessions.found import Found, Hit

SEARCH_HELP = """Example: maf-memory sessions search 'base de données | database | storage'

Find messages that hold any of the words, as a part of a word too, without regard to case and accents; first those
with the most different words, then the latest. A question comes with the answer on which its turn ended.

Searched is what was asked and answered, what tools were given and brought, and summaries. Not searched: titles that a
program set, recorded errors, the model's reasoning, system prompts, and a program's notes and hooks.

Spaces and | stand between words; "a phrase" in double quotes is one word. To a shell | and quotes have a meaning of
their own: put the whole search in single quotes. Words of one or two letters count only when there is no longer one.

Nothing is translated and no synonym is known: give other words for the same thing, in the other language too. The
exit status is 1 when nothing was found.
"""

_INDENT = "  "


def search(
    words: Annotated[list[str], typer.Argument(metavar="WORD", help="The words to look for.")],
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="How many messages at most.")] = 10,
    project: Project = None,
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Find the messages that hold a word."""
    wanted = " ".join(words)
    end_with(lambda screen: asyncio.run(_search(screen, Place(project, folder), wanted, limit, as_json=as_json)))


async def _search(screen: Screen, place: Place, wanted: str, limit: int, *, as_json: bool) -> int:
    storage = place.storage
    ignored = _ignored(wanted)
    with Bar("Searching") as progress:
        found = await storage.search(wanted, limit=limit, progress=progress)
    if as_json:
        screen.document(json_text(_report(found, storage, ignored)))
        return 0 if found.hits else 1
    for hit in found.hits:
        screen.result(f"{_drawn(hit, place)}\n")
    if not found.hits:
        screen.result(_nothing(found, storage))
    elif len(found.hits) < found.matched:
        screen.notice(f"{len(found.hits)} of {found.matched:,} messages; --limit N shows more.")
    if ignored:
        screen.notice(f"Too short to count beside longer words: {', '.join(ignored)}.")
    for one in found.unread:
        screen.notice(f"Not searched: {one.id}, {one.problem}.")
    return 0 if found.hits else 1


def _ignored(wanted: str) -> tuple[str, ...]:
    from maf_memory.sessions.query import parse_query

    try:
        return parse_query(wanted).ignored
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="WORD") from error


def _nothing(found: Found, storage: FileSessions) -> str:
    from maf_memory.sessions.listing import counted

    return (
        f"Nothing found in what was said in {counted(found.searched, 'session')} of {storage.folder}; errors and set "
        "titles are not searched. Try other words for the same thing, and the other language: "
        "'base de données | database | storage'."
    )


def _drawn(hit: Hit, place: Place) -> str:
    """Return the hit: whose session and when, which message, what it says, its answer, and how to open it."""
    from maf_memory.text import one_line

    when = hit.updated.isoformat(sep=" ", timespec="minutes")
    lines = [
        f"{hit.session_id}{_INDENT}{one_line(hit.title, 200) or '(no question)'} · {when}",
        f"{_INDENT}{_who(hit)}, message {hit.number}:",
        *_quoted(hit.excerpt),
    ]
    if hit.answer:
        lines += [f"{_INDENT}the answer to it:", *_quoted(hit.answer)]
    return "\n".join([*lines, f"{_INDENT}open: {place.command('show', hit.session_id)}"])


def _who(hit: Hit) -> str:
    if hit.kind is not None:
        return f"{hit.kind or 'text'} of a program"
    return {"user": "question", "assistant": "answer", "tool": "result of a tool"}.get(hit.role, hit.role)


def _quoted(text: str) -> list[str]:
    return [f"{_INDENT * 2}{line}".rstrip() for line in text.split("\n")]


def _report(found: Found, storage: FileSessions, ignored: tuple[str, ...]) -> dict[str, Any]:
    return {
        "folder": str(storage.folder),
        "matched": found.matched,
        "searched": found.searched,
        "ignored": list(ignored),
        "hits": [_hit_report(hit, storage) for hit in found.hits],
        "unread": [{"id": one.id, "path": str(one.path), "problem": one.problem} for one in found.unread],
    }


def _hit_report(hit: Hit, storage: FileSessions) -> dict[str, Any]:
    return {
        "id": hit.session_id,
        "title": hit.title,
        "updated": hit.updated.isoformat(),
        "message": hit.number,
        "role": hit.role,
        "kind": hit.kind,
        "words": list(hit.words),
        "excerpt": hit.excerpt,
        "answer": hit.answer,
        "path": str(storage.path_of(hit.session_id)),
    }
