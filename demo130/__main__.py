"""Starts demo130: ``python -m demo130`` and the command ``demo130`` are the same."""

from __future__ import annotations

import sys


def main() -> int:
    """Run demo130 and return its exit status."""
    try:
        # Imported here, because loading takes its time, and Ctrl-C meanwhile is no bug.
        from demo130.demo import Demo130
        from maf_console.start import main as start
    except KeyboardInterrupt:
        return 130
    return start(
        Demo130,
        program="demo130",
        summary="Session Persistence. A context survives, the dialogue does not.",
        store="demo130/agent-state.json",
    )


if __name__ == "__main__":
    sys.exit(main())
