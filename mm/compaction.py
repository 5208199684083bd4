"""Compaction: old turns become one summary, the last turns stay; built aside and handed back, never half done.

It takes and returns messages and knows nothing of files. What it writes is marked as the program's own: a summary of
two parts (a header line and the text) and an acknowledgement, so that roles still alternate.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from maf_memory.authorship import is_question, mark, program_kind
from maf_memory.text import sound
from mm import PROGRAM
from mm.errors import CompactionFailed

if TYPE_CHECKING:
    from agent_framework import Content, Message

SUMMARY, ACKNOWLEDGEMENT = "summary", "acknowledgement"

HEADER = "[Summary of the conversation until here, written by mini-me]"
UNDERSTOOD = "Understood. I go on from this summary."

PROMPT = (
    "Summarise the conversation below for yourself, so that you can go on with it. Keep decisions, names, paths, "
    "numbers, what was done to which file, and what is open. Leave out pleasantries. Write plain text, in the "
    "language of the conversation.\n\n"
)

_CHARACTERS_PER_TOKEN = 4
_SHARE = 0.7
"""How much of the context what is summarised may take: the instructions, the summary and the estimate need the rest."""

_IMAGE = 4_000
"""What an image counts as, in characters; servers take 85 to some thousand tokens for one."""

_LONGEST_RESULT = 2_000
"""How much of a tool's result the summary is made from, in characters."""


async def compacted(
    messages: Sequence[Message],
    summarise: Callable[[str], Awaitable[str]],
    *,
    keep_turns: int,
    context_size: int | None = None,
    left_out: Callable[[int], None] = lambda _: None,
) -> list[Message] | None:
    """Return the conversation with all but its last ``keep_turns`` turns as a summary; ``None``: there is none to make.

    What is summarised takes at most a share of ``context_size`` tokens: of a longer conversation, which is the one that
    needs it most, the middle is left out, and ``left_out`` is told how many characters that is.
    A turn is a question with everything up to the next one, so that no tool call is ever parted from its result.

    Raises:
        CompactionFailed: the summary came back empty; ``messages`` is as it was.
        Exception: whatever ``summarise`` raises.
    """
    cut = _cut(messages, keep_turns)
    if cut == 0:
        return None
    said = transcript(messages[:cut])
    longest = len(said) if context_size is None else int(context_size * _CHARACTERS_PER_TOKEN * _SHARE)
    if len(said) > longest:
        left_out(len(said) - longest)
        said = _shortened(said, longest)
    text = sound(await summarise(PROMPT + said)).strip()
    if not text:
        raise CompactionFailed("The summary came back empty. The conversation is as it was.")
    return [*_summary(text), *messages[cut:]]


def _summary(text: str) -> list[Message]:
    from agent_framework import Message

    return [
        Message("user", [f"{HEADER}\n{text}"], additional_properties=mark(PROGRAM, SUMMARY)),
        Message("assistant", [UNDERSTOOD], additional_properties=mark(PROGRAM, ACKNOWLEDGEMENT)),
    ]


def _cut(messages: Sequence[Message], keep_turns: int) -> int:
    """Return where the turns that stay begin; 0 where nothing but a summary stands before them."""
    starts = [_start_of_turn(messages, place) for place, message in enumerate(messages) if is_question(message)]
    cut = len(messages) if keep_turns == 0 else starts[-keep_turns] if len(starts) > keep_turns else 0
    said = [message for message in messages[:cut] if program_kind(message.additional_properties) is None]
    return cut if said else 0


def _start_of_turn(messages: Sequence[Message], question: int) -> int:
    """Return where a turn begins: at what a hook added ahead of the question, if it did."""
    start = question
    while start > 0 and program_kind(messages[start - 1].additional_properties) == "context":
        start -= 1
    return start


def transcript(messages: Sequence[Message]) -> str:
    """Return the messages as the text that is summarised."""
    lines: list[str] = []
    for message in messages:
        if program_kind(message.additional_properties) == ACKNOWLEDGEMENT:
            continue
        for content in message.contents:
            match content.type:
                case "text":
                    lines.append(f"{message.role}: {content.text}")
                case "function_call":
                    lines.append(f"tool call: {content.name} {content.arguments}")
                case "function_result":
                    lines.append(f"tool result: {_shortened(str(content.result or ''), _LONGEST_RESULT)}")
                case "data" | "uri" | "hosted_file":
                    lines.append(f"{message.role}: [{content.media_type or content.type}]")
    return "\n".join(lines)


def _shortened(text: str, longest: int) -> str:
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half]} […] {text[-half:]}"


def estimated_tokens(messages: Sequence[Message]) -> int:
    """Return about how many tokens the messages take: a quarter of their characters, for want of a tokenizer."""
    return sum(_length(content) for message in messages for content in message.contents) // _CHARACTERS_PER_TOKEN


def _length(content: Content) -> int:
    match content.type:
        case "text":
            return len(content.text or "")
        case "function_call":
            return len(content.name or "") + len(str(content.arguments or ""))
        case "function_result":  # whole, unlike in the transcript: the model is sent all of it
            return len(str(content.result or ""))
        case "data" | "uri" | "hosted_file":
            return _IMAGE
        case _:
            return 0
