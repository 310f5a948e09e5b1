"""A2A 0.3 in JSON-RPC: its objects from and to those of 1.0.

Source: the A2A protocol, version 0.3.0 (`types.ts`). Parts, messages, tasks and events have a
`kind`; states are words such as `input-required`. Readers accept both versions: an object without a
`kind` is recognized by its fields.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET

from prolocutor.dialog.plain import JsonObject
from prolocutor.plugins.a2a.wire.core import (
    AGENT,
    LEGACY_VERSION,
    STATES,
    TERMINAL,
    USER,
    A2aArtifact,
    A2aArtifactUpdate,
    A2aEvent,
    A2aMessage,
    A2aPart,
    A2aPushConfig,
    A2aStatus,
    A2aStatusUpdate,
    A2aTask,
    drop_nulls,
)

T = TypeVar("T")

VERSION: Final = LEGACY_VERSION
PAUSED: Final = ("TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED")
COMPAT: Final = "data_part_compat"
"""Metadata of a data part of 0.3, which takes objects alone: its `value` is the data."""

_WORDS: Final = {state: state[11:].lower().replace("_", "-") for state in STATES}
_STATES: Final = {word: state for state, word in _WORDS.items()}
_ROLES: Final = {"user": USER, "agent": AGENT}


# -- from 0.3 -------------------------------------------------------------------------------


def read_event(given: Any) -> A2aEvent:
    """Read the result of a call that sends, or an event of a stream."""
    given = drop_nulls(given)
    kind = given.get("kind")
    if kind == "message" or (kind is None and "messageId" in given):
        return _convert({"message": upgrade_message(given)}, A2aEvent)
    if kind == "status-update" or (kind is None and "taskId" in given and "status" in given):
        return _convert({"statusUpdate": _add_status(given)}, A2aEvent)
    if kind == "artifact-update" or (kind is None and "artifact" in given):
        found = {**given, "artifact": upgrade_artifact(given.get("artifact") or {})}
        return _convert({"artifactUpdate": found}, A2aEvent)
    return _convert({"task": upgrade_task(given)}, A2aEvent)


def read_task(given: Any) -> A2aTask:
    """Read a task."""
    return _convert(upgrade_task(drop_nulls(given)), A2aTask)


def upgrade_send_params(given: JsonObject) -> JsonObject:
    """Return the request to send a message in the form of 1.0."""
    found: JsonObject = drop_nulls(given)
    if "message" in found:
        found["message"] = upgrade_message(found["message"])
    wanted = found.get("configuration")
    if isinstance(wanted, dict):
        found["configuration"] = upgrade_configuration(wanted)
    return found


def upgrade_configuration(wanted: JsonObject) -> JsonObject:
    """Return the configuration of a request; a history of 0 means the whole history in 0.3."""
    found: JsonObject = {}
    if "acceptedOutputModes" in wanted:
        found["acceptedOutputModes"] = wanted["acceptedOutputModes"]
    if wanted.get("historyLength"):
        found["historyLength"] = wanted["historyLength"]
    if wanted.get("blocking") is False:
        found["returnImmediately"] = True
    push = wanted.get("pushNotificationConfig")
    if isinstance(push, dict):
        found["taskPushNotificationConfig"] = upgrade_push(push)
    return found


def upgrade_push(given: JsonObject) -> JsonObject:
    """Return a webhook in the form of 1.0, which has one scheme instead of a list."""
    found: JsonObject = {key: one for key, one in given.items() if key in ("id", "url", "token")}
    secret = given.get("authentication")
    if isinstance(secret, dict):
        schemes = secret.get("schemes") or [""]
        first = schemes[0] if isinstance(schemes, list) else schemes
        found["authentication"] = {
            "scheme": first,
            "credentials": secret.get("credentials") or "",
        }
    return found


def upgrade_message(given: Any) -> Any:
    """Return a message in the form of 1.0."""
    if not isinstance(given, dict):
        return given
    found = {key: one for key, one in given.items() if key != "kind"}
    role = found.get("role")
    if isinstance(role, str):
        found["role"] = _ROLES.get(role, role)
    if isinstance(found.get("parts"), list):
        found["parts"] = [upgrade_part(part) for part in found["parts"]]
    return found


def upgrade_part(given: Any) -> Any:
    """Return a part in the form of 1.0."""
    if not isinstance(given, dict):
        return given
    found = {key: one for key, one in given.items() if key not in ("kind", "file")}
    metadata = found.get("metadata")
    if isinstance(metadata, dict) and metadata.get(COMPAT) and isinstance(found["data"], dict):
        found["data"] = found["data"].get("value")
        left = {key: one for key, one in metadata.items() if key != COMPAT}
        found["metadata"] = left or None
    file = given.get("file")
    if isinstance(file, dict):
        names = {"bytes": "raw", "uri": "url", "mimeType": "mediaType", "name": "filename"}
        found |= {names[key]: one for key, one in file.items() if key in names}
    return found


def upgrade_task(given: Any) -> Any:
    """Return a task in the form of 1.0."""
    if not isinstance(given, dict):
        return given
    found = {key: one for key, one in given.items() if key != "kind"}
    if "status" in found:
        found = _add_status(found)
    if isinstance(found.get("artifacts"), list):
        found["artifacts"] = [upgrade_artifact(artifact) for artifact in found["artifacts"]]
    if isinstance(found.get("history"), list):
        found["history"] = [upgrade_message(one) for one in found["history"]]
    return found


def upgrade_artifact(given: Any) -> Any:
    """Return an artifact in the form of 1.0."""
    if not isinstance(given, dict) or not isinstance(given.get("parts"), list):
        return given
    return {**given, "parts": [upgrade_part(part) for part in given["parts"]]}


def _add_status(given: JsonObject) -> JsonObject:
    status = given.get("status")
    if not isinstance(status, dict):
        return given
    state = status.get("state")
    found = {**status, "state": _STATES.get(state, state) if isinstance(state, str) else state}
    if "message" in found:
        found["message"] = upgrade_message(found["message"])
    return {**given, "status": found}


def _convert(value: Any, type_: type[T]) -> T:
    return msgspec.convert(value, type_)


# -- to 0.3 ---------------------------------------------------------------------------------


def event_out(event: A2aEvent) -> JsonObject:
    """Write the result of a call that sends, or an event of a stream."""
    if event.task is not None:
        return task_out(event.task)
    if event.message is not None:
        return message_out(event.message)
    if event.status_update is not None:
        return status_update_out(event.status_update)
    return artifact_update_out(event.artifact_update or A2aArtifactUpdate())


def task_out(task: A2aTask) -> JsonObject:
    """Write a task."""
    return _object_without_empty(
        {
            "kind": "task",
            "id": task.id,
            "contextId": task.context_id,
            "status": status_out(task.status),
        },
        artifacts=[artifact_out(artifact) for artifact in task.artifacts],
        history=[message_out(one) for one in task.history],
        metadata=task.metadata,
    )


def status_update_out(update: A2aStatusUpdate) -> JsonObject:
    """Write a new state; the last state of a stream is `final`."""
    return _object_without_empty(
        {
            "kind": "status-update",
            "taskId": update.task_id,
            "contextId": update.context_id,
            "status": status_out(update.status),
            "final": is_final(update.status.state),
        },
        metadata=update.metadata,
    )


def is_final(state: str) -> bool:
    """Return whether a stream of 0.3 ends with this state."""
    return state in TERMINAL or state in PAUSED


def artifact_update_out(update: A2aArtifactUpdate) -> JsonObject:
    """Write an artifact, or further parts of it."""
    return _object_without_empty(
        {
            "kind": "artifact-update",
            "taskId": update.task_id,
            "contextId": update.context_id,
            "artifact": artifact_out(update.artifact),
            "append": update.append,
            "lastChunk": update.last_chunk,
        },
        metadata=update.metadata,
    )


def status_out(status: A2aStatus) -> JsonObject:
    """Write the state of a task."""
    said = None if status.message is None else message_out(status.message)
    state = _WORDS.get(status.state, "unknown")
    return _object_without_empty({"state": state}, message=said, timestamp=status.timestamp)


def artifact_out(artifact: A2aArtifact) -> JsonObject:
    """Write an artifact."""
    return _object_without_empty(
        {"artifactId": artifact.artifact_id, "parts": [part_out(part) for part in artifact.parts]},
        name=artifact.name,
        description=artifact.description,
        metadata=artifact.metadata,
        extensions=artifact.extensions,
    )


def message_out(message: A2aMessage) -> JsonObject:
    """Write a message."""
    return _object_without_empty(
        {
            "kind": "message",
            "messageId": message.message_id,
            "role": "agent" if message.role == AGENT else "user",
            "parts": [part_out(part) for part in message.parts],
        },
        contextId=message.context_id,
        taskId=message.task_id,
        referenceTaskIds=message.reference_task_ids,
        metadata=message.metadata,
        extensions=message.extensions,
    )


def part_out(part: A2aPart) -> JsonObject:
    """Write a part."""
    if part.text is not None:
        return _object_without_empty({"kind": "text", "text": part.text}, metadata=part.metadata)
    if part.data is not UNSET:
        if isinstance(part.data, dict):
            return _object_without_empty(
                {"kind": "data", "data": part.data}, metadata=part.metadata
            )
        wrapped = {**(part.metadata or {}), COMPAT: True}
        return {"kind": "data", "data": {"value": part.data}, "metadata": wrapped}
    where = {"bytes": part.raw} if part.raw is not None else {"uri": part.url}
    file = _object_without_empty(where, mimeType=part.media_type, name=part.filename)
    return _object_without_empty({"kind": "file", "file": file}, metadata=part.metadata)


def push_out(config: A2aPushConfig) -> JsonObject:
    """Write a webhook with its task."""
    return {"taskId": config.task_id, "pushNotificationConfig": webhook_out(config)}


def webhook_out(config: A2aPushConfig) -> JsonObject:
    """Write a webhook without its task."""
    secret = config.authentication
    schemes = None
    if secret is not None:
        schemes = _object_without_empty(
            {"schemes": [secret.scheme]}, credentials=secret.credentials
        )
    return _object_without_empty(
        {"url": config.url}, id=config.id, token=config.token, authentication=schemes
    )


def _object_without_empty(written: JsonObject, **optional: Any) -> JsonObject:
    """Return an object with its non-empty members among `members`."""
    return {**written, **{key: one for key, one in optional.items() if one not in (None, "", [])}}
