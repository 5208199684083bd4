"""Plays the restart walkthrough, which shows what a new run finds again and where it is kept.

Sets up ``.venv`` when it is missing, then starts the two demos as real processes on a private state root. The exit
status is 0 only if every expectation held; otherwise a diff of expected and seen is shown.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import sys
import tempfile
from pathlib import Path

import _environment  # an older Python ends here, in one line
from _lesson import LESSON, Run
from _stage import Played, Stage, look_at


def main() -> int:
    """Play the lesson and return the exit status."""
    options = _options()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    python = _environment.ensure(("openai",) if options.chat == "openai" else ())
    root = Path(tempfile.mkdtemp(prefix="maf-walkthrough-"))
    try:
        failed = _play(Stage(python, root, options.chat), pause=options.pause)
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # whoever read along is gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    finally:
        if options.keep:
            print(f"\nThe state root stays at {root}.")
        else:
            shutil.rmtree(root)
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=f"{__doc__}\nexample:\n  python3 scripts/walkthrough.py --pause",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--pause", action="store_true", help="ask, before each restart, what will be found again")
    parser.add_argument(
        "--chat", default="offline", metavar="WHO", help="offline (default), openai, or script:FILE; see the README"
    )
    parser.add_argument("--keep", action="store_true", help="keep the private state root, and say where it is")
    return parser.parse_args()


def _play(stage: Stage, *, pause: bool) -> int:
    print("What does a new run find again: a context, the conversation, or only its instructions?")
    print(f"State root of this walkthrough: {stage.root}")
    failed = 0
    for number, run in enumerate(LESSON, start=1):
        print(f"\n--- {number} of {len(LESSON)}. {run.title} ---", flush=True)
        guess = _guess(run) if pause and run.predict else ""
        played = stage.play(run)
        differences = stage.differences(run, played)
        _tell(run, differences, guess)
        if run.look_at_snapshot and not differences:
            look_at(stage.root / "demo140" / "session.json")
        failed += bool(differences)
        _require_a_start(run, played)
    print()
    if failed:
        print(f"{failed} of {len(LESSON)} runs were not as expected (see the diffs above).")
    else:
        print(f"All {len(LESSON)} runs were as expected. What they showed:")
        print("  the context of demo130        found again, until reset")
        print("  the dialogue of demo130       never found again: it is never written")
        print("  the conversation of demo140   found again, until forget")
        print("  forget and the context        forget does not reach it: forget is not reset")
        print("Next: type along with docs/walkthrough.md, or play this again with your guesses: --pause")
    return failed


def _guess(run: Run) -> str:
    print(run.predict)
    _drop_what_was_typed_early()
    try:
        return input("Your guess (Enter skips, Ctrl-C ends): ").strip()
    except (EOFError, RuntimeError):  # no more guesses, or no input at all
        print()
        return ""


def _drop_what_was_typed_early() -> None:
    """Let no key pressed while a program ran become the guess."""
    if not sys.stdin.isatty():
        return
    try:
        import termios
    except ImportError:
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
    else:
        termios.tcflush(sys.stdin, termios.TCIFLUSH)


def _tell(run: Run, differences: list[str], guess: str) -> None:
    if differences:
        print("\nNot as expected:")
        print("\n".join(differences))
        return
    if run.findings:
        print()
    for finding in run.findings:
        print(
            f"  {'found again:' if finding.found else 'not found again:':<17}{finding.what}  (see: {finding.seen_in})"
        )
    if guess:
        print(f"  {'you guessed:':<17}{guess}")


def _require_a_start(run: Run, played: Played) -> None:
    if played.status != 0 and not any(played.after):
        sys.exit(f"{run.program} did not start; the rest of the walkthrough needs it.")


if __name__ == "__main__":
    sys.exit(main())
