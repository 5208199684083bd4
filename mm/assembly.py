"""Puts an agent together from its configuration: the model, the tools, the keeper, one conversation."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from mm.agent_yaml import read_config
from mm.config import Config
from mm.connecting import connect_model, named
from mm.conversation import Conversation
from mm.keeper import Keeper
from mm.memory import memory_tool
from mm.tools import project_tools
from mm.tools.spec import ToolSpec


def assembled(
    project: Path, config: Config, environ: Mapping[str, str] = os.environ, *, more_tools: Sequence[ToolSpec] = ()
) -> Conversation:
    """Return a new conversation of the agent that ``config`` describes; nothing is sent or written yet.

    ``more_tools`` are the ones that whoever asks brings along.

    Raises:
        ChatUnavailable: the model cannot be used.
    """
    config = named(config, environ)
    client, _ = connect_model(config, environ)
    keeper = Keeper(project, config)
    tools = project_tools(project, config)
    if config.memory_tool and config.sessions_enabled:
        tools.append(memory_tool(keeper.search))
    tools += more_tools
    key = environ.get(config.model.key_variable, "")
    return Conversation(keeper, config, client, tools, secrets=(key,) if key else ())


__all__ = ["assembled", "read_config"]
