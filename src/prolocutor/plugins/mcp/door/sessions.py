"""McpSessions: the sessions of handshakes, and the running calls of each session."""

from __future__ import annotations

import asyncio
import itertools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

import msgspec
from msgspec import UNSET

from prolocutor.dialog.ids import new_id
from prolocutor.dialog.plain import JsonObject
from prolocutor.json_rpc import (
    INTERNAL_ERROR,
    RpcFault,
    RpcId,
    RpcMessage,
    rpc_notification,
    rpc_request,
)

MAX_SESSIONS: Final = 10_000


class ClientSession:
    """A session: its version, its owner, its calls, and its open questions."""

    def __init__(self, version: str, owner: object, elicits: bool) -> None:
        self.id = new_id()
        self.version = version
        self.owner = owner
        self.elicits = elicits
        self._numbers = itertools.count(1)
        self._questions: dict[RpcId, asyncio.Future[Any]] = {}
        self._calls: dict[RpcId, asyncio.Task[bytes]] = {}

    def begin(self, id_: RpcId, task: asyncio.Task[bytes]) -> None:
        """Register a running call."""
        self._calls[id_] = task
        task.add_done_callback(lambda _: self._calls.pop(id_, None))

    def take(self, message: RpcMessage) -> None:
        """Handle a notification, or the answer to a question."""
        if message.method == "notifications/cancelled":
            self._cancel(message)
        elif message.method is UNSET and message.id is not UNSET:
            question = self._questions.get(message.id)
            if question is None or question.done():
                return
            if message.error is not None:
                error = message.error
                question.set_exception(RpcFault(error.code, error.message))
            else:
                question.set_result(_read(message.result))

    async def ask(self, send: Callable[[bytes], None], method: str, params: JsonObject) -> Any:
        """Send a question to the client; return the answer, or raise `RpcFault`."""
        id_ = f"question-{next(self._numbers)}"
        answer = asyncio.get_running_loop().create_future()
        self._questions[id_] = answer
        try:
            send(rpc_request(id_, method, params))
            return await answer
        finally:
            del self._questions[id_]

    def end(self) -> None:
        """Stop waiting for the session's calls; their turns run on."""
        for call in list(self._calls.values()):
            call.cancel()
        for question in self._questions.values():
            if not question.done():
                question.set_exception(RpcFault(INTERNAL_ERROR, "the session has ended"))

    def _cancel(self, message: RpcMessage) -> None:
        try:
            named = msgspec.json.decode(message.params, type=_Cancelled)
        except msgspec.MsgspecError:
            return
        call = self._calls.get(named.request_id)
        if call is not None:
            call.cancel()


class SessionBack:
    """The way back to a client of a handshake session, by `send`."""

    def __init__(self, session: ClientSession, send: Callable[[bytes], None]) -> None:
        self._session = session
        self._send = send

    def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification."""
        self._send(rpc_notification(method, params))

    async def ask(self, method: str, params: JsonObject) -> Any:
        """Send a request; return its result."""
        return await self._session.ask(self._send, method, params)


class McpSessions:
    """The sessions of the door by id; beyond `MAX_SESSIONS` the least recently used ends."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, ClientSession] = OrderedDict()

    def open(self, version: str, owner: object, elicits: bool) -> ClientSession:
        """Begin a session."""
        session = ClientSession(version, owner, elicits)
        self._sessions[session.id] = session
        if len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)[1].end()
        return session

    def find(self, id_: str, owner: object) -> ClientSession | None:
        """Return a session of this owner; None for an unknown id or another owner's session."""
        session = self._sessions.get(id_)
        if session is None or session.owner != owner:
            return None
        self._sessions.move_to_end(id_)
        return session

    def end(self, session: ClientSession) -> None:
        """End a session."""
        self._sessions.pop(session.id, None)
        session.end()

    def close(self) -> None:
        """End all sessions."""
        for session in list(self._sessions.values()):
            self.end(session)


class _Cancelled(msgspec.Struct, rename="camel"):
    request_id: RpcId = None


def _read(result: msgspec.Raw) -> Any:
    try:
        return msgspec.json.decode(result)
    except msgspec.MsgspecError:
        return None
