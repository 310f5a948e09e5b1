"""Reads a client's message: a text, the content of a button, or an answer as data."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import UNSET

from prolocutor.asks.answer_forms import answer_by_type, whole_number
from prolocutor.dialog.plain import JsonObject
from prolocutor.plugins.a2a.wire.core import USER, A2aMessage, A2aPart, A2aSendParams
from prolocutor.plugins.a2a.wire.faults import INVALID_PARAMS, A2aFault

ATTRIBUTE: Final = "a2a"
"""The attribute of a human utterance with the message's ids."""

PARTS: Final = "data_parts"
MAX_MESSAGE_ID: Final = 255


class ReadMessage(msgspec.Struct, frozen=True):
    """A message as an input; `parsed` is its content if it is not a text."""

    text: str
    attributes: JsonObject
    parsed: JsonObject | None = None


def checked_message(params: A2aSendParams) -> A2aMessage:
    """Return the message of a request; raise `A2aFault` naming a missing or wrong field."""
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
    """Read a message; its parts other than texts become the attribute `data_parts`.

    Without a text, a data part may be the content of a button (`{"type": "button", "json": ..}`), a
    choice (`{"type": "choice", "idx": ..}`) or an answer (`{"type": "answer", "value": ..}`), and
    the address of a picture is the text, so that it answers an ask for a picture.
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
            parsed, shown = _read_data_part(others)
            text = shown or text
    return ReadMessage(text, attributes, parsed)


def _read_data_part(parts: list[A2aPart]) -> tuple[JsonObject | None, str]:
    """Return the content of the first meaningful data part, and a text to show for it."""
    for part in parts:
        data = part.data if part.data is not UNSET else None
        if isinstance(data, dict):
            title = data.get("title")
            shown = title if isinstance(title, str) else ""
            match data.get("type"):
                case "button" if isinstance(data.get("json"), dict):
                    return data["json"], shown
                case "choice" if (idx := whole_number(data.get("idx"))) is not None:
                    return {"code": ["bookkeeping", "choice", str(idx)], "entities": {}}, shown
                case "answer" if "value" in data:
                    given = answer_by_type(data["value"], str(data.get("kind")))
                    return given.parsed, given.text
    addresses = (part.url for part in parts if part.url and _is_picture(part))
    return None, next(addresses, "")


def _is_picture(part: A2aPart) -> bool:
    return (part.media_type or "").startswith("image/")


def _fault(what: str, field: str) -> A2aFault:
    return A2aFault(INVALID_PARAMS, what, field=field)
