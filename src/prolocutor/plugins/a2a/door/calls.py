"""The operations by name: what they take, and how each version writes what they give."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import msgspec

from prolocutor.dialog.plain import JsonObject
from prolocutor.plugins.a2a.door.operations import AgentOperations
from prolocutor.plugins.a2a.door.running_tasks import A2aCaller
from prolocutor.plugins.a2a.wire import legacy, legacy_rest
from prolocutor.plugins.a2a.wire.core import (
    A2aEvent,
    A2aListParams,
    A2aPushConfig,
    A2aPushList,
    A2aPushParams,
    A2aSendParams,
    A2aTask,
    A2aTaskParams,
)
from prolocutor.plugins.a2a.wire.faults import INVALID_PARAMS, PARSE_ERROR, A2aFault

Answer = Any
"""What an operation gives: a Struct, None, or an iterator of `A2aEvent`."""


class A2aCall(msgspec.Struct, frozen=True):
    """One operation: the Struct of its parameters, and what answers it.

    `legacy` turns parameters of 0.3 into those of 1.0, None where they are the same.
    """

    params: type[msgspec.Struct]
    answer: Callable[[AgentOperations, Any, A2aCaller], Any]
    legacy: Callable[[JsonObject], JsonObject] | None = None


SEND: Final = A2aCall(A2aSendParams, AgentOperations.send_message, legacy.send_params_in)
STREAM: Final = A2aCall(
    A2aSendParams, AgentOperations.send_streaming_message, legacy.send_params_in
)
GET: Final = A2aCall(A2aTaskParams, AgentOperations.get_task)
LIST: Final = A2aCall(A2aListParams, AgentOperations.list_tasks)
CANCEL: Final = A2aCall(A2aTaskParams, AgentOperations.cancel_task)
SUBSCRIBE: Final = A2aCall(A2aTaskParams, AgentOperations.subscribe_to_task)


def _push_set_in(given: JsonObject) -> JsonObject:
    webhook = given.get("pushNotificationConfig")
    found = legacy.push_in(webhook if isinstance(webhook, dict) else {})
    return {**found, "taskId": given.get("taskId", "")}


def _push_id_in(given: JsonObject) -> JsonObject:
    found = {"taskId": given.get("id", "")}
    if "pushNotificationConfigId" in given:
        found["id"] = given["pushNotificationConfigId"]
    return found


ADD_WEBHOOK: Final = A2aCall(A2aPushConfig, AgentOperations.create_webhook, _push_set_in)
GET_WEBHOOK: Final = A2aCall(A2aPushParams, AgentOperations.get_webhook, _push_id_in)
LIST_WEBHOOKS: Final = A2aCall(A2aPushParams, AgentOperations.list_webhooks, _push_id_in)
DELETE_WEBHOOK: Final = A2aCall(A2aPushParams, AgentOperations.delete_webhook, _push_id_in)

CURRENT_METHODS: Final = {
    "SendMessage": SEND,
    "SendStreamingMessage": STREAM,
    "GetTask": GET,
    "ListTasks": LIST,
    "CancelTask": CANCEL,
    "SubscribeToTask": SUBSCRIBE,
    "CreateTaskPushNotificationConfig": ADD_WEBHOOK,
    "GetTaskPushNotificationConfig": GET_WEBHOOK,
    "ListTaskPushNotificationConfigs": LIST_WEBHOOKS,
    "DeleteTaskPushNotificationConfig": DELETE_WEBHOOK,
}
LEGACY_METHODS: Final = {
    "message/send": SEND,
    "message/stream": STREAM,
    "tasks/get": GET,
    "tasks/cancel": CANCEL,
    "tasks/resubscribe": SUBSCRIBE,
    "tasks/pushNotificationConfig/set": ADD_WEBHOOK,
    "tasks/pushNotificationConfig/get": GET_WEBHOOK,
    "tasks/pushNotificationConfig/list": LIST_WEBHOOKS,
    "tasks/pushNotificationConfig/delete": DELETE_WEBHOOK,
}

_DECODERS: Final[dict[type[msgspec.Struct], msgspec.json.Decoder[Any]]] = {
    call.params: msgspec.json.Decoder(call.params) for call in CURRENT_METHODS.values()
}


def read_params(call: A2aCall, body: bytes | msgspec.Raw, *, is_legacy: bool) -> Any:
    """Read the parameters of a call; raise `A2aFault` for what does not fit."""
    try:
        if is_legacy and call.legacy is not None:
            return converted(call, call.legacy(_object(msgspec.json.decode(body or b"{}"))))
        return _DECODERS[call.params].decode(body or b"{}")
    except msgspec.ValidationError as error:
        raise bad_params(error) from None
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise A2aFault(PARSE_ERROR, f"this is not JSON: {error}") from None


def converted(call: A2aCall, values: JsonObject, *, strict: bool = True) -> Any:
    """Return parameters as their Struct; raise `A2aFault` for what does not fit."""
    try:
        return msgspec.convert(values, call.params, strict=strict)
    except msgspec.ValidationError as error:
        raise bad_params(error) from None
    except (AttributeError, TypeError, KeyError):
        raise A2aFault(INVALID_PARAMS, "the parameters are of another form") from None


def bad_params(error: msgspec.ValidationError) -> A2aFault:
    """Return the error for parameters that do not fit their Struct, with the field at fault."""
    what, _, place = str(error).partition(" - at `$")
    field = place.strip("`").removeprefix(".") or None
    return A2aFault(INVALID_PARAMS, f"{field}: {what}" if field else what, field=field)


def _object(given: Any) -> JsonObject:
    if not isinstance(given, dict):
        raise A2aFault(INVALID_PARAMS, "the parameters should be an object, {...}")
    return given


def written(value: Any) -> Any:
    """Write what an operation gives, as JSON-RPC of 0.3 has it."""
    if isinstance(value, A2aEvent):
        return legacy.event_out(value)
    if isinstance(value, A2aTask):
        return legacy.task_out(value)
    if isinstance(value, A2aPushConfig):
        return legacy.push_out(value)
    if isinstance(value, A2aPushList):
        return [legacy.push_out(one) for one in value.configs]
    return value


def written_for_rest(value: Any) -> Any:
    """Write what an operation gives, as REST of 0.3 has it."""
    if isinstance(value, A2aEvent):
        return legacy_rest.event_out(value)
    if isinstance(value, A2aTask):
        return legacy_rest.task_out(value)
    if isinstance(value, A2aPushConfig):
        return legacy_rest.push_out(value)
    if isinstance(value, A2aPushList):
        return {"configs": [legacy_rest.push_out(one) for one in value.configs]}
    return value


def is_stream(value: Any) -> bool:
    """Return whether an operation gives events."""
    return isinstance(value, AsyncIterator)
