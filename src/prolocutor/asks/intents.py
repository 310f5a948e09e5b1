"""Intents: the content of buttons and of clients' commands in place of words.

A command is `{code, entities, slots?, slotTypes?, example_id?}` with a list of tokens, or
`{program}` with a source (the form of the Almond Dialog API). The tokens of the assistant's own
buttons are read here, all others by the languages of plug-ins; other commands are programs.
All errors are `BadInput`.
"""

from __future__ import annotations

import re
from typing import Any, Final, Literal, Protocol, TypeAlias, cast, get_args

import msgspec

from prolocutor.asks.entity_values import read_entity
from prolocutor.catalog import Catalog
from prolocutor.dialog.rounds import Ask
from prolocutor.errors import BadInput

ControlName: TypeAlias = Literal[
    "yes",
    "no",
    "nevermind",
    "stop",
    "help",
    "wakeup",
    "debug",
    "failed",
    "train",
    "back",
    "more",
    "empty",
    "maybe",
    "makerule",
    "hello",
]
IntentName: TypeAlias = ControlName | Literal["choice", "answer", "category", "commands", "filter"]

CONTROLS: Final = frozenset(get_args(ControlName))
_MAX_TOKENS: Final = 2_000

_PARTS: Final[dict[str, tuple[type, str]]] = {
    "entities": (dict, "an object"),
    "example_id": (int, "a whole number"),
    "slots": (list, "a list of names"),
    "slotTypes": (dict, "an object"),
}


class Intent(msgspec.Struct, frozen=True):
    """The meaning of a piece of bookkeeping.

    `value` is the idx of a `choice` (from 0), the value of an `answer` in the form for skills
    (an incomplete date is the object of its parts), the name of a `category`, `{category, device}`
    of `commands`, `{param, type, op, value, negated}` of a `filter`.
    `kind` is the fitting kind of ask for the value of an answer.
    """

    name: IntentName
    value: Any = None
    kind: Ask | None = None


class CommandLanguage(Protocol):
    """A language of commands; entry points of `prolocutor.command_languages` name them."""

    def read_typed(self, text: str) -> dict[str, Any] | None:
        """Return the command of a typed text with a prefix; None for plain words."""

    def read(self, parsed: dict[str, Any]) -> Intent | None:
        """Return the intent of a command (`read_parsed`); None if it is a program."""


LANGUAGES: Final = Catalog[CommandLanguage]("language of commands", "prolocutor.command_languages")


def typed_command(text: str) -> dict[str, Any] | None:
    """Return the command of a typed text with a prefix; None for plain words."""
    read = (language.read_typed(text) for _, language in LANGUAGES.import_all())
    return next((command for command in read if command is not None), None)


def make_intent(parsed: dict[str, Any]) -> Intent | None:
    """Return the intent of a command (`read_parsed`); None if it is a program."""
    if own := _own_intent(parsed.get("code"), parsed.get("entities") or {}):
        return own
    read = (language.read(parsed) for _, language in LANGUAGES.import_all())
    return next((intent for intent in read if intent is not None), None)


def control_name(token: str) -> str:
    """Return the name of a control command in a token such as `special:yes`."""
    name = token.removeprefix("special:")
    return "nevermind" if name == "cancel" else name


def _own_intent(code: Any, entities: dict[str, Any]) -> Intent | None:
    """Read the tokens of the assistant's and the chat page's buttons; None for all others."""
    match code:
        case ["bookkeeping", "special", str(token)] if control_name(token) in CONTROLS:
            return Intent(cast(ControlName, control_name(token)))
        case ["bookkeeping", "choice", number] if re.fullmatch(r"[0-9]{1,9}", str(number)):
            return Intent("choice", int(number), "choice")
        case ["bookkeeping", "answer", str(name)] if name in entities:
            answer = read_entity(name.rpartition("_")[0], entities[name])
            return None if answer is None else Intent("answer", answer.value, answer.kind)
    return None


def read_parsed(given: Any) -> dict[str, Any]:
    """Read a parsed command: an object or its JSON, bare or in its message.

    The result has `code` (list of tokens) and `entities`, or `program`, and all other keys of the
    command. A message of type `parsed` may carry its command in `json` or itself; a command of type
    `tt` has its source in `code` or `tt`.
    """
    command = read_object(given)
    if command.get("type") == "tt":
        return {"program": _program(command.get("code", command.get("tt")))}
    if command.get("json") is not None and "code" not in command:
        command = read_object(command["json"])
    _check_parts(command)
    if command.get("program") is not None:
        return {**command, "program": _program(command["program"])}
    code = command.get("code")
    code = code.split() if isinstance(code, str) else code
    if not isinstance(code, list) or not code:
        raise BadInput("a parsed command needs code, a list of tokens, or a program", field="json")
    if len(code) > _MAX_TOKENS:
        raise BadInput(f"code has more than {_MAX_TOKENS} tokens", field="code")
    for position, token in enumerate(code):
        if not isinstance(token, str | int | float):
            raise BadInput(f"code[{position}]: expected a token, not {token!r:.80}", field="code")
    return {**command, "code": code, "entities": command.get("entities") or {}}


def read_object(given: Any) -> dict[str, Any]:
    """Return the client's object, sent bare or as JSON; `BadInput` for anything else."""
    for _ in range(3):
        if not isinstance(given, str | bytes):
            break
        try:
            given = msgspec.json.decode(given)
        except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
            raise BadInput(f"the parsed command is not JSON: {error}", field="json") from None
    if not isinstance(given, dict):
        raise BadInput(f"a parsed command is an object, not {given!r:.80}", field="json")
    return given


def _check_parts(command: dict[str, Any]) -> None:
    for key, (kind, what) in _PARTS.items():
        value = command.get(key)
        if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
            raise BadInput(f"{key} should be {what}, not {value!r:.80}", field=key)
    if not all(isinstance(name, str) for name in command.get("slots") or ()):
        raise BadInput("slots are names, each a text", field="slots")


def _program(source: Any) -> str:
    if not isinstance(source, str) or not source.strip():
        raise BadInput("a program is a text in ThingTalk", field="code")
    return source
