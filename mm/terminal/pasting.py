"""A long paste stands as a token in the line and is sent whole."""

from __future__ import annotations

LONG_LINES, LONG_TEXT = 8, 2_000
"""From how many lines, or characters, a paste is shown as a token."""


class Pastes:
    """The pastes of the question that is being written."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def taken(self, text: str) -> str:
        """Return what stands in the line for a pasted text: itself, or a token for a long one."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.count("\n") + (not text.endswith("\n"))
        if lines < LONG_LINES and len(text) < LONG_TEXT:
            return text
        what = f"{lines} lines" if lines > 1 else f"{len(text)} characters"
        token, number = f"[pasted {what}]", 2
        while token in self._texts:
            token, number = f"[pasted {what} #{number}]", number + 1
        self._texts[token] = text
        return token

    def token_before(self, text: str) -> str | None:
        """Return the token on which ``text`` ends, so that it goes as a whole."""
        return next((token for token in self._texts if text.endswith(token)), None)

    def whole(self, line: str) -> str:
        """Return ``line`` with every paste in the place of its token, and forget them."""
        texts, self._texts = self._texts, {}
        parts = [line]
        for token, text in texts.items():  # never inside a text that another token stood for
            parts = [
                piece
                for place, part in enumerate(parts)
                for piece in ([part] if place % 2 else _around(part, token, text))
            ]
        return "".join(parts)


def _around(part: str, token: str, text: str) -> list[str]:
    before, found, after = part.partition(token)
    return [before, text, after] if found else [part]
