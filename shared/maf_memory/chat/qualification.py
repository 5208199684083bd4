"""Tests an endpoint before people rely on it, and tells whether the demos would work with its model.

Questions go through the same seam, agent and turn as the demos' own. Only the list of models and the two user messages
in a row, which the seam would merge, are asked for directly.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import httpx2
from agent_framework import Agent, ContextProvider, InMemoryHistoryProvider, tool

from maf_memory.chat.failures import of_transport, said_by
from maf_memory.chat.reception import Bounds
from maf_memory.errors import TurnFailed
from maf_memory.providers import SOURCE_ID, context_message
from maf_memory.turn import ask

if TYPE_CHECKING:
    from maf_memory.chat.endpoint import Endpoint

INSTRUCTIONS = "You help a support desk. Answer in a few sentences."
"""What demo140 gives its model."""

STATEMENT = "module=Reporting"
QUESTION = "Which module did we discuss?"
EXPECTED = "reporting"

TRIES = 3
"""Answers vary, and one that is right may be luck."""

LONGEST_ANSWER = 5
"""How many times the endpoint's ``silence`` one answer may take in all; a model that rambles on is stopped."""

Outcome = Literal["passed", "FAILED", "yes", "no", "not listed", "not tried"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found; ``required`` tells whether the demos need it, ``seconds`` how long it took."""

    check: str
    outcome: Outcome
    detail: str
    seconds: float
    required: bool

    @property
    def holds(self) -> bool:
        """Whether the demos can do with this outcome."""
        return not self.required or self.outcome == "passed"


@dataclass(frozen=True, slots=True)
class _Check:
    name: str
    run: Callable[[Endpoint], Any]
    required: bool = True
    gate: bool = False
    """Whether nothing further can be found out once this fails."""


class _Failed(Exception):
    """Ends a check with its detail."""


async def qualify(endpoint: Endpoint) -> AsyncIterator[Finding]:
    """Yield one finding a check, each as soon as it is known; the demos would work if every finding ``holds``.

    Nothing is written anywhere. Raises :class:`ChatUnavailable` when the provider's package is not installed.
    """
    endpoint.connect()  # a missing package is no finding about the endpoint
    failed = ""
    for check in CHECKS:
        if failed:
            yield Finding(check.name, "not tried", f"{failed} failed", 0, check.required)
            continue
        start = perf_counter()
        outcome, detail = await _outcome(check, endpoint)
        yield Finding(check.name, outcome, detail, perf_counter() - start, check.required)
        failed = check.name if check.gate and outcome == "FAILED" else ""


async def _outcome(check: _Check, endpoint: Endpoint) -> tuple[Outcome, str]:
    bad: Outcome = "FAILED" if check.required else "no"
    try:
        result: tuple[Outcome, str] = await check.run(endpoint)
    except (_Failed, TurnFailed) as error:
        said = str(error).removeprefix("The question got no answer: ")
        return bad, said.removesuffix(" The conversation is as it was before the question.").rstrip(".")
    except httpx2.RequestError as error:
        return bad, of_transport(error)
    return result


async def _reachable(endpoint: Endpoint) -> tuple[Outcome, str]:
    async with _directly(endpoint) as client:
        response = await client.get("models")
    return "passed", f"it speaks HTTP (status {response.status_code})"


async def _model(endpoint: Endpoint) -> tuple[Outcome, str]:
    async with _directly(endpoint) as client:
        response = await client.get("models")
    if not response.is_success:
        return "not listed", f"the server has no list to show ({response.status_code}); the answers will tell"
    names = _listed(response)
    if endpoint.model in names:
        return "yes", "the server lists it"
    if not names:
        return "not listed", "the server's list is empty or has another form; the answers will tell"
    more = ", …" if len(names) > 3 else ""
    return "not listed", f"the server lists {', '.join(names[:3])}{more}; the answers will tell"


def _listed(response: httpx2.Response) -> list[str]:
    try:
        models = response.json()["data"]
        return [str(model["id"]) for model in models]
    except (ValueError, TypeError, LookupError, RecursionError):
        return []


async def _stream(endpoint: Endpoint) -> tuple[Outcome, str]:
    start = perf_counter()
    arrived: list[float] = []
    async with _agent(endpoint) as agent:
        await _asked(endpoint, agent, agent.create_session(), "Say hello in one sentence.", arrived)
    pieces = "1 piece" if len(arrived) == 1 else f"{len(arrived)} pieces"
    return "passed", f"{pieces}, the first after {arrived[0] - start:.1f} s" if arrived else pieces


async def _recall(endpoint: Endpoint) -> tuple[Outcome, str]:
    async with _agent(endpoint) as agent:

        async def once() -> str:
            session = agent.create_session()
            await _asked(endpoint, agent, session, STATEMENT)
            return await _asked(endpoint, agent, session, QUESTION)

        return await _each_time(once)


async def _context(endpoint: Endpoint) -> tuple[Outcome, str]:
    async with _agent(endpoint, context=STATEMENT) as agent:
        return await _each_time(lambda: _asked(endpoint, agent, agent.create_session(), QUESTION))


async def _each_time(once: Callable[[], Any]) -> tuple[Outcome, str]:
    wrong = ""
    held = 0
    for number in range(1, TRIES + 1):
        answer = await once()
        if EXPECTED in answer.casefold():
            held += 1
        else:
            wrong = wrong or f"; try {number} answered: {_excerpt(answer)}"
    return ("passed" if held == TRIES else "FAILED"), f"{held} of {TRIES} answers name the module{wrong}"


async def _tools(endpoint: Endpoint) -> tuple[Outcome, str]:
    called: list[str] = []

    @tool(approval_mode="never_require")
    async def ticket_count() -> str:
        """Return how many tickets are open now."""
        called.append("ticket_count")
        return "There are 17 open tickets."

    async with _agent(endpoint, tools=[ticket_count]) as agent:
        answer = await _asked(
            endpoint, agent, agent.create_session(), "How many tickets are open now? Use the tool ticket_count."
        )
    if not called:
        return "no", f"it answered without the tool: {_excerpt(answer)}"
    return "yes", "the tool was called" + (" and its result used" if "17" in answer else "; its result was not used")


async def _two_users(endpoint: Endpoint) -> tuple[Outcome, str]:
    messages = [{"role": "user", "content": STATEMENT}, {"role": "user", "content": QUESTION}]
    async with _directly(endpoint) as client:
        response = await client.post(
            "chat/completions", json={"model": endpoint.model, "messages": messages, "max_tokens": 8}
        )
    if response.is_success:
        return "yes", "taken as they are; the program sends them as one all the same"
    try:
        said = said_by(response.json(), endpoint.api_key)
    except (ValueError, RecursionError):
        said = ""
    return "no", f"refused ({response.status_code}{': ' if said else ''}{said}); the program sends them as one"


CHECKS = (
    _Check("reachable", _reachable, gate=True),
    _Check("model listed", _model, required=False),
    _Check("stream", _stream, gate=True),
    _Check("recall", _recall),
    _Check("context", _context),
    _Check("tools", _tools, required=False),
    _Check("two user messages", _two_users, required=False),
)


@asynccontextmanager
async def _directly(endpoint: Endpoint) -> AsyncIterator[httpx2.AsyncClient]:
    """Open a plain client for the endpoint, with the seam's key and timeouts."""
    headers = {"Authorization": f"Bearer {endpoint.api_key}"}
    base_url = endpoint.base_url.rstrip("/") + "/"
    hooks: dict[str, list[Callable[..., Any]]] = {"response": [Bounds(endpoint.largest)]}
    async with httpx2.AsyncClient(
        base_url=base_url, headers=headers, timeout=endpoint.timeout, event_hooks=hooks
    ) as client:
        yield client


@asynccontextmanager
async def _agent(endpoint: Endpoint, context: str | None = None, tools: Any = None) -> AsyncIterator[Agent[Any]]:
    """Build an agent as the demos do: history, then the context if there is one."""
    client = endpoint.connect()
    providers: list[ContextProvider] = [InMemoryHistoryProvider()]
    if context is not None:
        providers.append(_Handed(context))
    try:
        yield Agent(client, INSTRUCTIONS, name="qualify", tools=tools, context_providers=providers)
    finally:
        await client.client.close()  # type: ignore[attr-defined]  # the seam's client has one


class _Handed(ContextProvider):
    """Hands one value as demo130 hands its context."""

    def __init__(self, value: str) -> None:
        super().__init__(SOURCE_ID)
        self._value = value

    async def before_run(self, *, agent: Any, session: Any, context: Any, state: Any) -> None:  # noqa: ARG002
        context.extend_messages(self, [context_message(self._value)])


async def _asked(
    endpoint: Endpoint, agent: Agent[Any], session: Any, question: str, arrived: list[float] | None = None
) -> str:
    """Return the answer, noting in ``arrived`` when each piece came. Raises :class:`_Failed` if it does not end."""
    limit = endpoint.silence * LONGEST_ANSWER
    times = [] if arrived is None else arrived
    try:
        async with asyncio.timeout(limit):
            return (await ask(agent, session, question, on_text=lambda _: times.append(perf_counter()))).text
    except TimeoutError as error:
        raise _Failed(f"an answer had no end after {limit:g} s") from error


def _excerpt(answer: str) -> str:
    line = " ".join(answer.split())
    return f'"{line if len(line) <= 80 else line[:80].rstrip() + "…"}"'
