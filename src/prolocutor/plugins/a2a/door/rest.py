"""RestEndpoint: A2A over REST, version 1.0 below the door's address, 0.3 below `/v1` there."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from prolocutor.contracts.http import HttpRequest, HttpResponse
from prolocutor.dialog import plain
from prolocutor.plugins.a2a.door.calls import (
    ADD_WEBHOOK,
    CANCEL,
    DELETE_WEBHOOK,
    GET,
    GET_WEBHOOK,
    LIST,
    LIST_WEBHOOKS,
    SEND,
    STREAM,
    SUBSCRIBE,
    A2aCall,
    convert_params,
    is_stream,
    legacy_rest_result,
    read_params,
)
from prolocutor.plugins.a2a.door.operations import AgentOperations
from prolocutor.plugins.a2a.door.rpc import Identify, make_fault, request_user
from prolocutor.plugins.a2a.wire import legacy_rest
from prolocutor.plugins.a2a.wire.faults import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    A2aFault,
)
from prolocutor.web.error_table import error_response
from prolocutor.web.event_writing import event_stream, server_event

log = logging.getLogger(__name__)

MEDIA: Final = "application/a2a+json"
JSON: Final = "application/json"
_ID: Final = r"(?P<id>[^/]+?)"
_HOOKS: Final = rf"tasks/{_ID}/pushNotificationConfigs"


class RestRule(msgspec.Struct, frozen=True):
    """A method and a pattern of paths, and the operation that they call."""

    method: str
    pattern: re.Pattern[str]
    call: A2aCall


def _rule(method: str, path: str, call: A2aCall) -> RestRule:
    return RestRule(method, re.compile(path), call)


_RULES: Final = (
    _rule("POST", r"message:send", SEND),
    _rule("POST", r"message:stream", STREAM),
    _rule("POST", rf"tasks/{_ID}:cancel", CANCEL),
    _rule("GET", rf"tasks/{_ID}:subscribe", SUBSCRIBE),
    _rule("POST", rf"tasks/{_ID}:subscribe", SUBSCRIBE),
    _rule("GET", rf"tasks/{_ID}", GET),
    _rule("GET", r"tasks", LIST),
    _rule("POST", _HOOKS, ADD_WEBHOOK),
    _rule("GET", _HOOKS, LIST_WEBHOOKS),
    _rule("GET", rf"{_HOOKS}/(?P<hook>[^/]+)", GET_WEBHOOK),
    _rule("DELETE", rf"{_HOOKS}/(?P<hook>[^/]+)", DELETE_WEBHOOK),
)
_CARDS: Final = ("extendedAgentCard", "card", "agent/authenticatedExtendedCard")
_QUERY: Final = (
    "contextId",
    "status",
    "pageSize",
    "pageToken",
    "historyLength",
    "statusTimestampAfter",
    "includeArtifacts",
)


class RestEndpoint:
    """Answers the requests below the door's address."""

    def __init__(self, operations: AgentOperations) -> None:
        self._operations = operations

    async def answer(
        self,
        request: HttpRequest,
        path: str,
        version: str | None,
        identify: Identify,
        card: Callable[[str], bytes],
    ) -> HttpResponse:
        """Answer a request; `path` is the part after the door's address."""
        is_legacy = path.startswith("v1/")
        tenant, path = "", path.removeprefix("v1/")
        if version is not None and is_legacy != (version != "1.0"):
            is_legacy = version != "1.0"
        found = _found(request.method, path)
        if found is None and not is_legacy and path not in _CARDS:
            tenant, _, path = path.partition("/")
            found = _found(request.method, path)
        if request.method == "GET" and path in _CARDS:
            return HttpResponse(card(tenant), content_type=JSON if is_legacy else MEDIA)
        if found is None:
            what = f"there is no operation at {request.method} {request.path:.200}"
            raise A2aFault(METHOD_NOT_FOUND, what)
        call, names = found
        params = await _params(call, request, names, is_legacy)
        caller = identify(tenant or getattr(params, "tenant", ""), is_legacy, request_user(params))
        value = await call.answer(self._operations, params, caller)
        if is_stream(value):
            events = (
                server_event(plain.encode(legacy_rest_result(event) if is_legacy else event))
                async for event in value
            )
            return event_stream(events, _failure)
        if is_legacy:
            return HttpResponse(plain.encode(legacy_rest_result(value) or {}))
        return HttpResponse(plain.encode({} if value is None else value), content_type=MEDIA)


def refusal_response(error: Exception) -> HttpResponse:
    """Return the response to an error, in the form of `google.rpc.Status` and of 0.3."""
    fault = make_fault(error)
    headers = {} if isinstance(error, A2aFault) else error_response(error).headers
    return HttpResponse(plain.encode(_status(fault)), fault.kind.status, headers=headers)


def _status(fault: A2aFault) -> dict[str, Any]:
    kind = fault.kind
    status = {
        "code": kind.status,
        "status": kind.grpc,
        "message": str(fault),
        "details": fault.details(),
    }
    return {"error": status, "type": kind.legacy, "message": str(fault)}


def _found(method: str, path: str) -> tuple[A2aCall, Mapping[str, str]] | None:
    for rule in _RULES:
        if rule.method == method and (match := rule.pattern.fullmatch(path)):
            return rule.call, match.groupdict()
    return None


async def _params(
    call: A2aCall, request: HttpRequest, names: Mapping[str, str], is_legacy: bool
) -> Any:
    """Return the parameters of a call from the path, the query and the body."""
    if call in (SEND, STREAM):
        body = await request.body()
        if not is_legacy:
            return read_params(call, body, is_legacy=False)
        return convert_params(call, legacy_rest.upgrade_send_params(_object(body)))
    if call is ADD_WEBHOOK:
        given = _object(await request.body())
        if is_legacy:
            given = legacy_rest.upgrade_push(given)
        return convert_params(call, {**given, "taskId": names["id"]})
    values: dict[str, Any] = {}
    for name in _QUERY:
        if (value := request.query(name)) is not None and value != "":
            values[name] = value
    if "hook" in names:
        values |= {"taskId": names["id"], "id": names["hook"]}
    elif call is LIST_WEBHOOKS:
        values["taskId"] = names["id"]
    elif "id" in names:
        values["id"] = names["id"]
    if is_legacy and values.get("historyLength") == "0":
        del values["historyLength"]
    return convert_params(call, values, strict=False)


def _object(body: bytes) -> dict[str, Any]:
    try:
        given = msgspec.json.decode(body or b"{}")
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise A2aFault(PARSE_ERROR, f"this is not JSON: {error}") from None
    if not isinstance(given, dict):
        raise A2aFault(INVALID_PARAMS, "the body should be a JSON object, {...}")
    return given


def _failure(error: Exception) -> bytes:
    return server_event(plain.encode(_status(make_fault(error))), b"error")
