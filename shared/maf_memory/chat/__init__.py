"""Chooses who answers: the offline stand-in, a script, or a real model behind an OpenAI-compatible endpoint.

=================  ===========================================================================
``offline``        no model and no network: quotes what it was sent (:mod:`.offline`), the default
``openai``         a real model, configured by the framework's variables (:mod:`.endpoint`)
``script:FILE``    replies from a JSON file, for tests and rehearsals (:mod:`.script`)
=================  ===========================================================================

Importing this package loads neither the framework nor a provider: each client is imported when it is chosen.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maf_memory.errors import ChatUnavailable

if TYPE_CHECKING:
    from agent_framework import BaseChatClient

__all__ = ["CHAT_VARIABLE", "DEFAULT_CHAT", "chat_choice", "connect", "describe"]

CHAT_VARIABLE = "MAF_CHAT"
DEFAULT_CHAT = "offline"

_SCRIPT = "script:"
_FORMS = "Choose offline, openai or script:FILE."


def chat_choice(option: str | None, environ: Mapping[str, str] = os.environ) -> str:
    """Return the chosen chat client: the option if it was given, else ``MAF_CHAT``, else ``offline``.

    An empty ``MAF_CHAT`` counts as unset. Raises :class:`ChatUnavailable` for anything but the three forms.
    """
    if option is not None:
        return _checked(option, "--chat")
    return _checked(environ.get(CHAT_VARIABLE) or DEFAULT_CHAT, CHAT_VARIABLE)


def connect(choice: str, environ: Mapping[str, str] = os.environ) -> BaseChatClient[Any]:
    """Return a client that is ready for an ``Agent``; nothing is sent anywhere yet.

    Raises :class:`ChatUnavailable` when a script is malformed, or a package or a setting is missing.
    """
    match _checked(choice, "The choice of chat"):
        case "offline":
            from maf_memory.chat.offline import OfflineChatClient

            return OfflineChatClient()
        case "openai":
            from maf_memory.chat.endpoint import Endpoint

            return Endpoint.from_environ(environ).connect()
        case script:
            from maf_memory.chat.scripted import ScriptedChatClient

            return ScriptedChatClient.from_file(Path(script.removeprefix(_SCRIPT)))


def describe(choice: str, environ: Mapping[str, str] = os.environ) -> str:
    """Return the line of the start banner that says who answers; it never shows a key.

    Raises :class:`ChatUnavailable` like :func:`connect`, but reads no script.
    """
    match _checked(choice, "The choice of chat"):
        case "offline":
            return "offline: not a model; it quotes what this program hands it."
        case "openai":
            from maf_memory.chat.endpoint import Endpoint

            return f"openai: {Endpoint.from_environ(environ)}"
        case script:
            return f"script: not a model. It replies what {script.removeprefix(_SCRIPT)} says."


def _checked(choice: str, origin: str) -> str:
    if choice in ("offline", "openai") or (choice.startswith(_SCRIPT) and choice != _SCRIPT):
        return choice
    # repr keeps the message on one line, whatever the choice holds.
    raise ChatUnavailable(f"{origin} cannot be {choice[:80]!r}.{_nearest(choice)} {_FORMS}")


def _nearest(choice: str) -> str:
    from difflib import get_close_matches

    written = choice.strip().lower()
    if written == _SCRIPT or written.endswith(".json"):
        return " Did you mean script:FILE?"
    for nearest in get_close_matches(written.partition(":")[0], ("offline", "openai", "script"), n=1):
        return f" Did you mean {nearest.replace('script', 'script:FILE')}?"
    return ""
