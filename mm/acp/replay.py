"""A recorded conversation as the updates that show it again: records are sent, and nothing is run.

What the program itself wrote is told apart from what the person said, and errors are no part of it. The recorded
instructions are left out: a conversation goes on under the current ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from uuid import uuid4

from acp.schema import (
    AgentMessageChunk,
    AgentThoughtChunk,
    ContentToolCallContent,
    TextContentBlock,
    ToolCallStart,
    UserMessageChunk,
)
from agent_framework import Content

from maf_memory.authorship import INSTRUCTIONS, program_kind
from maf_memory.sessions.calls import Calls, OpenCall
from maf_memory.sessions.parts import ATTACHED, CALLS, RESULTS, text_of, without_type
from maf_memory.sessions.transcript import BOOKKEEPING
from mm.acp.blocks import blocks_of

if TYPE_CHECKING:
    from agent_framework import Message

    from mm.acp.blocks import Block
    from mm.acp.tool_calls import ToolCalls

MOST = 1024 * 1024
"""How many characters of a text go into one update; what is longer goes on in the next, of the same message."""

Update = UserMessageChunk | AgentMessageChunk | AgentThoughtChunk | ToolCallStart


def replayed(messages: Sequence[Message], calls: ToolCalls) -> Iterator[Update]:
    """Yield the conversation, oldest first; each call stands once, at its place, with the result that it had."""
    entries = [*_entries(messages)]  # the whole conversation first: a call is closed by what follows it
    for entry in entries:
        yield _called(entry, calls) if isinstance(entry, OpenCall) else entry


def _entries(messages: Sequence[Message]) -> Iterator[Update | OpenCall]:
    calls = Calls()
    ids: set[str] = set()
    for number, message in enumerate(messages):
        kind = program_kind(message.additional_properties)
        if message.role == "system" or kind == INSTRUCTIONS:
            continue
        message_id = message.message_id
        if not message_id or message_id in ids:
            message_id = uuid4().hex
        ids.add(message_id)
        for content in message.contents:
            yield from _drawn(content, message, number, kind, message_id, calls)


def _drawn(
    content: Content, message: Message, number: int, kind: str | None, message_id: str, calls: Calls
) -> Iterator[Update | OpenCall]:
    what = str(content.type)
    if what == "text" or what in ATTACHED:
        block = blocks_of(content)
        if block is not None:
            yield from _chunks(block, message.role, kind, message_id)
    elif what == "text_reasoning":
        for piece in _pieces(text_of(content.text)):
            yield AgentThoughtChunk(session_update="agent_thought_chunk", content=_text(piece), message_id=message_id)
    elif what in CALLS:
        yield calls.called(content, turn=0, message=number)
    elif what in RESULTS:
        yield from calls.answered(content, turn=0)
    elif what == "function_approval_request":
        yield from calls.asked(content, turn=0, message=number)
    elif what == "function_approval_response":
        yield from calls.decided(content, turn=0, message=number)
    elif what not in BOOKKEEPING:
        for piece in _pieces(without_type(content)):
            yield from _chunks(_text(piece), "assistant", what, message_id)


def _chunks(block: Block, role: str, kind: str | None, message_id: str) -> Iterator[Update]:
    """Yield a block as what the person sent, what the model said, or, by its mark, what the program wrote."""
    if isinstance(block, TextContentBlock) and len(block.text) > MOST:
        for piece in _pieces(block.text):
            yield from _chunks(_text(piece), role, kind, message_id)
    elif role == "user" and kind is None:
        yield UserMessageChunk(session_update="user_message_chunk", content=block, message_id=message_id)
    else:
        marked = None if kind is None else {"mm": {"kind": kind}}
        yield AgentMessageChunk(
            session_update="agent_message_chunk", content=block, message_id=message_id, field_meta=marked
        )


def _called(call: OpenCall, calls: ToolCalls) -> ToolCallStart:
    update = calls.replayed(call)
    for attached in call.attachments:
        if attached.uri:
            block = blocks_of(Content.from_uri(attached.uri, media_type=attached.media_type, name=attached.name))
            if block is not None:
                update.content = [*(update.content or ()), ContentToolCallContent(type="content", content=block)]
    return update


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), MOST):
        yield text[start : start + MOST]


def _text(text: str) -> TextContentBlock:
    return TextContentBlock(type="text", text=text)
