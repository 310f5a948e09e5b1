"""Sources: programs as clients send them, as source or as tokens with slots, into trees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from prolocutor.almond.thingtalk.parsing import parse, parse_tokens
from prolocutor.almond.thingtalk.tree import Program
from prolocutor.asks.hints import NOT_UNDERSTOOD
from prolocutor.errors import BadInput

SHOWN: Final = 200
"""Characters of a program that an error message quotes."""

_TOKENS: Final = {
    "String": "QUOTED_STRING",
    "Number": "NUMBER",
    "Currency": "CURRENCY",
    "Date": "DATE",
    "Time": "TIME",
    "Location": "LOCATION",
    "URL": "URL",
    "Username": "USERNAME",
    "Hashtag": "HASHTAG",
    "PhoneNumber": "PHONE_NUMBER",
    "EmailAddress": "EMAIL_ADDRESS",
    "PathName": "PATH_NAME",
    "Picture": "PICTURE",
    "Measure(ms)": "DURATION",
}
"""The kind of token that holds a value of a type."""


def program_of(parsed: Mapping[str, Any]) -> Program:
    """Read `{program}` or `{code, entities, slots, slotTypes}`; `BadInput` if it is no program."""
    source = parsed.get("program")
    if isinstance(source, str):
        tree = parse(source)
    else:
        code, entities = _with_slots(parsed)
        tree = parse_tokens(code, entities)
    if not isinstance(tree, Program) or not tree.statements:
        raise BadInput("there is nothing to run in it", field="code")
    return tree


def program_in(code: str) -> Program:
    """Read the source of a program; `BadInput` if it has no statements."""
    tree = parse(code)
    if not isinstance(tree, Program) or not tree.statements:
        raise BadInput(NOT_UNDERSTOOD, field="code")
    return tree


def shown(parsed: Mapping[str, Any]) -> str:
    """Return the beginning of a program as it was sent, for an error message."""
    source = parsed.get("program") or " ".join(map(str, parsed.get("code") or ()))
    return " ".join(str(source).split())[:SHOWN]


def _with_slots(parsed: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Replace each `SLOT_n` by a token of its type; one without a value stays, to be asked for.

    `slots` are names, `slotTypes` their types; the value of slot n is the entity `SLOT_n`.
    """
    code = [str(token) for token in parsed.get("code") or ()]
    entities = dict(parsed.get("entities") or {})
    types = parsed.get("slotTypes")
    for number, name in enumerate(parsed.get("slots") or ()):
        slot = f"SLOT_{number}"
        value = entities.get(slot)
        kind = _token(types.get(name) if isinstance(types, dict) else None)
        if value is not None and kind is not None:
            token = f"{kind}_{1000 + number}"
            code = [token if one == slot else one for one in code]
            entities[token] = value
            del entities[slot]
    return code, entities


def _token(kind: Any) -> str | None:
    if not isinstance(kind, str):
        return None
    if kind.startswith("Entity("):
        return f"GENERIC_ENTITY_{kind.removeprefix('Entity(').rstrip(')').removeprefix('^^')}"
    if kind.startswith("Measure(") and kind not in _TOKENS:
        return f"MEASURE_{kind.removeprefix('Measure(').rstrip(')')}"
    return _TOKENS.get(kind)
