"""Shown messages: messages of the feed as calls of the Bot API."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from prolocutor.dialog.plain import JsonObject
from prolocutor.dialog.rendering import plain_text

LONGEST_TEXT: Final = 4_096
LONGEST_CAPTION: Final = 1_024
PRESSED_ROW: Final = "row:"
"""The data of a button: this prefix and the number of its row in the person's feed."""
ANSWERS: Final = {"answer:yes": "yes", "answer:no": "no"}
"""The data of the buttons of a yes-or-no question, and their texts as input."""

_SHARED: Final = {
    "location": {"text": "Send my location", "request_location": True},
    "phone_number": {"text": "Send my phone number", "request_contact": True},
}
_PRESSED: Final = ("button", "choice")


class BotCall(msgspec.Struct, frozen=True):
    """A method of the Bot API, and its arguments."""

    method: str
    asked: dict[str, Any]


class ShownRow(msgspec.Struct, frozen=True):
    """A message of the feed, and the number of its row."""

    n: int
    message: JsonObject


def make_calls(rows: list[ShownRow], ask: str | None, chat: int) -> list[BotCall]:
    """Return the calls that show these rows together, in order; the last call has the keyboard."""
    shown: list[BotCall] = []
    lines: list[str] = []
    for row in rows:
        message = row.message
        url = message.get("url")
        if message["type"] == "picture" and isinstance(url, str) and url.startswith("http"):
            shown += _texts(lines, chat)
            lines = []
            caption = {"caption": message["alt"][:LONGEST_CAPTION]} if message.get("alt") else {}
            shown.append(BotCall("sendPhoto", {"chat_id": chat, "photo": url, **caption}))
        elif message["type"] not in ("result", *_PRESSED) or _is_described(message):
            lines.append(plain_text([message]))  # the feed has the fallback of a result before it
    keyboard = _keyboard(rows, ask, chat)
    shown += _texts(lines, chat)
    if keyboard is not None:
        if not shown:
            shown = _texts(["Please choose:"], chat)
        last = shown[-1]
        shown[-1] = BotCall(last.method, {**last.asked, "reply_markup": keyboard})
    return shown


def split(text: str) -> list[str]:
    """Split a text into parts of 4,096 UTF-16 units at most, at line ends or blanks if possible."""
    parts = []
    while text := text.strip():
        part = text.encode("utf-16-le")[: 2 * LONGEST_TEXT].decode("utf-16-le", "ignore")
        if len(part) < len(text):
            half = len(part) // 2
            end = max(part.rfind("\n"), half)
            end = end if end > half else max(part.rfind(" "), half)
            part = part[:end] if end > half else part
        parts.append(part.rstrip())
        text = text[len(part) :]
    return parts


def _texts(lines: list[str], chat: int) -> list[BotCall]:
    text = "\n".join(line for line in lines if line)
    return [BotCall("sendMessage", {"chat_id": chat, "text": part}) for part in split(text)]


def _is_described(message: JsonObject) -> bool:
    more = message.get("text") if message["type"] == "choice" else None
    return bool(more) and more != message.get("title")


def _keyboard(rows: list[ShownRow], ask: str | None, chat: int) -> JsonObject | None:
    keys = [
        [{"text": row.message["title"], "callback_data": f"{PRESSED_ROW}{row.n}"}]
        for row in rows
        if row.message["type"] in _PRESSED and row.message.get("title")
    ]
    if not keys and ask == "yesno":
        yes, no = ANSWERS
        keys = [[{"text": "Yes", "callback_data": yes}, {"text": "No", "callback_data": no}]]
    if keys:
        return {"inline_keyboard": keys}
    if ask in _SHARED and chat > 0:  # groups have no such keys
        return {"keyboard": [[_SHARED[ask]]], "resize_keyboard": True, "one_time_keyboard": True}
    return None
