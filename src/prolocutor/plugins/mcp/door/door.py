"""Mcp: the door for MCP clients at `/mcp` (streamable HTTP).

Source: the specification, "Transports", up to 2025-11-25 (sessions by a handshake) and of
2026-07-28 (independent requests). An answer is JSON, or a stream of events if progress or a
question precedes it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Coroutine, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Annotated, Any, ClassVar, Final

import msgspec
from msgspec import UNSET, Meta, Raw

from prolocutor.assistant.assistant import Assistant
from prolocutor.background import BackgroundTasks
from prolocutor.contracts.channel import DoorPlace, ErrorForm, Route
from prolocutor.contracts.http import HttpRequest, HttpResponse, Visitor
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import Forbidden, ProlocutorError
from prolocutor.json_rpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    RpcFault,
    RpcId,
    RpcMessage,
    read_batch,
    read_message,
    read_params,
    rpc_failure,
    rpc_notification,
    rpc_result,
)
from prolocutor.plugins.mcp.door.asking import check_skills
from prolocutor.plugins.mcp.door.client import PERSONS, PREFIX, McpClient, elicits
from prolocutor.plugins.mcp.door.server import (
    McpServer,
    check_envelope,
    failure,
    read_envelope,
    request_id,
    request_user,
    unsupported_version,
)
from prolocutor.plugins.mcp.door.sessions import ClientSession, McpSessions, SessionBack
from prolocutor.plugins.mcp.door.sign_in_pages import SignInPages
from prolocutor.plugins.mcp.oauth.vault import Vault
from prolocutor.plugins.mcp.wire.headers import text_of_header
from prolocutor.plugins.mcp.wire.protocol import (
    HANDSHAKE_VERSIONS,
    HEADER_MISMATCH,
    METHOD_HEADER,
    NAME_HEADER,
    NAMED_BY,
    SESSION_HEADER,
    UNSUPPORTED_VERSION,
    VERSION_HEADER,
    VERSION_KEY,
    is_stateless,
)
from prolocutor.web.cors import is_own_page
from prolocutor.web.door_context import USER_HEADER, DoorContext, DoorSpeaker
from prolocutor.web.error_table import HttpError, error_response
from prolocutor.web.event_writing import event_stream, server_event

PATH: Final = "/mcp"
ASSUMED: Final = "2025-03-26"
"""The version of a request that names none, by the specification."""

BATCHING: Final = ("2024-11-05", "2025-03-26")
CANCELLED: Final = -32800
_STATUS: Final = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    METHOD_NOT_FOUND: 404,
    HEADER_MISMATCH: 400,
    UNSUPPORTED_VERSION: 400,
}
_ACCEPTED: Final = HttpResponse(status=202)

COMMENT_INTERVAL: Final = 15.0
"""Seconds after which a comment shows that the stream is alive."""

STREAM_DELAY: Final = 5.0
"""Seconds after which an answer that is not there yet becomes a stream."""


class McpDoor(msgspec.Struct, frozen=True, kw_only=True):
    """The assistant as an MCP server at `/mcp` (streamable HTTP), with the tool `ask`."""

    is_usual: ClassVar[bool] = True
    skills: Annotated[
        bool | list[str],
        Meta(description="The skills that are tools of their own; true stands for all."),
    ] = False
    origins: Annotated[
        list[str], Meta(description="The sites whose pages may talk to it besides our own.")
    ] = []

    def check(self, place: DoorPlace) -> None:
        """Raise `ConfigError` for an unknown skill."""
        check_skills(self.skills, place.skills)

    def build(self, context: DoorContext) -> Mcp:
        """Return the door."""
        return Mcp(
            context.assistant,
            skills=self.skills,
            origins=self.origins,
            starters=context.starters,
        )


class Mcp:
    """The assistant as an MCP server: the tool `ask`, and a tool for each of `skills`.

    Requests of pages of other sites are refused, except the sites in `origins`. The owner of a
    token is that person. An operator speaks for the user that `/mcp?user=NAME`, a header or `_meta`
    names; without a user each conversation is a separate person. An anonymous visitor is known by a
    conversation id, which cannot be guessed.
    """

    name: Final = "mcp"
    prefix: Final = PREFIX

    def __init__(
        self,
        assistant: Assistant,
        *,
        skills: bool | Sequence[str] = False,
        origins: Sequence[str] = (),
        starters: Sequence[str] = (),
    ) -> None:
        self._server = McpServer(assistant, skills, starters)
        self._origins = frozenset(origins)
        self._sessions = McpSessions()
        self._running = BackgroundTasks("MCP request")
        self.routes: list[Route | ErrorForm] = [
            Route("POST", PATH, self.post, any_secret=True),
            Route("DELETE", PATH, self.delete, any_secret=True),
            *SignInPages(Vault(assistant.store)).routes,
            ErrorForm(PATH, write_error),
        ]

    async def open(self) -> None:
        """Do nothing: the door needs no preparation."""

    async def close(self) -> None:
        """End all sessions."""
        self._sessions.close()

    async def post(self, request: HttpRequest) -> HttpResponse:
        """Answer JSON-RPC messages of an MCP client."""
        self._check_origin(request)
        speaker = _speaker(request)
        kind = (request.header("content-type") or "").partition(";")[0].strip().lower()
        if kind != "application/json":
            what = "Content-Type should be application/json"
            raise HttpError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, what)
        body = await request.body()
        batch = read_batch(body)
        if batch is not None:
            return await self._batch(batch, request, speaker)
        message = read_message(body)
        try:
            return await self._take(message, request, speaker)
        except ProlocutorError as error:
            return write_error(error, request_id(message))

    async def _take(
        self, message: RpcMessage, request: HttpRequest, speaker: DoorSpeaker
    ) -> HttpResponse:
        """Answer a message, in its version."""
        version = request.header(VERSION_HEADER) or ""
        if is_stateless(version) or read_envelope(message) is not None:
            return await self._stateless(message, request, speaker)
        if message.method == "initialize":
            return self._begin(message, request.visitor, speaker)
        session = self._session(request, speaker)
        if not message.is_request:
            session.take(message)
            return _ACCEPTED
        return await self._answer(message, session, request, speaker)

    async def delete(self, request: HttpRequest) -> HttpResponse:
        """End a session."""
        self._check_origin(request)
        speaker = _speaker(request)
        if request.header(SESSION_HEADER) is None:
            raise RpcFault(INVALID_REQUEST, f"{SESSION_HEADER} is missing")
        self._sessions.end(self._session(request, speaker))
        return HttpResponse(status=204)

    # -- versions up to 2025-11-25 -------------------------------------------------------------

    def _begin(self, message: RpcMessage, visitor: Visitor, speaker: DoorSpeaker) -> HttpResponse:
        if message.id is UNSET:
            raise RpcFault(INVALID_REQUEST, "initialize needs an id")
        hello, version, result = self._server.welcome(message)
        owner = _owner(visitor, speaker)
        session = self._sessions.open(version, owner, elicits(hello.capabilities))
        headers = {"Mcp-Session-Id": session.id}
        return HttpResponse(rpc_result(message.id, result), headers=headers)

    def _session(self, request: HttpRequest, speaker: DoorSpeaker) -> ClientSession:
        """Return the session of a request, a temporary session without a session id."""
        version = request.header(VERSION_HEADER)
        if version is not None and version not in HANDSHAKE_VERSIONS:
            raise unsupported_version(version)
        owner = _owner(request.visitor, speaker)
        id_ = request.header(SESSION_HEADER)
        if id_ is None:
            return ClientSession(version or ASSUMED, owner, elicits=False)
        session = self._sessions.find(id_, owner)
        if session is None:
            what = "there is no such session; initialize begins one"
            raise HttpError(HTTPStatus.NOT_FOUND, what)
        return session

    async def _answer(
        self,
        message: RpcMessage,
        session: ClientSession,
        request: HttpRequest,
        speaker: DoorSpeaker,
    ) -> HttpResponse:
        outbox: EventOutbox | None = None
        if message.method == "tools/call" and _takes_events(request):
            outbox = EventOutbox() if session.elicits or _wants_progress(message) else None
        client = McpClient(
            version=session.version,
            speaker=_speaker(request, message),
            skill=request.query("skill"),
            elicits=session.elicits,
            key=request.header("idempotency-key"),
            back=None if outbox is None else SessionBack(session, outbox.send),
        )
        task = self._running.start(self._server.respond(message, client), awaited=True)
        session.begin(request_id(message), task)
        ended = _wait_for_call(task, message)
        return HttpResponse(await ended) if outbox is None else await outbox.response(ended)

    async def _batch(
        self, batch: list[Raw], request: HttpRequest, speaker: DoorSpeaker
    ) -> HttpResponse:
        """Answer a batch of messages, which two versions of the protocol have."""
        session = self._session(request, speaker)
        if session.version not in BATCHING or not batch:
            raise RpcFault(INVALID_REQUEST, "one message a request, please")
        answers: list[Awaitable[bytes]] = []
        for one in batch:
            try:
                message = read_message(one)
            except RpcFault as fault:
                answers.append(_done(rpc_failure(fault.id, fault)))
                continue
            if message.is_request:
                client = McpClient(
                    version=session.version,
                    speaker=_speaker(request, message),
                    skill=request.query("skill"),
                )
                answers.append(self._server.respond(message, client))
            else:
                session.take(message)
        if not answers:
            return _ACCEPTED
        return HttpResponse(b"[%b]" % b",".join(await asyncio.gather(*answers)))

    # -- 2026-07-28 ----------------------------------------------------------------------------

    async def _stateless(
        self, message: RpcMessage, request: HttpRequest, speaker: DoorSpeaker
    ) -> HttpResponse:
        """Answer an independent request (2026-07-28); the HTTP status tells the kind of error."""
        if not message.is_request:
            version = request.header(VERSION_HEADER) or ""
            if not is_stateless(version):
                raise unsupported_version(version)
            return _ACCEPTED
        id_ = request_id(message)
        try:
            if message.method == "initialize":  # there is no handshake in this version
                raise RpcFault(METHOD_NOT_FOUND, "Method not found", message.method)
            version, capabilities = check_envelope(_checked_headers(message, request))
            streams = _takes_events(request) and _wants_progress(message)
            outbox = EventOutbox()
            client = McpClient(
                version=version,
                speaker=_speaker(request, message),
                skill=request.query("skill"),
                elicits=elicits(capabilities),
                key=request.header("idempotency-key"),
                back=StreamBack(outbox.send) if streams else None,
                is_stateless=True,
            )
            if streams:
                return await outbox.response(self._server.respond(message, client))
            return HttpResponse(rpc_result(id_, await self._server.answer(message, client)))
        except RpcFault as fault:
            return HttpResponse(rpc_failure(id_, fault), _STATUS.get(fault.number, 200))

    def _check_origin(self, request: HttpRequest) -> None:
        """Raise `Forbidden` for a page of another site, with or without a key."""
        origin = request.header("origin")
        if origin not in self._origins and not is_own_page(origin, request.header("host")):
            raise Forbidden("pages of other sites may not talk to this MCP server", field="Origin")


def write_error(error: Exception, id_: RpcId = None) -> HttpResponse:
    """Write an error as a JSON-RPC error, with the HTTP status that it has at every door."""
    if isinstance(error, RpcFault):
        id_ = id_ if error.id is None else error.id
        return HttpResponse(rpc_failure(id_, error), _STATUS.get(error.number, 400))
    refused = error_response(error)
    number = INTERNAL_ERROR if refused.status == 500 else INVALID_REQUEST
    body = rpc_failure(id_, RpcFault(number, refused.error, refused.data))
    return HttpResponse(body, refused.status, headers=refused.headers)


def _checked_headers(message: RpcMessage, request: HttpRequest) -> dict[str, object]:
    """Return the envelope of a request; raise `RpcFault` if its headers contradict it."""
    params = read_params(dict[str, object], message)
    meta = params.get("_meta")
    if not isinstance(meta, dict):
        return {}
    version = meta.get(VERSION_KEY)
    if version is None:  # an invalid envelope (-32602), not a header that says something else
        return meta
    pairs = [(VERSION_HEADER, version), (METHOD_HEADER, message.method)]
    if (key := NAMED_BY.get(str(message.method))) and params.get(key) is not None:
        pairs.append((NAME_HEADER, params[key]))
    for name, value in pairs:
        if text_of_header(request.header(name)) != value:
            raise RpcFault(HEADER_MISMATCH, f"the header {name} does not say what the body says")
    return meta


def _speaker(request: HttpRequest, message: RpcMessage | None = None) -> DoorSpeaker:
    """Return the speaker; a message may name its user in `_meta`."""
    named = None if message is None else request_user(message)
    header = request.header(USER_HEADER.lower())
    return PERSONS.speaker(request.visitor, request.query("user"), header, named)


def _owner(visitor: Visitor, speaker: DoorSpeaker) -> object:
    """Return the name of a session's owner."""
    return visitor.kind, speaker


