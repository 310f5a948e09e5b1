"""Converts a reply for MCP clients: to text, links and pictures, and to data."""

from __future__ import annotations

import mimetypes
import re
from typing import Any, Final, NamedTuple

from prolocutor.asks.answer_forms import answer_schema
from prolocutor.dialog.dialog import SpokenReply
from prolocutor.dialog.plain import JsonObject, encode
from prolocutor.dialog.rendering import said_as_text
from prolocutor.dialog.rounds import PendingAsk
from prolocutor.plugins.mcp.wire.protocol import VERSIONS

LINKS_SINCE: Final = VERSIONS.index("2025-06-18")
"""Links to resources came with this version."""

_DATA: Final = re.compile(r"data:((?:image|audio)/[\w.+-]+);base64,([A-Za-z0-9+/=]+)")
_KINDS: Final = {"picture": "image", "audio": "audio", "video": "video"}

OUTPUT_SCHEMA: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "What the assistant says."},
        "conversation_id": {
            "type": "string",
            "description": "Give it with the next call to go on with this conversation.",
        },
        "skill": {"type": "string", "description": "Which skill has answered."},
        "confidence": {"type": "number", "description": "How sure it is."},
        "ask": {"type": "string", "description": "The kind of answer that is waited for."},
        "answer": {"type": "object", "description": "The JSON Schema of that answer."},
        "messages": {
            "type": "array",
            "items": {"type": "object"},
            "description": "The reply with its links, pictures, cards, buttons and choices.",
        },
        "handover": {"type": "object", "description": "The person who has the conversation now."},
    },
    "required": ["text", "conversation_id", "skill", "confidence"],
}


class ToolReply(NamedTuple):
    """A reply, its ask, and whether it replaces the reply of a failed service."""

    said: SpokenReply
    waiting: PendingAsk | None
    is_failure: bool = False


def tool_result(reply: ToolReply, conversation_id: str, version: str) -> JsonObject:
    """Return the result of a call: the reply as content, and as structured content.

    The text contains the whole reply, with links, choices and cards. It ends with the
    conversation's id, for clients that show their models the content alone.
    """
    structured = _structured_content(reply, conversation_id)
    text = said_as_text(reply.said.text, reply.said.attributes)
    content: list[JsonObject] = [{"type": "text", "text": text}]
    is_new = VERSIONS.index(version) >= LINKS_SINCE
    messages = structured.get("messages", ())
    content += [block for message in messages if (block := _block(message, is_new))]
    told = {key: structured[key] for key in ("conversation_id", "ask") if key in structured}
    note = {"type": "text", "text": encode(told).decode()}
    content.append({**note, "annotations": {"audience": ["assistant"]}})
    return {"content": content, "isError": reply.is_failure, "structuredContent": structured}


def failed_result(text: str, data: JsonObject) -> JsonObject:
    """Return the result of a failed call: the error as text and as data."""
    return {
        "content": [{"type": "text", "text": text}],
        "isError": True,
        "_meta": {"prolocutor/error": data},
    }


def _structured_content(reply: ToolReply, conversation_id: str) -> JsonObject:
    said, waiting, _ = reply
    found: JsonObject = {
        "text": said.text,
        "conversation_id": conversation_id,
        "skill": said.active_skill,
        "confidence": said.confidence,
    }
    if waiting is not None:
        found |= {"ask": waiting.ask, "answer": answer_schema(waiting)}
    messages = said.attributes.get("messages")
    if isinstance(messages, list) and messages:
        found["messages"] = [message for message in messages if isinstance(message, dict)]
    if isinstance(handover := said.attributes.get("handover"), dict):
        found["handover"] = handover
    return found


def _block(message: JsonObject, is_new: bool) -> JsonObject | None:
    """Return a message other than text as a block, if the version has such blocks."""
    kind, url = message.get("type"), message.get("url")
    if kind == "rdl" and isinstance(message.get("rdl"), dict):
        card = message["rdl"]
        title, url = card.get("displayTitle"), card.get("webCallback")
        return _link(url, title, card.get("displayText")) if is_new else None
    if kind == "link":
        return _link(url, message.get("title")) if is_new else None
    if kind not in _KINDS or not isinstance(url, str):
        return None
    if data := _DATA.fullmatch(url):
        block = "audio" if data[1].startswith("audio/") else "image"
        return {"type": block, "data": data[2], "mimeType": data[1]}
    if not is_new:
        return None
    guessed = mimetypes.guess_type(url.partition("?")[0])[0] or f"{_KINDS[kind]}/*"
    return _link(url, message.get("alt") or kind, mime=guessed)


def _link(url: Any, title: Any, text: Any = None, mime: str | None = None) -> JsonObject | None:
    if not isinstance(url, str) or not url:
        return None
    name = title if isinstance(title, str) and title else url
    block: JsonObject = {"type": "resource_link", "uri": url, "name": name}
    if isinstance(text, str) and text:
        block["description"] = text
    return {**block, "mimeType": mime} if mime else block
