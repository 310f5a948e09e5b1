"""The operations by name: their parameters, and the form of their results in each version."""

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
"""The result of an operation: a Struct, None, or an iterator of `A2aEvent`."""


class A2aCall(msgspec.Struct, frozen=True):
    """An operation: the Struct of its parameters, and the method that answers it.

    `legacy` turns parameters of 0.3 into those of 1.0, None if they are the same.
    """

    params: type[msgspec.Struct]
    answer: Callable[[AgentOperations, Any, A2aCaller], Any]
    legacy: Callable[[JsonObject], JsonObject] | None = None


SEND: Final = A2aCall(A2aSendParams, AgentOperations.send_message, legacy.upgrade_send_params)
STREAM: Final = A2aCall(
    A2aSendParams, AgentOperations.send_streaming_message, legacy.upgrade_send_params
)
GET: Final = A2aCall(A2aTaskParams, AgentOperations.get_task)
LIST: Final = A2aCall(A2aListParams, AgentOperations.list_tasks)
CANCEL: Final = A2aCall(A2aTaskParams, AgentOperations.cancel_task)
SUBSCRIBE: Final = A2aCall(A2aTaskParams, AgentOperations.subscribe_to_task)


def _upgrade_push_set(given: JsonObject) -> JsonObject:
    webhook = given.get("pushNotificationConfig")
    found = legacy.upgrade_push(webhook if isinstance(webhook, dict) else {})
    return {**found, "taskId": given.get("taskId", "")}


def _upgrade_push_id(given: JsonObject) -> JsonObject:
    found = {"taskId": given.get("id", "")}
    if "pushNotificationConfigId" in given:
        found["id"] = given["pushNotificationConfigId"]
    return found


ADD_WEBHOOK: Final = A2aCall(A2aPushConfig, AgentOperations.create_webhook, _upgrade_push_set)
GET_WEBHOOK: Final = A2aCall(A2aPushParams, AgentOperations.get_webhook, _upgrade_push_id)
LIST_WEBHOOKS: Final = A2aCall(A2aPushParams, AgentOperations.list_webhooks, _upgrade_push_id)
DELETE_WEBHOOK: Final = A2aCall(A2aPushParams, AgentOperations.delete_webhook, _upgrade_push_id)

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
    """Read the parameters of a call; raise `A2aFault` for invalid ones."""
    try:
        if is_legacy and call.legacy is not None:
            return convert_params(call, call.legacy(_object(msgspec.json.decode(body or b"{}"))))
        return _DECODERS[call.params].decode(body or b"{}")
    except msgspec.ValidationError as error:
        raise bad_params(error) from None
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise A2aFault(PARSE_ERROR, f"this is not JSON: {error}") from None


def convert_params(call: A2aCall, values: JsonObject, *, strict: bool = True) -> Any:
    """Return parameters as their Struct; raise `A2aFault` for invalid ones."""
    try:
        return msgspec.convert(values, call.params, strict=strict)
    except msgspec.ValidationError as error:
        raise bad_params(error) from None
    except (AttributeError, TypeError, KeyError):
        raise A2aFault(INVALID_PARAMS, "the parameters are of another form") from None


def bad_params(error: msgspec.ValidationError) -> A2aFault:
    """Return the error for invalid parameters, with the field at fault."""
    what, _, place = str(error).partition(" - at `$")
    field = place.strip("`").removeprefix(".") or None
    return A2aFault(INVALID_PARAMS, f"{field}: {what}" if field else what, field=field)


def _object(given: Any) -> JsonObject:
    if not isinstance(given, dict):
        raise A2aFault(INVALID_PARAMS, "the parameters should be an object, {...}")
    return given


def write_result(value: Any) -> Any:
    """Return the result of an operation in the form of JSON-RPC of 0.3."""
    if isinstance(value, A2aEvent):
        return legacy.event_out(value)
    if isinstance(value, A2aTask):
        return legacy.task_out(value)
    if isinstance(value, A2aPushConfig):
        return legacy.push_out(value)
    if isinstance(value, A2aPushList):
        return [legacy.push_out(config) for config in value.configs]
    return value


def legacy_rest_result(value: Any) -> Any:
    """Return the result of an operation in the form of REST of 0.3."""
    if isinstance(value, A2aEvent):
        return legacy_rest.event_out(value)
    if isinstance(value, A2aTask):
        return legacy_rest.task_out(value)
    if isinstance(value, A2aPushConfig):
        return legacy_rest.push_out(value)
    if isinstance(value, A2aPushList):
        return {"configs": [legacy_rest.push_out(config) for config in value.configs]}
    return value


def is_stream(value: Any) -> bool:
    """Return whether an operation returns events."""
    return isinstance(value, AsyncIterator)
