"""Which addresses of a conversation may become links, and which never do."""

from __future__ import annotations

import re

from maf_memory.sessions.export.visible import visible

_SAFE = re.compile(r"""(?:https?://|mailto:)[^\s<>"'`]+""", re.IGNORECASE)
_NO_SCHEME = re.compile(r"[^:]*(?:[/?#].*)?", re.DOTALL)


def leads_elsewhere_safely(address: str) -> bool:
    """Whether an address is a web page or a mailbox, to the letter; no other scheme ever becomes a link."""
    return _SAFE.fullmatch(address) is not None and visible(address) == address


def runs_nothing(address: str) -> bool:
    """Whether an address is safe as :func:`leads_elsewhere_safely` has it, or relative, as Markdown files use them."""
    return leads_elsewhere_safely(address) or _NO_SCHEME.fullmatch(address) is not None
