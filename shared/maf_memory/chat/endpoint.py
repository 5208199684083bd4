"""The one seam for real models: any OpenAI-compatible endpoint, imported only when it is chosen.

Configured by the framework's own variables: ``OPENAI_BASE_URL`` (a compatible server; OpenAI itself when unset),
``OPENAI_CHAT_COMPLETION_MODEL`` and ``OPENAI_API_KEY``; ``MAF_CHAT_TIMEOUT`` is this project's own.

What the seam decides, so that a question ends within a stated time and its failure is seen at once:

* No request is repeated behind the person's back. A failed question is rolled back and can be asked again.
* Each question has a connection of its own. One that is kept open while a person thinks is often closed by the server
  meanwhile, and without a repetition the next question would fail.
* A connection is waited for 5 s, and each next piece of an answer ``MAF_CHAT_TIMEOUT`` seconds.
"""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from maf_memory.chat.failures import address
from maf_memory.errors import ChatUnavailable
from maf_memory.text import one_line

if TYPE_CHECKING:
    import httpx2
    from agent_framework import BaseChatClient

OPENAI_BASE_URL = "https://api.openai.com/v1"

TIMEOUT_VARIABLE = "MAF_CHAT_TIMEOUT"
SILENCE = 120.0
"""Seconds without a byte after which an endpoint counts as stuck; a slow machine reads a long question for a minute."""

CONNECTING = 5.0
"""Seconds to wait for a connection."""

LARGEST_ANSWER = 64 * 1024 * 1024
"""Bytes of one answer as sent, events included: a larger one could not be kept in a file that is read back."""

_NO_KEY = "no-key-needed"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a real model answers: its base URL, its name, and the key, which no text of this class shows.

    ``silence`` is in seconds, ``largest`` in bytes.
    """

    base_url: str
    model: str
    api_key: str = field(repr=False)
    silence: float = SILENCE
    largest: int = LARGEST_ANSWER

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
        return cls(base_url, model, key or _NO_KEY, _silence(environ.get(TIMEOUT_VARIABLE, "").strip()))

    @property
    def timeout(self) -> httpx2.Timeout:
        """How long each step of a request may take."""
        import httpx2

        return httpx2.Timeout(self.silence, connect=min(CONNECTING, self.silence))

    def connect(self) -> BaseChatClient[Any]:
        """Return a client for this endpoint; nothing is sent yet.

        Raises :class:`ChatUnavailable` when the provider's package is not installed.
        """
        try:
            from agent_framework.openai import OpenAIChatCompletionClient
            from httpx2 import InvalidURL, Limits
            from openai import AsyncOpenAI, DefaultAsyncHttpxClient
        except ModuleNotFoundError as error:
            raise ChatUnavailable(
                "--chat openai needs the package agent-framework-openai. "
                "In the project's folder: pip install '.[openai]'."
            ) from error
        from maf_memory.chat.merging import OneUserMessage
        from maf_memory.chat.reception import EventsOnly, WholeAnswer

        try:
            http = DefaultAsyncHttpxClient(
                limits=Limits(max_keepalive_connections=0), event_hooks={"response": [EventsOnly(self.largest)]}
            )
            client = AsyncOpenAI(
                api_key=self.api_key, base_url=self.base_url, timeout=self.timeout, max_retries=0, http_client=http
            )
        except (ImportError, ValueError, OSError, InvalidURL) as error:
            # The HTTP client reads the environment too: its proxies and its certificates.
            raise ChatUnavailable(
                f"--chat openai cannot set up its connection ({one_line(str(error))}). Check OPENAI_BASE_URL, "
                "ALL_PROXY, HTTP_PROXY, HTTPS_PROXY, SSL_CERT_FILE and SSL_CERT_DIR."
            ) from error
        return OpenAIChatCompletionClient(
            self.model, async_client=client, middleware=[WholeAnswer(self.base_url), OneUserMessage()]
        )

    def __str__(self) -> str:
        return f"{self.model} at {address(self.base_url)}"


def _silence(seconds: str) -> float:
    if not seconds:
        return SILENCE
    try:
        number = float(seconds)
    except ValueError:
        number = 0
    if not (number > 0 and math.isfinite(number)):
        raise ChatUnavailable(f"{TIMEOUT_VARIABLE} is not a number of seconds above 0; set it again or unset it.")
    return number


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
