"""``mm``: the command line of mini-me."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; Ctrl-C while it is still being loaded ends it in silence, too."""
    try:
        from mm.command import app

        app(prog_name="mm")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
