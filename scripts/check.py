"""Runs the formatter, the linter and the strict type checker: ``python3 scripts/check.py [--fix]``."""

import argparse
import subprocess
import sys

from _environment import ROOT, ensure

LOOK = (("ruff", "format", "--check"), ("ruff", "check"), ("mypy",))
FIX = (("ruff", "check", "--fix"), ("ruff", "format"), ("mypy",))


def main() -> int:
    """Return 0 only if all three found nothing; each runs, whatever the others found."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--fix", action="store_true", help="apply the linter's fixes and the formatter first")
    commands = FIX if options.parse_args().fix else LOOK
    python = ensure(("check",))
    failed = 0
    for command in commands:
        print("$", *command, flush=True)
        failed += subprocess.run([python, "-m", *command], cwd=ROOT).returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
