"""Text made sound once, where it enters."""

from __future__ import annotations

import re

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def sound(text: str) -> str:
    """Return ``text`` with each lone surrogate as U+FFFD; everything else, NUL and U+2028 included, is kept.

    A lone surrogate cannot be written as UTF-8: one of them in a message makes the whole session unsaveable.
    """
    return _LONE_SURROGATE.sub("�", text)


def utf16_length(text: str) -> int:
    """Return how many UTF-16 code units ``text`` has, which is how .NET counts characters."""
    return len(text) + sum(1 for character in text if ord(character) > 0xFFFF)
