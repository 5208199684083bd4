"""Files that a question brings along: ``@path`` adds the file, and a line that says so.

What is recorded is what the model reads: the question as it was typed, then one ``[attached file: …]`` line and the
content for each file (the seed's «Pourquoi le ↑ de la fenêtre lit les questions enregistrées»).
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from maf_memory.errors import FileRefused, MafMemoryError
from maf_memory.reading import ReadFile
from maf_memory.text import one_line, sound

if TYPE_CHECKING:
    from agent_framework import Content, Message

MAXIMUM_TEXT = 256 * 1024
"""The largest text file that is attached, in bytes."""

MAXIMUM_IMAGE = 5 * 1024 * 1024
"""The largest image that is attached, in bytes."""

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})

_MENTION = re.compile(r'(?:^|(?<=\s))@(?:"(?P<quoted>[^"\n]+)"|(?P<plain>[^\s"@][^\s]*))')


class AttachmentRefused(MafMemoryError):
    """A file that a question names cannot be attached; the question was not sent."""


def mentions(text: str) -> Iterator[str]:
    """Yield the paths that ``text`` names by ``@path`` or ``@"a path"``, each once, in order."""
    seen: set[str] = set()
    for found in _MENTION.finditer(text):
        path = found["quoted"] or found["plain"].rstrip(".,;:!?)")
        if path and path not in seen:
            seen.add(path)
            yield path


def with_attachments(text: str, project: Path) -> Message:
    """Return the question with the files that it names; an ``@word`` that names no file stays a word.

    Raises:
        AttachmentRefused: a named file is too large, binary, outside the project, or cannot be read.
    """
    from agent_framework import Content, Message

    contents: list[Content | str] = [sound(text)]
    for name in mentions(text):
        path = _inside(name, project)
        if path is None:
            continue
        content, kind = _read(path, name)
        if kind in IMAGES:
            contents += [f"[attached file: {one_line(name, 200)}]", Content.from_data(content, kind)]
        else:
            contents.append(f"[attached file: {one_line(name, 200)}]\n{_decoded(content, name)}")
    return Message("user", contents)


def _inside(name: str, project: Path) -> Path | None:
    try:
        path = (project / name).resolve()
        if not path.is_file():
            return None
    except (OSError, ValueError):  # too long, or with a NUL: no file has this name
        return None
    if not path.is_relative_to(project.resolve()):
        raise AttachmentRefused(f"{one_line(name, 200)} is outside the project and was not attached. Copy it there.")
    return path


def _read(path: Path, name: str) -> tuple[bytes, str]:
    kind = mimetypes.guess_type(path.name)[0] or "text/plain"
    limit = MAXIMUM_IMAGE if kind in IMAGES else MAXIMUM_TEXT
    try:
        content = ReadFile(path, limit=limit).read()
    except FileRefused as error:
        raise AttachmentRefused(f"{one_line(name, 200)} was not attached: {error.found}.") from error
    if content is None:
        raise AttachmentRefused(f"{one_line(name, 200)} was not attached: it is gone.")
    return content, kind


def _decoded(content: bytes, name: str) -> str:
    if b"\0" not in content:
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            pass
    raise AttachmentRefused(f"{one_line(name, 200)} was not attached: it is neither UTF-8 text nor an image.")
