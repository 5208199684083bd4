"""Makes what is left of a conversation one again: nothing twice, and no tool call without its result.

A call whose result is lost gets the result that a killed process leaves, so that the model sees what may have happened;
a result whose call is lost is left out, because no server takes it.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from typing import Any

from maf_memory.sessions.salvage import Piece
from maf_memory.text import one_line

INTERRUPTED = "interrupted; may have run"
"""The same words as :data:`maf_memory.kept.INTERRUPTED`, without loading an agent; a test compares them."""


def each_once(pieces: Iterable[Piece], said: list[str]) -> Iterator[Piece]:
    """Yield the messages, those that stand there twice once.

    Two versions of one message are both kept, the later one under an id of its own: which one counts, nobody knows.
    """
    known: dict[str, list[Piece]] = {}
    twice = 0
    for piece in pieces:
        message_id = piece.form.get("message_id")
        versions = known.setdefault(message_id, []) if message_id else []
        if any(version.form == piece.form for version in versions):
            twice += 1
            continue
        versions.append(piece)
        if message_id and len(versions) > 1:
            if piece.form["role"] != "tool":
                first = versions[0].line
                said.append(f"Line {piece.line} is another version of the message of line {first}; both are kept.")
            yield Piece(piece.line, {**piece.form, "message_id": f"{message_id}-{len(versions)}"})
        else:
            yield piece
    if twice:
        said.append(f"{twice} message{'s stand' if twice > 1 else ' stands'} there twice; each is kept once.")


def mended(pieces: Iterable[Piece], said: list[str]) -> list[Piece]:
    """Return the messages with a result for each call and a call for each result.

    A call that waits for a person's approval waits on. A real result takes the place of a provisional one.
    """
    mending = _Mending(said)
    for piece in pieces:
        mending.take(piece)
    return mending.whole()


class _Mending:
    """The calls of a conversation, message after message, and the messages as they can stay."""

    def __init__(self, said: list[str]) -> None:
        self._said = said
        self._pieces: list[Piece] = []
        self._open: dict[str, tuple[int, int, str]] = {}  # by id: the place of the message, its line, the tool
        self._answered: dict[str, dict[str, Any]] = {}  # by id: the result that closed the last call of this id
        self._awaiting: set[str | None] = set()
        self._hosted: set[str] = set()
        self._unanswered: dict[int, list[str]] = {}

    def take(self, piece: Piece) -> None:
        """Go on by one message; what cannot stay of it is left out."""
        contents = [kept for each in piece.form["contents"] if (kept := self._kept(each, piece.line)) is not None]
        if contents or not piece.form["contents"]:
            self._pieces.append(Piece(piece.line, {**piece.form, "contents": contents}))

    def whole(self) -> list[Piece]:
        """Return the messages, with a provisional result after each message with a call that gets none."""
        for call_id in [each for each in self._open if each not in self._awaiting]:
            self._give_up(call_id)
        pieces: list[Piece] = []
        for place, piece in enumerate(self._pieces):
            pieces.append(piece)
            if place in self._unanswered:
                results = [
                    {"type": "function_result", "call_id": call_id, "result": INTERRUPTED}
                    for call_id in self._unanswered[place]
                ]
                pieces.append(Piece(piece.line, {"role": "tool", "contents": results, "message_id": uuid.uuid4().hex}))
        return pieces

    def _kept(self, content: dict[str, Any], line: int) -> dict[str, Any] | None:
        match content["type"]:
            case "function_call" if content.get("informational_only"):
                self._hosted.add(content["call_id"])
            case "function_call":
                self._give_up(content["call_id"])
                self._answered.pop(content["call_id"], None)
                self._open[content["call_id"]] = (len(self._pieces), line, content["name"])
            case "function_result":
                return self._result({**content}, line)
            case "function_approval_request":
                self._awaiting.add(content["function_call"].get("call_id"))
            case "function_approval_response":
                self._awaiting.discard(content["function_call"].get("call_id"))
        return content

    def _result(self, content: dict[str, Any], line: int) -> dict[str, Any] | None:
        call_id = content["call_id"]
        if self._open.pop(call_id, None) is not None:
            self._answered[call_id] = content
            return content
        if call_id in self._hosted:
            return content
        earlier = self._answered.get(call_id)
        if earlier is None:
            self._said.append(f"Line {line} holds the result of a call that is not there; it is left out.")
        elif earlier.get("result") == INTERRUPTED:
            earlier.clear()
            earlier.update(content)
        elif content.get("result") not in (INTERRUPTED, earlier.get("result")):
            self._said.append(f"Line {line} holds another result of a call that has one; it is left out.")
        return None

    def _give_up(self, call_id: str) -> None:
        """Note that the open call of this id, if there is one, gets no result any more."""
        if call_id in self._open:
            place, line, name = self._open.pop(call_id)
            self._unanswered.setdefault(place, []).append(call_id)
            self._said.append(
                f'The result of the call of {one_line(name, 40)} in line {line} is lost: "{INTERRUPTED}".'
            )