def _takes_events(request: HttpRequest) -> bool:
    return "text/event-stream" in (request.header("accept") or "")


def _wants_progress(message: RpcMessage) -> bool:
    return b'"progressToken"' in bytes(message.params)


async def _wait_for_call(task: asyncio.Task[bytes], message: RpcMessage) -> bytes:
    """Wait for a call; a cancelled call ends with an error."""
    await asyncio.wait([task])
    if task.cancelled():
        return rpc_failure(request_id(message), RpcFault(CANCELLED, "the request was cancelled"))
    return task.result()


async def _done(answer: bytes) -> bytes:
    return answer


class EventOutbox:
    """The messages during a call, then its answer, each as an event."""

    def __init__(self) -> None:
        self._messages: deque[bytes] = deque()
        self._changed = asyncio.Event()

    def send(self, message: bytes) -> None:
        """Send a message before the answer."""
        self._messages.append(message)
        self._changed.set()

    async def response(self, answer: Coroutine[Any, Any, bytes]) -> HttpResponse:
        """Return the response: JSON if the answer comes soon and first, else a stream."""
        answering = BackgroundTasks("answer of events").start(answer, awaited=True)
        answering.add_done_callback(lambda _: self._changed.set())
        with suppress(TimeoutError):
            async with asyncio.timeout(STREAM_DELAY):
                await self._changed.wait()
        if answering.done() and not self._messages:
            return HttpResponse(answering.result())
        return event_stream(self._events(answering), _failure)

    async def _events(self, answering: asyncio.Future[bytes]) -> AsyncGenerator[bytes, None]:
        """Yield the events, the answer last; a client that leaves does not stop the call."""
        try:
            while not answering.done() or self._messages:
                while self._messages:
                    yield _event(self._messages.popleft())
                if answering.done():
                    break
                self._changed.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(COMMENT_INTERVAL):
                        await self._changed.wait()
                        continue
                yield b": still here\n\n"
            yield _event(answering.result())
        finally:
            answering.cancel()


class StreamBack:
    """The way back to a client that accepts notifications, but no requests."""

    def __init__(self, send: Any) -> None:
        self._send = send

    def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification."""
        self._send(rpc_notification(method, params))

    async def ask(self, method: str, params: JsonObject) -> Any:
        """Raise `RpcFault`, because questions are results in this version."""
        raise RpcFault(METHOD_NOT_FOUND, f"{method} cannot be asked here")


def _event(message: bytes) -> bytes:
    return server_event(message, b"message")


def _failure(error: Exception) -> bytes:
    return _event(failure(None, error))
