"""Starts a demo: options, streams, state root, chat client, then the loop."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from maf_console.loop import Console, Demo, Lines
from maf_console.options import Options, parse
from maf_console.places import Places
from maf_console.screen import OutputLost, Screen, open_streams
from maf_memory.chat import chat_choice, connect, describe
from maf_memory.errors import MafMemoryError, NotProvenDurable
from maf_memory.root import VARIABLE, open_root

if TYPE_CHECKING:
    from agent_framework import BaseChatClient


class Startable(Demo, Protocol):
    """A demo with its store, before it runs."""

    async def destroy_state(self) -> bool:
        """Destroy this demo's own file; return whether there was one."""
        ...

    @property
    def state_file(self) -> str:
        """The path of this demo's own file."""
        ...


def main(
    make: Callable[[Places, BaseChatClient[Any], Screen], Startable],
    *,
    program: str,
    summary: str,
    store: str,
    arguments: Sequence[str] | None = None,
) -> int:
    """Run the demo that ``make`` builds and return the exit status of the process."""
    open_streams()
    options = parse(program, summary, store, arguments)
    screen = Screen()
    try:
        return _run(make, options, program, summary, screen)
    except OutputLost as lost:
        if not isinstance(lost.error, BrokenPipeError) and lost.stream is not sys.stderr:
            screen.error(f"The output cannot be written: {lost.error.strerror}. Nothing more was done.")
        return 1


def _run(
    make: Callable[[Places, BaseChatClient[Any], Screen], Startable],
    options: Options,
    program: str,
    summary: str,
    screen: Screen,
) -> int:
    try:
        choice = chat_choice(options.chat)
        who = describe(choice)
        places = Places(open_root(), is_default=VARIABLE not in os.environ)
        demo = make(places, connect(choice), screen)
        if options.reset_state:
            _destroy(demo, screen)
    except MafMemoryError as error:
        screen.error(str(error))
        return 1
    except KeyboardInterrupt:
        return 130
    screen.notice(f"{program}: {summary}\n  chat          {who}")
    return Console(demo, screen, Lines(f"{program}> ", screen, echo=options.echo)).run()


def _destroy(demo: Startable, screen: Screen) -> None:
    try:
        existed = asyncio.run(demo.destroy_state())
    except NotProvenDurable as error:
        screen.error(str(error))
        existed = True
    screen.notice(f"--reset-state: {'destroyed' if existed else 'nothing to destroy at'} {demo.state_file}")
