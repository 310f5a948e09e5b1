"""The messages of the assistant: the kinds of Almond's dialog API.

Each kind is a Struct; `RichMessage` is their union, tagged by `type`. A skill may send them or
dicts with the same keys. They are stored as dicts, so keys unknown to a kind stay.
Source: the Almond Dialog API, and later messages of its servers (`audio`, `video`, `sound`,
`new-program`).
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any, Final, TypeGuard, get_args

import msgspec

from prolocutor.catalog import Catalog
from prolocutor.dialog.plain import JsonObject, decode
from prolocutor.dialog.rounds import Ask
from prolocutor.errors import BadInput, BadReply

ASK_KINDS: Final = Catalog[Any]("kind of ask", "prolocutor.asks", error=BadInput)
"""The kinds of asks: the options of each kind (`asks.answers.AskKind`)."""

_MISSING: Final = re.compile(r"Object missing required field `(.+)`")


class _Common(msgspec.Struct, kw_only=True, tag_field="type", omit_defaults=True):
    """The fields of messages of any kind; None is an absent field.

    `icon` is the name of the service with the icon to show (the speaker if None), `alt` describes a
    picture in words, `idx` is the number of a choice (given by the assistant), `exclusive` stops
    other sounds, `state` belongs to a link.
    """

    icon: str | None = None

    alt: str | None = None
    idx: int | None = None
    exclusive: bool | None = None
    state: JsonObject | None = None


class Text(_Common, tag="text"):
    """A text; its `format` may be `markdown`, for clients able to draw it."""

    text: str
    format: str | None = None


class Picture(_Common, tag="picture"):
    """A picture at an address."""

    url: str


class Audio(_Common, tag="audio"):
    """A recording at an address."""

    url: str


class Video(_Common, tag="video"):
    """A video at an address."""

    url: str


class RichLink(msgspec.Struct, rename="camel", omit_defaults=True):
    """Where a rich deep link leads (`web_callback`, an address), its title, text and picture."""

    web_callback: str
    display_title: str | None = None
    display_text: str | None = None
    picture_url: str | None = None


class Rdl(_Common, tag="rdl"):
    """A rich deep link: a card with a title and a text, and a link to an address."""

    rdl: RichLink


class Result(_Common, tag="result"):
    """The result of a program as data, and as text for other clients."""

    result: JsonObject
    fallback: str


class Sound(_Common, tag="sound"):
    """A sound by its name in the freedesktop sound theme."""

    name: str


class Choice(_Common, tag="choice"):
    """One choice of several: its title, and a longer text."""

    title: str
    text: str | None = None


class Button(_Common, tag="button"):
    """A button; its content (`json`) comes back to the skill when it is pressed."""

    title: str
    json: JsonObject | str


class Link(_Common, tag="link"):
    """A link with a title."""

    title: str
    url: str


class NewProgram(_Common, tag="new-program", rename="camel"):
    """A started program: its code, and the results and errors so far."""

    unique_id: str
    name: str
    code: str
    results: list[Any]
    errors: list[Any]


RichMessage = (
    Text | Picture | Audio | Video | Rdl | Result | Sound | Choice | Button | Link | NewProgram
)

KINDS: Final[dict[str, type[msgspec.Struct]]] = {
    str(kind.__struct_config__.tag): kind for kind in get_args(RichMessage)
}
"""The Struct of each `type`."""


def is_ask(value: object) -> TypeGuard[Ask]:
    """Return whether this is the name of a kind of ask."""
    return isinstance(value, str) and value in ASK_KINDS


def checked_messages(value: list[Any], path: str = "$.messages") -> list[JsonObject]:
    """Check messages and complete them: choices are numbered from 0, `link` stands for `url`.

    Raise `BadReply` with the path of the first fault.
    """
    messages = [_check(one, f"{path}[{position}]") for position, one in enumerate(value)]
    choices = (message for message in messages if message["type"] == "choice")
    for position, choice in enumerate(choices):
        choice["idx"] = position
    return messages


def checked_ask(value: Any, path: str = "$.ask") -> Ask | None:
    """Check an ask; raise `BadReply` if it is unknown."""
    if value is None:
        return None
    if not is_ask(value):
        known = ", ".join(ASK_KINDS.names())
        raise BadReply(f"no ask is called {value!r:.80}; there are {known}", path=path)
    return value


def add_owner(messages: list[JsonObject], skill: str) -> list[JsonObject]:
    """Add the owner to buttons: the skill to which their content comes back.

    A button with a command (a program, bookkeeping) or an owner is unchanged. A text other than a
    JSON object becomes the `payload` of an object.
    """
    if not skill or not any(message["type"] == "button" for message in messages):
        return messages
    return [
        {**message, "json": _add_skill(message["json"], skill)}
        if message["type"] == "button"
        else message
        for message in messages
    ]


def _add_skill(json: Any, skill: str) -> Any:
    if isinstance(json, str):
        with suppress(ValueError):
            json = decode(json)
    if not isinstance(json, dict):
        return {"payload": json, "skill": skill}
    if "skill" in json or "program" in json or _is_command(json.get("code")):
        return json
    return {**json, "skill": skill}


def _is_command(code: Any) -> bool:
    """Return whether code is the assistant's own: bookkeeping, or a program in ThingTalk."""
    tokens = code.split() if isinstance(code, str) else code
    if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
        return False
    return tokens[:1] == ["bookkeeping"] or any(token.startswith(("$", "@")) for token in tokens)


def _check(given: Any, path: str) -> JsonObject:
    if not isinstance(given, dict):
        raise BadReply("expected a message, an object with a type", path=path)
    message: JsonObject = {**given}
    kind = message.get("type")
    if not isinstance(kind, str) or kind not in KINDS:
        what = f"no message is of type {kind!r:.80}; there are {', '.join(KINDS)}"
        raise BadReply(what, path=f"{path}.type")
    if kind == "link" and "url" not in message and "link" in message:
        message["url"] = message.pop("link")
    try:
        msgspec.convert(message, KINDS[kind])
    except msgspec.ValidationError as error:
        what, place = _fault(str(error))
        raise BadReply(f"a {kind} message: {what}", path=f"{path}{place}") from None
    return message


def _fault(text: str) -> tuple[str, str]:
    """Return msgspec's finding with the path of the value in the message."""
    what, _, at = text.partition(" - at ")
    place = at.strip("`").removeprefix("$")
    if missing := _MISSING.match(what):
        return f"{missing[1]} is missing", f"{place}.{missing[1]}"
    return what[:1].lower() + what[1:].replace("`", ""), place
