"""Answers of Rasa's REST channel as the messages of a reply.

Source: Rasa 3, `rasa/core/channels/rest.py` and `channel.py`: a list of objects, each with any of
`text`, `image`, `buttons`, `attachment` and `custom`.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

import msgspec

from prolocutor.dialog.messages import checked_messages
from prolocutor.dialog.plain import JsonObject, encode
from prolocutor.errors import BadReply

_MEDIA: Final = {"image": "picture", "video": "video", "audio": "audio"}


class RasaButton(msgspec.Struct):
    """A button: its title, and the payload sent when it is pressed."""

    title: str = ""
    payload: Any = None
    type: str | None = None
    url: str | None = None


class RasaMessage(msgspec.Struct):
    """One message of a bot."""

    text: str | None = None
    image: str | None = None
    buttons: list[RasaButton] | None = None
    quick_replies: list[RasaButton] | None = None
    attachment: Any = None
    custom: Any = None


read_message: Final = msgspec.json.Decoder(RasaMessage).decode
read_messages: Final = msgspec.json.Decoder(list[RasaMessage]).decode


def make_hypothesis(said: list[RasaMessage], confidence: float) -> JsonObject | None:
    """Return a hypothesis with all messages, None without messages.

    Its text has all texts, line by line. The bot's `custom` data, and attachments that cannot be
    shown, are the reply's attribute `rasa`.
    """
    texts = [one.text for one in said if one.text]
    messages: list[JsonObject] = []
    custom: list[Any] = []
    attachments: list[Any] = []
    for one in said:
        if one.text:
            messages.append({"type": "text", "text": one.text})
        if one.image:
            messages.append({"type": "picture", "url": one.image})
        messages += map(_button, (*(one.buttons or ()), *(one.quick_replies or ())))
        if one.attachment:
            shown = _attachment(one.attachment)
            messages += shown
            attachments += [] if shown else [one.attachment]
        if one.custom is not None:
            messages += _own_messages(one.custom)
            custom.append(one.custom)
    if not messages and (custom or attachments):
        first = [*custom, *attachments][0]
        messages.append({"type": "text", "text": _words(first)})
        texts.append(_words(first))
    if not messages:
        return None
    hypothesis: JsonObject = {"text": "\n".join(texts), "confidence": confidence}
    if len(messages) > 1 or messages[0]["type"] != "text":
        hypothesis["messages"] = messages
        if not texts:
            del hypothesis["text"]
    told = {"custom": custom, "attachments": attachments}
    if rest := {key: value for key, value in told.items() if value}:
        hypothesis["attributes"] = {"rasa": rest}
    return hypothesis


def _button(button: RasaButton) -> JsonObject:
    """Return a button that sends its payload back unchanged, or a link for a web address."""
    address = button.url or (button.payload if button.type == "web_url" else None)
    if isinstance(address, str) and button.type == "web_url":
        return {"type": "link", "title": button.title or address, "url": address}
    payload = button.title if button.payload is None else button.payload
    return {"type": "button", "title": button.title or str(payload), "json": {"payload": payload}}


def _attachment(attachment: Any) -> list[JsonObject]:
    """Return the message for an attachment: a URL, or `{type, payload: {src | url, title}}`."""
    if isinstance(attachment, str):
        name = attachment.rstrip("/").rpartition("/")[2] or attachment
        is_address = attachment.startswith(("http://", "https://"))
        return [{"type": "link", "title": name, "url": attachment}] if is_address else []
    payload = attachment.get("payload") if isinstance(attachment, dict) else None
    if not isinstance(payload, dict):
        return []
    url = payload.get("src") or payload.get("url")
    if not isinstance(url, str):
        return []
    title = payload.get("title")
    titled = {"alt": title} if isinstance(title, str) and title else {}
    kind = _MEDIA.get(str(attachment.get("type")))
    if kind is None:
        return [{"type": "link", "title": title if titled else url, "url": url}]
    return [{"type": kind, "url": url, **titled}]


def _own_messages(custom: Any) -> list[JsonObject]:
    """Return a bot's rich messages in Prolocutor's own form."""
    with suppress(BadReply):
        return checked_messages([custom] if isinstance(custom, dict) else list(custom or ()))
    return []


def _words(custom: Any) -> str:
    """Return the readable part of data without a text."""
    if isinstance(custom, dict):
        for key in ("text", "message", "title", "fallback"):
            if isinstance(custom.get(key), str) and custom[key]:
                return str(custom[key])
    return custom if isinstance(custom, str) else encode(custom).decode()
