"""Which save of which file: what is compared before anything is replaced, in place of any clock."""

from __future__ import annotations

import re
import secrets

import msgspec

MAXIMUM_REVISION = 2**53
"""The largest integer that every JSON reader keeps exactly; a revision never gets there by saving."""

_LINEAGE = re.compile(r"[0-9a-f]{8,64}")


class Stamp(msgspec.Struct, frozen=True, gc=False):
    """Which save of which file: ``lineage`` is drawn when the file is born, ``revision`` grows by one a save."""

    lineage: str
    revision: int

    def __str__(self) -> str:
        return f"revision {self.revision} of lineage {self.lineage}"

    def next(self) -> Stamp:
        """Return the stamp of the save after this one."""
        return Stamp(self.lineage, self.revision + 1)

    @property
    def is_one(self) -> bool:
        """Whether both parts have the shape that a save gives them."""
        return _LINEAGE.fullmatch(self.lineage) is not None and 1 <= self.revision <= MAXIMUM_REVISION


def first_stamp() -> Stamp:
    """Return the stamp of a file that is born now."""
    return Stamp(secrets.token_hex(4), 1)
