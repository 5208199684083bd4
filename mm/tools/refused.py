"""Expected failures of a tool: told to the model as text, because the framework tells it nothing of an exception."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from maf_memory.text import one_line

ERROR = "Error: "
"""How the text of a failed call begins."""


class Refused(Exception):
    """The call cannot be done; the text says what happened, to which thing, and what to do."""


def quoted(name: str, limit: int = 200) -> str:
    """Return a path or another short text of the model's as it can stand in a sentence."""
    return one_line(name, limit) or "''"


def path_line(path: str) -> str:
    """Return a path whole, on one line, so that it can be given back; a character that does not print is escaped."""
    return one_line(path, 8192)


@contextmanager
def refusing(name: str) -> Iterator[None]:
    """Turn what the system says about ``name`` into a refusal.

    Raises:
        Refused: in place of an OSError.
    """
    try:
        yield
    except OSError as error:
        raise Refused(f"{quoted(name)} {_said(error)}") from error


def _said(error: OSError) -> str:
    match error.errno:
        case errno.ENOENT:
            return "is not there. list_files shows what is."
        case errno.ELOOP:
            return "is a link, or became one meanwhile; give the path that it leads to."
        case errno.ENOTDIR:
            return "is not there: a part of the path is no folder. list_files shows what is."
        case errno.EISDIR:
            return "is a folder."
        case errno.ENAMETOOLONG:
            return "is not there: the name is too long. Give a shorter path."
        case errno.EACCES | errno.EPERM:
            return "may not be used by this user. Ask the person."
        case number:
            said = error.strerror or (os.strerror(number) if number else type(error).__name__)
            return f"cannot be used: {said}. Ask the person."
