"""Commands: reads the frames of Almond clients, in all known variants.

`command` has a `text`; `parsed` a `json` (an object, or JSON as text, or its keys in the frame
itself) and perhaps a `title`; `tt` a `code` (`tt` in the description's own sample). Source: the
Almond Dialog API, and its clients.
"""

from __future__ import annotations

from typing import Any, Final

from prolocutor.asks.intents import read_object, read_parsed
from prolocutor.dialog import plain
from prolocutor.dialog.inputs import AGAIN_OF, TurnInput, is_utterance_id
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import BadInput
from prolocutor.plugins.almond.door.speakers import Speaker
from prolocutor.web.operations import parse_object

MAX_BYTES: Final = 512_000
MAX_KEY: Final = 255

_LONGEST_STOP: Final = 1_000

_KINDS: Final = ("command", "parsed", "tt")
_PLATFORM: Final = ("from", "contacts", "location", "timezone")
_INLINE: Final = ("code", "entities", "example_id", "slots", "slotTypes", "program")


def read_frame(message: str | bytes) -> dict[str, Any]:
    """Read a frame of a socket; raise `BadInput` if it is not JSON object, or too long."""
    if len(message) > MAX_BYTES:
        raise BadInput(f"a frame has at most {MAX_BYTES:,} bytes")
    return parse_object(message)


def read_command(command: dict[str, Any], speaker: Speaker) -> TurnInput:
    """Make an input of a `command`, `parsed` or `tt`; raise `BadInput` with the wrong field."""
    kind = command.get("type")
    if kind == "command":
        attributes = {**_platform_data(command), **_again(command)}
        return make_input(speaker, _text(command, "text"), attributes)
    if kind == "tt":
        code = _text(command, "tt" if command.get("code") is None and "tt" in command else "code")
        return make_input(speaker, f"\\t {code}", _platform_data(command), program=code)
    if kind == "parsed":
        return _read_parsed_command(command, speaker)
    raise BadInput(f"no input is of type {kind!r:.80}; there are {', '.join(_KINDS)}", field="type")


def make_input(
    speaker: Speaker, text: str, attributes: JsonObject | None = None, **content: Any
) -> TurnInput:
    """Make the input of a speaker's text; `content` holds its parsed form."""
    return TurnInput(
        text, speaker.user, speaker.dialog, attributes or {}, channel="almond", **content
    )


def is_stop(message: str | bytes) -> bool:
    """Return whether a frame of a socket asks to stop the running turn."""
    says_stop = b'"stop"' in message if isinstance(message, bytes) else '"stop"' in message
    if not says_stop or len(message) > _LONGEST_STOP:
        return False
    try:
        return bool(parse_object(message).get("type") == "stop")
    except BadInput:
        return False


def frame_key(frame: dict[str, Any]) -> str | None:
    """Return the client's key of a frame, equal when it is sent again; raise `BadInput` for a bad
    key.
    """
    key = frame.get("key")
    if key is None or (isinstance(key, str) and 0 < len(key) <= MAX_KEY):
        return key
    raise BadInput(f"a key is a text of 1 to {MAX_KEY} characters", field="key")


def is_blank(input: TurnInput) -> bool:
    """Return whether an input is empty: such an input is not a turn."""
    return input.parsed is None and input.program is None and not input.text.strip()


def _read_parsed_command(command: dict[str, Any], speaker: Speaker) -> TurnInput:
    json = command.get("json")
    if json is None:
        json = {key: command[key] for key in _INLINE if key in command}
    parsed = read_object(json)
    if not parsed:
        raise BadInput("json should have a code or a program", field="json")
    if parsed.get("code") is not None or parsed.get("program") is not None:
        parsed = read_parsed(parsed)
    title = command.get("title")
    text = title if isinstance(title, str) and title else f"\\r {plain.encode(parsed).decode()}"
    return make_input(speaker, text, _platform_data(command), parsed=parsed)


def _text(command: dict[str, Any], key: str) -> str:
    value = command.get(key)
    if not isinstance(value, str):
        raise BadInput(f"{key} should be a text", field=key)
    return value


def _again(command: dict[str, Any]) -> JsonObject:
    """Return as an attribute which earlier turn these words take the place of."""
    again_of = command.get("again_of")
    if again_of is None:
        return {}
    if not is_utterance_id(again_of):
        raise BadInput("again_of is the utt_id of a reply, 32 hex digits", field="again_of")
    return {AGAIN_OF: again_of.lower()}


def _platform_data(command: dict[str, Any]) -> dict[str, Any]:
    """Return the client's `platformData` (source, contacts, location, time zone) as attributes."""
    given = command.get("platformData")
    data = given if isinstance(given, dict) else command
    found = {key: data[key] for key in _PLATFORM if data.get(key) is not None}
    return {"platformData": found} if found else {}
