"""The line a person writes on a real terminal: several lines, completion, recall, pastes, and a line of status."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING, TextIO

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.filters import has_completions, is_done
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import Output
from prompt_toolkit.shortcuts import CompleteStyle
from prompt_toolkit.styles import Style

from mm.terminal.pasting import Pastes
from mm.terminal.reading import forget_typed
from mm.terminal.recall import Recall
from mm.terminal.rows import row_above, row_below
from mm.terminal.screen import fitted

if TYPE_CHECKING:
    from prompt_toolkit.buffer import Buffer
    from prompt_toolkit.completion import Completer

PROMPT = "> "

STYLE = Style.from_dict({"bottom-toolbar": "noreverse", "bottom-toolbar.text": "dim"})

ROOM = 6
"""How many rows the line and its completions take at least, where the terminal has as many."""

UNFOLD = "/calls"
"""What Ctrl-O asks for."""


class Prompt:
    """The reader of a terminal with keys."""

    is_plain = False

    def __init__(
        self,
        stdin: TextIO,
        completer: Completer,
        recall: Recall | None,
        status: Callable[[], str],
        typed: Callable[[], None],
    ) -> None:
        """Recall nothing without ``recall``; ``typed`` is told when something is."""
        self._stdin = stdin
        self._status = status
        self._pastes = Pastes()
        self._recall = recall
        self._session: PromptSession[str] = PromptSession(
            PROMPT,
            multiline=True,
            prompt_continuation=" " * len(PROMPT),
            completer=completer,
            complete_while_typing=True,
            complete_style=CompleteStyle.COLUMN,
            history=Recall(tuple, _nothing) if recall is None else recall,
            key_bindings=self._keys(),
            bottom_toolbar=self._toolbar,
            style=STYLE,
            enable_suspend=True,
        )
        self._session.app.before_render += lambda _: self._make_room()
        if recall is not None:
            recall.buffer = self._session.default_buffer
        self._session.default_buffer.on_text_changed += lambda _: typed()
        self._asking: PromptSession[str] | None = None

    @property
    def output(self) -> Output:
        """Where it is drawn."""
        return self._session.output

    async def question(self) -> str:
        """Return the next question or command, with every paste in full."""
        return self._pastes.whole(await self._session.prompt_async(handle_sigint=False))

    async def choice(self, prompt: str) -> str:
        """Return the line that answers ``prompt``."""
        if self._asking is None:
            self._asking = PromptSession(input=self._session.input, output=self._session.output, enable_suspend=True)
        forget_typed(self._stdin)
        clear_typeahead(self._session.input)
        return await self._asking.prompt_async(prompt, handle_sigint=False)

    def interrupt(self) -> None:
        """End the prompt that is shown."""
        app = get_app()
        if app.is_running and not app.is_done:
            app.exit(exception=KeyboardInterrupt())

    def _make_room(self) -> None:
        """Keep rows free for completions, as many as a small terminal has beside the line and the status."""
        rows = self._session.output.get_size().rows
        self._session.reserve_space_for_menu = max(1, min(ROOM, rows - 2))

    @property
    def _columns(self) -> int:
        """How many cells of a row are the text's; a row that wraps is indented like the first one."""
        return self._session.output.get_size().columns - len(PROMPT)

    def _toolbar(self) -> StyleAndTextTuples:
        columns = self._session.output.get_size().columns
        return [("", fitted(f" {self._status()}", columns - 1))]

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("enter", filter=~is_done)
        def _(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
                buffer.complete_state = None
            else:
                buffer.validate_and_handle()

        @keys.add("escape", "enter")
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @keys.add(Keys.BracketedPaste)
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text(self._pastes.taken(event.data))

        @keys.add("backspace")
        def _(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            token = self._pastes.token_before(buffer.document.text_before_cursor)
            buffer.delete_before_cursor(len(token) if token else 1)

        @keys.add("c-c")
        def _(event: KeyPressEvent) -> None:
            if event.current_buffer.text:
                self._pastes = Pastes()
                event.current_buffer.reset()
            else:
                event.app.exit(exception=KeyboardInterrupt())

        @keys.add("c-o")
        def _(event: KeyPressEvent) -> None:
            if not event.current_buffer.text:
                event.current_buffer.text = UNFOLD
                event.current_buffer.validate_and_handle()

        @keys.add("up", filter=~has_completions)
        @keys.add("c-p", filter=~has_completions)
        def _(event: KeyPressEvent) -> None:
            place = row_above(event.current_buffer.document, self._columns)
            if place is not None:
                event.current_buffer.cursor_position = place
            else:
                self._back(event.current_buffer)

        @keys.add("down", filter=~has_completions)
        @keys.add("c-n", filter=~has_completions)
        def _(event: KeyPressEvent) -> None:
            place = row_below(event.current_buffer.document, self._columns)
            if place is not None:
                event.current_buffer.cursor_position = place
            else:
                event.current_buffer.history_forward()

        return keys

    def _back(self, buffer: Buffer) -> None:
        if self._recall is not None and not buffer.selection_state:
            self._recall.back()


async def _nothing() -> AsyncGenerator[str, None]:
    return
    yield
