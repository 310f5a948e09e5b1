"""A2A 0.3 in REST: converts its objects from and to the objects of 0.3 in JSON-RPC.

Source: `a2a.proto` of version 0.3.0 and its ProtoJSON, which the SDKs speak: `content` in place of
`parts`, no `kind`, `ROLE_USER`, `TASK_STATE_CANCELLED`, names in camel or in snake case. Readers
also accept the objects of JSON-RPC, which the text of the specification shows.

The official SDK takes the base64 text of a file for its bytes, so ProtoJSON writes base64 of
base64. It reads nothing else, so this module writes that form too, and reads both.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any, Final

from prolocutor.dialog.plain import JsonObject
from prolocutor.plugins.a2a.wire import legacy
from prolocutor.plugins.a2a.wire.core import A2aEvent, A2aMessage, A2aPushConfig, A2aTask

_SNAKE: Final = re.compile(r"_([a-z0-9])")
_CANCELLED: Final = "TASK_STATE_CANCELLED"
_CANCELED: Final = "TASK_STATE_CANCELED"
_BASE64: Final = re.compile(rb"[A-Za-z0-9+/_-]+={0,2}")


# -- in -------------------------------------------------------------------------------------

_STANDARD: Final = str.maketrans("-_", "+/")


def upgrade_send_params(given: JsonObject) -> JsonObject:
    """Return the request to send a message in the form of 1.0."""
    found = _camel(given)
    message = found.pop("request", None) if "message" not in found else found.get("message")
    if message is not None:
        found["message"] = _rpc_message(message)
    wanted = found.get("configuration")
    if isinstance(wanted, dict):
        # Protobuf leaves out what is false, so a configuration without `blocking` says it is not.
        wanted.setdefault("blocking", False)
        if "pushNotification" in wanted:
            wanted["pushNotificationConfig"] = wanted.pop("pushNotification")
    return legacy.upgrade_send_params(found)


def upgrade_push(given: JsonObject) -> JsonObject:
    """Return a webhook in the form of 1.0, from the request to create it."""
    found = _camel(given)
    inner = found.get("config", found)
    webhook = inner.get("pushNotificationConfig", inner) if isinstance(inner, dict) else {}
    named = found.get("configId")
    read = legacy.upgrade_push(webhook if isinstance(webhook, dict) else {})
    return {**({"id": named} if named else {}), **read}


def read_rest_event(given: JsonObject) -> A2aEvent:
    """Read the answer to a message, or an event of a stream."""
    found = _camel(given)
    if "task" in found:
        return A2aEvent(task=read_task(found["task"]))
    said = found.get("message", found.get("msg"))
    if said is not None:
        return legacy.read_event({"kind": "message", **_rpc_message(said)})
    if "statusUpdate" in found:
        update = _rpc_status(found["statusUpdate"])
        return legacy.read_event({"kind": "status-update", **update})
    if "artifactUpdate" in found:
        update = found["artifactUpdate"]
        artifact = _rpc_artifact(update.get("artifact") or {})
        return legacy.read_event({"kind": "artifact-update", **update, "artifact": artifact})
    return legacy.read_event(found)


def read_task(given: JsonObject) -> A2aTask:
    """Read a task."""
    found = _rpc_status(_camel(given))
    if "history" in found:
        found["history"] = [_rpc_message(one) for one in found["history"]]
    if "artifacts" in found:
        found["artifacts"] = [_rpc_artifact(artifact) for artifact in found["artifacts"]]
    return legacy.read_task(found)


def _rpc_message(given: Any) -> Any:
    if not isinstance(given, dict):
        return given
    found = dict(given)
    if "content" in found and "parts" not in found:
        parts = found.pop("content")
        found["parts"] = [_rpc_part(part) for part in parts] if isinstance(parts, list) else parts
    return found


def _rpc_artifact(given: Any) -> Any:
    if not isinstance(given, dict) or not isinstance(given.get("parts"), list):
        return given
    return {**given, "parts": [_rpc_part(part) for part in given["parts"]]}


def _rpc_part(given: Any) -> Any:
    """Return a part in the form of JSON-RPC; a part with a `kind` has that form already."""
    if not isinstance(given, dict) or "kind" in given:
        return given
    found = dict(given)
    data = found.get("data")
    if isinstance(data, dict) and isinstance(data.get("data"), dict) and len(data) == 1:
        found["data"] = data["data"]
    file = found.get("file")
    if isinstance(file, dict):
        names = {"fileWithUri": "uri", "fileWithBytes": "bytes"}
        read = {names.get(key, key): one for key, one in file.items()}
        if isinstance(read.get("bytes"), str):
            read["bytes"] = _read_base64(read["bytes"])
        found["file"] = read
    return found


def _read_base64(written: str) -> str:
    """Return the base64 of a file, given once or twice encoded."""
    try:
        inner = base64.b64decode(_pad_base64(written.translate(_STANDARD)), validate=True)
    except (binascii.Error, ValueError):
        return written
    is_twice = len(inner) % 4 == 0 and _BASE64.fullmatch(inner) is not None
    return inner.decode() if is_twice else written


def _bytes_out(raw: str) -> str:
    return base64.b64encode(_pad_base64(raw).encode()).decode()


def _pad_base64(encoded: str) -> str:
    return encoded + "=" * (-len(encoded) % 4)


def _rpc_status(given: JsonObject) -> JsonObject:
    status = given.get("status")
    if not isinstance(status, dict):
        return given
    found = {key: one for key, one in status.items() if key != "update"}
    if found.get("state") == _CANCELLED:
        found["state"] = _CANCELED
    said = status.get("message", status.get("update"))
    if said is not None:
        found["message"] = _rpc_message(said)
    return {**given, "status": found}


def _camel(value: Any, *, free: bool = False) -> Any:
    """Return an object with all names of fields in camel case, except inside data."""
    if isinstance(value, list):
        return [_camel(one) for one in value]
    if not isinstance(value, dict) or free:
        return value
    found = {}
    for key, one in value.items():
        name = _SNAKE.sub(lambda letter: letter[1].upper(), key)
        found[name] = _camel(one, free=name in ("metadata", "data", "params"))
    return found


# -- out ------------------------------------------------------------------------------------


def event_out(event: A2aEvent) -> JsonObject:
    """Write the answer to a message, or an event of a stream."""
    if event.task is not None:
        return {"task": task_out(event.task)}
    if event.message is not None:
        return {"message": message_out(event.message)}
    if event.status_update is not None:
        return {"statusUpdate": _status_out(legacy.status_update_out(event.status_update))}
    assert event.artifact_update is not None
    written = legacy.artifact_update_out(event.artifact_update)
    del written["kind"]
    return {"artifactUpdate": {**written, "artifact": _artifact_out(written["artifact"])}}


def task_out(task: A2aTask) -> JsonObject:
    """Write a task."""
    written = _status_out(legacy.task_out(task))
    if "history" in written:
        written["history"] = [_message_out(one) for one in written["history"]]
    if "artifacts" in written:
        written["artifacts"] = [_artifact_out(artifact) for artifact in written["artifacts"]]
    return written


def message_out(message: A2aMessage) -> JsonObject:
    """Write a message."""
    return _message_out(legacy.message_out(message))


def push_out(config: A2aPushConfig) -> JsonObject:
    """Write a webhook with its name."""
    name = f"tasks/{config.task_id}/pushNotificationConfigs/{config.id}"
    return {"name": name, "pushNotificationConfig": legacy.webhook_out(config)}


def _message_out(written: JsonObject) -> JsonObject:
    found = {key: one for key, one in written.items() if key not in ("kind", "parts")}
    found["role"] = "ROLE_AGENT" if written["role"] == "agent" else "ROLE_USER"
    found["content"] = [_part_out(part) for part in written["parts"]]
    found.pop("referenceTaskIds", None)
    return found


def _artifact_out(written: JsonObject) -> JsonObject:
    return {**written, "parts": [_part_out(part) for part in written["parts"]]}


def _part_out(written: JsonObject) -> JsonObject:
    found = {key: one for key, one in written.items() if key != "kind"}
    if "data" in found:
        found["data"] = {"data": found["data"]}
    if "file" in found:
        names = {"uri": "fileWithUri", "bytes": "fileWithBytes"}
        found["file"] = {names.get(key, key): one for key, one in found["file"].items()}
        if "fileWithBytes" in found["file"]:
            found["file"]["fileWithBytes"] = _bytes_out(found["file"]["fileWithBytes"])
    return found


def _status_out(written: JsonObject) -> JsonObject:
    status = dict(written["status"])
    state = "TASK_STATE_" + status["state"].upper().replace("-", "_")
    status["state"] = _CANCELLED if state == _CANCELED else state
    if "message" in status:
        status["message"] = _message_out(status["message"])
    found = {key: one for key, one in written.items() if key != "kind"}
    return {**found, "status": status}
