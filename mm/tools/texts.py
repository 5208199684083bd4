"""What the bytes of a file say: text with its encoding and line ends, or no text at all."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Literal

Encoding = Literal["UTF-8", "UTF-16", "Windows-1252"]

_UTF8_MARK = codecs.BOM_UTF8
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_PRINTED_CONTROLS = frozenset(b"\t\n\r\f\b\x1b")
_CONTROLS = bytes(code for code in range(32) if code not in _PRINTED_CONTROLS)


@dataclass(frozen=True, slots=True)
class Text:
    """A text file. ``raw`` has the file's own line ends, and neither text has the mark at the beginning."""

    raw: str
    encoding: Encoding = "UTF-8"
    has_mark: bool = False

    @property
    def plain(self) -> str:
        r"""The text with each ``\r\n`` as ``\n``, as the model sees and gives it."""
        return plain(self.raw)

    @property
    def has_crlf(self) -> bool:
        r"""Whether most lines end in ``\r\n``."""
        return self.raw.count("\r\n") * 2 > self.raw.count("\n")

    def ended(self, text: str) -> str:
        """Return ``text`` with the line ends of most lines of this file."""
        return plain(text).replace("\n", "\r\n") if self.has_crlf else plain(text)

    def encoded(self, raw: str) -> bytes:
        """Return the bytes of this UTF-8 file with another text."""
        return (_UTF8_MARK if self.has_mark else b"") + raw.encode("utf-8")

    @property
    def told(self) -> str:
        """What a reader should know of the file beside its text; often nothing."""
        notes = []
        if self.encoding == "UTF-16":
            notes.append("UTF-16")
        if self.encoding == "Windows-1252":
            notes.append("not UTF-8; read as Windows-1252, which is a guess")
        if self.has_crlf:
            notes.append("CRLF line ends")
        return ", ".join(notes)


def plain(text: str) -> str:
    r"""Return ``text`` with each ``\r\n`` as ``\n``."""
    return text.replace("\r\n", "\n")


def lines_of(text: str) -> list[str]:
    r"""Return the lines of a plain text, without their ends; only ``\n`` ends a line, and a last one adds no line."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def decoded(content: bytes) -> Text | None:
    """Return the text of a file, or ``None`` when it is none.

    A file that is not UTF-8 and has no mark can be in any encoding; it is read as Windows-1252, and told so.
    """
    if content.startswith(_UTF16_MARKS):
        try:
            return Text(content.decode("utf-16"), "UTF-16", has_mark=True)
        except UnicodeDecodeError:
            return None
    if b"\0" in content:
        return None
    mark = content.startswith(_UTF8_MARK)
    try:
        return Text(content.decode("utf-8-sig"), has_mark=mark)
    except UnicodeDecodeError:
        pass
    controls = len(content) - len(content.translate(None, _CONTROLS))
    if controls > len(content) // 100:
        return None
    try:
        return Text(content.decode("cp1252"), "Windows-1252")
    except UnicodeDecodeError:
        return Text(content.decode("latin-1"), "Windows-1252")
