"""The agent of the protocol: one method for each of its requests, which the protocol's library routes here.

It is no subclass of the library's own agent: there, a method that is left out answers with success. What is not here
is answered as unknown, and the capabilities name exactly what is here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from acp.meta import PROTOCOL_VERSION
from acp.schema import (
    AgentCapabilities,
    CloseSessionResponse,
    DeleteSessionResponse,
    Implementation,
    InitializeResponse,
    ListSessionsResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    ResumeSessionResponse,
    SessionCapabilities,
    SessionCloseCapabilities,
    SessionDeleteCapabilities,
    SessionListCapabilities,
    SessionResumeCapabilities,
)

from maf_memory.errors import UnknownSession
from maf_memory.sessions.ids import is_id
from mm.acp.refusals import bad_parameter, refused, told, unknown_session
from mm.acp.wire import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST
from mm.agent_yaml import read_config
from mm.errors import SessionsDisabled

if TYPE_CHECKING:
    from mm.acp.editor import Editor
    from mm.acp.open_session import OpenSession
    from mm.config import Config

_log = logging.getLogger(__name__)


class AgentOfProtocol:
    """Serves one editor; several sessions are open at once, each with a turn of its own."""

    editor: Editor
    """The other end of the connection; set before anything is received."""

    def __init__(self, given: Path | None = None, *, folder: Path | None = None) -> None:
        """Serve the configuration that ``given`` names, else the one of each session's folder.

        ``folder`` is where the program was started, which a listing without a folder shows at least.
        """
        self._given = given
        self._started_in = Path.cwd() if folder is None else folder
        self._known: dict[str, Path] = {str(self._started_in): self._started_in}
        self._open: dict[str, OpenSession] = {}
        self._opening: set[str] = set()
        self.answering: WeakSet[asyncio.Task[Any]] = WeakSet()
        """The tasks that answer the editor's requests."""

    @told
    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:  # noqa: ARG002
        """Say which version is spoken and what works here."""
        config = self._config_here()
        kept = config.sessions_enabled
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_info=Implementation(name="mini-me", title=config.name, version=version("maf-memory")),
            agent_capabilities=AgentCapabilities(
                load_session=kept,
                prompt_capabilities=PromptCapabilities(image=True, audio=False, embedded_context=True),
                session_capabilities=SessionCapabilities(
                    list=SessionListCapabilities() if kept else None,
                    resume=SessionResumeCapabilities() if kept else None,
                    close=SessionCloseCapabilities(),
                    delete=SessionDeleteCapabilities() if kept else None,
                ),
            ),
            auth_methods=[],
        )

    @told
    async def new_session(self, cwd: str, mcp_servers: Sequence[Any] | None = None, **_: Any) -> NewSessionResponse:
        """Open a new session; its file is there when this is answered, so that it can be loaded before any question."""
        session = await self._opened(cwd, mcp_servers, None)
        self._tell_later(session)
        return NewSessionResponse(session_id=session.id)

    @told
    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: Sequence[Any] | None = None, **_: Any
    ) -> LoadSessionResponse:
        """Open a session and send its whole conversation before the answer; nothing is run, and nothing is written."""
        from mm.acp.replay import replayed

        session = await self._opened(cwd, mcp_servers, session_id)
        messages = session.conversation.keeper.messages
        await self.editor.update_all(session_id, replayed(messages, session.calls))
        self._tell_later(session, *session.state())
        return LoadSessionResponse()

    @told
    async def resume_session(
        self, session_id: str, cwd: str, mcp_servers: Sequence[Any] | None = None, **_: Any
    ) -> ResumeSessionResponse:
        """Open a session without sending its conversation, for an editor that still shows it."""
        session = await self._opened(cwd, mcp_servers, session_id)
        self._tell_later(session, *session.state())
        return ResumeSessionResponse()

    @told
    async def list_sessions(self, cwd: str | None = None, cursor: str | None = None, **_: Any) -> ListSessionsResponse:
        """List the conversations of a folder, or of the folders that this process knows."""
        from mm.acp.listing import page

        if cwd is None:
            self._refuse_disabled(self._config_here())
            return await page(self._known, cursor)
        folder = _absolute(cwd)
        self._refuse_disabled(read_config(folder, self._given))
        self._known.setdefault(cwd, folder)
        return await page({cwd: folder}, cursor)

    @told
    async def close_session(self, session_id: str, **_: Any) -> CloseSessionResponse:
        """Stop what the session does, and forget it here; its file stays."""
        await self._session(session_id).close()
        self._open.pop(session_id, None)
        return CloseSessionResponse()

    @told
    async def delete_session(self, session_id: str, **_: Any) -> DeleteSessionResponse:
        """Delete a session of the folders that this process knows; one that is in none of them is deleted already."""
        self._refuse_disabled(self._config_here())
        session = self._open.pop(session_id, None)
        if session is not None:
            await session.close()
        if not is_id(session_id):
            return DeleteSessionResponse()
        from maf_memory.sessions.directory import SessionDirectory
        from maf_memory.sessions.files import FileSessions

        folders = [session.project] if session is not None else list(dict.fromkeys(self._known.values()))
        for folder in folders:
            with suppress(UnknownSession):
                await SessionDirectory(FileSessions.of_project(folder), cwd=folder).delete(session_id)
        return DeleteSessionResponse()

    @told
    async def prompt(self, session_id: str, prompt: Sequence[Any], **_: Any) -> PromptResponse:
        """Answer a question, or do a command; the question is taken down before anything is awaited."""
        return await asyncio.shield(self._session(session_id).prompt(prompt))

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Stop what a session does; its prompt is then answered as cancelled."""
        session = self._open.get(session_id)
        if session is None:
            _log.warning("cancel: no session %r is open", session_id[:80])
            return
        session.cancel()

    async def close(self) -> None:
        """Stop everything that is under way, wait until it is saved, and until what was asked is answered."""
        await self._close_sessions()
        answering = {task for task in self.answering if not task.done()}
        if answering:
            await asyncio.wait(answering)
        await self._close_sessions()  # those that were being opened

    async def _close_sessions(self) -> None:
        closing = [self._open.pop(session_id).close() for session_id in list(self._open)]
        for result in await asyncio.gather(*closing, return_exceptions=True):
            if isinstance(result, BaseException):
                _log.error("a session did not close in order", exc_info=result)

    def _session(self, session_id: str) -> OpenSession:
        session = self._open.get(session_id)
        if session is None:
            raise unknown_session(session_id)
        return session

    def _config_here(self) -> Config:
        return read_config(self._started_in, self._given)

    @staticmethod
    def _refuse_disabled(config: Config) -> None:
        if not config.sessions_enabled:
            raise SessionsDisabled

    async def _opened(self, cwd: str, servers: Sequence[Any] | None, session_id: str | None) -> OpenSession:
        """Open a session: the one with ``session_id``, or a new one."""
        if session_id is None:
            return await self._put_together(cwd, servers, None)
        if not is_id(session_id):
            raise unknown_session(session_id)
        now = self._open.get(session_id)
        if session_id in self._opening or (now is not None and now.is_busy):
            raise refused(INVALID_REQUEST, "This session is at work in this process. Cancel its prompt, or wait.")
        self._opening.add(session_id)
        try:
            session = await self._put_together(cwd, servers, session_id)
        finally:
            self._opening.discard(session_id)
        if now is not None:
            await now.close()
        return session

    async def _put_together(self, cwd: str, servers: Sequence[Any] | None, session_id: str | None) -> OpenSession:
        from mm.acp.mcp_servers import connected
        from mm.acp.open_session import OpenSession
        from mm.assembly import assembled

        folder = _absolute(cwd)
        try:
            is_folder = await asyncio.to_thread(folder.is_dir)
        except OSError as error:  # what may be there, and cannot be reached, is not unknown
            code = INVALID_PARAMS if session_id is None else INTERNAL_ERROR
            raise refused(code, f"cwd cannot be used: {error.strerror}: {cwd}", parameter="cwd") from error
        if not is_folder:
            if session_id is not None:
                raise unknown_session(session_id)
            raise bad_parameter("cwd", f"is no folder: {cwd}")
        config = read_config(folder, self._given)
        if session_id is not None:
            self._refuse_disabled(config)
        more = await connected(servers or (), folder, config.max_output)
        try:
            conversation = assembled(folder, config, more_tools=more.specs)
            keeper = conversation.keeper
            if session_id is None:
                await keeper.save_new()
                session_id = keeper.record.id
            else:
                await keeper.open(session_id)
        except BaseException:
            await more.close()
            raise
        self._known.setdefault(cwd, folder)
        session = OpenSession(session_id, folder, config, conversation, more, self.editor)
        self._open[session_id] = session
        return session

    def _tell_later(self, session: OpenSession, *more: Any) -> None:
        from mm.acp.commands import available

        self.editor.update_later(session.id, available(session.config), *more)


def _absolute(cwd: str) -> Path:
    """Return a folder as a path.

    Raises:
        RequestError: it is not absolute.
    """
    path = Path(cwd)
    if "\0" in cwd or not path.is_absolute():
        raise bad_parameter("cwd", f"must be an absolute path, and is {cwd or 'empty'}")
    return path
