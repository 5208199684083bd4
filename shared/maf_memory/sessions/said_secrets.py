"""Which values are secrets because of a name that no sign joins them to: pairs, tags, lists, sentences, command lines.

``(b'api-key', b'…')`` is how libraries print a header, ``<password>…</password>`` a document; ``Invalid token '…'``
and ``api key … is invalid`` are how servers complain. In a sentence a value counts when it is quoted, or when it has
letters and digits and is no short word: ``the password is wrong`` and ``Unexpected token '<'`` stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from maf_memory.sessions.token_shapes import TOKEN, left_of

_CERTAIN = r"""(?:passwor[dt]|passwd|passphrase|passcode|(?<![a-z])pwd|mot[ ]de[ ]passe|kennwort|contrase[nñ]a
    |(?:client|shared)[ _.-]?secret|secret[ _.-]?(?:access[ _.-]?)?key
    |(?:access|account|admin|api|app|auth|bearer|client|master|private|refresh|service|session|subscription)
        [ _.-]?(?:key|token))"""
_LIKELY = r"(?:(?<![a-z])(?:secret|token|credential|jwt))"
_NAME = rf"(?:(?P<certain>{_CERTAIN})|{_LIKELY})s?"
_QUOTED = r"(?P<quote>\\{0,3}[\"'`])(?P<value>(?:(?!(?P=quote))[^\n])+)(?=(?P=quote))"
_FLAGS = re.IGNORECASE | re.VERBOSE

_PAIR = re.compile(
    rf"""[(\[]\s{{0,3}}b?(?P<around>\\{{0,3}}["'])[\w.-]{{0,40}}?
        (?:{_CERTAIN}|(?:proxy-)?authorization|(?:set-)?cookie|[\w]-(?:token|secret|key))(?P=around)
        \s{{0,3}},\s{{0,3}}b?(?!\\{{0,3}}["'](?:(?:bearer|basic|digest|negotiate|token)[ ])?\\{{0,3}}(?:["']|\Z))
        (?P<quote>\\{{0,3}}["'])(?P<value>(?:(?!(?P=quote))[^\n])+)""",
    _FLAGS,
)
_TAG = re.compile(
    r"<(?:\w{1,20}:)?[\w.-]{0,30}?(?:" + _CERTAIN + "|" + _LIKELY + r")(?:\s[^<>]{0,200})?>\s{0,40}"
    r"(?P<value>[^<>\s][^<>]*+)(?=</)",
    _FLAGS,
)
_LIST = re.compile(_NAME + r"""\\{0,3}["']?\s{0,3}[:=]\s{0,3}\[(?P<items>[^\[\]]{1,4000})""", _FLAGS)
_ITEM = re.compile(r"(\\{0,3}[\"'])((?:(?!\1)[^\n])+)(?=\1)")

_SENTENCE = re.compile(
    rf"""(?P<strange>(?:unexpected|unknown|special|next)[ ])?(?P<wrong>invalid[ ])?{_NAME}
        (?:[ ](?:is|was|of|value|given|provided|received|used|est|ist)\b)?[ ]{{1,3}}
        (?:{_QUOTED}|(?P<bare>[^\s"'`,;:()\[\]{{}}<>=]{{8,}}))""",
    _FLAGS,
)
_NO_SECRET = re.compile(
    r"[A-Z]+(?:_[A-Z0-9]+)+|(?:/|~/|https?$|\$).*|(?i:(?:sha|md|base|utf|aes|rsa|[hre]s)-?[0-9]+\b.*|[0-9]+-?(?:bit|byte|char).*)"
)

_NEXT_LINE = re.compile(
    _NAME
    + r"""\\{0,3}["']?[ \t]{0,3}[:=][ \t]{0,3}(?:
        [>|][+-]?[0-9]?[+-]?[ \t]{0,3}\r?\n(?P<block>[ \t]{1,80}\S[^\n]*+(?:\n[ \t]{1,80}\S[^\n]*+)*+)
        |\r?\n[ \t]{1,80}(?:-[ ])?["']?(?P<value>[^\s"',:]+)["']?,?[ \t]{0,3}(?=\r?\n|\r?\Z))""",
    _FLAGS,
)
_LINE = re.compile(r"\S[^\n]*")
_ORDINARY = re.compile(r"(?i)required|missing|null|none|true|false|str|string|invalid|object|array|[{}\[\]().…*-]+")

_COMMAND = re.compile(
    r"""(?<![\w-])(?:-u|-U|--user|--proxy-user)[ =]{0,3}["']?[^\s:"'/\\]{1,100}:(?![/\\]|[0-9]{1,10}(?![^\s"']))
        (?P<user>[^\s"']+)
      |\bsshpass[ ]{1,3}-p[ ]{0,3}["']?(?P<value>[^\s"']+)""",
    re.VERBOSE,
)


def without_said_values(text: str) -> str:
    """Return ``text`` without the values that a name beside them makes secrets; the names stay."""
    for rule in _RULES:
        text = rule(text)
    return text


def _taking(pattern: re.Pattern[str], *names: str) -> Callable[[str], str]:
    """Return a rule that takes the groups ``names`` out of what ``pattern`` finds, where they are no ordinary text."""

    def replaced(found: re.Match[str]) -> str:
        name = next(each for each in names if found[each] is not None)
        start, end = (place - found.start() for place in found.span(name))
        return found[0][:start] + _left(found[name]) + found[0][end:]

    return lambda text: pattern.sub(replaced, text)


def _left(value: str) -> str:
    return left_of(TOKEN.match(value))


def _mixes(value: str) -> bool:
    """Whether ``value`` is one long word with letters and digits, or a very long one."""
    word = len(value) >= 8 and not any(map(str.isspace, value)) and any(map(str.isalpha, value))
    return word and (len(value) >= 24 or any(map(str.isdecimal, value)))


def _without_sentences(text: str) -> str:
    def replaced(found: re.Match[str]) -> str:
        group = "bare" if found["bare"] is not None else "value"
        value = found[group]
        if _NO_SECRET.fullmatch(value) or found["strange"]:
            return found[0]
        own = value.rstrip(".!?") if group == "bare" else value
        certain = group == "value" and (found["certain"] or (found["wrong"] and len(value) > 5 and " " not in value))
        if not certain and (len(own) < 8 or not any(map(str.isdecimal, own)) or not _mixes(own)):
            return found[0]
        start = found.start(group) - found.start()
        return found[0][:start] + _left(own) + found[0][start + len(own) :]

    return _SENTENCE.sub(replaced, text)


def _without_items(text: str) -> str:
    def replaced(found: re.Match[str]) -> str:
        def item(one: re.Match[str]) -> str:
            return one[1] + _left(one[2]) if found["certain"] or _mixes(one[2]) else one[0]

        start = found.start("items") - found.start()
        return found[0][:start] + _ITEM.sub(item, found["items"])

    return _LIST.sub(replaced, text)


def _without_next_lines(text: str) -> str:
    def replaced(found: re.Match[str]) -> str:
        if found["block"] is not None:
            start = found.start("block") - found.start()
            return found[0][:start] + _LINE.sub(lambda line: _left(line[0]), found["block"])
        value = found["value"]
        if _ORDINARY.fullmatch(value) or not (found["certain"] or _mixes(value)):
            return found[0]
        start, end = found.start("value") - found.start(), found.end("value") - found.start()
        return found[0][:start] + _left(value) + found[0][end:]

    return _NEXT_LINE.sub(replaced, text)


_RULES: tuple[Callable[[str], str], ...] = (
    _taking(_PAIR, "value"),
    _taking(_TAG, "value"),
    _taking(_COMMAND, "user", "value"),
    _without_items,
    _without_next_lines,
    _without_sentences,
)
