"""Starts demo140: ``python -m demo140`` and the command ``demo140`` are the same."""

from __future__ import annotations

import sys


def main() -> int:
    """Run demo140 and return its exit status."""
    try:
        # Imported here, because loading takes its time, and Ctrl-C meanwhile is no bug.
        from demo140.demo import Demo140
        from maf_console.start import main as start
    except KeyboardInterrupt:
        return 130
    return start(
        Demo140,
        program="demo140",
        summary="Native Session. The conversation survives, in one snapshot.",
        store="demo140/session.json",
    )


if __name__ == "__main__":
    sys.exit(main())
