"""Which sessions a command is about: those of a project, or of a host's folder; and which one of them."""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maf_memory.errors import FileRefused, FileUnreadable, MafMemoryError, VersionRefused
from maf_memory.text import one_line

if TYPE_CHECKING:
    from maf_memory.sessions.directory import SessionDirectory
    from maf_memory.sessions.files import FileSessions
    from maf_memory.sessions.record import SessionRecord

Project = Annotated[
    Path | None,
    typer.Option("--project", metavar="FOLDER", help="The project, in place of the current folder."),
]
Folder = Annotated[
    Path | None,
    typer.Option("--folder", metavar="FOLDER", help="A host's folder of session files, in place of a project."),
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object in place of the text.")]
SessionId = Annotated[
    str,
    typer.Argument(metavar="ID", help="The session's id, as much of its beginning as no other one has, or its file."),
]


_SUFFIX = ".json"


@dataclass(frozen=True, slots=True)
class Place:
    """Where the sessions are, and how a person names the place on the command line."""

    project: Path | None
    folder: Path | None

    def __post_init__(self) -> None:
        """Refuse a place that is none; a folder that was mistyped must not look like one without sessions."""
        if self.project is not None and self.folder is not None:
            raise typer.BadParameter("--project and --folder name two places; give one of them")
        _refuse_missing("--project", self.project)
        _refuse_missing("--folder", self.folder)

    @property
    def storage(self) -> FileSessions:
        """The sessions there; nothing is searched upward."""
        from maf_memory.sessions.files import FileSessions

        if self.folder is not None:
            return FileSessions(self.folder)
        return FileSessions.of_project(project_folder(self.project))

    @property
    def directory(self) -> SessionDirectory:
        """What is done with whole sessions there."""
        from maf_memory.sessions.directory import SessionDirectory

        return SessionDirectory(self.storage, cwd=self.folder or project_folder(self.project))

    def command(self, verb: str, *arguments: str) -> str:
        """Return the command that does ``verb`` at this place, as a person types it."""
        options: list[str] = []
        if self.project is not None:
            options = ["--project", str(self.project)]
        elif self.folder is not None:
            options = ["--folder", str(self.folder)]
        return shlex.join(["maf-memory", "sessions", verb, *arguments, *options])

    async def find(self, prefix: str) -> str:
        """Return the id that is meant, by its beginning or by its file's name or path.

        Raises:
            UnknownSession, AmbiguousSession: none is, or more than one.
            MafMemoryError: it is the path of a file in another folder, where the same id may be another conversation.
        """
        if not prefix.strip():
            raise typer.BadParameter("an id is needed", param_hint="ID")
        return await self.directory.find(self._begun(prefix.strip()))

    def _begun(self, given: str) -> str:
        """Return the id, or its beginning, that is ``given`` or that the file ``given`` has as its name."""
        file = Path(given)
        if file.suffix.lower() != _SUFFIX:
            return given
        folder = self.storage.folder
        if file.parent != Path() and os.path.realpath(file.parent) != os.path.realpath(folder):
            raise MafMemoryError(f"{one_line(given, 400)} is not in {folder}. Name its place: --project or --folder.")
        return file.stem

    async def load(self, prefix: str) -> SessionRecord:
        """Return the session that is meant, whole.

        Raises:
            UnknownSession, AmbiguousSession: as :meth:`find`.
            MafMemoryError: it is damaged; the line names the command that saves what is whole.
        """
        session_id = await self.find(prefix)
        try:
            return await self.storage.load(session_id)
        except (VersionRefused, FileUnreadable):
            raise
        except FileRefused as error:
            repair = self.command("repair", session_id)
            raise MafMemoryError(f"{error} {repair} writes what is whole in it to a new session.") from error


def project_folder(given: Path | None) -> Path:
    """Return the folder of the project: the one given, else the current one.

    Raises:
        MafMemoryError: the current folder was deleted.
    """
    if given is not None:
        _refuse_missing("--project", given)
        return given.absolute()
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise MafMemoryError("The current folder was deleted. Name a project with --project.") from error


def _refuse_missing(option: str, given: Path | None) -> None:
    if given is not None and not given.is_dir():
        raise typer.BadParameter(f"there is no folder {given}", param_hint=option)


def json_text(report: Any) -> str:
    """Return the report for another program: plain ASCII, so that no text in it commands a terminal or is changed."""
    return json.dumps(report, indent=2) + "\n"
