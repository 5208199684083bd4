"""Takes keys and tokens out of free text before it is shown or recorded; ordinary text stays as it is.

Four kinds are known: values that the caller names, tokens by their own shape, values behind a telling name
(``api_key: …``, ``?key=…``, ``Bearer …``, ``https://ada:…@host``, ``-u ada:…``), and private keys. What is left says
which kind it was, ``sk-…[redacted]`` or ``password=[redacted]``, and holds no part of the secret but a maker's public
prefix.

It cannot know everything: a bare value without a name or a prefix is text to it, and so is a plain word in a sentence
(``the password is swordfish``). Where it
must guess it takes out too much rather than too little. The time is linear in the length of the text, however hostile.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from urllib.parse import quote

from maf_memory.sessions.named_secrets import without_named_values
from maf_memory.sessions.said_secrets import without_said_values
from maf_memory.sessions.token_shapes import MARK, TOKEN, around_marks, left_of

SHORTEST_SECRET = 4
"""A shorter value that a caller names is no secret, and taking it out would only garble the text."""

_INSIDE_WORDS = 12
"""From this length on a value that a caller names is taken out of longer words too; ``test`` stays in ``latest``."""

_PRIVATE_KEY = re.compile(
    r"(-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----)(?!\Z).*?(?=-----END |\Z)", re.DOTALL
)
_PUTTY_KEY = re.compile(r"(Private-Lines: ?[0-9]+)(?!\Z).*?(?=Private-MAC|\Z)", re.DOTALL)
_PASSWORD_IN_URL = re.compile(
    r"(://[^\s/?#@:\"'<>\[\]]*+:)(?:[^\s\"'<>/]+(?=@)|(?![0-9]{1,5}[/?#])[^\s\"'<>]{1,200}?(?=@))"
)
_TOKEN_IN_URL = re.compile(r"(://)[^\s/?#@:\"'<>]{20,}+(?=:?[^\s/?#@\"'<>]*+@)")
_HEADER = r"authorization\\{0,3}[\"'`]?[ \t]{0,3}[:=][ \t]{0,3}\\{0,3}[\"'`]?[ \t]{0,3}"
_CREDENTIALS = re.compile(rf"({_HEADER}(?:apikey|basic|bearer|key|token)[ \t]+)[^\s\"'`,\\]+", re.IGNORECASE)
_PROOF = re.compile(
    rf"({_HEADER}(?:aws4-[a-z0-9-]+|digest|hawk|negotiate|ntlm|oauth|signature)[ \t]+)[^\n]+", re.IGNORECASE
)
_COOKIE = re.compile(
    r"(cookie\\{0,3}[\"'`]?[ \t]{0,3}:[ \t]{0,3}\\{0,3}[\"'`]?)(?=[\w.-]{1,80}=)[^\n\"'`]+", re.IGNORECASE
)
_BEARER = re.compile(
    r"(\bBearer[ \t]+)(?!(?:a|and|auth\w*|for|from|in|is|of|or|realm|scheme|tokens?|was|with)\b)[\w.~+/*-]+=*"
    r"|(\bbearer[ \t]+)(?=[a-z_.~+/-]*[A-Z0-9])[\w.~+/*-]{8,}=*"
    r"|(\bBasic[ \t]+)(?=[A-Za-z+/]*[0-9=])[A-Za-z0-9+/]{8,}=*",
    re.ASCII,
)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Return ``text`` without the ``secrets`` and without whatever else looks like one; again changes nothing.

    ``secrets`` are values that must not be shown, such as the configured key; each is found as it is, as JSON writes
    it and as a URL does. A placeholder such as ``ollama`` is no secret: it would be taken out of every sentence.
    """
    named = _exactly(secrets)
    while (redacted := _once(text, named)) != text:  # taking out one secret can uncover the start of another
        text = redacted
    return text


def _once(text: str, named: re.Pattern[str] | None) -> str:
    rules = _RULES if named is None else (_replacing(named), *_RULES)
    for rule in rules:
        pieces = around_marks(text)
        pieces[::2] = [rule(piece) if piece else piece for piece in pieces[::2]]
        text = "".join(pieces)
    return text


def _exactly(secrets: Iterable[str]) -> re.Pattern[str] | None:
    forms: set[str] = set()
    for secret in (each.strip() for each in secrets):
        if len(secret) >= SHORTEST_SECRET and secret not in MARK:
            forms |= {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
            forms |= {quote(secret), quote(secret, safe="")}
    patterns = [_whole(form) for form in sorted(forms, key=len, reverse=True)]
    return re.compile("|".join(patterns)) if patterns else None


def _whole(form: str) -> str:
    if len(form) >= _INSIDE_WORDS:
        return rf"{re.escape(form)}[A-Za-z0-9_-]*"
    return rf"(?<![A-Za-z0-9]){re.escape(form)}(?![A-Za-z0-9])"


def _replacing(pattern: re.Pattern[str]) -> Callable[[str], str]:
    """Return a rule that keeps the groups of ``pattern``, which stand before the secret, and replaces the rest."""
    return lambda text: pattern.sub(lambda found: "".join(filter(None, found.groups())) + MARK, text)


def _without_tokens(text: str) -> str:
    return TOKEN.sub(left_of, text)


_RULES: tuple[Callable[[str], str], ...] = (
    *map(
        _replacing, (_PRIVATE_KEY, _PUTTY_KEY, _PASSWORD_IN_URL, _TOKEN_IN_URL, _CREDENTIALS, _PROOF, _COOKIE, _BEARER)
    ),
    without_said_values,
    without_named_values,
    _without_tokens,
)
