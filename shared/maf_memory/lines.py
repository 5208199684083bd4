"""The messages of a conversation as lines: each is encoded and proven once, and its bytes are kept for the next save.

A file is rewritten whole at each save; what it costs should be the write, not the encoding of what was saved before.
The rule this rests on: nobody changes a recorded message in place. It is watched: each save encodes one old line again,
in rotation, and a line that differs makes all of them be encoded anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from maf_memory.authorship import is_question
from maf_memory.conversation import Calls, Event, NotAConversation, checked
from maf_memory.decoding import MAXIMUM_DEPTH, nests_too_deeply
from maf_memory.plain_forms import plain_line_form

if TYPE_CHECKING:
    from agent_framework import Message

Form = Callable[["Message"], dict[str, Any]]
Rebuild = Callable[[dict[str, Any]], "Message"]

encoded: Callable[[Any], bytes] = msgspec.json.Encoder().encode


SEPARATOR = b",\n"
"""What stands between two messages of a file."""

_SINGLE = 256
"""How many lines are put together at each save, before they are kept as one piece."""

_DEEPEST = MAXIMUM_DEPTH - 10
"""How deeply a message may nest: less than a file, for it stands in some containers of its file."""


def full_form(message: Message) -> dict[str, Any]:
    """Return ``message`` as the framework serialises it inside a session: every field, the type last."""
    form = message.to_dict()
    form["type"] = form.pop("type")
    return form


def from_full_form(form: dict[str, Any]) -> Message:
    """Return the message that :func:`full_form` wrote."""
    from agent_framework import Message

    return Message.from_dict(form)


def line_form(message: Message) -> dict[str, Any]:
    """Return ``message`` as a line of a session file: the framework's serialisation without what repeats or is empty.

    The framework writes the result of a tool twice, as ``result`` and as ``items``; plain ``items`` are left out, and
    ``null`` stands where there were none.
    """
    plain = plain_line_form(message)
    if plain is not None:
        return plain
    form = message.to_dict()
    del form["type"]
    if not form["additional_properties"]:
        del form["additional_properties"]
    for content in form["contents"]:
        if "additional_properties" in content and not content["additional_properties"]:
            del content["additional_properties"]
        if content["type"] == "function_result" and type(content.get("result")) is str:
            if "items" not in content:
                content["items"] = None
            elif content["items"] == _plain_items(content["result"]):
                del content["items"]
    return form


def message_of(form: dict[str, Any]) -> Message:
    """Return the message that :func:`line_form` wrote; ``form`` is left as it is."""
    from agent_framework import Message

    if any(_lacks_items(content) for content in form["contents"]):
        contents = [
            {**content, "items": _plain_items(content["result"])} if _lacks_items(content) else content
            for content in form["contents"]
        ]
        return Message.from_dict({**form, "contents": contents})
    return Message.from_dict(form)


def _lacks_items(content: dict[str, Any]) -> bool:
    return content["type"] == "function_result" and "items" not in content and type(content.get("result")) is str


def _plain_items(result: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": result, "additional_properties": {}}]


@dataclass(frozen=True, slots=True)
class _Line:
    message: Message
    encoded: bytes
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Joined:
    """The first ``count`` lines of a conversation as one piece, with a separator between them and none at the end."""

    count: int = 0
    content: bytes | memoryview = b""


class MessageLines:
    """The encoded lines of one conversation, in the form that its file has.

    Not safe for two threads at once: its store admits one work at a time.
    """

    def __init__(
        self, form: Form = full_form, rebuild: Rebuild = from_full_form, *, kind: str | None = "message"
    ) -> None:
        """Hold no line yet; ``form`` and ``rebuild`` are the two directions of one serialisation of a message.

        ``kind`` is the ``type`` that a form names, if it names one.
        """
        self._kind = kind
        self._form = form
        self._rebuild = rebuild
        self._known: list[Message] = []
        self._lines: list[bytes] = []
        self._events: list[tuple[Event, ...]] = []
        self._questions: list[int] = [0]  # of persons, before each known message and after the last
        self._calls = Calls()  # after the known messages
        self._watched = 0
        self._joined = Joined()

    def prime(
        self,
        messages: Sequence[Message],
        lines: Sequence[bytes],
        events: Sequence[tuple[Event, ...]],
        joined: bytes | memoryview = b"",
    ) -> None:
        """Take over what a load has proven: the messages, their lines in the file, and what they do to the calls.

        ``joined`` are the lines as they stand in the file, all of them, where they are at hand.
        """
        self._joined = Joined(len(lines), joined) if joined else Joined()
        self._known, self._lines, self._events = list(messages), list(lines), list(events)
        self._questions = [0]
        self._count(self._known)
        self._calls = Calls()
        self._calls.take(events)

    @property
    def questions(self) -> int:
        """How many of the messages taken last are questions of a person."""
        return self._questions[-1]

    @property
    def joined(self) -> Joined:
        """The first of the lines taken last as one piece: to put many together anew costs as much as their write."""
        if len(self._lines) - self._joined.count > _SINGLE:
            self._joined = Joined(len(self._lines), SEPARATOR.join(self._lines))
        return self._joined

    def _count(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self._questions.append(self._questions[-1] + is_question(message))

    def take(self, messages: Sequence[Message]) -> Sequence[bytes]:
        """Return the lines of ``messages``, proven to be a conversation that the framework rebuilds unchanged.

        Raises:
            NotAConversation: a message is not one, or a tool call has no result; the message is counted from 1.
            ValueError, TypeError, KeyError, AttributeError, RecursionError: a message holds what JSON cannot, or what
                the framework cannot rebuild.
        """
        wanted = list(messages)
        self._watch()
        same = _common(self._known, wanted)
        if same < self._joined.count:
            self._joined = Joined()
        goes_on = same == len(self._known)
        moved = {} if goes_on else self._by_identity(same)
        lines, events = self._lines[:same], self._events[:same]
        for number, message in enumerate(wanted[same:], start=same + 1):
            kept = moved.get(id(message)) or self._proven(message, number)
            lines.append(kept.encoded)
            events.append(kept.events)
        calls = self._calls.copy() if goes_on else Calls()
        calls.take(events[same:] if goes_on else events)
        calls.refuse_open()
        self._known, self._lines, self._events, self._calls = wanted, lines, events, calls
        del self._questions[same + 1 :]
        self._count(wanted[same:])
        return lines

    def _watch(self) -> None:
        """Encode one old line again; forget all of them when it is not the same any more."""
        if not self._known:
            return
        self._watched = (self._watched + 1) % len(self._known)
        try:
            same = encoded(self._form(self._known[self._watched])) == self._lines[self._watched]
        except (ValueError, TypeError, RecursionError):
            same = False  # it is encoded again below, where the error can name it
        if not same:
            self.prime((), (), ())

    def _by_identity(self, start: int) -> dict[int, _Line]:
        rest = zip(self._known[start:], self._lines[start:], self._events[start:], strict=True)
        return {id(message): _Line(message, line, events) for message, line, events in rest}

    def _proven(self, message: Message, number: int) -> _Line:
        if not hasattr(message, "to_dict"):
            raise NotAConversation(f"message {number} is not a message")
        plain = plain_line_form(message) if self._form is line_form else None
        form = self._form(message) if plain is None else plain
        events = checked(form, number, kind=self._kind)
        line = encoded(form)
        may_be_deep = plain is None and line.count(b"[") + line.count(b"{") > _DEEPEST
        if may_be_deep and nests_too_deeply(form, _DEEPEST):
            raise ValueError(f"message {number} nests too deeply")
        # The fast encoder changes some values in silence: NaN becomes null, bytes and sets something else.
        if msgspec.json.decode(line) != form:
            raise ValueError(f"message {number} holds a value that JSON cannot hold")
        if plain is not None:
            return _Line(message, line, events)  # its example was rebuilt, and a text is taken over as it is
        rebuilt = self._rebuild(form)
        if not _holds_the_same(message, rebuilt) and self._form(rebuilt) != form:
            raise NotAConversation(f"message {number} is one that the framework rebuilds differently")
        return _Line(message, line, events)


def _holds_the_same(one: Any, other: Any) -> bool:
    """Whether two messages or contents hold the same, at first sight: then they serialise to the same, too."""
    ours, theirs = vars(one), vars(other)
    if "call_id" in ours and ours["items"] is None and ours == theirs:
        return True  # a content without contents of its own: one comparison tells, without a look at each field
    if ours.keys() != theirs.keys():
        return False
    for name, value in ours.items():
        again = theirs[name]
        if name == "raw_representation" or value is again:
            continue  # what a provider sent is never serialised
        if name in _HOLDING_CONTENTS and type(value) is list and type(again) is list:
            if len(value) != len(again) or not all(map(_are_the_same, value, again)):
                return False
        elif type(value) is not type(again) or type(value) not in _PLAIN or value != again:
            return False
    return True


_HOLDING_CONTENTS = frozenset({"contents", "items"})
_PLAIN = frozenset({str, int, bool, float, type(None), dict})


def _are_the_same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and hasattr(one, "__dict__") and _holds_the_same(one, other)


def _common(known: Sequence[Message], wanted: Sequence[Message]) -> int:
    """Return how many messages are the same ones at the same place, from the first on."""
    low, high = 0, min(len(known), len(wanted))
    while low < high:  # comparing slices costs next to nothing: the same object is equal at first sight
        middle = (low + high + 1) // 2
        if known[low:middle] == wanted[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
