"""The options that both demos take."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for on the command line."""

    chat: str | None
    reset_state: bool
    echo: bool


def parse(program: str, summary: str, store: str, arguments: Sequence[str] | None = None) -> Options:
    """Return the options, or end the process: 0 after ``--help``, 2 after a usage error, as argparse does."""
    parser = argparse.ArgumentParser(
        prog=program,
        description=f"Example: {program} --chat offline\n\n{summary}",
        epilog=(
            "environment:\n"
            "  MAF_STATE_ROOT    absolute folder for what is kept (default: the system's own)\n"
            "  MAF_CHAT          the same as --chat\n"
            "  MAF_CHAT_TIMEOUT  seconds that an endpoint may be silent (120)\n"
            "  NO_COLOR          no colour\n"
            "  for --chat openai: OPENAI_BASE_URL, OPENAI_API_KEY,\n"
            "                    OPENAI_CHAT_COMPLETION_MODEL"
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--chat", metavar="WHO", help="offline (default), openai, or script:FILE")
    parser.add_argument(
        "--reset-state",
        nargs="?",
        const="true",
        default="false",
        choices=("true", "false"),
        metavar="true",
        help=f"(or --reset-state=true) destroy {store} on purpose before starting; nothing else is touched",
    )
    parser.add_argument("--echo", action="store_true", help="show each line read from a pipe, as a terminal would")
    found = parser.parse_args(arguments)
    return Options(found.chat, found.reset_state == "true", found.echo)
