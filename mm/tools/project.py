"""Makes the tools of a project, as its configuration names them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from agent_framework import FunctionTool
from pydantic import ValidationError

from maf_memory.text import one_line, sound
from maf_memory.threads import finished_in_thread
from mm.tools import finding, running, searching
from mm.tools.arguments import Arguments, EditFile, ListFiles, ReadFile, RunCommand, SearchText, WriteFile
from mm.tools.finding import list_files
from mm.tools.inside import ProjectFolder
from mm.tools.output import capped
from mm.tools.reading import read_file
from mm.tools.refused import ERROR, Refused
from mm.tools.running import run_command
from mm.tools.searching import search_text
from mm.tools.spec import ToolSpec
from mm.tools.working import bounded_in_thread
from mm.tools.writing import Writer

if TYPE_CHECKING:
    from mm.config import Config
    from mm.events import ToolKind

A = TypeVar("A", bound=Arguments)

_TITLE = 120


def project_tools(project: Path, config: Config) -> list[ToolSpec]:
    """Return the tools that ``config`` names, in its order; nothing is read or written yet.

    Reading is done without asking, inside the project folder only. Writing and running ask; what runs is not sandboxed.
    """
    made = _Tools(project, config)
    return [getattr(made, name)() for name in config.tools]


class _Tools:
    """One method for each tool, of its name."""

    def __init__(self, project: Path, config: Config) -> None:
        self._folder = ProjectFolder(project)
        self._limit = config.max_output
        self._key_variable = config.model.key_variable
        self._writer = Writer(self._folder, config.source)

    def read_file(self) -> ToolSpec:
        async def work(wanted: ReadFile) -> str:
            return await finished_in_thread(read_file, self._folder, wanted, self._limit)

        def title(wanted: ReadFile) -> str:
            if wanted.first <= 1 and wanted.last <= 0:
                return wanted.path
            last = str(wanted.last) if wanted.last > 0 else "end"
            return f"{wanted.path} (lines {max(wanted.first, 1)}-{last})"

        description = (
            "Read a text file of the project. The text comes exactly as it is in the file, without line numbers, so "
            "that it can be copied into edit_file. For a long file, give first and last."
        )
        return self._spec("read_file", description, "read", ReadFile, work, title)

    def list_files(self) -> ToolSpec:
        async def work(wanted: ListFiles) -> str:
            return await bounded_in_thread(
                lambda bounds: list_files(self._folder, wanted, self._limit, bounds), finding.SECONDS
            )

        def title(wanted: ListFiles) -> str:
            return f"{wanted.path} ({wanted.pattern})" if wanted.pattern else wanted.path

        description = (
            "List a folder of the project (folders end with /), or find files by a pattern: *.py finds at any depth, "
            "src/**/*.{ts,tsx} below src. Hidden files and those that git ignores are found only in a folder that you "
            "name, e.g. path .mm/sessions."
        )
        return self._spec("list_files", description, "search", ListFiles, work, title)

    def search_text(self) -> ToolSpec:
        async def work(wanted: SearchText) -> str:
            return await bounded_in_thread(
                lambda bounds: search_text(self._folder, wanted, self._limit, bounds), searching.SECONDS
            )

        def title(wanted: SearchText) -> str:
            text = f"/{wanted.text}/" if wanted.regex else f'"{wanted.text}"'
            return f"{text} in {wanted.path}" + (f" ({wanted.pattern})" if wanted.pattern else "")

        description = (
            "Search the text of the project's files. Returns each line that holds the text, as path:line: text. "
            "The text is taken as it is written, unless regex is true."
        )
        return self._spec("search_text", description, "search", SearchText, work, title)

    def write_file(self) -> ToolSpec:
        async def work(wanted: WriteFile) -> str:
            return await finished_in_thread(self._writer.write, wanted)

        def title(wanted: WriteFile) -> str:
            lines = wanted.content.count("\n") + (not wanted.content.endswith("\n") and bool(wanted.content))
            return f"{wanted.path} ({lines} line{'' if lines == 1 else 's'})"

        description = (
            "Write a whole file, new or in place of the old one; missing folders are made. To change a part of a file "
            "use edit_file."
        )
        return self._spec(
            "write_file", description, "edit", WriteFile, work, title, self._writer.preview, self._is_configuration
        )

    def edit_file(self) -> ToolSpec:
        async def work(wanted: EditFile) -> str:
            return await finished_in_thread(self._writer.write, wanted)

        description = (
            "Change a file: put new in the place of old. Read the file first, and copy old exactly from it, with "
            "enough lines around that it stands there only once."
        )
        return self._spec(
            "edit_file",
            description,
            "edit",
            EditFile,
            work,
            lambda wanted: wanted.path,
            self._writer.preview,
            self._is_configuration,
        )

    def run_command(self) -> ToolSpec:
        async def work(wanted: RunCommand) -> str:
            return await run_command(self._folder.root, wanted, self._limit, without=self._key_variable)

        description = (
            f"Run a command line in the project folder, by {running.SHELL_NAME}. It gets no input, so it must "
            "not ask for any. Output and errors come together, after the exit status. What it leaves running in the "
            "background is ended with it."
        )
        return self._spec(
            "run_command",
            description,
            "execute",
            RunCommand,
            work,
            lambda wanted: wanted.command,
            lambda wanted: running.preview(self._folder.root, wanted),
        )

    def _is_configuration(self, wanted: WriteFile | EditFile) -> bool:
        return self._writer.is_configuration(wanted.path)

    def _spec(
        self,
        name: str,
        description: str,
        kind: ToolKind,
        model: type[A],
        work: Callable[[A], Awaitable[str]],
        title: Callable[[A], str],
        preview: Callable[[A], str] | None = None,
        each_time: Callable[[A], bool] | None = None,
    ) -> ToolSpec:
        """Put a tool together; what asks has a preview of its own."""

        async def call(**given: Any) -> str:
            try:
                said = await work(model.model_validate(given))
            except Refused as refused:
                said = f"{ERROR}{refused}"
            return capped(sound(said), self._limit)

        def titled(arguments: Mapping[str, Any]) -> str:
            wanted = _understood(model, arguments)
            return one_line(f"{name} {title(wanted) if wanted else _misfit(arguments)}", _TITLE)

        def previewed(arguments: Mapping[str, Any]) -> str:
            wanted = _understood(model, arguments)
            if wanted is None:
                return f"This call cannot be done: its arguments do not fit the tool.\n{_misfit(arguments)}"
            return titled(arguments) if preview is None else preview(wanted)

        def asked_each_time(arguments: Mapping[str, Any]) -> bool:
            wanted = _understood(model, arguments)
            return each_time is not None and wanted is not None and each_time(wanted)

        function = FunctionTool(
            name=name, description=description, approval_mode="never_require", func=call, input_model=model
        )
        return ToolSpec(function, kind, preview is not None, titled, previewed, asked_each_time)


def _understood(model: type[A], arguments: Mapping[str, Any]) -> A | None:
    try:
        return model.model_validate(dict(arguments))
    except ValidationError:
        return None


def _misfit(arguments: Mapping[str, Any]) -> str:
    return f"with arguments that do not fit: {one_line(sound(str(dict(arguments))), 300)}"
