"""The one family of errors, each a single line that says what happened, to which thing, and what to do.

::

    MafMemoryError
    ├── RootRefused         the state root cannot be used; nothing was read or written
    ├── FileRefused         a file cannot be accepted; it is as it was, to the byte
    │   ├── FileUnreadable  it could not be read now; nothing is known to be wrong with it
    │   └── VersionRefused  it is sound, but another version of the format or the instructions wrote it
    ├── ContextRefused      a text is not accepted as a context; value and dialogue are as they were
    ├── StateConflict       somebody else saved, deleted or created the file; nothing was overwritten
    ├── UnknownSession      no session has this id, or begins like it
    ├── AmbiguousSession    several sessions begin like this
    ├── SaveFailed          the disk or the content refused; the old file is as it was
    ├── NotProvenDurable    the new file is in place, but its durability could not be confirmed
    ├── ChatUnavailable     the chosen chat client cannot be used
    ├── TurnUnderWay        the session has a question that is not answered yet; nothing was sent
    └── TurnFailed          a question got no answer; discarded, it leaves no trace in the session
        └── EmptyAnswer     the model returned nothing

A façade catches :class:`MafMemoryError` and prints one line. Anything else is a bug and keeps its traceback.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from maf_memory.text import one_line


class MafMemoryError(Exception):
    """Base of every error that a person can act on."""


class RootRefused(MafMemoryError):
    """The state root cannot be used; nothing was read or written."""


class FileRefused(MafMemoryError):
    """A file cannot be accepted, and was left exactly as it was.

    ``path`` is the file, ``found`` what is wrong with it, ``expected`` what would have been accepted.
    """

    def __init__(self, path: Path, found: str, expected: str) -> None:
        self.path = path
        self.found = found
        self.expected = expected
        super().__init__(path, found, expected)  # the parts, so that the error survives pickling

    @property
    def problem(self) -> str:
        """What is wrong, for where the file is named anyway."""
        return f"{self.found}; expected {self.expected}"

    def __str__(self) -> str:
        return f"{self.path} is refused: {self.found}; expected {self.expected}. The file was left as it is."


class VersionRefused(FileRefused):
    """A sound file was written by another version of the format or of the instructions.

    ``found`` says which one wrote it, ``expected`` which one this program has.
    """

    @property
    def problem(self) -> str:
        """Which version wrote it, and which this program has."""
        return f"{self.found}; {self.expected}"

    def __str__(self) -> str:
        return f"{self.path} is refused: {self.found}; {self.expected}. The file was left as it is."


class FileUnreadable(FileRefused):
    """A file could not be read now: nothing is known to be wrong with it, and nothing speaks for destroying it."""

    @property
    def problem(self) -> str:
        """Why it could not be read."""
        return self.found

    def __str__(self) -> str:
        return (
            f"{self.path} is refused: {self.found}. Nothing is known to be wrong with it; it was left as it is. "
            "Try again when it can be read."
        )


class ContextRefused(MafMemoryError, ValueError):
    """A text is not accepted as a context; the stored value is as it was."""


class StateConflict(MafMemoryError):
    """The file is not the one that was loaded; nothing was overwritten.

    The caller decides: load what is there, or save elsewhere.
    """

    def __init__(self, path: Path, found: str, expected: str) -> None:
        self.path = path
        self.found = found
        self.expected = expected
        super().__init__(path, found, expected)

    def __str__(self) -> str:
        return (
            f"{self.path} was changed by another program or store: it holds {self.found}, this one last saw "
            f"{self.expected}. Nothing was overwritten."
        )


class UnknownSession(MafMemoryError):
    """No session has the id ``session_id``, or begins like it, in the place ``where``."""

    def __init__(self, session_id: str, where: str) -> None:
        self.session_id = session_id
        self.where = where
        super().__init__(session_id, where)

    def __str__(self) -> str:
        return f"No session {one_line(self.session_id, 60)} in {self.where}."


class AmbiguousSession(MafMemoryError):
    """Several sessions begin with ``prefix``; ``candidates`` are their ids."""

    def __init__(self, prefix: str, candidates: Sequence[str]) -> None:
        self.prefix = prefix
        self.candidates = tuple(candidates)
        super().__init__(prefix, self.candidates)

    def __str__(self) -> str:
        shown = ", ".join(self.candidates[:5])
        more = f", and {len(self.candidates) - 5} more" if len(self.candidates) > 5 else ""
        return f"{len(self.candidates)} sessions begin with {self.prefix}: {shown}{more}. Give more of the id."


class SaveFailed(MafMemoryError):
    """The new state could not be written; the old file is as it was and no temporary file remains."""


class NotProvenDurable(MafMemoryError):
    """The new file is in place, but the last step that makes it survive a power cut failed."""


class ChatUnavailable(MafMemoryError):
    """The chosen chat client cannot be used; the message says what to do."""


class TurnUnderWay(MafMemoryError):
    """The session has a question that is not answered yet; nothing was sent."""


class TurnFailed(MafMemoryError):
    """A question got no answer; the session is what it was before it, and then what the turn's ending keeps.

    The original exception is the ``__cause__``.
    """


class EmptyAnswer(TurnFailed):
    """The model returned nothing: neither text, nor a call, nor a request for approval."""
