"""One question, one answer: the one place that runs an agent.

A turn has two endings when the answer does not come (a failure, a cancellation, an empty answer). Discarded, it leaves
the session exactly what it was before the question; :class:`maf_memory.kept.KeepWhatWasDone` is the other ending.

Saving happens after the turn, outside the framework's providers: a save inside ``after_run`` misses the turn, or leaves
a committed history behind a run that failed.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from agent_framework import Message
from agent_framework.exceptions import AgentFrameworkException

from maf_memory.chat.failures import reason
from maf_memory.checkpoint import HISTORY_SOURCE_ID, copied_session, history_of, put_back
from maf_memory.conversation import NotAConversation, check_messages
from maf_memory.errors import EmptyAnswer, TurnFailed, TurnUnderWay
from maf_memory.text import sound, sound_throughout

if TYPE_CHECKING:
    from agent_framework import (
        AgentResponse,
        AgentResponseUpdate,
        AgentSession,
        FunctionMiddleware,
        ResponseStream,
        SupportsAgentRun,
    )

_SILENT_CONTENTS = frozenset({"usage", "text_reasoning"})


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question brought: the text, and how many messages it added to the conversation."""

    text: str
    added: int


class Ending(Protocol):
    """What becomes of a turn whose answer does not come."""

    @property
    def middleware(self) -> Sequence[FunctionMiddleware]:
        """What must watch the run; an agent that gets any must take ``middleware`` in ``run``, as ``Agent`` does."""
        ...

    def saw(self, update: AgentResponseUpdate) -> None:
        """Take note of an update before it is shown."""
        ...

    def kept(self, question: Message, error: BaseException) -> list[Message]:
        """Return the messages of the broken turn that stay in the conversation; none discards the turn."""
        ...


class Discard:
    """The ending of the demos: nothing of a broken turn is kept."""

    middleware: Sequence[FunctionMiddleware] = ()

    def saw(self, update: AgentResponseUpdate) -> None:
        """Take no note."""

    def kept(self, question: Message, error: BaseException) -> list[Message]:  # noqa: ARG002
        """Return nothing."""
        return []


def _ignore(text: str) -> None:
    """Show nothing."""


async def ask(
    agent: SupportsAgentRun,
    session: AgentSession,
    question: str | Message,
    *,
    before: Sequence[Message] = (),
    on_text: Callable[[str], None] = _ignore,
    ending: Ending | None = None,
    options: Mapping[str, Any] | None = None,
) -> Answer:
    """Put ``question`` to the agent and return its answer; ``on_text`` gets each piece of text as it arrives.

    A question that is more than a text is a message; ``before`` are messages that go ahead of it, such as those that a
    program adds. ``options`` are the framework's own for this one run.

    Every recorded message has an id, so that a turn which repeats the one before it is not taken for a duplicate. Text
    is made sound on entry: a lone surrogate, in the question or in the answer, becomes U+FFFD. Whatever is raised, the
    session is what it was before the question, and then what ``ending`` (:class:`Discard` unless given) keeps.

    Raises:
        ValueError: ``question`` is blank; nothing was sent.
        TurnUnderWay: the session's last question is not answered yet; nothing was sent.
        TurnFailed: the framework or the model failed.
        EmptyAnswer: the model returned nothing, or nothing after its tools ran.
        BaseException: anything else, ``CancelledError`` included, as it came.
    """
    message = Message("user", [sound(question)]) if isinstance(question, str) else question
    if not any(content.type != "text" or (content.text or "").strip() for content in message.contents):
        raise ValueError("a question is needed")
    sent = [settled(one) for one in (*before, message)]
    with _one_turn(session):
        return await _turn(agent, session, sent, on_text, Discard() if ending is None else ending, options)


_asked: set[int] = set()
"""The sessions, by identity, that have a question which is not answered yet."""


@contextmanager
def _one_turn(session: AgentSession) -> Iterator[None]:
    """Refuse a second turn: a failing one would put the session back to before the other, and lose its answer."""
    if id(session) in _asked:
        raise TurnUnderWay("This session is already asked a question. Wait for its answer before the next one.")
    _asked.add(id(session))
    try:
        yield
    finally:
        _asked.discard(id(session))


