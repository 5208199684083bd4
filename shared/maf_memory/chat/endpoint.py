"""The one seam for real models: any OpenAI-compatible endpoint, imported only when it is chosen.

Configured by the framework's own variables: ``OPENAI_BASE_URL`` (a compatible server; OpenAI itself when unset),
``OPENAI_CHAT_COMPLETION_MODEL`` and ``OPENAI_API_KEY``.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from maf_memory.errors import ChatUnavailable

if TYPE_CHECKING:
    from agent_framework import BaseChatClient

OPENAI_BASE_URL = "https://api.openai.com/v1"

_NO_KEY = "no-key-needed"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a real model answers: its base URL, its name, and the key, which no text of this class shows."""

    base_url: str
    model: str
    api_key: str = field(repr=False)

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Endpoint:
        """Return the configured endpoint; blank variables count as unset.

        A server on this machine needs no key: it is sent a placeholder, because the client insists on one.
        Raises :class:`ChatUnavailable`, naming the variable to set.
        """
        base_url = environ.get("OPENAI_BASE_URL", "").strip() or OPENAI_BASE_URL
        host = _host(base_url)
        model = environ.get("OPENAI_CHAT_COMPLETION_MODEL", "").strip()
        if not model:
            raise ChatUnavailable(
                "--chat openai needs the name of a model: set OPENAI_CHAT_COMPLETION_MODEL, or use --chat offline."
            )
        key = environ.get("OPENAI_API_KEY", "").strip()
        if not key and not _is_loopback(host):
            raise ChatUnavailable(
                f"--chat openai needs a key for {host}: set OPENAI_API_KEY, "
                "or set OPENAI_BASE_URL to a server on this machine."
            )
        if not (key.isascii() and key.isprintable()):
            raise ChatUnavailable("OPENAI_API_KEY holds a character that no key has; set it again.")
        return cls(base_url, model, key or _NO_KEY)

    def connect(self) -> BaseChatClient[Any]:
        """Return a client for this endpoint; nothing is sent yet.

        Raises :class:`ChatUnavailable` when the provider's package is not installed.
        """
        try:
            from agent_framework.openai import OpenAIChatCompletionClient
        except ModuleNotFoundError as error:
            raise ChatUnavailable(
                "--chat openai needs the package agent-framework-openai: pip install 'maf-memory[openai]'."
            ) from error
        from maf_memory.chat.merging import OneUserMessage

        return OpenAIChatCompletionClient(
            self.model, api_key=self.api_key, base_url=self.base_url, middleware=[OneUserMessage()]
        )

    def __str__(self) -> str:
        parts = urlsplit(self.base_url)
        # User-info and query may hold a secret, and this line goes to the screen.
        return f"{self.model} at {parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _host(base_url: str) -> str:
    try:
        parts = urlsplit(base_url)
        host = parts.hostname
        _ = parts.port  # raises where the port is not one
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise ChatUnavailable("OPENAI_BASE_URL is not an address such as http://127.0.0.1:8080/v1; set it again.")
    return host


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
