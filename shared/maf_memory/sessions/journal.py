"""The errors of a session, kept beside its conversation: one record a line that was shown.

The model never reads them, no replay shows them, and compaction leaves them whole (the seed's «Pourquoi les erreurs
sont enregistrées à côté de l'historique»). A cancelled turn is no error: whoever runs the turns records none for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from maf_memory.text import one_line, sound

KINDS = ("generation", "compaction", "resume")
"""An answer that failed, a summary that failed, a session that could not be resumed."""

MAXIMUM_RECORDS = 200

LONGEST = {"question": 400, "line": 1_000, "raw": 4_000, "model": 200}
"""The most bytes of UTF-8 that each text of a record takes; a longer one is cut and ends in ``…``."""

_LOOKED_AT = 65_536
"""How many characters of a text are looked at; far more than a record keeps, so that no cut key comes to its end."""

_JOINERS = "\u200c\u200d"
"""What holds the parts of a letter or an emoji together; it prints nothing and commands nothing."""


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """One error as it was shown. ``raw`` is there only when it says more than ``line``."""

    time: datetime
    kind: str
    turns: int
    question: str
    line: str
    raw: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class UnreadableRecord:
    """Something else that stands among the errors of a file; it is kept and written back as it is."""

    form: Any

    @property
    def line(self) -> str:
        """What a façade shows in its place."""
        return (
            f"[an error record that cannot be read: {one_line(_redacted(json.dumps(self.form, ensure_ascii=False)))}]"
        )


class Journal:
    """The errors of one session, oldest first; iterating yields each, readable or not."""

    def __init__(self) -> None:
        self._entries: list[tuple[ErrorRecord | UnreadableRecord, Any]] = []

    def add(
        self,
        kind: str,
        *,
        line: str,
        turns: int,
        question: str = "",
        raw: str | None = None,
        model: str | None = None,
        time: datetime | None = None,
        secrets: Iterable[str] = (),
    ) -> ErrorRecord:
        """Record an error and return the record, whose ``line`` is what may be shown.

        Keys and tokens are taken out of every text first, ``secrets`` among them: what is recorded is what is shown.
        ``question`` is recorded by its first line, ``line`` as one line, each as long as :data:`LONGEST` says. Of more
        than :data:`MAXIMUM_RECORDS` the oldest go.

        Raises:
            ValueError: an unknown kind, a negative number of turns, or a time without its offset; nothing was recorded.
        """
        time = datetime.now().astimezone().replace(microsecond=0) if time is None else time
        if kind not in KINDS or turns < 0 or time.utcoffset() is None:
            raise ValueError(f"no error record: {kind!r} after {turns} turns at {time}")
        hidden = tuple(secrets)
        shown = _cut(_redacted(_in_one_line(_redacted(line, hidden)), hidden), LONGEST["line"])
        asked = re.split(r"[\r\n]", _redacted(question, hidden).strip(), maxsplit=1)[0]
        more = _redacted(raw or "", hidden).strip()
        record = ErrorRecord(
            time=time,
            kind=kind,
            turns=turns,
            question=_cut(_redacted(_in_one_line(asked), hidden), LONGEST["question"]),
            line=shown,
            raw=None if _in_one_line(more) in shown else _cut(more, LONGEST["raw"]),
            model=_cut(_redacted(_in_one_line(_redacted(model, hidden)), hidden), LONGEST["model"]) if model else None,
        )
        self._entries = [*self._entries, (record, _form(record))][-MAXIMUM_RECORDS:]
        return record

    def encode(self) -> list[Any]:
        """Return the records as JSON values, oldest first; what :meth:`decode` read comes back unchanged."""
        return [form for _, form in self._entries]

    @classmethod
    def decode(cls, value: object) -> Journal:
        """Return the journal that a file holds; ``None``, as of a file without one, is an empty one.

        Nothing is refused and nothing is lost: a record that cannot be read is an :class:`UnreadableRecord`, and so is
        a value that is not a list.
        """
        journal = cls()
        forms = value if isinstance(value, list) else [] if value is None else [value]
        journal._entries = [(_read(form), form) for form in forms]
        return journal

    def questions(self) -> Iterator[str]:
        """Yield the questions of the readable records, oldest first."""
        return (record.question for record in self if isinstance(record, ErrorRecord))

    def copy(self) -> Journal:
        """Return a journal with the same records, to which others can be added."""
        journal = type(self)()
        journal._entries = list(self._entries)
        return journal

    def __iter__(self) -> Iterator[ErrorRecord | UnreadableRecord]:
        return iter([record for record, _ in self._entries])

    def __len__(self) -> int:
        return len(self._entries)

    def __eq__(self, other: object) -> bool:
        return self.encode() == other.encode() if isinstance(other, Journal) else NotImplemented

    def __repr__(self) -> str:
        return f"<Journal of {len(self)} records>"


def errors_suffix(count: int) -> str:
    """Return what a line of a listing, or the report of a resume, ends with: nothing where there is no error."""
    return f" · ⚠️ {count} error(s)" if count else ""


def _form(record: ErrorRecord) -> dict[str, Any]:
    form: dict[str, Any] = {
        "time": record.time.isoformat(),
        "kind": record.kind,
        "turns": record.turns,
        "question": record.question,
        "line": record.line,
    }
    return form | {name: text for name in ("raw", "model") if (text := getattr(record, name)) is not None}


def _read(form: Any) -> ErrorRecord | UnreadableRecord:
    """Return the record; older ones have no model, and fields that a newer program added stay in the form."""
    match form:
        case {"time": str(time), "kind": str(kind), "turns": int(turns), "question": str(asked), "line": str(line)}:
            raw, model = form.get("raw"), form.get("model")
            if type(turns) is int and isinstance(raw, str | None) and isinstance(model, str | None):
                when = _time(time)
                if when is not None:
                    return ErrorRecord(when, kind, turns, asked, line, raw, model)
    return UnreadableRecord(form)


def _time(text: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if time.utcoffset() is None else time


def _redacted(text: str, secrets: tuple[str, ...] = ()) -> str:
    from maf_memory.sessions.redaction import redact  # its patterns take longer to compile than a listing does to start

    return redact(_head(sound(text)), secrets)


def _head(text: str) -> str:
    if len(text) <= _LOOKED_AT:
        return text
    head = text[:_LOOKED_AT]
    return f"{head[: max(head.rfind(' '), head.rfind(chr(10)), _LOOKED_AT // 2)]} …"


def _in_one_line(text: str) -> str:
    """Return ``text`` in one line that commands no terminal."""
    return " ".join("".join(each if each.isprintable() or each in _JOINERS else " " for each in text).split())


def _cut(text: str, limit: int) -> str:
    encoded = text.encode()
    if len(encoded) <= limit:
        return text
    return f"{encoded[: limit - len('…'.encode())].decode(errors='ignore').rstrip()}…"
