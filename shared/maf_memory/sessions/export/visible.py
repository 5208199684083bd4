"""Characters that do not show, made visible: data must neither hide in an export nor turn its lines around."""

from __future__ import annotations

import re

_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, what overrides the direction of writing, and halves of characters.

Text of right-to-left scripts does not need the overrides. Joiners, which emoji and scripts do need, stay.
"""


def visible(text: str) -> str:
    """Return ``text`` with a picture or an escape in the place of each character that commands, hides or turns text.

    A line end of two characters becomes one; a lone surrogate, which no file can hold, becomes U+FFFD.
    """
    return _HIDDEN.sub(_picture, text.replace("\r\n", "\n"))


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if 0xD800 <= code <= 0xDFFF:
        return "�"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
