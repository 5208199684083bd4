"""Picks a conversation with the arrow keys, and deletes one after a yes; it leaves nothing on the screen."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from prompt_toolkit.application import Application
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import FormattedTextControl, Layout, Window
from rich.cells import chop_cells

from maf_memory.errors import MafMemoryError
from maf_memory.sessions.listing import counted, describe, describe_damaged
from maf_memory.sessions.record import local_now
from maf_memory.text import one_line
from mm.terminal.screen import fitted

if TYPE_CHECKING:
    from maf_memory.sessions.storage import Page
    from mm.terminal.window import Window as Terminal

KEYS_LINE = "↑↓ choose · Enter opens · d deletes · Esc leaves"
MARK = "> "


class Picker:
    """The list as it is shown: a few rows around the chosen one, and a line that says what the keys do."""

    def __init__(self, terminal: Terminal, page: Page) -> None:
        self._terminal = terminal
        self._page = page
        self._now = local_now()
        self._chosen = 0
        self._told = ""
        self._deleting: str | None = None
        self._application: Application[str | None] = Application(
            layout=Layout(Window(FormattedTextControl(self._drawn, show_cursor=False), always_hide_cursor=True)),
            key_bindings=self._keys(),
            erase_when_done=True,
        )
        self._application.ttimeoutlen = 0.05  # Esc alone leaves, and waits for no sequence

    async def run(self) -> str | None:
        """Return the id that is picked, or ``None``."""
        return await self._application.run_async(handle_sigint=False)

    @property
    def _rows(self) -> list[tuple[str, str]]:
        """Each row: the id, and the line."""
        rows = [
            (head.id, f"{number:2} {head.id[:15]} {describe(head, self._now)}")
            for number, head in enumerate(self._page.heads, start=1)
        ]
        return rows + [(one.id, f"   {describe_damaged(one)}") for one in self._page.damaged]

    def _drawn(self) -> StyleAndTextTuples:
        size = self._application.output.get_size()
        below = chop_cells(self._told or KEYS_LINE, max(size.columns - 1, 2))
        rows = self._rows
        height = max(1, min(len(rows), size.rows - 1 - len(below), 15))
        first = min(max(0, self._chosen - height // 2), len(rows) - height)
        drawn: StyleAndTextTuples = []
        for place in range(first, first + height):
            is_chosen = place == self._chosen
            line = fitted(f"{MARK if is_chosen else '  '}{rows[place][1]}", size.columns - 1)
            drawn.append(("reverse" if is_chosen else "", f"{line}\n"))
        drawn.append(("bold" if self._told else "", "\n".join(below)))
        return drawn

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("up")
        @keys.add("c-p")
        def _(event: KeyPressEvent) -> None:  # noqa: ARG001
            self._move(-1)

        @keys.add("down")
        @keys.add("c-n")
        def _(event: KeyPressEvent) -> None:  # noqa: ARG001
            self._move(1)

        @keys.add("enter")
        def _(event: KeyPressEvent) -> None:
            if self._deleting is not None:
                self._keep()
            elif self._chosen >= len(self._page.heads):
                self._told = (
                    f"It cannot be opened: {one_line(self._page.damaged[self._chosen - len(self._page.heads)].problem)}"
                )
            else:
                event.app.exit(result=self._rows[self._chosen][0])

        @keys.add("d")
        @keys.add("delete")
        def _(event: KeyPressEvent) -> None:  # noqa: ARG001
            if self._deleting is None:
                self._ask_to_delete()
            else:
                self._keep()

        @keys.add("y")
        def _(event: KeyPressEvent) -> None:
            if self._deleting is not None:
                event.app.create_background_task(self._delete(self._deleting))
            self._keep()

        @keys.add(Keys.Any)
        def _(event: KeyPressEvent) -> None:  # noqa: ARG001
            self._keep()

        @keys.add("escape", eager=True)
        @keys.add("q")
        @keys.add("c-c")
        @keys.add("c-d")
        def _(event: KeyPressEvent) -> None:
            if self._deleting is not None:
                self._keep()
            else:
                event.app.exit(result=None)

        return keys

    def _move(self, step: int) -> None:
        self._keep()
        self._chosen = min(max(0, self._chosen + step), len(self._rows) - 1)

    def _keep(self) -> None:
        self._deleting, self._told = None, ""

    def _ask_to_delete(self) -> None:
        wanted = self._rows[self._chosen][0]
        going = [wanted]
        for successor in going:  # it grows: what a predecessor continues goes, too
            going += [one.id for one in self._page.heads if one.continued_in == successor and one.id not in going]
        if self._terminal.keeper.record.id in going:
            what = "This is" if self._terminal.keeper.record.id == wanted else "This continues"
            self._told = f"{what} the conversation at hand; /new leaves it first."
            return
        title = next((head.title for head in self._page.heads if head.id == wanted), "") or wanted
        more = f" and {counted(len(going) - 1, 'conversation')} that it continues" if len(going) > 1 else ""
        self._deleting = wanted
        shown = one_line(title, max(8, min(40, self._application.output.get_size().columns - 10)))
        self._told = f"Delete “{shown}”{more} for good? y deletes, any other key keeps it"

    async def _delete(self, wanted: str) -> None:
        told = await self._deleted(wanted)
        if self._application.is_done:
            return
        self._terminal.listed = [head.id for head in self._page.heads]
        if not self._rows:
            self._application.exit(result=None)
            return
        if self._deleting is None:  # else another question stands there by now
            self._told = told
        self._chosen = min(self._chosen, len(self._rows) - 1)
        self._application.invalidate()

    async def _deleted(self, wanted: str) -> str:
        """Delete, read the list again, and return the line that tells it."""
        keeper = self._terminal.keeper
        try:
            await keeper.delete(wanted)
            self._page = await keeper.sessions()
        except MafMemoryError as error:
            with suppress(MafMemoryError):
                page = await keeper.sessions()
                self._page = page if page.heads or page.damaged else self._page  # the line needs a list to stand under
            return f"Error: {one_line(str(error), 400)}"
        return f"{wanted} is deleted."


async def picked(terminal: Terminal, page: Page) -> str | None:
    """Return the id of the conversation that the person picks, or ``None``."""
    sys.stdout.flush()
    return await Picker(terminal, page).run()
