"""The command line of ``maf-memory sessions``: one module a command, listed here."""

from __future__ import annotations

import typer

from maf_command.sessions.delete import DELETE_HELP, delete
from maf_command.sessions.export import EXPORT_HELP, export
from maf_command.sessions.listing import LIST_HELP, list_sessions
from maf_command.sessions.path import PATH_HELP, path
from maf_command.sessions.repair import REPAIR_HELP, repair
from maf_command.sessions.search import SEARCH_HELP, search
from maf_command.sessions.show import SHOW_HELP, show

HELP = """Example: maf-memory sessions list

Find, read, export, repair and delete the conversations of the project in the current folder: the readable files in
its .mm/sessions.
"""

sessions = typer.Typer(no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)


@sessions.callback(help=HELP, epilog="maf-memory sessions COMMAND --help shows a command's own page.")
def _sessions() -> None:
    """Hold the commands together."""


sessions.command("list", help=LIST_HELP, short_help="List the conversations, the last active first.")(list_sessions)
sessions.command(help=SHOW_HELP, short_help="Show a conversation, with its tool calls and errors.")(show)
sessions.command(help=SEARCH_HELP, short_help="Find the messages that hold a word.")(search)
sessions.command(help=EXPORT_HELP, short_help="Write a conversation as a page or as Markdown.")(export)
sessions.command(help=REPAIR_HELP, short_help="Write what is whole in a damaged one to a new one.")(repair)
sessions.command(help=DELETE_HELP, short_help="Delete a conversation, and say what that leaves.")(delete)
sessions.command(help=PATH_HELP, short_help="Print the path of a conversation's file.")(path)
