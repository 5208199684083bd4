"""Text made sound where it enters a record: a lone surrogate cannot be written as UTF-8, and would stop every save.

A folder's name that is not UTF-8, a tool's output cut inside an emoji: neither is a reason to lose a conversation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maf_memory.errors import SaveFailed
from maf_memory.text import sound, sound_throughout

if TYPE_CHECKING:
    from maf_memory.sessions.record import SessionRecord

TEXTS = ("cwd", "title", "key", "session_id", "provider", "model")
"""The fields of a record that are texts of their own; its errors are made sound by the journal."""


def is_for_a_surrogate(error: SaveFailed) -> bool:
    """Whether a save was refused for a lone surrogate; only then is the whole record looked through."""
    return isinstance(error.__cause__, UnicodeEncodeError)


def make_sound(*records: SessionRecord) -> None:
    """Give every lone surrogate in the texts and messages of ``records`` its U+FFFD.

    A message is not changed but replaced, by the same one in each record. What an application keeps in the state is
    its own: that stays as it is, and is refused.
    """
    replaced: dict[int, Any] = {}
    for record in records:
        for name in TEXTS:
            value = getattr(record, name)
            if isinstance(value, str):
                setattr(record, name, sound(value))
        for place, message in enumerate(record.messages):
            if id(message) not in replaced:
                replaced[id(message)] = _sound_message(message)
            record.messages[place] = replaced[id(message)]


def _sound_message(message: Any) -> Any:
    try:
        form = message.to_dict()
        made_sound = sound_throughout(form)
        return message if made_sound == form else type(message).from_dict(made_sound)
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError):
        return message  # it is no message that can be kept: the save says why
