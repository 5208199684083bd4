"""``maf-memory sessions export``: one conversation as a page or as Markdown, in a private file of its own."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from maf_command.ending import end_with
from maf_command.sessions.place import AsJson, Folder, Place, Project, SessionId, json_text

if TYPE_CHECKING:
    from maf_console.screen import Screen
    from maf_memory.sessions.record import SessionRecord

EXPORT_HELP = """Example: maf-memory sessions export 20260916 logs.html

Write a conversation to a file that only you can read (mode 0600): one page that runs nothing and loads nothing, or
Markdown where the file's name ends in .md. With - in place of the file it goes to the standard output.

Whatever the conversation holds is in it: keys that a person typed and files that a tool read, too. Only the errors
were cleared of keys and tokens, as far as they can be recognised. Look at it before you pass it on.
"""

_FORMATS = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md"}


def export(
    session_id: SessionId,
    out: Annotated[str, typer.Argument(metavar="FILE", help="The file to write, or - for the standard output.")],
    markdown: Annotated[bool, typer.Option("--md", help="Markdown, whatever the file is called.")] = False,
    html: Annotated[bool, typer.Option("--html", help="A page, whatever the file is called.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    project: Project = None,
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Write one conversation as a page or as Markdown."""
    form = _format(out, markdown=markdown, html=html)
    if as_json and out == "-":
        raise typer.BadParameter("the standard output cannot take both the export and --json", param_hint="--json")
    end_with(
        lambda screen: asyncio.run(
            _export(screen, Place(project, folder), session_id, out, form, force=force, as_json=as_json)
        )
    )


def _format(out: str, *, markdown: bool, html: bool) -> str:
    if markdown and html:
        raise typer.BadParameter("--md and --html name two formats; give one of them")
    if markdown or html:
        return "md" if markdown else "html"
    form = "html" if out == "-" else _FORMATS.get(Path(out).suffix.lower())
    if form is None:
        raise typer.BadParameter("give it a name that ends in .html or .md, or add --html or --md", param_hint="FILE")
    return form


async def _export(screen: Screen, place: Place, prefix: str, out: str, form: str, *, force: bool, as_json: bool) -> int:
    from maf_command.sessions.private_file import refuse_taken, write_private

    target = None if out == "-" else Path(out)
    if target is not None:
        refuse_taken(target, force=force)  # before the work, and again when it is written
    record = await place.load(prefix)
    text = _text(record, form)
    if target is None:
        screen.document(text)
        return 0
    content = text.encode()
    await asyncio.to_thread(write_private, target, content, force=force)
    if as_json:
        path = str(target.absolute())
        screen.document(json_text({"id": record.id, "path": path, "format": form, "bytes": len(content)}))
    else:
        screen.result(f"Written: {target} ({len(content):,} bytes, readable by you alone).")
    return 0


def _text(record: SessionRecord, form: str) -> str:
    from maf_memory.sessions.export import as_html, as_markdown

    return as_markdown(record) if form == "md" else as_html(record)
