"""The restart walkthrough as data: what is typed, what must be seen, and what each restart shows.

An expected line is literal text in which ``...`` stands for anything: sizes and paths vary.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Meaning:
    """What an answer must and must not name when a model words it in its own way."""

    names: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


@dataclass(frozen=True)
class Typed:
    """One line typed into a program, the lines that must follow, and their meaning if a model answers."""

    line: str
    shows: tuple[str, ...] = ()
    answer: Meaning | None = None


@dataclass(frozen=True)
class Finding:
    """What a restart shows: whether ``what`` was found again, as seen after the line ``seen_in``."""

    what: str
    found: bool
    seen_in: str


@dataclass(frozen=True)
class Run:
    """One start of a program, up to its end."""

    title: str
    program: str
    opens: tuple[str, ...]
    typed: tuple[Typed, ...]
    findings: tuple[Finding, ...] = ()
    look_at_snapshot: bool = False
    predict: str = field(default="")


def _ledger(conversation: str, snapshot: str, context: str) -> tuple[str, ...]:
    return (f"  conversation  {conversation}", f"  snapshot      {snapshot}", f"  context       {context}")


QUIT = Typed("quit")
SAVED = "(saved: revision ..., ... messages, ... bytes)"
WHICH = "Which module did we discuss?"
LATE = "The invoices are late since Monday."
WHAT_IS_LATE = "What is late?"
NOTHING = "No word of your question is in what I was sent: ..."
DIALOGUE_IS_NEW = "  conversation  new: it lives in this process only and is never written"

LESSON = (
    Run(
        "demo130: set a context, and talk",
        "demo130",
        (DIALOGUE_IS_NEW, "  context       none yet"),
        (
            Typed(
                "setctx module=Reporting",
                (
                    "Context replaced; an empty session starts.",
                    *_ledger("unchanged  empty", "unchanged  none", "changed    none -> 16 characters"),
                ),
            ),
            Typed("showctx", ("context: module=Reporting",)),
            Typed(WHICH, ('"module=Reporting" (the unverified context)',), Meaning(names=("Reporting",))),
            Typed(LATE, ("Noted. It is now message 3 of this conversation.",), Meaning()),
            Typed(WHAT_IS_LATE, (f'"{LATE}" (message 3 of this conversation)',), Meaning(names=("invoice",))),
            QUIT,
        ),
    ),
    Run(
        "demo130, started again",
        "demo130",
        (DIALOGUE_IS_NEW, "  context       found again: 16 characters"),
        (
            Typed("showctx", ("context: module=Reporting",)),
            Typed(WHAT_IS_LATE, (NOTHING,), Meaning(never=("invoice",))),
            Typed(
                "reset",
                (
                    "Context store emptied, its file stays; an empty session starts.",
                    *_ledger("changed    2 messages -> empty", "unchanged  none", "changed    16 characters -> none"),
                ),
            ),
            QUIT,
        ),
        (
            Finding("the context: module=Reporting", True, "showctx"),
            Finding("the dialogue: the late invoices", False, WHAT_IS_LATE),
        ),
        predict="demo130 was closed. When it starts again: the context, the dialogue, both, or nothing?",
    ),
    Run(
        "demo130, started once more, after reset",
        "demo130",
        (DIALOGUE_IS_NEW, "  context       none yet"),
        (Typed("showctx", ("context: (none)",)), QUIT),
        (Finding("the context: reset emptied it", False, "showctx"),),
        predict="reset emptied the context store and kept its file. What will showctx say?",
    ),
    Run(
        "demo140: a conversation",
        "demo140",
        ("  conversation  new: no snapshot was found",),
        (
            Typed("module=Reporting", ("Noted. It is now message 1 of this conversation.", SAVED), Meaning()),
            QUIT,
        ),
        look_at_snapshot=True,
    ),
    Run(
        "demo140, started again",
        "demo140",
        ("  conversation  found again: 2 messages, from revision 1 of the snapshot",),
        (
            Typed(
                WHICH,
                ('"module=Reporting" (message 1 of this conversation)', SAVED),
                Meaning(names=("Reporting",)),
            ),
            Typed(
                "forget",
                (
                    "Snapshot deleted; an empty session starts.",
                    *_ledger(
                        "changed    4 messages -> empty",
                        "changed    revision 2, 4 messages, ... bytes -> none",
                        "unchanged  none",
                    ),
                ),
            ),
            QUIT,
        ),
        (Finding("the conversation: module=Reporting", True, WHICH),),
        predict="demo140 was closed. When it starts again, will it know which module you spoke of?",
    ),
    Run(
        "demo140, started once more, after forget",
        "demo140",
        ("  conversation  new: no snapshot was found",),
        (
            Typed(
                "load",
                (
                    "There is no snapshot at ...: an empty session starts.",
                    *_ledger("unchanged  empty", "unchanged  none", "unchanged  none"),
                ),
            ),
            Typed(WHICH, (NOTHING, SAVED), Meaning(never=("Reporting",))),
            QUIT,
        ),
        (Finding("the conversation: forget deleted its snapshot", False, WHICH),),
        predict="forget, then quit. After a new start, can load bring the conversation back?",
    ),
    Run(
        "forget is not reset: first a context in demo130",
        "demo130",
        (DIALOGUE_IS_NEW, "  context       none yet"),
        (
            Typed(
                "setctx module=Billing",
                (
                    "Context replaced; an empty session starts.",
                    *_ledger(
                        "unchanged  empty",
                        "unchanged  revision 1, 2 messages, ... bytes",
                        "changed    none -> 14 characters",
                    ),
                ),
            ),
            QUIT,
        ),
        predict="demo130 starts again, after reset, and after all that was said to demo140. What does it know?",
    ),
    Run(
        "then forget in demo140",
        "demo140",
        ("  conversation  found again: 2 messages, from revision 1 of the snapshot",),
        (
            Typed(
                "forget",
                (
                    "Snapshot deleted; an empty session starts.",
                    *_ledger(
                        "changed    2 messages -> empty",
                        "changed    revision 1, 2 messages, ... bytes -> none",
                        "unchanged  14 characters",
                    ),
                ),
            ),
            QUIT,
        ),
        predict="demo140 starts again. It forgot, and then saved one more answer. What will it find?",
    ),
    Run(
        "and demo130 again",
        "demo130",
        (DIALOGUE_IS_NEW, "  context       found again: 14 characters"),
        (Typed("showctx", ("context: module=Billing",)), QUIT),
        (Finding("the context: forget is not reset", True, "showctx"),),
        predict="demo140 forgot everything it had. Does demo130 still have its context?",
    ),
)
