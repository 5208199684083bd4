"""Asks a person whether a tool call may run, and shows exactly what it would do."""

from __future__ import annotations

from mm.permission import Decision, Permission
from mm.terminal.reading import Reader
from mm.terminal.screen import STRONG, Screen

_WORDS = {"o": Decision.ONCE, "y": Decision.ONCE, "a": Decision.ALWAYS, "n": Decision.NO}
_FULL = {"once": Decision.ONCE, "yes": Decision.ONCE, "always": Decision.ALWAYS, "no": Decision.NO}
QUESTION = "Allow it? once, always, no: "


async def permitted(permission: Permission, screen: Screen, reader: Reader) -> Decision:
    """Return what the person decides; Ctrl-D is a no.

    Raises:
        KeyboardInterrupt: Ctrl-C, which stops the turn.
    """
    screen.line(f"{permission.title}: may it run?", STRONG)
    show_preview(permission.preview, screen)
    while True:
        try:
            said = (await reader.choice(QUESTION)).strip().lower()
        except EOFError:
            return Decision.NO
        decision = _WORDS.get(said) or _FULL.get(said)
        if decision is not None:
            return decision
        screen.notice(f"Write once (or o), always (or a: every {permission.tool} in this conversation), or no (or n).")


def show_preview(preview: str, screen: Screen) -> None:
    """Show a preview; the lines of a diff have their colours beside their signs."""
    for line in preview.rstrip("\n").split("\n"):
        screen.say(f"  {line}", _style(line))


def _style(line: str) -> str:
    if line.startswith(("+++", "---")):
        return STRONG
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
