"""Rich messages as plain text, for doors of nothing but text.

Choices are numbered from 1, links and cards are their titles and addresses, a result is its
fallback, a question to be answered by yes or no ends in `[yes/no]`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from prolocutor.dialog.plain import JsonObject
from prolocutor.dialog.rounds import Ask

_YES_OR_NO: Final = "[yes/no]"


def plain_text(messages: list[JsonObject], ask: Ask | None = None) -> str:
    """Write messages, as `checked_messages` gives them, as text: a line or more for each.

    A message without text has no line; without lines the text is empty.
    """
    lines = [line for message in messages if (line := _line(message)).strip()]
    text = "\n".join(lines)
    return f"{text} {_YES_OR_NO}" if text and ask == "yesno" else text


def said_as_text(text: str, attributes: JsonObject, *, without: Collection[str] = ()) -> str:
    """Write a reply of this text and these attributes as text: its messages, or the text alone.

    `without` are kinds of messages with a display of the door's own.
    """
    if not attributes:  # most replies are a text alone
        return text if text.strip() else ""
    messages, ask = attributes.get("messages"), attributes.get("ask")
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        messages = []
    said = [message for message in messages if message.get("type") not in without]
    return plain_text(said, ask) or plain_text([{"type": "text", "text": text}], ask)


def _line(message: JsonObject) -> str:
    write = _WRITERS.get(message.get("type", ""))
    return write(message) if write else _first(message, "text", "title", "fallback", "url")


def _text(message: JsonObject) -> str:
    return _first(message, "text")


def _result(message: JsonObject) -> str:
    return _first(message, "fallback")


def _medium(message: JsonObject) -> str:
    named = _first(message, "alt") or message["type"].capitalize()
    return _join_address(named, _first(message, "url"))


def _link(message: JsonObject) -> str:
    return _join_address(_first(message, "title"), _first(message, "url", "link"))


def _card(message: JsonObject) -> str:
    rdl = message.get("rdl")
    card = rdl if isinstance(rdl, dict) else {}
    head = _join_address(_first(card, "displayTitle"), _first(card, "webCallback"))
    return "\n".join(part for part in (head, _first(card, "displayText")) if part)


def _choice(message: JsonObject) -> str:
    number, title, more = message.get("idx"), _first(message, "title"), _first(message, "text")
    described = f"{title}: {more}" if more and more != title else title
    return f"{number + 1}. {described}" if isinstance(number, int) else described


def _button(message: JsonObject) -> str:
    title = _first(message, "title")
    return f"[{title}]" if title else ""


def _sound(message: JsonObject) -> str:
    name = _first(message, "name")
    return f"(sound: {name})" if name else ""


def _program(_: JsonObject) -> str:
    """Return no text: a program's words and errors come in the texts after it."""
    return ""


def _join_address(title: str, address: str) -> str:
    return f"{title}: {address}" if title and address and title != address else title or address


def _first(message: JsonObject, *keys: str) -> str:
    """Return the first non-blank text under these keys, else an empty text."""
    values = (message.get(key) for key in keys)
    return next((value for value in values if isinstance(value, str) and value.strip()), "")


_WRITERS: Final[dict[str, Callable[[JsonObject], str]]] = {
    "text": _text,
    "picture": _medium,
    "audio": _medium,
    "video": _medium,
    "rdl": _card,
    "result": _result,
    "sound": _sound,
    "choice": _choice,
    "button": _button,
    "link": _link,
    "new-program": _program,
}
