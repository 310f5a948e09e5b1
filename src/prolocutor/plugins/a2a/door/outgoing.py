"""Converts a reply for clients: to parts, the state of the task, an artifact."""

from __future__ import annotations

import mimetypes
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from prolocutor.dialog.dialog import SpokenReply
from prolocutor.dialog.plain import JsonObject
from prolocutor.dialog.rendering import said_as_text
from prolocutor.dialog.rounds import PendingAsk
from prolocutor.plugins.a2a.wire.core import (
    AGENT,
    COMPLETED,
    FAILED,
    INPUT_REQUIRED,
    WORKING,
    A2aArtifact,
    A2aMessage,
    A2aPart,
    A2aStatus,
    A2aTask,
)

ARTIFACT: Final = "reply"
JSON: Final = "application/json"
_MEDIA: Final = ("picture", "audio", "video")
_SHOWN: Final = ("messages", "ask", "data_parts")
_ANY: Final = ("*/*", "application/*")


def is_heard(reply: SpokenReply) -> bool:
    """Return whether an operator has the dialog and has not replied yet."""
    handover = reply.attributes.get("handover")
    state = handover.get("state") if isinstance(handover, dict) else None
    return state in ("waits", "taken") and not reply.text and not reply.attributes.get("messages")


def finish_task(
    id_: str,
    context: str,
    reply: SpokenReply,
    waiting: PendingAsk | None,
    history: list[A2aMessage],
    modes: Sequence[str] = (),
) -> A2aTask:
    """Return the task after a reply: completed with an artifact, or waiting for an answer.

    It stays in work while an operator has the dialog and has not replied.
    """
    parts = reply_parts(reply, modes)
    when = iso_time(reply.date_time)
    notes = reply_metadata(reply)
    if waiting is None and is_heard(reply):
        status = A2aStatus(state=WORKING, timestamp=when)
        return A2aTask(id=id_, context_id=context, status=status, history=history, metadata=notes)
    if waiting is None and reply.attributes.get("interrupted") is not True:
        artifact = A2aArtifact(artifact_id=ARTIFACT, parts=parts, metadata=notes)
        return A2aTask(
            id=id_,
            context_id=context,
            status=A2aStatus(state=COMPLETED, timestamp=when),
            artifacts=[artifact] if parts else [],
            history=history,
            metadata=None if parts else notes,
        )
    if waiting is not None:
        parts = [*parts, *ask_parts(waiting, modes)]
    message = A2aMessage(
        message_id=reply.utt_id,
        context_id=context,
        task_id=id_,
        role=AGENT,
        parts=parts or [A2aPart(text="")],
        metadata=notes,
    )
    state = FAILED if waiting is None else INPUT_REQUIRED
    status = A2aStatus(state=state, message=message, timestamp=when)
    return A2aTask(id=id_, context_id=context, status=status, history=history)


def reply_parts(reply: SpokenReply, modes: Sequence[str] = ()) -> list[A2aPart]:
    """Return the parts of a reply, all as text for a client that accepts no JSON."""
    attributes = reply.attributes
    if not attributes:
        return [A2aPart(text=reply.text)] if reply.text else []
    messages = attributes.get("messages")
    if not isinstance(messages, list) or not messages:
        found = [A2aPart(text=reply.text)] if reply.text else []
    elif takes_json(modes):
        found = message_parts(messages)
    else:
        text = said_as_text(reply.text, attributes)
        found = [A2aPart(text=text)] if text else []
    given = attributes.get("data_parts")
    if isinstance(given, list) and takes_json(modes):
        found += [_foreign_part(one) for one in given]
    return found


def message_parts(messages: Sequence[Any]) -> list[A2aPart]:
    """Return messages as parts: texts, files by their addresses, others as data."""
    found = []
    for message in messages:
        if not isinstance(message, dict):
            continue
        kind = message.get("type")
        if kind == "text":
            found.append(A2aPart(text=str(message.get("text", ""))))
        elif kind in _MEDIA and isinstance(message.get("url"), str):
            found.append(_file(str(kind), message))
        else:
            data = {key: value for key, value in message.items() if value is not None}
            found.append(A2aPart(data=data, media_type=JSON))
    return found


def ask_parts(waiting: PendingAsk, modes: Sequence[str] = ()) -> list[A2aPart]:
    """Return an ask as data: its kind and its choices."""
    if not takes_json(modes):
        return []
    asked: JsonObject = {"type": "ask", "ask": waiting.ask}
    if waiting.choices:
        asked["choices"] = [
            {"idx": idx, "title": choice.title} for idx, choice in enumerate(waiting.choices)
        ]
    return [A2aPart(data=asked, media_type=JSON)]


def reply_metadata(reply: SpokenReply) -> JsonObject:
    """Return the metadata of a reply: its skill, its confidence, its attributes."""
    notes: JsonObject = {"skill": reply.active_skill, "confidence": reply.confidence}
    if reply.attributes:
        others = {
            key: attribute for key, attribute in reply.attributes.items() if key not in _SHOWN
        }
        if others:
            notes["attributes"] = others
    return notes


def takes_json(modes: Sequence[str]) -> bool:
    """Return whether a client accepts data parts; a client that names no modes does."""
    return not modes or any(JSON in mode or mode in _ANY for mode in modes)


def takes_something(modes: Sequence[str]) -> bool:
    """Return whether a client accepts any kind of part that this door sends."""
    return takes_json(modes) or any(mode.startswith("text/") for mode in modes)


def iso_time(date_time: str) -> str:
    """Return a time of the agent state in the form of RFC 3339, with milliseconds."""
    return f"{date_time[:10]}T{date_time[11:23]}Z"


def _file(kind: str, message: JsonObject) -> A2aPart:
    guessed, _ = mimetypes.guess_type(message["url"].partition("?")[0])
    fallback = "image/*" if kind == "picture" else f"{kind}/*"
    alt = message.get("alt")
    return A2aPart(
        url=message["url"],
        media_type=guessed or fallback,
        filename=alt if isinstance(alt, str) else None,
    )


def _foreign_part(given: Any) -> A2aPart:
    """Return a part of an agent behind a connector, unchanged."""
    try:
        part = msgspec.convert(given, A2aPart)
    except msgspec.ValidationError:
        return A2aPart(data=given)
    return part if part.has_content else A2aPart(data=given)
