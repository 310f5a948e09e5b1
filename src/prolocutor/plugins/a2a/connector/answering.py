"""Converts an agent's answer to a hypothesis, to nothing, or to a failure of the service."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import UNSET

from prolocutor.dialog.messages import KINDS, is_ask
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import BadReply, ServiceRaised, ServiceRefused
from prolocutor.plugins.a2a.connector.asking import CONTEXT_KEY, AgentQuestion, OpenTask
from prolocutor.plugins.a2a.connector.gathering import GatheredAnswer
from prolocutor.plugins.a2a.wire.core import (
    AUTH_REQUIRED,
    CANCELED,
    COMPLETED,
    FAILED,
    INPUT_REQUIRED,
    REJECTED,
    A2aPart,
)

ASK: Final = "raw_string"
"""The kind of a question that names no kind: any text, including "no"."""

_MEDIA: Final = {"image": "picture", "audio": "audio", "video": "video"}


def read_hypotheses(
    answer: GatheredAnswer, asked: AgentQuestion, service: str, confidence: float
) -> list[JsonObject]:
    """Return the hypothesis of an answer, or none for an empty answer.

    Raise `ServiceRaised` for a failed or cancelled task, `ServiceRefused` for a task that was
    rejected or needs a login, with the agent's words for the log.
    """
    state = answer.status.state
    if answer.message is None and state != COMPLETED:
        _check(state, answer.words())
    parts = answer.answer_parts()
    text = answer.text()
    found: JsonObject = {"text": text, "confidence": _confidence(answer, confidence)}
    others: list[JsonObject] = []
    if any(part.text is None for part in parts):
        others = _add_parts(found, parts, answer)
    if asked.is_misplaced(answer.context_id):
        found["bot_attributes"] = {CONTEXT_KEY + service: answer.context_id}
    if state == INPUT_REQUIRED and answer.message is None:
        _ask(found, answer, others)
    elif not text and len(found) == 2:
        return []
    return [found]


def _add_parts(found: JsonObject, parts: list[A2aPart], answer: GatheredAnswer) -> list[JsonObject]:
    """Add an answer's parts to a hypothesis; return all parts other than messages of ours.

    A text of several pieces is a single message; else texts and other messages keep their order.
    """
    messages, others = _sorted_parts(parts)
    rich = [message for message in messages if message["type"] != "text"]
    if rich:
        text = [{"type": "text", "text": found["text"]}] if found["text"] else []
        found["messages"] = [*text, *rich] if answer.is_pieced else messages
    if others:
        found["attributes"] = {"data_parts": others}
    return others


def _check(state: str, words: str) -> None:
    said = f": {words}" if words else ""
    if state == FAILED:
        raise ServiceRaised(f"its task failed{said}")
    if state == CANCELED:
        raise ServiceRaised(f"it cancelled the task{said}")
    if state == REJECTED:
        raise ServiceRefused(f"it rejected the task{said}", status=403)
    if state == AUTH_REQUIRED:
        raise ServiceRefused(f"it wants a login for the task{said}", status=401)


def _ask(found: JsonObject, answer: GatheredAnswer, others: list[JsonObject]) -> None:
    """Make the hypothesis an ask whose answer continues the agent's task."""
    data = next((other["data"] for other in others if _is_ask(other.get("data"))), None)
    waiting = OpenTask(answer.task_id, answer.context_id, data is not None)
    found["ask"] = ASK if data is None else data["ask"]
    found["can_continue"] = True
    found["ask_context"] = msgspec.to_builtins(waiting)
    if data is not None:
        left = [other for other in others if other.get("data") is not data]
        found["attributes"] = {"data_parts": left} if left else {}
    if not found["text"] and not found.get("messages"):
        found["text"] = "?"


def _is_ask(data: Any) -> bool:
    return isinstance(data, dict) and data.get("type") == "ask" and is_ask(data.get("ask"))


def _sorted_parts(parts: list[A2aPart]) -> tuple[list[JsonObject], list[JsonObject]]:
    """Return the parts that are messages of ours, and the other parts unchanged."""
    messages: list[JsonObject] = []
    others: list[JsonObject] = []
    for part in parts:
        message = _message(part)
        if message is None:
            others.append(msgspec.to_builtins(part))
        elif message:
            messages.append(message)
    return messages, others


def _message(part: A2aPart) -> JsonObject | None:
    """Return a part as a message; {} for an empty text, None for other data."""
    if part.text is not None:
        return {"type": "text", "text": part.text} if part.text else {}
    if part.url is not None:
        kind = _MEDIA.get((part.media_type or "").partition("/")[0])
        if kind is not None:
            named = {"alt": part.filename} if part.filename else {}
            return {"type": kind, "url": part.url, **named}
        return {"type": "link", "title": part.filename or part.url, "url": part.url}
    if part.data is UNSET or not isinstance(part.data, dict):
        return None
    kind = part.data.get("type")
    if not isinstance(kind, str) or kind not in KINDS:
        return None
    try:
        msgspec.convert(part.data, KINDS[kind])
    except msgspec.ValidationError:
        return None
    return part.data


def _confidence(answer: GatheredAnswer, confidence: float) -> float:
    """Return the confidence in the metadata of the answer, or None."""
    notes = [artifact.metadata for artifact in answer.artifacts.values()]
    if answer.message is not None:
        notes.append(answer.message.metadata)
    if answer.status.message is not None:
        notes.append(answer.status.message.metadata)
    for note in notes:
        given = note.get("confidence") if note else None
        if isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given <= 1:
            return float(given)
    return confidence


def service_error(error: Any) -> BadReply:
    """Return the service error for an A2A error of the agent."""
    number = error.get("code") if isinstance(error, dict) else None
    text = error.get("message") if isinstance(error, dict) else error
    return BadReply(f"an error in place of an answer: {number}: {text!s:.200}")
