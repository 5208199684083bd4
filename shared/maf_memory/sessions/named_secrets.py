"""Which values are secrets because of the name before them: ``api_key: …``, ``?key=…``, ``PASSWORD=…``, ``--token …``.

The same words stand in ordinary text and code. How telling a name is decides how much its value must look like a
secret: behind ``password`` nearly anything is one; behind ``key`` a value is one in a query or an assignment, and in
prose or JSON only when it looks random. ``sorted(x, key=len)``, ``token count = 12`` and ``"key": "name"`` stay.
"""

from __future__ import annotations

import itertools
import re

from maf_memory.sessions.token_shapes import TOKEN, left_of

_TELLING = r"""
    (?P<password> passwor[dt]|passwd|passphrase|passcode|(?<![a-z])pass(?![a-z])|(?<!old)pwd|mot[ ]de[ ]passe
        |kennwort|contrase[nñ]a|(?<![a-z])senha|пароль|密码|パスワード)
    |(?P<strong> (?P<word> (?<![a-z_-])secret) | secret
        |(?:access|account|admin|api|app|auth|encryption|license|master|private|secret|service|shared|signing|storage
            |subscription)(?:(?P<words>[ ])|[_.-])?(?:key|token)
        |(?:bearer|refresh|security|session)[ _.-]?token|authorization)
    |(?P<token> token|credential|(?<![a-z])jwt|(?<![a-z])auth)
    |(?P<key> (?<![a-z])key|(?<=[a-z])(?-i:Key)|(?<![a-z])sig(?:nature)?)"""
_HARMLESS = r"""
    (?P<harmless> (?:cache|composite|dict|foreign|group|index|map|object|partition|primary|public|row|sort|unique)
        [ _.-]?key|(?:cancellation|continuation|eos|next|pad|page|special|unexpected|unknown)[ _.-]?token)"""
_SIGN = r"""
    \\{0,3}["'`)\]]?(?:[ ](?:given|passed|provided|received|used))?
    (?P<before>[ \t\xa0\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b-\u200f\u2060\ufeff]{0,3})
    (?P<sign>=>|:?={1,2}|[:\uff1a\uff1d]|%3D)(?P<after>[ \t\xa0]{0,3})"""
_VALUE = r"""
    (?: (?P<quote>\\{0,3}["'`])(?!(?P=quote))(?P<quoted>[^\n]+?)(?=(?<!\\)(?P=quote)|\n|\Z)
    | (?P<plain>(?:[^\s"'`,;&]|[,;&](?!\s|\Z|[\w.%\[\]-]*+[=:]))+) )"""

_NAMED = re.compile(f"(?:{_HARMLESS}|{_TELLING}){_SIGN}{_VALUE}", re.IGNORECASE | re.VERBOSE)
_FLAG = re.compile(rf"(?<![\w-])--[\w-]{{0,30}}?(?:{_TELLING})[ \t]+(?!-){_VALUE}", re.IGNORECASE | re.VERBOSE)

_CERTAIN_LENGTH = 200
"""What is this long without a space is no word. (A value that stays is searched again: it must not be long.)"""

_PLACEHOLDER = re.compile(
    r"\$\{?[A-Z_][A-Z0-9_]*\}?|\$?\{\{?[^{}]*\}?\}|<[^<>]*>|%\(?[a-z_]*\)?s|[*•.…]+|[>|][+-]?[0-9]?|"
    r"(?i:null|none|nil|true|false|undefined|bearer|basic|digest|negotiate)"
)
_ORDINARY = re.compile(
    r"(?:a|absent|an|any|bool|bytes|cannot|expected|expired|field|float|got|incorrect|int|invalide?|is|length|line|manquant"
    r"|missing|must|not|object|obligatoire|optional|please|required|requis|see|should|str|string|the|then|type|unexpected"
    r"|value|was|wrong)\b(?!\d).*",
    re.IGNORECASE,
)
_CODE = re.compile(r"[A-Za-z_][\w.]*(?:\((?:.*\))?|\[(?:.*\])?)|[a-z_]+(?:\.[a-z_]+)+")
_CLOSING = {")": "(", "]": "[", "}": "{"}


def without_named_values(text: str) -> str:
    """Return ``text`` without the values that their names make secrets; the names stay."""
    return _without(_NAMED, _without(_FLAG, text))


def _without(pattern: re.Pattern[str], text: str) -> str:
    pieces: list[str] = []
    end = position = 0
    while (found := pattern.search(text, position)) is not None:
        group = "plain" if found["quoted"] is None else "quoted"
        start, value = found.start(group), _own(found["plain"]) if group == "plain" else found["quoted"]
        if _is_secret(found, value):
            pieces += (text[end:start], left_of(TOKEN.match(value)))
            end = position = start + len(value)
        else:
            position = start  # the value of a name that does not count may begin with one that does
    return "".join((*pieces, text[end:]))


def _own(plain: str) -> str:
    """Return an unquoted value without the brackets that close what stands around it."""
    while plain and plain[-1] in _CLOSING and _CLOSING[plain[-1]] not in plain:
        plain = plain[:-1]
    return plain.rstrip("\\")


def _is_secret(found: re.Match[str], value: str) -> bool:
    if len(value) >= _CERTAIN_LENGTH and not any(map(str.isspace, value)):
        return True
    if not value or value[0] in "{[(" or _PLACEHOLDER.fullmatch(value.strip()):
        return False
    telling = bool(found["password"] or found["strong"])
    if found.re is _FLAG:
        return telling or bool(found["token"])
    if found["harmless"]:
        return False
    assigned = found["sign"] not in ":\uff1a" and not found["before"] and not found["after"]
    called = found.string[max(0, found.start() - 2) : found.start()].rstrip(" ").endswith(("(", ","))
    if telling:
        return bool(found["quoted"]) or _is_telling(found, value, assigned=assigned, called=called)
    assigned = assigned and not found["quoted"]
    if assigned and not called:
        return len(value) > 5 or not value.isdecimal()
    return _looks_random(value) or (_mixes(value) and (assigned or bool(found["token"])))


def _is_telling(found: re.Match[str], value: str, *, assigned: bool, called: bool) -> bool:
    """Whether an unquoted value behind a telling name is a secret, and neither prose nor code."""
    if found[0][:3].lower() == "pwd" and value.startswith(("/", "~")):
        return False  # the folder that a shell is in
    if assigned:
        return not (called and _CODE.fullmatch(value))
    if _ORDINARY.fullmatch(value) or _CODE.fullmatch(value):
        return False
    in_prose = bool(found["word"] or found["words"])
    return not (in_prose and value.rstrip(".!?").isalpha())


def _mixes(value: str) -> bool:
    """Whether ``value`` is one word of letters and digits."""
    return (
        len(value) >= 6
        and not any(map(str.isspace, value))
        and any(map(str.isdecimal, value))
        and any(map(str.isalpha, value))
    )


def _looks_random(value: str) -> bool:
    """Whether the letters and digits of ``value`` change as in no word or path."""
    if len(value) < 8 or not _mixes(value):
        return False
    kinds = ["9" if each.isdecimal() else "A" if each.isupper() else "a" for each in value if each.isalnum()]
    changes = sum(1 for one, other in itertools.pairwise(kinds) if one != other)
    return changes >= max(3, len(value) // 8)
