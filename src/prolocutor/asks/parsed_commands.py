"""Parsed commands: what buttons carry and clients send in place of words.

A parsed command is `{code, entities, slots?, slotTypes?, example_id?}` with a list of tokens, or
`{program}` with a source. Whether it is a program or an intent is for `intents.py` to say.
Source: the Almond Dialog API. All errors are `BadInput`.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from prolocutor.errors import BadInput

_MAX_TOKENS: Final = 2_000
_GLUED: Final = re.compile(r'"[^"\s][^"]*"|\S+')


def read_parsed(given: Any) -> dict[str, Any]:
    """Read a parsed command: an object or its JSON, bare or in the message that carries it.

    The result has `code` (list of tokens) and `entities`, or `program`, and all other keys of the
    command. A message of type `parsed` may carry its command in `json` or itself; one of type `tt`
    has its source in `code` or `tt`.
    """
    command = object_of(given)
    if command.get("type") == "tt":
        return {"program": _program(command.get("code", command.get("tt")))}
    if command.get("json") is not None and "code" not in command:
        command = object_of(command["json"])
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


def object_of(given: Any) -> dict[str, Any]:
    """Return the object that was sent, bare or as JSON; `BadInput` for anything else."""
    for _ in range(3):
        if not isinstance(given, str | bytes):
            break
        try:
            given = msgspec.json.decode(given)
        except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
            raise BadInput(f"the parsed command is no JSON: {error}", field="json") from None
    if not isinstance(given, dict):
        raise BadInput(f"a parsed command is an object, not {given!r:.80}", field="json")
    return given


def read_prefixed(text: str) -> dict[str, Any] | None:
    r"""Read `\r {json}`, `\r` and tokens, or `\t` and a program; None for plain words."""
    if text.startswith("\\t "):
        return {"program": _program(text[3:])}
    if not text.startswith("\\r "):
        return None
    rest = text[3:].strip()
    if rest.startswith(("{", '"{')):
        return read_parsed(rest)
    return read_parsed({"code": _split(rest), "entities": {}})


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


def _split(text: str) -> list[str]:
    """Split tokens at blanks, and quotation marks off the words that they touch."""
    tokens: list[str] = []
    for token in _GLUED.findall(text):
        quoted = len(token) > 2 and token[0] == token[-1] == '"'
        tokens.extend(['"', *token[1:-1].split(), '"'] if quoted else [token])
    return tokens


_PARTS: Final[dict[str, tuple[type, str]]] = {
    "entities": (dict, "an object"),
    "example_id": (int, "a whole number"),
    "slots": (list, "a list of names"),
    "slotTypes": (dict, "an object"),
}
