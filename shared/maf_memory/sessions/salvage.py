"""What is still whole in the bytes of a damaged session file, however it is laid out, and which lines are not.

A message begins at an object whose first key is one that messages have; a quotation mark inside a text is escaped, so
no text can look like one. Each is then judged alone, as strictly as a whole file. Two conversations in one file, as a
merge conflict or a second document leaves them, are read one after the other. What a flipped bit made of one letter
cannot be seen.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from maf_memory.conversation import NotAConversation, checked
from maf_memory.decoding import decode_json
from maf_memory.errors import FileRefused
from maf_memory.sessions.journal import ErrorRecord, Journal
from maf_memory.sessions.layout import HEADER, OPTIONAL
from maf_memory.sessions.spans import Spans

_MESSAGE_KEYS = "role|contents|message_id|author_name|additional_properties|type"
_ERROR_KEYS = "time|kind|turns|question|line|raw|model"
_BEGINNING = re.compile(rf'\{{\s*"(?:{_MESSAGE_KEYS}|{_ERROR_KEYS})"\s*:')
_MESSAGES = re.compile(r'"messages"\s*:\s*\[')
_STATE = re.compile(r'"state"\s*:\s*')
_ERRORS = re.compile(r'"errors"\s*:\s*')
_CONFLICT = re.compile(r"^(?:<{7}|={7}|>{7}|\|{7})(?: [^\n]*)?\r?$", re.MULTILINE)
_Found = tuple[int, int, dict[str, Any]]
"""A piece with the span in which it stands."""

_FIELDS = {**HEADER, **OPTIONAL}
_FIELD = re.compile(rf'"({"|".join(_FIELDS)})"\s*:\s*')
_OPENED = re.compile(r'"(?:messages|errors)"\s*:\s*\[\Z')
_ALL_IN_ONE_LINE = re.compile(r'"(?:created|updated)"\s*:[^\n]{1,400}"(?:cwd|framework)"\s*:')
_LITTLE = 4
_TOO_DEEP = "it nests too deeply"

_scan = json.JSONDecoder().raw_decode


@dataclass(frozen=True, slots=True)
class Piece:
    """A message that is whole; ``line`` is where it begins, from 1."""

    line: int
    form: dict[str, Any]


@dataclass(slots=True)
class Salvaged:
    """What is whole in a file, in the order in which it stands there; ``lost`` says in sentences what is not."""

    header: dict[str, Any] = field(default_factory=dict)
    messages: list[Piece] = field(default_factory=list)
    state: dict[str, Any] | None = None
    errors: list[Any] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def salvage(content: bytes, path: Path) -> Salvaged:
    """Return what is whole in ``content``; nothing is refused, whatever stands there."""
    return _Reader(content, path).read()


class _Reader:
    """One reading of one file; ``_why`` says of each place that looks like a beginning and is none what is wrong."""

    def __init__(self, content: bytes, path: Path) -> None:
        # Bytes that are no text stay visible: they come back as they were where a piece is judged.
        self._text = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
        self._path = path
        self._spans = Spans(self._text)
        self._one_line = {self._spans.line(found.start()) for found in _ALL_IN_ONE_LINE.finditer(self._text)}
        self._deepest = 0
        self._why: dict[int, str] = {}
        self._found = Salvaged()

    def read(self) -> Salvaged:
        """Return what is whole, with a sentence for each stretch that is not."""
        pieces = list(self._outermost(list(self._pieces())))
        messages = [piece for piece in pieces if "role" in piece[2]]
        for start, end, form in messages:
            self._found.messages.append(Piece(self._spans.line(start), form))
            self._spans.account(start, end)
        self._take_state()
        self._take_errors([piece for piece in pieces if "role" not in piece[2]])
        self._take_header()
        self._take_conflicts()
        self._say_what_is_lost()
        return self._found

    def _pieces(self) -> Iterator[_Found]:
        """Yield each whole message and error record with its span."""
        end = 0
        for found in _BEGINNING.finditer(self._text):
            start = found.start()
            if start < end:
                continue
            try:
                form, after = _scan(self._text, start)
            except (ValueError, RecursionError) as error:
                self._why[start] = _TOO_DEEP if isinstance(error, RecursionError) else "it is not whole JSON"
                continue
            problem = self._problem_of(start, after, form)
            if problem is None:
                end = after
                yield start, after, form
            elif "role" in form:
                self._why[start] = problem

    def _problem_of(self, start: int, end: int, form: dict[str, Any]) -> str | None:
        """Return why an object is neither a message nor an error record; as strict as the reading of a whole file."""
        if form.get("type") == "message":
            del form["type"]  # the framework names it elsewhere
        try:
            decode_json(self._text[start:end].encode("utf-8", "surrogateescape"), self._path)
            if "role" in form:
                checked(form, 1, kind=None)
            elif not _is_error(form):
                return "it is something else"
        except FileRefused as error:
            return re.sub(r",? (?:at|the first at) (?:line|byte) [0-9]+.*", "", error.found)
        except NotAConversation as error:
            return str(error).replace("message 1", "its message", 1)
        except RecursionError:
            return _TOO_DEEP
        return None

    def _outermost(self, pieces: list[_Found]) -> Iterator[_Found]:
        """Yield what stands in the lists of the file, and not inside a broken message, as a tool's argument does.

        Lists stand at the margin, or where a re-formatted file has them all. On a line with something before it, a
        piece follows another one of its list, but for a byte or two of damage; or the whole file is one line.
        """
        indents = {indent for start, _, _ in pieces if (indent := self._spans.indent(start)) is not None}
        self._deepest = min(indents - {0}, default=0)
        end = 0
        for piece in pieces:
            indent = self._spans.indent(piece[0])
            if indent in (0, self._deepest) if indent is not None else self._follows(piece[0], end):
                end = piece[1]
                yield piece

    def _follows(self, start: int, end: int) -> bool:
        """Whether a piece with something before it on its line belongs to a list whose last piece ended at ``end``."""
        if 0 < start - end < _LITTLE and end > 0:
            return True
        first = max(end, start - 40)
        before = self._text[first:start].rstrip()
        if self._spans.line(start) in self._one_line:
            return before.endswith(("[", "},"))
        opened = _OPENED.search(before)
        return opened is not None and self._is_field(first + opened.start())

    def _is_field(self, start: int) -> bool:
        """Whether a name is a field of the file itself, and not of what is left of a broken message.

        Several fields may share a line; it begins with one, where a message begins with a brace.
        """
        margin = self._spans.margin(start)
        if self._spans.line(start) in self._one_line:
            return True
        return self._text.startswith('"', margin) and (self._spans.indent(margin) or 0) <= self._deepest

    def _take_state(self) -> None:
        for found in self._spans.elsewhere(_STATE):
            value, end = self._value(found.end())
            if isinstance(value, dict) and self._is_field(found.start()):
                self._found.state = value
                self._spans.account(found.start(), end)

    def _take_errors(self, records: list[_Found]) -> None:
        """Take each list of errors that is whole, records that cannot be read included, and what is whole of others."""
        taken: list[tuple[int, Any]] = []
        for found in self._spans.elsewhere(_ERRORS):
            if not self._is_field(found.start()):
                continue
            value, end = self._value(found.end())
            before = [form for _, form in taken]
            if isinstance(value, list):
                taken += [(found.start(), form) for form in value if form not in before]
            self._spans.account(found.start(), end or found.end())
        for start, end, form in records:
            if not self._spans.holds(start):
                self._spans.account(start, end)
                taken += [(start, form)] if form not in [other for _, other in taken] else []
        self._found.errors = [form for _, form in sorted(taken, key=lambda one: one[0])]

    def _take_header(self) -> None:
        """Read the fields of the file, wherever they stand; of two documents the first one's count."""
        end = 0
        for found in self._spans.elsewhere(_FIELD):
            if found.start() >= end and self._is_field(found.start()):
                value, after = self._value(found.end())
                if type(value) in _FIELDS[found[1]] and after:
                    end = after
                    self._spans.account(found.start(), after)
                    self._found.header.setdefault(found[1], value)
        lists = [found for found in self._spans.elsewhere(_MESSAGES) if self._is_field(found.start())]
        for number, found in enumerate(lists):
            self._spans.account(found.start(), found.end())
            if number:
                line = self._spans.line(found.start())
                self._found.lost.append(
                    f"Line {line} begins the messages of a second document; they follow the others."
                )

    def _take_conflicts(self) -> None:
        for found in self._spans.elsewhere(_CONFLICT):
            self._spans.account(found.start(), found.end())
            if found[0].startswith("<"):
                line = self._spans.line(found.start())
                self._found.lost.append(f"Line {line} begins a merge conflict; the messages of both sides are kept.")

    def _say_what_is_lost(self) -> None:
        if self._found.state is None:
            self._found.lost.append("What the framework keeps beside the messages, the state, is lost.")
        for _, group in itertools.groupby(enumerate(self._spans.rest()), key=lambda one: one[1][0] - one[0]):
            lines = [line for _, line in group]
            first, last = lines[0][0], lines[-1][0]
            which = f"Lines {first} to {last} are lost" if last > first else f"Line {first} is lost"
            if first == last and lines[0][2]:
                which = f"A part of line {first} is lost"
            self._found.lost.append(
                f"{which}: {self._why_between(first, last, ''.join(rest for _, rest, _ in lines))}."
            )
        last = len(self._text.rstrip()) - 1
        if not self._text.startswith("}", last) or self._spans.holds(last):  # the brace of the file itself
            line = self._spans.line(self._spans.end)
            self._found.lost.append(f"The file ends unfinished; whatever stood after line {line} is lost.")

    def _why_between(self, first: int, last: int, rest: str) -> str:
        if "\0" in rest:
            return "it holds NUL bytes"
        if any("\udc80" <= character <= "\udcff" for character in rest):
            return "it is not UTF-8"
        return next(
            (why for at, why in self._why.items() if first <= self._spans.line(at) <= last), "it cannot be read"
        )

    def _value(self, start: int) -> tuple[Any, int]:
        """Return the value that begins at ``start`` and its end, or ``None`` and 0 where it is not whole."""
        try:
            _, end = _scan(self._text, start)
            return decode_json(self._text[start:end].encode("utf-8", "surrogateescape"), self._path), end
        except (ValueError, RecursionError, FileRefused):
            return None, 0


def _is_error(form: object) -> bool:
    return isinstance(next(iter(Journal.decode([form]))), ErrorRecord)
