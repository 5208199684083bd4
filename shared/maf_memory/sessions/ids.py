"""The ids of sessions: a local creation time and a random suffix, or the hash of a host's own key.

An id is a file's name: whatever is not to the letter one of these two shapes never touches a path. Ids are unique by
their suffix; the order of sessions comes from their last activity, never from ids, so that a clock set back or a
daylight-saving change breaks nothing.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from datetime import datetime

_DATED = r"[0-9]{8}-[0-9]{6}-[0-9a-f]{8}"
_KEYED = r"key-[0-9a-f]{32}"
_ID = re.compile(rf"{_DATED}|{_KEYED}")


def new_id(created: datetime) -> str:
    """Return an id for a session created at ``created``: ``20260916-101530-4f2a9c1e``."""
    return f"{created.year:04d}{created:%m%d-%H%M%S}-{secrets.token_hex(4)}"


def id_of_key(key: str) -> str:
    """Return the id under which a host's opaque ``key`` (``telegram:1:2``) is kept; always the same for one key."""
    return f"key-{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def is_id(text: str) -> bool:
    """Whether ``text`` is to the letter an id that this package can have given."""
    return _ID.fullmatch(text) is not None
