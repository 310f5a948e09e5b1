"""AgentEndpoint: an interface of an agent, called in its binding and version."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlsplit

import msgspec

from prolocutor.connectors.parts.event_stream import EventStream
from prolocutor.connectors.parts.http_answer import HttpReply
from prolocutor.connectors.parts.http_client import HttpClient, refusal_text
from prolocutor.dialog.plain import MAX_BYTES, encode
from prolocutor.errors import BadReply, ServiceRefused
from prolocutor.json_rpc import rpc_request
from prolocutor.plugins.a2a.connector.answering import service_error
from prolocutor.plugins.a2a.wire import legacy, legacy_rest
from prolocutor.plugins.a2a.wire.card import AgentInterface
from prolocutor.plugins.a2a.wire.core import (
    LEGACY_VERSION,
    REST,
    VERSION,
    VERSION_HEADER,
    A2aEvent,
    A2aMessage,
    A2aTask,
    A2aTaskList,
    drop_nulls,
)

T = TypeVar("T")

Take = Callable[[A2aEvent], bool]
"""Takes an event and returns whether that is enough."""

TASK_NOT_FOUND: Final = -32001
_GONE: Final = frozenset({TASK_NOT_FOUND, -32004})
"""Error codes of a task that no longer exists, or takes no more messages."""

_EVENT: Final = msgspec.json.Decoder(A2aEvent)
_TASK: Final = msgspec.json.Decoder(A2aTask)

_MEDIA: Final = "application/a2a+json"
_SEND: Final = ("SendMessage", "message/send")
_REASONS: Final = {
    "TASK_NOT_FOUND": TASK_NOT_FOUND,
    "UNSUPPORTED_OPERATION": -32004,
    "INVALID_PARAMS": -32602,
    "INVALID_REQUEST": -32602,
    "TaskNotFoundError": TASK_NOT_FOUND,
    "UnsupportedOperationError": -32004,
    "InvalidParamsError": -32602,
}


class AgentRefusal(BadReply):
    """An error response of an agent; `number` is its JSON-RPC code."""

    def __init__(self, number: int, error: Any) -> None:
        self.number = number
        super().__init__(service_error(error).args[0].partition(": ")[2])

    @property
    def is_gone(self) -> bool:
        """Whether the named task accepts no more messages."""
        return self.number in _GONE


class AgentEndpoint:
    """An interface of an agent; `client` reaches its address, with the interface's headers.

    `streams`: the agent can answer by events.
    """

    def __init__(self, interface: AgentInterface, client: HttpClient, *, streams: bool) -> None:
        self.interface = interface
        self.client = client
        self.streams = streams
        self._is_rest = interface.binding == REST
        self._is_legacy = interface.is_legacy
        self._read_event, self._read_task = _readers(self._is_legacy, self._is_rest)
        base = quote(urlsplit(interface.url).path, safe="/%:@!$&'()*+,;=~").rstrip("/")
        tenant = f"/{quote(interface.tenant, safe='')}" if interface.tenant else ""
        self._base = f"{base}/v1" if self._is_legacy else base + tenant

    async def send(
        self, message: A2aMessage, headers: Mapping[str, str], take: Take, *, streams: bool
    ) -> bool:
        """Send a message, pass its events on; return False if the stream ended too early."""
        params = self._send_params(message)
        if self._is_rest:
            path = "/message:stream" if streams else "/message:send"
            body = encode(params)
            return await self._take_event(self._base + path, body, headers, take, streams=streams)
        name = ("SendStreamingMessage", "message/stream") if streams else _SEND
        body = rpc_request(message.message_id, name[self._is_legacy], params)
        return await self._take_event(None, body, headers, take, streams=streams)

    async def task(self, task_id: str) -> A2aTask:
        """Return the present state of a task."""
        return await self._about("GET", task_id, "", ("GetTask", "tasks/get"))

    async def cancel(self, task_id: str) -> A2aTask:
        """Cancel a task."""
        return await self._about("POST", task_id, ":cancel", ("CancelTask", "tasks/cancel"))

    async def running(self, context_id: str) -> list[A2aTask]:
        """Return the running tasks of a context; version 0.3 cannot list them."""
        if self._is_legacy:
            return []
        wanted = {"contextId": context_id, "pageSize": 20}
        if self._is_rest:
            query = f"?contextId={quote(context_id, safe='')}&pageSize=20"
            reply = await self._exchange("GET", f"{self._base}/tasks{query}", b"", {})
            body = bytes(reply.body)
        else:
            body = await self._call("ListTasks", self._add_tenant(wanted))
        return _decode_task_list(body, A2aTaskList).tasks

    # -- what is sent -----------------------------------------------------------------------

    def _send_params(self, message: A2aMessage) -> Any:
        if not self._is_legacy:
            return self._add_tenant({"message": message})
        if self._is_rest:
            written = legacy_rest.message_out(message)
            return {"message": written, "configuration": {"blocking": True}}
        return {"message": legacy.message_out(message), "configuration": {"blocking": True}}

    def _add_tenant(self, params: dict[str, Any]) -> dict[str, Any]:
        tenant = self.interface.tenant
        return {"tenant": tenant, **params} if tenant else params

    async def _about(self, method: str, task_id: str, verb: str, names: tuple[str, str]) -> A2aTask:
        if self._is_rest:
            target = f"{self._base}/tasks/{quote(task_id, safe='')}{verb}"
            body = b"" if method == "GET" else b"{}"
            reply = await self._exchange(method, target, body, {})
            return self._read_task(bytes(reply.body))
        called = await self._call(names[self._is_legacy], self._add_tenant({"id": task_id}))
        return self._read_task(called)

    async def _call(self, method: str, params: Any) -> bytes:
        """Call a method of JSON-RPC; return its result as JSON."""
        body = rpc_request(1, method, params)
        reply = await self._exchange("POST", None, body, {})
        return _result(reply.body)

    # -- what comes back --------------------------------------------------------------------

    async def _take_event(
        self,
        target: str | None,
        body: bytes,
        headers: Mapping[str, str],
        take: Take,
        *,
        streams: bool,
    ) -> bool:
        if not streams:
            reply = await self._exchange("POST", target, body, headers)
            take(self._read_reply_event(reply.body))
            return True
        whole = False

        def add(data: bytes) -> bool:
            nonlocal whole
            if data:
                whole = take(self._read_reply_event(data))
            return whole

        events = EventStream(add)
        reply = await self._exchange("POST", target, body, headers, events)
        if not reply.is_streamed:
            take(self._read_reply_event(reply.body))
            return True
        return whole or events.end()

    def _read_reply_event(self, data: bytes) -> A2aEvent:
        if self._is_rest:
            if data.startswith(b'{"error"'):
                raise _rest_refusal(data)
            return self._read_event(data)
        if not self._is_legacy:  # as a rule, in one step
            with suppress(msgspec.MsgspecError, UnicodeError, RecursionError):
                response = _EVENT_RESPONSE.decode(data)
                event = response.result
                if response.error is None and event is not None and (event.task or event.message):
                    return event
        return self._read_event(_result(data))

    async def _exchange(
        self,
        method: str,
        target: str | None,
        body: bytes,
        headers: Mapping[str, str],
        stream: EventStream | None = None,
    ) -> HttpReply:
        reply = await self.client.exchange(
            body, headers, max_bytes=MAX_BYTES, stream=stream, method=method, target=target
        )
        if reply.status // 100 == 2:
            return reply
        refusal = _rest_refusal(reply.body) if self._is_rest else None
        if refusal is not None and refusal.number:
            raise refusal
        raise ServiceRefused(refusal_text(reply), status=reply.status)


def interface_headers(interface: AgentInterface) -> dict[str, str]:
    """Return the headers of requests to an interface."""
    is_current_rest = interface.binding == REST and not interface.is_legacy
    return {
        VERSION_HEADER: LEGACY_VERSION if interface.is_legacy else VERSION,
        "Content-Type": _MEDIA if is_current_rest else "application/json",
    }


def _readers(
    is_legacy: bool, is_rest: bool
) -> tuple[Callable[[bytes], A2aEvent], Callable[[bytes], A2aTask]]:
    """Return the readers of events and of tasks in a binding and version."""
    if not is_legacy:
        return _read_any_event, _read_any_task
    if is_rest:
        return (
            lambda data: _decode_guarded(legacy_rest.read_rest_event, data),
            lambda data: _decode_guarded(legacy_rest.read_task, data),
        )
    return (
        lambda data: _decode_guarded(legacy.read_event, data),
        lambda data: _decode_guarded(legacy.read_task, data),
    )


def _read_any_event(data: bytes) -> A2aEvent:
    """Read an event; accept events of 0.3 at an address of 1.0 too."""
    try:
        event = _EVENT.decode(data)
    except msgspec.ValidationError:
        return _decode_guarded(lambda given: msgspec.convert(drop_nulls(given), A2aEvent), data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadReply(f"not JSON: {error}") from None
    if not (event.task or event.message or event.status_update or event.artifact_update):
        return _decode_guarded(legacy.read_event, data)
    return event


def _read_any_task(data: bytes) -> A2aTask:
    try:
        return _TASK.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadReply(f"this is not a task: {error}") from None


def _decode_guarded(read: Callable[[Any], T], data: bytes) -> T:
    try:
        return read(msgspec.json.decode(data))
    except msgspec.ValidationError as error:
        raise BadReply(f"this is not A2A: {error}") from None
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadReply(f"not JSON: {error}") from None
    except (AttributeError, TypeError, KeyError):
        raise BadReply("this is not A2A: another kind of JSON") from None


def _decode_task_list(body: bytes, type_: type[A2aTaskList]) -> A2aTaskList:
    try:
        return msgspec.json.decode(body, type=type_)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadReply(f"this is not a list of tasks: {error}") from None


class _Response(msgspec.Struct):
    result: msgspec.Raw = msgspec.Raw(b"")
    error: Any = None


class _EventResponse(msgspec.Struct):
    result: A2aEvent | None = None
    error: Any = None


_RESPONSE: Final = msgspec.json.Decoder(_Response)
_EVENT_RESPONSE: Final = msgspec.json.Decoder(_EventResponse)


def _result(body: bytes) -> bytes:
    """Return the result of a JSON-RPC response; raise `AgentRefusal` for an error response."""
    try:
        response = _RESPONSE.decode(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadReply(f"no JSON-RPC response: {error}") from None
    if response.error is not None:
        given = response.error
        number = given.get("code") if isinstance(given, dict) else None
        raise AgentRefusal(number if isinstance(number, int) else 0, given)
    if not response.result:
        raise BadReply("a JSON-RPC response has a result or an error")
    return bytes(response.result)


def _rest_refusal(body: bytes) -> AgentRefusal:
    """Return the error of a REST response of either version; its number is 0 if it has none."""
    try:
        given = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return AgentRefusal(0, body.decode(errors="replace"))
    error = given.get("error", given) if isinstance(given, dict) else {}
    if not isinstance(error, dict):
        return AgentRefusal(0, error)
    reasons = [given.get("type") if isinstance(given, dict) else None]
    details = error.get("details")
    listed = details if isinstance(details, list) else []
    reasons += [one.get("reason") for one in listed if isinstance(one, dict)]
    known = (
        _REASONS[reason] for reason in reasons if isinstance(reason, str) and reason in _REASONS
    )
    number = next(known, error.get("code") if isinstance(error.get("code"), int) else 0)
    return AgentRefusal(number or 0, {"code": number, "message": error.get("message")})
