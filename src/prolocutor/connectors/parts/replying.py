"""What another assistant said, as a hypothesis: its messages and its ask become ours."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urljoin

from prolocutor.connectors.parts.url import Url
from prolocutor.dialog.messages import checked_messages, is_ask
from prolocutor.dialog.plain import JsonObject, decode
from prolocutor.errors import BadReply

MAX_MESSAGES: Final = 100
YES_OR_NO: Final = " [yes/no]"
_NOT_OURS: Final = frozenset({"id", "icon", "idx", "state"})


def hypothesis_of(
    text: str, said: Sequence[Any], ask: Any, confidence: float, home: Url | None = None
) -> JsonObject | None:
    """Return one hypothesis that says the messages, and asks what they ask; None for silence.

    `text` is what is said where there are no messages, `home` where links without a host lead. An
    ask that we do not know is one for any text. Messages that we cannot say are left out.
    """
    messages = _messages(said, home)
    texts = [one["text"] for one in messages if one["type"] == "text"]
    text = "\n".join(texts) if messages else text.removesuffix(YES_OR_NO)
    if not text and not messages and ask is None:
        return None
    found: JsonObject = {"text": text, "confidence": confidence}
    if len(messages) > 1 or (messages and messages[0]["type"] != "text"):
        found["messages"] = messages
        if not texts:
            del found["text"]
    if ask is not None:
        has_choices = any(one["type"] == "choice" for one in messages)
        known = isinstance(ask, str) and is_ask(ask) and (ask != "choice" or has_choices)
        found |= {"ask": ask if known else "raw_string", "can_continue": True}
        if not text and not messages:
            found["text"] = "?"
    return found


def _messages(said: Sequence[Any], home: Url | None) -> list[JsonObject]:
    messages: list[JsonObject] = []
    for one in said[:MAX_MESSAGES]:
        if not isinstance(one, dict):
            continue
        message = {key: value for key, value in one.items() if key not in _NOT_OURS}
        kind = message.get("type")
        if kind == "button":
            message["json"] = {"payload": _command(message.get("json"))}
        if kind == "link" and "url" not in message and "link" in message:
            message["url"] = message.pop("link")
        if home is not None and isinstance(message.get("url"), str):
            message["url"] = _address(message["url"], home)
        if kind == "rdl" and isinstance(card := message.get("rdl"), dict) and home is not None:
            callback = card.get("webCallback") or card.get("callback")
            if isinstance(callback, str):
                message["rdl"] = {**card, "webCallback": _address(callback, home)}
        with suppress(BadReply):
            messages += checked_messages([message])
    return messages


def _command(json: Any) -> Any:
    """Return what a button carries as an object; the second generation sends it as a text."""
    if isinstance(json, str):
        with suppress(ValueError, RecursionError):
            return decode(json)
    return json


def _address(url: str, home: Url) -> str:
    with suppress(ValueError):
        return urljoin(str(home), url)
    return url