async def _turn(
    agent: SupportsAgentRun,
    session: AgentSession,
    sent: list[Message],
    on_text: Callable[[str], None],
    ending: Ending,
    options: Mapping[str, Any] | None,
) -> Answer:
    middleware = list(ending.middleware)
    watching: dict[str, Any] = {"middleware": middleware} if middleware else {}
    if options is not None:
        watching["options"] = dict(options)
    checkpoint = copied_session(session)
    before = len(history_of(session))
    try:
        response = await _run(agent, session, sent, on_text, ending, watching)
        if _is_empty(response):
            raise EmptyAnswer("The model returned an empty answer.")
        _settle(session, before)
        _refuse_open_calls(history_of(session)[before:])
    except BaseException as error:
        put_back(session, checkpoint)
        outcome = "The conversation is as it was before the question."
        if kept := ending.kept(sent[-1], error):
            _append(session, [*sent[:-1], *kept])
            outcome = "What was done until then is kept in the conversation."
        if isinstance(error, TurnFailed):
            raise type(error)(f"{error} {outcome}") from error.__cause__
        raise
    return Answer(response.text, len(history_of(session)) - before)


async def _run(
    agent: SupportsAgentRun,
    session: AgentSession,
    sent: list[Message],
    on_text: Callable[[str], None],
    ending: Ending,
    watching: dict[str, Any],
) -> AgentResponse[Any]:
    stream: ResponseStream[AgentResponseUpdate, AgentResponse[Any]]
    stream = agent.run(list(sent), stream=True, session=session, **watching)
    try:
        while (update := await _next(stream)) is not None:
            ending.saw(update)
            if update.text:
                on_text(sound(update.text))
        return await stream.get_final_response()
    except BaseException as error:
        # Closing ends what the client has open; with the error, because a plain close records a truncated answer.
        await stream.close(error)
        if isinstance(error, AgentFrameworkException):
            raise _failed(error) from error
        raise


async def _next(stream: ResponseStream[AgentResponseUpdate, Any]) -> AgentResponseUpdate | None:
    """Return the next update, or ``None`` after the last one.

    Only here is a failure of the system the model's: one raised by ``on_text`` belongs to the caller's screen.
    """
    try:
        return await anext(aiter(stream), None)
    except OSError as error:
        raise _failed(error) from error


def _failed(error: Exception) -> TurnFailed:
    return TurnFailed(f"The question got no answer: {reason(error)}.")


def _is_empty(response: AgentResponse[Any]) -> bool:
    for message in reversed(response.messages):
        for content in reversed(message.contents):
            if content.type in _SILENT_CONTENTS or (content.type == "text" and not (content.text or "").strip()):
                continue
            return message.role == "tool"  # tools ran, and the model said nothing about what they returned
    return True


def _refuse_open_calls(messages: Sequence[Message]) -> None:
    """Refuse a turn that ends on a call without a result, as of a tool that is not there: no server takes it again."""
    try:
        check_messages([message.to_dict() for message in messages])
    except NotAConversation as error:
        raise TurnFailed(f"The question got no answer: of what the model sent, {error}.") from error


def _append(session: AgentSession, messages: Sequence[Message]) -> None:
    history = history_of(session)
    kept = [*history, *map(settled, messages)]
    session.state.setdefault(HISTORY_SOURCE_ID, {})["messages"] = kept


def _settle(session: AgentSession, before: int) -> None:
    """Give every new message an id and sound text, before anything records it."""
    history = history_of(session)
    new = [settled(message) for message in history[before:]]
    if new:
        session.state[HISTORY_SOURCE_ID]["messages"] = [*history[:before], *new]


def settled(message: Message) -> Message:
    """Return the message as it may be recorded: with an id, and without a lone surrogate anywhere."""
    if message.message_id is None:
        message.message_id = uuid.uuid4().hex
    serialised = message.to_dict()
    try:
        msgspec.json.encode(serialised)
    except UnicodeEncodeError:
        return Message.from_dict(sound_throughout(serialised))
    return message
