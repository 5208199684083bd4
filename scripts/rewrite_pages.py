"""Plays the pages in a real terminal and writes what it showed into them: ``rewrite_pages.py [--check] [PAGE…]``."""

import argparse
import sys
import tempfile
from pathlib import Path

from _environment import ROOT, reexec_inside


def main() -> int:
    """Return 0 if every page is now as the terminal shows it; 1 if one is not, or cannot be played."""
    options = argparse.ArgumentParser(
        description=__doc__,
        epilog="Without PAGE, all pages that have something to play. Lines that differ only in what varies stay.",
    )
    options.add_argument("pages", metavar="PAGE", nargs="*", type=Path, help="a Markdown file with console blocks")
    options.add_argument("--check", action="store_true", help="change nothing: show the differences, exit 1 if any")
    chosen = options.parse_args()
    if sys.platform == "win32":
        sys.exit("Pages are played in a pseudo-terminal with sh, which this system has not. Use Linux, macOS or WSL.")
    reexec_inside(("test",))
    sys.path.insert(0, str(ROOT))
    from tests.docs.terminal_page import pages

    failed = [page for page in chosen.pages or pages() if not _is_settled(page.resolve(), chosen.check)]
    return 1 if failed else 0


def _is_settled(page: Path, check: bool) -> bool:
    """Play one page and write it, or show its difference; return whether it is now as the terminal shows it."""
    from tests.docs.terminal_page import PageFailure, difference, play

    name = page.relative_to(ROOT).as_posix() if page.is_relative_to(ROOT) else str(page)
    try:
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            played = play(text, Path(folder))
    except (OSError, UnicodeDecodeError, PageFailure) as error:
        print(f"{name}, {error}" if isinstance(error, PageFailure) else f"{name}: {error}", file=sys.stderr)
        return False
    if played == text:
        print(f"{name}: as the terminal shows it")
        return True
    if check:
        print(difference(name, text, played))
        return False
    page.write_text(played, encoding="utf-8")
    print(f"{name}: rewritten")
    return True


if __name__ == "__main__":
    sys.exit(main())
