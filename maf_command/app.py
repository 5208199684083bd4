"""The command line of maf-memory: one module a command, listed here.

A command's module is imported with its help; whatever it needs to do its work is imported inside it.
"""

from __future__ import annotations

import typer

from maf_command.qualify import QUALIFY_HELP, qualify
from maf_command.sessions.app import sessions
from maf_command.state import TRACE_HELP, WHERE_HELP, trace, where

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # they print the values of variables, and one of them is a key
    rich_markup_mode=None,
)


HELP = """Example: maf-memory where

Look at what is kept, by the two demos and as the sessions of a project, and test a chat before people rely on it.
"""


@app.callback(help=HELP, epilog="maf-memory COMMAND --help shows a command's own page.")
def maf_memory() -> None:
    """Hold the commands together; a callback keeps the name of a single one."""


app.command(help=QUALIFY_HELP, short_help="Test whether the demos would work with a model.")(qualify)
app.command(help=WHERE_HELP, short_help="Show what is kept, and in which file.")(where)
app.command(help=TRACE_HELP, short_help="Show every place that still holds a text.")(trace)
app.add_typer(sessions, name="sessions", short_help="Find, read and look after the conversations of a project.")
