"""Which texts are tokens by their own shape, whatever stands around them: most makers give theirs a public prefix.

The prefixes are those that the makers document, for models, forges, clouds, chats and registries. A prefix alone is no
token: how much must follow, and of which characters, lets ``sk-SK``, ``pul-over`` and ``npm_config_registry`` pass.
"""

from __future__ import annotations

import re

MARK = "[redacted]"
"""What stands for a secret. It is no secret itself: a text that was redacted stays as it is."""

_PREFIXES = {
    r"(?=[A-Za-z0-9]{16})": (
        r"gh[oprsu]_|npm_|rubygems_|api_org_|whsec_|AKIA|ASIA|ABIA|ACCA|ABSK|LTAI|do[opr]_v1_|NRAK-|shp(?:at|ca|pa|ss)_",
        r"xkeysib-|lin_(?:api|oauth)_|ntn_|dp\.[a-z]{2,5}\.|sbp_|sntry[su]_|ops_eyJ|pnu_|pul-|rdme_|sgp_|fm[12]_|CLOJARS_",
        r"AGE-SECRET-KEY-1|lsv2_[a-z]{2}_|xai-|gsk_|csk-|pplx-|r8_|fw_|jina_|shippo_(?:live|test)_|dt0[a-z][0-9]{2}\.",
    ),
    r"(?=[\w/+-]{16})": (
        r"github_pat_|gl(?:pat|dt|ft|rt|cbt|imt|ptt|agent|oas|soat|ffct|wt)-|GR1348941|pypi-|dckr_pat_|gl(?:sa|c)_|sq0[a-z]{3}-",
        r"AIza|ya29\.|GOCSPX-|1//0|eyJ|SG\.|hv[bsr]\.|PMAK-|figd_|pscale_[a-z]{2,6}_|sb_secret_|AT[AC]TT3|tvly-|pcsk_|nvapi-",
        r"bedrock-api-key-|duffel_(?:live|test)_|fio-u-|HRKU-|dnkey-|tk-us-|sha256~|sq[apu]_",
    ),
    r"(?=[A-Za-z0-9]{10})": (r"[rs]k_(?:live_|test_|prod_)",),
    r"(?=[\w*.-]{6})": (r"sk-(?!learn)(?:proj-|svcacct-|admin-|ant-|or-)?|xox[a-z][.-]|x(?:app|wfp)-",),
    r"(?=[A-Za-z]{30})": (r"hf_",),
    r"(?=[0-9A-Fa-f]{32})": (r"SK|dapi|sk_",),
    r"(?=\w)": (
        r"hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/webhooks/",
        r"api\.telegram\.org/bot",
    ),
}
"""Public prefixes, by what must follow for the whole to be a token."""

_BEGINNING = "|".join(f"(?:{'|'.join(prefixes)}){follows}" for follows, prefixes in _PREFIXES.items())
_PREFIX = "|".join(prefix for prefixes in _PREFIXES.values() for prefix in prefixes)

TOKEN = re.compile(
    rf"(?<![A-Za-z0-9])(?:(?P<prefix>{_BEGINNING})(?:[\w*/+=~-]|\.(?=[\w*.]))+"
    r"|(?=[a-z0-9]*+[A-Z])(?=[A-Z0-9]*+[a-z])(?=(?:[A-Za-z]*+[0-9]++){3})[A-Za-z0-9]{32,}"  # no word and no hash
    r"|[\w~.-]{3}[78]Q~[\w~.-]{31,}"  # the secrets of Entra ID's applications
    r"|[0-9]{8,10}:AA[\w-]{32,}"  # Telegram's bots
    r"|[MNO][\w-]{23,27}\.[\w-]{6,7}\.[\w-]{27,}"  # Discord's bots
    r"|[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}"  # Terraform
    r"|pat[A-Za-z0-9]{14}\.[0-9a-f]{64})",  # Airtable
    re.ASCII,
)
"""A token, with its public ``prefix`` where it has one."""

_LEFT = re.compile(rf"((?:(?<![A-Za-z0-9])(?:{_PREFIX})…)?{re.escape(MARK)})", re.ASCII)


def left_of(token: re.Match[str] | None) -> str:
    """Return what is left of a token: its public prefix, if it has one, and :data:`MARK`."""
    prefix = token["prefix"] if token is not None else None
    return f"{prefix}…{MARK}" if prefix else MARK


def around_marks(text: str) -> list[str]:
    """Return ``text`` in pieces; every second one is what :func:`left_of` gave, and no part of it is tried again."""
    return _LEFT.split(text) if MARK in text else [text]
