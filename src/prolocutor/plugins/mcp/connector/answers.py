"""Converts the result of a tool to a service's reply: hypotheses, or any value."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from prolocutor.dialog.plain import JsonObject, Plain, check, decode, parse
from prolocutor.errors import ServiceRaised
from prolocutor.plugins.mcp.wire.tools import ContentBlock, ToolResult

MAX_WORDS: Final = 300

_NOTHING: Final = msgspec.Raw(b"null")


def read_value(result: ToolResult) -> Any:
    """Return the result of a tool as a value: its structured content, else its text.

    Text that is JSON is decoded. An object with the single key `result`, into which the SDKs wrap
    other values, is unwrapped.
    """
    _check(result)
    if (structured := decode(result.structured_content)) is not None:
        return _unwrap(structured)
    text = _text(result.content)
    try:
        return decode(text)
    except (ValueError, RecursionError):
        return text


def read_hypotheses(result: ToolResult, confidence: float) -> list[JsonObject]:
    """Return the result of a tool as hypotheses.

    Structured content with a `text` is a hypothesis (with its `confidence` and other members of
    hypotheses); a list of such objects, bare or as `hypotheses`, gives several. Otherwise the text
    parts are joined, and pictures and links become messages. `confidence` is the default for
    hypotheses without their own.
    """
    _check(result)
    structured = _unwrap(decode(result.structured_content))
    blocks = [block for block in result.content if block.is_for_people]
    if structured is None and len(blocks) == 1:
        structured = _read_object(blocks[0].text)
    found = _read_structured(structured)
    if found is None:
        found = _read_blocks(blocks)
    return [{**one, "confidence": one.get("confidence", confidence)} for one in found]


class _SpokenContent(msgspec.Struct):
    """The members by which structured content is recognized as a hypothesis."""

    text: str
    confidence: float
    hypotheses: None = None


_read_spoken: Final = msgspec.json.Decoder(_SpokenContent).decode


def read_reply(result: ToolResult, confidence: float) -> Plain:
    """Return the result of a tool as checked hypotheses."""
    if not result.is_error and result.structured_content != _NOTHING:
        try:
            if _read_spoken(result.structured_content).text:
                return parse(b"[%b]" % bytes(result.structured_content))
        except msgspec.MsgspecError:
            pass  # it is of another form
    return check(read_hypotheses(result, confidence))


def _read_structured(value: Any) -> list[JsonObject] | None:
    """Return structured content as hypotheses, or None if it has another form."""
    if isinstance(value, str):
        return [{"text": value}] if value.strip() else []
    if isinstance(value, dict) and isinstance(value.get("hypotheses"), list):
        value = value["hypotheses"]
    elif isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        return None
    spoken = [one for one in value if isinstance(one, dict)]
    if len(spoken) != len(value) or not all(map(_speaks, spoken)):
        return None
    return [one for one in spoken if one.get("text") or one.get("messages")]


def _speaks(one: JsonObject) -> bool:
    return isinstance(one.get("text"), str) or isinstance(one.get("messages"), list)


def _read_blocks(content: list[ContentBlock]) -> list[JsonObject]:
    text = _text(content)
    messages = [message for block in content if (message := _message(block))]
    if not messages:
        return [{"text": text}] if text else []
    spoken = [{"type": "text", "text": text}] if text else []
    return [{"text": text, "messages": [*spoken, *messages]}]


def _text(content: list[ContentBlock]) -> str:
    texts = (_block_text(block) for block in content)
    return "\n".join(text for text in texts if text).strip()


def _block_text(block: ContentBlock) -> str | None:
    if block.type == "text":
        return block.text
    if block.type == "resource" and block.resource is not None:
        return block.resource.text
    return None


def _message(block: ContentBlock) -> JsonObject | None:
    """Return a block other than text as a message."""
    if block.type == "resource_link" and block.uri:
        if (block.mime_type or "").startswith("image/"):
            return {"type": "picture", "url": block.uri, "alt": block.title or block.name}
        return {"type": "link", "title": block.title or block.name or block.uri, "url": block.uri}
    if block.type in ("image", "audio") and block.data:
        kind = "picture" if block.type == "image" else "audio"
        mime = block.mime_type or ("image/png" if kind == "picture" else "audio/wav")
        return {"type": kind, "url": f"data:{mime};base64,{block.data}"}
    return None


def _check(result: ToolResult) -> None:
    """Raise `ServiceRaised` if the tool reports a failure, with its words for the log."""
    if result.is_error:
        words = _text(result.content)[:MAX_WORDS]
        raise ServiceRaised(f"the tool failed: {words}" if words else "the tool failed")


def _unwrap(value: Any) -> Any:
    if isinstance(value, dict) and value.keys() == {"result"}:
        return value["result"]
    return value


def _read_object(text: str | None) -> Any:
    """Decode a text that is a JSON object or a list of objects; return None for another text."""
    if not text or not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value = decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None
