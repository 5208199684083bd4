"""One question, one answer, and the end of the program."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

from mm.assembly import assembled
from mm.attachments import with_attachments
from mm.config import Config
from mm.events import Outcome, PermissionWanted
from mm.line.drawing import Json, Plain
from mm.permission import Decision

NOBODY = "nobody can be asked here, and mm -p allows it with --yes only"

STATUS = {Outcome.ANSWERED: 0, Outcome.FAILED: 1, Outcome.BLOCKED: 1, Outcome.CANCELLED: 130}
"""The exit status that each ending has."""


async def one_turn(
    project: Path, config: Config, question: str, screen: Plain | Json, *, resume: str | None, allow: bool
) -> tuple[int, str | None]:
    """Ask one question and return the exit status and the id of the conversation, where it was kept.

    Nobody can be asked here: a call that needs a permission is refused, unless ``allow`` allows every one.

    Raises:
        ChatUnavailable, AttachmentRefused, UnknownSession, AmbiguousSession, FileRefused, SaveFailed: before anything
            was sent.
    """
    conversation = assembled(project, config)
    await conversation.keeper.sweep()
    if resume is not None:
        await conversation.resume(resume)
    turn = conversation.ask(with_attachments(question, project))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, turn.cancel)
        except NotImplementedError:  # Windows: Ctrl-C arrives as KeyboardInterrupt
            break
    async for event in turn:
        if isinstance(screen, Json) and conversation.keeper.is_kept:
            screen.session = conversation.keeper.record.id
        screen.draw(event)
        if isinstance(event, PermissionWanted):
            event.permission.answer(Decision.ONCE if allow else Decision.NO, why=NOBODY)
    keeper = conversation.keeper
    return STATUS[await turn.ended()], keeper.record.id if keeper.is_kept else None
