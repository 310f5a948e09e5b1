"""From the result of a tool to what a service replies: hypotheses, or any value."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from prolocutor.dialog.plain import JsonObject, Plain, check, decode, parse
from prolocutor.errors import ServiceRaised
from prolocutor.plugins.mcp.wire.tools import ContentBlock, ToolResult

MAX_WORDS: Final = 300


def value_of(result: ToolResult) -> Any:
    """Return what a tool gave as a value: its structured content, else its text.

    The text is read as JSON where it is some. A result that stands alone under the key `result`,
    as the SDKs put what is no object, is taken out of it.
    """
    _check(result)
    if (structured := decode(result.structured_content)) is not None:
        return _unwrapped(structured)
    text = _text(result.content)
    try:
        return decode(text)
    except (ValueError, RecursionError):
        return text


def hypotheses_of(result: ToolResult, confidence: float) -> list[JsonObject]:
    """Return what a tool said as hypotheses.

    Structured content with a `text` is one (with its `confidence` and whatever else a hypothesis
    may have), a list of such, bare or as `hypotheses`, several. Anything else is the text parts
    joined; pictures and links are messages. `confidence` is that of those that have none.
    """
    _check(result)
    structured = _unwrapped(decode(result.structured_content))
    shown = [block for block in result.content if block.is_for_people]
    if structured is None and len(shown) == 1:
        structured = _object_in(shown[0].text)
    found = _structured(structured)
    if found is None:
        found = _said(shown)
    return [{**one, "confidence": one.get("confidence", confidence)} for one in found]


class _SpokenContent(msgspec.Struct):
    """What tells that structured content is one hypothesis, which can be taken as it is."""

    text: str
    confidence: float
    hypotheses: None = None


_read_spoken: Final = msgspec.json.Decoder(_SpokenContent).decode


def reply_of(result: ToolResult, confidence: float) -> Plain:
    """Return what a tool said as hypotheses, checked."""
    if not result.is_error and result.structured_content != _NOTHING:
        try:
            if _read_spoken(result.structured_content).text:
                return parse(b"[%b]" % bytes(result.structured_content))
        except msgspec.MsgspecError:
            pass  # it is of another form
    return check(hypotheses_of(result, confidence))


_NOTHING: Final = msgspec.Raw(b"null")


def _structured(value: Any) -> list[JsonObject] | None:
    """Return structured content as hypotheses; None if it is none."""
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


def _said(content: list[ContentBlock]) -> list[JsonObject]:
    text = _text(content)
    shown = [message for block in content if (message := _message(block))]
    if not shown:
        return [{"text": text}] if text else []
    spoken = [{"type": "text", "text": text}] if text else []
    return [{"text": text, "messages": [*spoken, *shown]}]


def _text(content: list[ContentBlock]) -> str:
    texts = (_text_of(block) for block in content)
    return "\n".join(text for text in texts if text).strip()


def _text_of(block: ContentBlock) -> str | None:
    if block.type == "text":
        return block.text
    if block.type == "resource" and block.resource is not None:
        return block.resource.text
    return None


def _message(block: ContentBlock) -> JsonObject | None:
    """Return what is no text as a message."""
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
    """Raise `ServiceRaised` for a tool that says that it failed; its words go to the log alone."""
    if result.is_error:
        words = _text(result.content)[:MAX_WORDS]
        raise ServiceRaised(f"the tool failed: {words}" if words else "the tool failed")


def _unwrapped(value: Any) -> Any:
    if isinstance(value, dict) and value.keys() == {"result"}:
        return value["result"]
    return value


def _object_in(text: str | None) -> Any:
    """Return an object, or a list of such, that a tool wrote as text; None for any other text."""
    if not text or not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value = decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None
