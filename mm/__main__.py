"""``mm``: the command line of mini-me."""

from __future__ import annotations

from mm.command import app


def main() -> None:
    """Run the command line."""
    app(prog_name="mm")


if __name__ == "__main__":
    main()
