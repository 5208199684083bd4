"""What each tool takes, described for a small model: few words, plain types, defaults for whatever can be left out."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from maf_memory.text import sound

Text = Annotated[str, BeforeValidator(lambda value: sound(value) if isinstance(value, str) else value)]

LONGEST_COMMAND = 600
"""The most seconds that a command may be given."""


def _plain_schema(schema: dict[str, Any]) -> None:
    """Leave out what repeats the names, or is said by the tool's own description."""
    for name in ("title", "description"):
        schema.pop(name, None)
    for field in schema.get("properties", {}).values():
        field.pop("title", None)


class Arguments(BaseModel):
    """The arguments of one call; a ``null`` counts as left out."""

    model_config = ConfigDict(json_schema_extra=_plain_schema)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, given: Any) -> Any:
        return {name: value for name, value in given.items() if value is not None} if isinstance(given, dict) else given


class ReadFile(Arguments):
    """Read one file."""

    path: Text = Field(description="The file, relative to the project folder.")
    first: int = Field(default=1, description="The first line to read, counted from 1.")
    last: int = Field(default=0, description="The last line to read; 0 reads to the end.")


class ListFiles(Arguments):
    """List a folder, or find files."""

    path: Text = Field(default=".", description="The folder to look in, relative to the project folder.")
    pattern: Text = Field(
        default="", description="Find files that match, e.g. *.py or src/**/test_*.py; without it the folder is listed."
    )


class SearchText(Arguments):
    """Search the text of files."""

    text: Text = Field(description="What to look for, exactly as it is written; a regular expression if regex is true.")
    path: Text = Field(default=".", description="The folder or file to search, relative to the project folder.")
    pattern: Text = Field(default="", description="Only files that match, e.g. *.py")
    regex: bool = Field(default=False, description="Whether text is a Python regular expression.")
    ignore_case: bool = Field(default=False, description="Whether upper and lower case are the same.")


class WriteFile(Arguments):
    """Write one file whole."""

    path: Text = Field(description="The file, relative to the project folder.")
    content: Text = Field(description="The whole new content.")


class EditFile(Arguments):
    """Replace text in one file."""

    path: Text = Field(description="The file, relative to the project folder.")
    old: Text = Field(description="The text to replace, copied exactly from the file, with its spaces and line breaks.")
    new: Text = Field(description="The text to put in its place; empty to delete.")
    all: bool = Field(
        default=False, description="Replace each place where old stands; otherwise there must be exactly one."
    )


class RunCommand(Arguments):
    """Run a command line."""

    command: str = Field(description="The command line, for the shell.")
    timeout: int = Field(default=120, description=f"Seconds after which it is ended, at most {LONGEST_COMMAND}.")

    @property
    def seconds(self) -> int:
        """How long the command may run."""
        return min(max(self.timeout, 1), LONGEST_COMMAND)
