"""From the configuration to the model: the client that answers, and the line that says who it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maf_memory.chat import connect, describe
from maf_memory.errors import ChatUnavailable
from mm.config import Config

if TYPE_CHECKING:
    from agent_framework import BaseChatClient


def connect_model(config: Config, environ: Mapping[str, str]) -> tuple[BaseChatClient[Any], str]:
    """Return the client that ``config`` names, and a line about it that shows no key; nothing is sent yet.

    Raises:
        ChatUnavailable: a name, a script, a package or a key is missing.
    """
    with _in_own_words(config):
        return connect(_choice(config), _environ(config, environ)), model_line(config, environ)


def named(config: Config, environ: Mapping[str, str]) -> Config:
    """Return ``config`` with the model's name, also where only the environment says it, so that it is recorded."""
    if config.model.provider != "openai" or config.model.name is not None:
        return config
    name = environ.get("OPENAI_CHAT_COMPLETION_MODEL") or None
    return replace(config, model=replace(config.model, name=name))


def model_line(config: Config, environ: Mapping[str, str]) -> str:
    """Return the line about who answers, which shows no key; no client is made yet.

    Raises:
        ChatUnavailable: a name or a key is missing.
    """
    with _in_own_words(config):
        return describe(_choice(config), _environ(config, environ))


def in_own_words(line: str, config: Config) -> str:
    """Return a line of the chat clients with the names that ``agent.yaml`` has for what they name."""
    for theirs, own in (
        ("set OPENAI_CHAT_COMPLETION_MODEL, or use --chat offline", "set model.name in agent.yaml"),
        ("or set OPENAI_BASE_URL to", "or set model.baseURL in agent.yaml to"),
        ("--chat openai", "model.provider openai"),
        ("OPENAI_API_KEY", config.model.key_variable),
    ):
        line = line.replace(theirs, own)
    return line


@contextmanager
def _in_own_words(config: Config) -> Iterator[None]:
    try:
        yield
    except ChatUnavailable as error:
        raise ChatUnavailable(in_own_words(str(error), config)) from error.__cause__


def _choice(config: Config) -> str:
    if config.model.provider != "script":
        return config.model.provider
    if config.model.script is None:
        raise ChatUnavailable("model.provider is script, and model.script names no file. Set it in agent.yaml.")
    base = config.source.parent if config.source is not None else Path.cwd()
    return f"script:{base / config.model.script}"


def _environ(config: Config, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment as the chat clients read it, with what the configuration says in its place."""
    model = config.model
    seen = dict(environ)
    if model.name is not None:
        seen["OPENAI_CHAT_COMPLETION_MODEL"] = model.name
    if model.base_url is not None:
        seen["OPENAI_BASE_URL"] = model.base_url
    if model.key_variable != "OPENAI_API_KEY":
        seen.pop("OPENAI_API_KEY", None)  # another endpoint's key must not go to this one
        if environ.get(model.key_variable):
            seen["OPENAI_API_KEY"] = environ[model.key_variable]
    return seen
