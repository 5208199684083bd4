"""Whose a file or folder is: what somebody else can write is not this user's memory."""

from __future__ import annotations

import os
import stat


def stranger(status: os.stat_result) -> str | None:
    """Return how others have a hand in it, or ``None`` when only this user has; Windows keeps that elsewhere."""
    if os.name != "posix":
        return None
    if status.st_uid != os.geteuid():
        return f"belongs to another user (uid {status.st_uid})"
    if status.st_mode & stat.S_IWOTH:
        return f"can be written by every user (mode {stat.S_IMODE(status.st_mode):04o})"
    return None
