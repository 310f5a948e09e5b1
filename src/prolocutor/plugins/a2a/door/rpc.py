"""RpcEndpoint: A2A over JSON-RPC, both versions at the same address."""

from __future__ import annotations

import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final

from msgspec import UNSET

from prolocutor.contracts.http import HttpResponse
from prolocutor.dialog import plain
from prolocutor.errors import BadInput, Conflict, NotFound, ProlocutorError
from prolocutor.json_rpc import RpcFault, RpcId, read_message, rpc_failure, rpc_result
from prolocutor.plugins.a2a.door.calls import (
    CURRENT_METHODS,
    LEGACY_METHODS,
    A2aCall,
    is_stream,
    read_params,
    write_result,
)
from prolocutor.plugins.a2a.door.operations import AgentOperations
from prolocutor.plugins.a2a.door.running_tasks import A2aCaller
from prolocutor.plugins.a2a.wire.faults import (
    INTERNAL,
    METHOD_NOT_FOUND,
    VERSION_NOT_SUPPORTED,
    A2aFault,
    FaultKind,
)
from prolocutor.web.error_table import error_response
from prolocutor.web.event_writing import event_stream, server_event

log = logging.getLogger(__name__)

CARD_METHODS: Final = ("GetExtendedAgentCard", "agent/getAuthenticatedExtendedCard")

_GRPC: Final = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    409: "ALREADY_EXISTS",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}
"""The names that gRPC has for errors, by the status of HTTP."""

Identify = Callable[[str, bool, object], A2aCaller]
"""Returns who calls, by the tenant and the user that the parameters name, if any.

The second argument says whether 0.3 is spoken.
"""


class RpcEndpoint:
    """Answers calls; `card` returns the extended card of a tenant as JSON."""

    def __init__(self, operations: AgentOperations) -> None:
        self._operations = operations

    async def answer(
        self,
        body: bytes,
        version: Callable[[], str | None],
        identify: Identify,
        card: Callable[[str], bytes],
    ) -> HttpResponse:
        """Answer a call, with an error of JSON-RPC if need be.

        The HTTP status is 200, but for errors of HTTP itself, such as 403, 429 and 503. `version`
        returns the version that the client announces, `1.0` or `0.3`, or None.
        """
        id_: RpcId = None
        is_legacy = False
        try:
            message = read_message(body)
            id_ = None if message.id is UNSET else message.id
            method = message.method if isinstance(message.method, str) else ""
            is_legacy = method in LEGACY_METHODS or method == CARD_METHODS[1]
            call = (LEGACY_METHODS if is_legacy else CURRENT_METHODS).get(method)
            if call is None and method not in CARD_METHODS:
                raise A2aFault(METHOD_NOT_FOUND, f"there is no method {method!r:.80}")
            _check_version(version(), method, is_legacy)
            if call is None:
                tenant = _tenant(message.params)
                return HttpResponse(_result(id_, card(tenant)))
            return await self._call(call, message.params, id_, is_legacy, identify)
        except (A2aFault, RpcFault, NotFound, Conflict, ValueError) as error:
            return HttpResponse(failure(id_, error, is_legacy))
        except ProlocutorError as error:
            told = error_response(error)
            status = 200 if told.status == HTTPStatus.BAD_REQUEST else told.status
            return HttpResponse(failure(id_, error, is_legacy), status, headers=told.headers)

    async def _call(
        self, call: A2aCall, params: Any, id_: RpcId, is_legacy: bool, identify: Identify
    ) -> HttpResponse:
        read = read_params(call, params, is_legacy=is_legacy)
        caller = identify(getattr(read, "tenant", ""), is_legacy, request_user(read))
        value = await call.answer(self._operations, read, caller)
        if is_stream(value):
            events = (
                server_event(rpc_result(id_, write_result(event) if is_legacy else event))
                async for event in value
            )
            return event_stream(
                events, lambda error: server_event(failure(id_, error, is_legacy), b"error")
            )
        return HttpResponse(rpc_result(id_, write_result(value) if is_legacy else value))


def request_user(params: Any) -> object:
    """Return `user` in the metadata of a request or of its message."""
    for part in (getattr(params, "message", None), params):
        if (told := getattr(part, "metadata", None)) and "user" in told:
            return told["user"]
    return None


def failure(id_: RpcId, error: Exception, is_legacy: bool) -> bytes:
    """Return the error response to a call."""
    if isinstance(error, RpcFault):
        return rpc_failure(error.id if error.id is not None else id_, error)
    fault = make_fault(error)
    if is_legacy:
        return rpc_failure(id_, RpcFault(fault.kind.legacy_number, str(fault)))
    return rpc_failure(id_, RpcFault(fault.kind.number, str(fault), fault.details()))


def make_fault(error: Exception) -> A2aFault:
    """Return the A2A error that stands for an error."""
    if isinstance(error, A2aFault):
        return error
    told = error_response(error)
    reason = told.code.upper()
    if isinstance(error, NotFound):
        kind = FaultKind(-32602, 404, "NOT_FOUND", "INVALID_PARAMS", "InvalidParamsError")
    elif told.status < 500 and isinstance(error, BadInput):
        grpc = _GRPC.get(told.status, "INVALID_ARGUMENT")
        kind = FaultKind(-32602, told.status, grpc, reason, "InvalidParamsError")
    else:
        grpc = _GRPC.get(told.status, "INTERNAL")
        kind = FaultKind(INTERNAL.number, told.status, grpc, reason)
    return A2aFault(kind, told.error, field=told.field)


def _check_version(version: str | None, method: str, is_legacy: bool) -> None:
    """Raise `A2aFault` for a method that the announced version does not have."""
    if version is not None and is_legacy != (version != "1.0"):
        what = f"{method} is not a method of version {version}"
        raise A2aFault(VERSION_NOT_SUPPORTED, what)


def _tenant(params: Any) -> str:
    given = plain.decode(params) if params else {}
    tenant = given.get("tenant") if isinstance(given, dict) else None
    return tenant if isinstance(tenant, str) else ""


def _result(id_: RpcId, body: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (plain.encode(id_), body)
