"""The command line of mini-me; what a way of working needs is imported when it is chosen."""

from __future__ import annotations

import asyncio
import io
import logging
import shlex
import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer

HELP = """Example: mm -p "What does this project do?"

A small local agent for the folder that it is started in. Its conversations are kept beside the project, in
.mm/sessions, as files that can be read; a new start is a new conversation, and --resume goes on in an old one.

Without agent.yaml an offline stand-in answers; mm init writes a commented agent.yaml.
"""

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.callback(invoke_without_command=True, help=HELP)
def mm(
    context: typer.Context,
    question: Annotated[
        str | None, typer.Option("-p", "--print", metavar="QUESTION", help="Ask one question and end; - reads it.")
    ] = None,
    resume: Annotated[
        str | None, typer.Option("--resume", metavar="ID", help="Go on in a conversation; the start of its id will do.")
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", metavar="FILE", help="In place of ./agent.yaml.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="With -p: one event a line, as JSON.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="With -p: allow every tool call; else writing is refused.")
    ] = False,
) -> None:
    """Start, or ask one question."""
    logging.getLogger().addHandler(logging.NullHandler())  # else what a library logs would stand among the lines shown
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # nor are they for whoever asks a question
    if context.invoked_subcommand is not None:
        context.obj = config
        return
    if question is None and (sys.stdin is None or not sys.stdin.isatty()):  # None: it was closed before the start
        question = "-"
    if question is None:
        if as_json or yes:
            raise typer.BadParameter("it goes with -p", param_hint="--json" if as_json else "--yes")
        raise typer.Exit(_window(resume, config))
    asked = _read() if question == "-" else question
    if not asked.strip():
        raise typer.BadParameter("the question is blank", param_hint="-p")
    raise typer.Exit(_one_turn(asked, resume, config, as_json=as_json, yes=yes))


@app.command(short_help="Write a commented agent.yaml.")
def init() -> None:
    """Write a complete, commented agent.yaml into this folder; never over one that is there."""
    from maf_memory.errors import MafMemoryError
    from mm.example import write_example

    try:
        path = write_example(Path.cwd())
    except MafMemoryError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    typer.echo(f"{path} is written. Everything in it is the default; change what you need.")


@app.command(short_help="Serve an editor: the Agent Client Protocol on standard input and output.")
def acp(
    context: typer.Context,
    config: Annotated[Path | None, typer.Option("--config", metavar="FILE", help="In place of ./agent.yaml.")] = None,
    log: Annotated[Path | None, typer.Option("--log", metavar="FILE", help="Write the log there, too.")] = None,
) -> None:
    """Serve an editor by the Agent Client Protocol, until it closes standard input.

    The editor starts this command; docs/acp.md has the settings.
    """
    from mm.acp.serving import LogRefused, serve

    try:
        raise typer.Exit(serve(context.obj if config is None else config, log))
    except LogRefused as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None


def _read() -> str:
    """Return standard input as text; what is not UTF-8 shows as such."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    return sys.stdin.read().replace("\r\n", "\n") if sys.stdin is not None else ""


def _window(resume: str | None, config: Path | None) -> int:
    from maf_memory.errors import MafMemoryError
    from mm.agent_yaml import read_config
    from mm.terminal.opening import open_window

    project = Path.cwd()
    try:
        return open_window(project, read_config(project, config), resume=resume, given=config)
    except MafMemoryError as error:
        typer.echo(str(error), err=True)
        return 1


def _one_turn(question: str, resume: str | None, config: Path | None, *, as_json: bool, yes: bool) -> int:
    from maf_memory.errors import MafMemoryError
    from mm.assembly import read_config
    from mm.line.drawing import Json, Plain
    from mm.line.one_turn import one_turn

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8" if as_json else None, errors="replace")
    screen = Json(sys.stdout) if as_json else Plain(sys.stdout, sys.stderr)
    project = Path.cwd()
    try:
        read = read_config(project, config)
        if read.source is None and not as_json:
            typer.echo("No agent.yaml here: an offline stand-in answers. mm init writes one.", err=True)
        status, kept = asyncio.run(one_turn(project, read, question, screen, resume=resume, allow=yes))
    except MafMemoryError as error:
        typer.echo(str(error), err=True)
        return 1
    except KeyboardInterrupt:
        return 130
    if kept is not None and not as_json:
        given = f"--config {shlex.quote(str(config))} " if config is not None else ""
        typer.echo(f"Go on with: mm {given}--resume {kept}", err=True)
    return status
