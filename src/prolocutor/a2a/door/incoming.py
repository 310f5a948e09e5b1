"""What a client's message means: a text, what a button carries, or an answer as data."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import UNSET

from prolocutor.a2a.wire.core import USER, A2aMessage, A2aPart, A2aSendParams
from prolocutor.a2a.wire.faults import INVALID_PARAMS, A2aFault
from prolocutor.dialog.plain import JsonObject

ATTRIBUTE: Final = "a2a"
"""The attribute of a human utterance with the message's ids."""

PARTS: Final = "data_parts"
MAX_MESSAGE_ID: Final = 255
_ANSWER: Final = ["bookkeeping", "answer"]
_DICTS: Final = {"location": "LOCATION", "time": "TIME", "date": "DATE"}


class ReadMessage(msgspec.Struct, frozen=True):
    """A message as an input: `parsed` where it is no text."""

    text: str
    attributes: JsonObject
    parsed: JsonObject | None = None


def checked(params: A2aSendParams) -> A2aMessage:
    """Return the message of a request; `A2aFault` names the field that is missing or wrong."""
    message = params.message
    if message is None:
        raise _fault("message is needed", "message")
    if not message.message_id:
        raise _fault("message.messageId is needed", "message.messageId")
    if len(message.message_id) > MAX_MESSAGE_ID:
        raise _fault(f"a messageId has at most {MAX_MESSAGE_ID} characters", "message.messageId")
    if message.role != USER:
        raise _fault(f"message.role is {USER}, as clients are users here", "message.role")
    if not message.parts:
        raise _fault("message.parts needs at least one part", "message.parts")
    for position, part in enumerate(message.parts):
        if not part.has_content:
            where = f"message.parts[{position}]"
            raise _fault(f"{where} has exactly one of text, raw, url and data", where)
        if not part.is_encoded:
            raise _fault("raw is base64", f"message.parts[{position}].raw")
    length = params.configuration.history_length
    if length is not None and length < 0:
        raise _fault("historyLength is at least 0", "configuration.historyLength")
    return message


def read_message(message: A2aMessage, metadata: JsonObject | None) -> ReadMessage:
    """Return what a message means; parts that are no text come as the attribute `data_parts`.

    Without a text, a data part may be what a button carries (`{"type": "button", "json": ..}`), a
    choice (`{"type": "choice", "idx": ..}`) or an answer (`{"type": "answer", "value": ..}`).
    """
    texts = [part.text for part in message.parts if part.text is not None]
    others = [part for part in message.parts if part.text is None]
    text = "\n".join(texts)
    ids: JsonObject = {"message_id": message.message_id}
    if message.reference_task_ids:
        ids["reference_task_ids"] = message.reference_task_ids
    attributes: JsonObject = {ATTRIBUTE: ids}
    told = {**(metadata or {}), **(message.metadata or {})}
    if told:
        attributes["metadata"] = told
    parsed = None
    if others:
        attributes[PARTS] = msgspec.to_builtins(others)
        if not text.strip():
            parsed, shown = _parsed(others)
            text = shown or text
    return ReadMessage(text, attributes, parsed)


def _parsed(parts: list[A2aPart]) -> tuple[JsonObject | None, str]:
    """Return what the first data part that says something means, and a text to show for it."""
    for part in parts:
        data = part.data if part.data is not UNSET else None
        if isinstance(data, dict):
            title = data.get("title")
            shown = title if isinstance(title, str) else ""
            match data.get("type"):
                case "button" if isinstance(data.get("json"), dict):
                    return data["json"], shown
                case "choice" if isinstance(data.get("idx"), int):
                    code = ["bookkeeping", "choice", str(data["idx"])]
                    return {"code": code, "entities": {}}, shown
                case "answer" if "value" in data:
                    return _answered(data["value"], data.get("kind"))
    return None, ""


def _answered(value: Any, kind: Any) -> tuple[JsonObject | None, str]:
    """Return an answer given as data: an object as an entity, anything else as its text."""
    if isinstance(value, bool):
        special = "special:yes" if value else "special:no"
        code = ["bookkeeping", "special", special]
        return {"code": code, "entities": {}}, "yes" if value else "no"
    if isinstance(value, dict) and isinstance(value.get("idx"), int):
        code = ["bookkeeping", "choice", str(value["idx"])]
        return {"code": code, "entities": {}}, str(value.get("title", ""))
    if isinstance(value, dict):
        name = f"{_DICTS.get(str(kind), 'LOCATION')}_0"
        display = value.get("display")
        shown = display if isinstance(display, str) else ""
        return {"code": [*_ANSWER, name], "entities": {name: value}}, shown
    return None, "" if value is None or isinstance(value, list) else str(value)


def _fault(what: str, field: str) -> A2aFault:
    return A2aFault(INVALID_PARAMS, what, field=field)
