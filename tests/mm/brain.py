"""A conversation with a scripted model, for the tests of the brain."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_framework import tool

from maf_memory.chat.scripted import ScriptedChatClient
from mm.config import Config, Model
from mm.conversation import Conversation
from mm.events import ErrorShown, Event, PermissionWanted, Text, ToolFinished, ToolStarted, TurnEnded
from mm.keeper import Keeper
from mm.permission import Decision
from mm.tools.spec import ToolSpec
from mm.turns import Turn

CONFIG = Config(model=Model(provider="openai", name="scripted"), tools=())


def spec_of(function: Callable[..., Any], *, asks: bool = False) -> ToolSpec:
    made = tool(function, approval_mode="never_require")
    return ToolSpec(
        made,
        "execute" if asks else "read",
        asks,
        lambda arguments: f"{made.name} {json.dumps(dict(arguments))}",
        lambda arguments: f"would do {json.dumps(dict(arguments))}",
    )


def conversation_of(
    project: Path, replies: Sequence[Any], *tools: ToolSpec, config: Config = CONFIG, **changes: Any
) -> tuple[Conversation, ScriptedChatClient]:
    client = ScriptedChatClient(replies)
    config = replace(config, **changes)
    return Conversation(Keeper(project, config), config, client, tools), client


async def drawn(turn: Turn, decision: Decision | None = None) -> list[Event]:
    """Every event of a turn; a permission is answered with ``decision``."""
    events = []
    async for event in turn:
        events.append(event)
        if isinstance(event, PermissionWanted) and decision is not None:
            event.permission.answer(decision)
    return events


def outline(events: Sequence[Event]) -> list[str]:
    """The events in words."""
    said = []
    for event in events:
        match event:
            case Text(text):
                said.append(f"text {text}")
            case ToolStarted(title=title):
                said.append(f"started {title}")
            case ToolFinished(output=output, succeeded=succeeded):
                said.append(f"finished {output}" if succeeded else f"unfinished {output}")
            case PermissionWanted():
                said.append("permission")
            case ErrorShown(line):
                said.append(f"error {line}")
            case TurnEnded(outcome):
                said.append(outcome.value)
            case other:
                said.append(f"notice {other.text}")
    return said


def told(conversation: Conversation) -> list[str]:
    """What the conversation says, as role and text."""
    lines = []
    for message in conversation.keeper.messages:
        for content in message.contents:
            match content.type:
                case "function_call":
                    lines.append(f"call {content.name}")
                case "function_result":
                    lines.append(f"result {content.result}")
                case _:
                    lines.append(f"{message.role} {content.text}")
    return lines


def files(project: Path) -> list[Path]:
    return sorted((project / ".mm" / "sessions").glob("*.json")) if (project / ".mm").exists() else []
