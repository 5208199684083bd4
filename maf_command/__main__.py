"""Starts maf-memory: ``python -m maf_command`` and the command ``maf-memory`` are the same."""

from __future__ import annotations

import sys

from maf_command.app import app
from maf_console.screen import open_streams


def main() -> int:
    """Run the command line and return its exit status."""
    open_streams()
    status = app(prog_name="maf-memory", standalone_mode=True)
    return int(status or 0)


if __name__ == "__main__":
    sys.exit(main())
