"""Says in one line why a real endpoint gave no answer, without a class name, a dump or a key in it.

The provider wraps whatever the ``openai`` client raised, and its own text shows Python's classes; the cause is what
tells. What a server says about the failure is quoted, shortened, where it helps.
"""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import httpx2

LONGEST_QUOTE = 200
"""The most characters of a server's own message that a line shows."""

SHORTEST_SECRET = 4
"""A shorter key is no secret, and taking it out of a text would only garble the text."""


def reason(error: BaseException) -> str:
    """Return why there was no answer, as the end of a sentence, on one line and without a full stop.

    ``error`` is what the framework's chat client raised, or what the ``openai`` or ``httpx2`` package did.
    """
    from agent_framework.exceptions import ChatClientException

    cause = error.__cause__ or error
    match type(cause).__module__.partition(".")[0]:
        case "openai":
            return _of_openai(cause)
        case "httpx2":
            return of_transport(cause)
    if isinstance(error, OSError):
        return (error.strerror or str(error)).rstrip(".")
    if isinstance(error, ChatClientException) and error.__cause__ is not None:
        # The provider's own code stumbled over what it was sent; its text would show Python's classes.
        return f"the endpoint sent something that is not a piece of an answer: {_form(cause)}"
    first = error.args[0] if error.args else None
    lines = first.strip().splitlines() if isinstance(first, str) else []
    return lines[0].rstrip(".") if lines else type(error).__name__


def address(url: str) -> str:
    """Return ``url`` without what may be a secret: user-info, query and fragment."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def of_status(status: int, said: str, endpoint: str) -> str:
    """Return what an HTTP status of 400 or more means for a question; ``said`` is the server's own message."""
    quoted = f": {said}" if said else ""
    match status:
        case 401:
            # What the server says may hold the key, whole or in part.
            return f"the endpoint {endpoint} does not accept the key (401); check OPENAI_API_KEY"
        case 403:
            return f"the endpoint {endpoint} does not allow this with this key (403){quoted}"
        case 404:
            return (
                f"the endpoint {endpoint} does not know the model or the address (404){quoted}; "
                "check OPENAI_CHAT_COMPLETION_MODEL and OPENAI_BASE_URL"
            )
        case 429:
            return f"the endpoint {endpoint} takes no more questions for now (429){quoted}; ask again later"
        case _ if status >= 500:
            return f"the endpoint {endpoint} failed ({status}){quoted}"
        case _:
            return f"the endpoint {endpoint} refused the request ({status}){quoted}"


def of_transport(error: BaseException) -> str:
    """Return what went wrong between here and the endpoint; ``error`` is what ``httpx2`` raised."""
    import httpx2

    request = error._request if isinstance(error, httpx2.RequestError) else None
    endpoint = f"the endpoint {_endpoint(request)}" if request is not None else "the endpoint"
    limits: dict[str, float] = request.extensions.get("timeout", {}) if request is not None else {}
    match error:
        case httpx2.ConnectTimeout():
            return f"{endpoint} did not take the connection within {limits.get('connect', 0):g} s"
        case httpx2.TimeoutException():
            return f"{endpoint} was silent for {limits.get('read', 0):g} s"
        case httpx2.ConnectError():
            return f"{endpoint} {_no_connection(error)}"
        case httpx2.ReadError() | httpx2.WriteError() | httpx2.CloseError():
            return f"{endpoint} broke the connection"
        case httpx2.RemoteProtocolError():
            return f"{endpoint} {_broke_off(str(error))}"
        case httpx2.ProxyError():
            return f"the proxy before {endpoint} refused: {_quotable(str(error))}"
        case _:
            # A refusal of our own reads on from its subject; of the others little is known.
            ours = type(error).__module__.startswith("maf_memory.")
            return f"{endpoint} {error}" if ours else f"{endpoint} cannot be asked: {_quotable(str(error))}"


def said_by(body: Any, key: str = "") -> str:
    """Return the server's own message in a decoded error body, quotable; empty where it has none."""
    found = body
    for field in ("error", "message", "detail"):
        if isinstance(found, dict) and field in found:
            found = found[field]
    # An error page of a web server or proxy is no message.
    if not isinstance(found, str) or found.lstrip().startswith("<"):
        return ""
    return _quotable(found.replace(key, "[the key]") if len(key) >= SHORTEST_SECRET else found)


def _of_openai(cause: BaseException) -> str:
    import openai

    match cause:
        case openai.APIStatusError():
            said = said_by(cause.body, _key(cause.request))
            return of_status(cause.status_code, said, _endpoint(cause.request))
        case openai.APIConnectionError():
            # The client puts every failure of the transport behind two classes; the cause tells them apart.
            return of_transport(cause.__cause__) if cause.__cause__ is not None else "the endpoint cannot be reached"
        case openai.APIError():
            said = said_by(cause.body, _key(cause.request)) or said_by(cause.message, _key(cause.request))
            return f"the endpoint {_endpoint(cause.request)} reported an error in its answer: {said}"
        case _:
            return "the endpoint could not be asked"


def _no_connection(error: BaseException) -> str:
    for cause in _causes(error):
        match cause:
            case ConnectionRefusedError():
                return "refused the connection; check that the server runs"
            case socket.gaierror():
                return "has a host name that is not known; check OPENAI_BASE_URL"
            case ssl.SSLCertVerificationError():
                return f"showed a certificate that is not trusted ({cause.verify_message})"
            case ssl.SSLError():
                return "does not speak TLS as it should; check whether OPENAI_BASE_URL begins with http or https"
    return "cannot be reached"


def _broke_off(said: str) -> str:
    if "without sending a response" in said:
        return "closed the connection without an answer"
    if "closed connection" in said:
        return "broke the answer off"
    return "does not speak HTTP as it should; check OPENAI_BASE_URL"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield what led to ``error``; a connection that was tried at several addresses has several causes."""
    waiting, seen = [error], set()
    while waiting:
        one = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += one.exceptions if isinstance(one, BaseExceptionGroup) else ()
        waiting += [further for further in (one.__cause__, one.__context__) if further is not None]


def _form(cause: BaseException) -> str:
    match cause:
        case UnicodeDecodeError():
            return "it is not UTF-8"
        case json.JSONDecodeError() | RecursionError():
            return "it is not JSON"
        case _:
            return "it has another form"


def _endpoint(request: httpx2.Request) -> str:
    return address(str(request.url)).removesuffix("/chat/completions").removesuffix("/models")


def _key(request: httpx2.Request) -> str:
    return request.headers.get("Authorization", "").removeprefix("Bearer ")


def _quotable(text: str) -> str:
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= LONGEST_QUOTE else line[:LONGEST_QUOTE].rstrip() + "…"
