"""Text made sound once, where it enters, and made one line where it leaves in an error."""

from __future__ import annotations

import re
from typing import Any

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def sound(text: str) -> str:
    """Return ``text`` with each lone surrogate as U+FFFD; everything else, NUL and U+2028 included, is kept.

    A lone surrogate cannot be written as UTF-8: one of them in a message makes the whole session unsaveable.
    """
    return _LONE_SURROGATE.sub("�", text)


def sound_throughout(value: Any) -> Any:
    """Return a JSON value in which every text, the keys included, is :func:`sound`."""
    match value:
        case str():
            return sound(value)
        case dict():
            return {sound_throughout(key): sound_throughout(item) for key, item in value.items()}
        case list() | tuple():
            return [sound_throughout(item) for item in value]
        case _:
            return value


def utf16_length(text: str) -> int:
    """Return how many UTF-16 code units ``text`` has, which is how .NET counts characters."""
    return len(text) + sum(1 for character in text if ord(character) > 0xFFFF)


def one_line(text: str, limit: int = 120) -> str:
    """Return ``text`` as it can stand inside an error line: bounded, every character that does not print escaped.

    What is quoted comes from a file that was refused; it must neither break the line nor command the terminal.
    """
    cut = text if len(text) <= limit else f"{text[: limit - 1]}…"
    if cut.isprintable():
        return cut
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape", "backslashreplace").decode("ascii")
        for character in cut
    )
