"""Ends the run in one line on a Python that is too old.

It is imported before all that such a Python could not run, and is itself plain enough for any Python 3.
"""

import sys

OLDEST = (3, 11)


def refusal_of(version: "tuple[object, ...]", script: str) -> "str | None":
    """Return the line that tells why ``version`` cannot run ``script``, or nothing when it can."""
    if tuple(version[:2]) >= OLDEST:
        return None
    wanted = ".".join(map(str, OLDEST))
    found = ".".join(map(str, version[:3]))
    return (
        f"This project needs Python {wanted} or newer, and this is Python {found} ({sys.executable}). "
        f"Run it with a newer one, for example: python{wanted} {script}"
    )


_refusal = refusal_of(sys.version_info, sys.argv[0])
if _refusal:
    sys.exit(_refusal)
