"""Sources: programs as clients send them, as source or as tokens with slots, into trees."""

from __future__ import annotations

from typing import Any, Final

from prolocutor.asks.answers import NOT_UNDERSTOOD
from prolocutor.contracts.programs import ProgramSource
from prolocutor.errors import BadInput
from prolocutor.plugins.almond.thingtalk.parsing import parse, parse_tokens
from prolocutor.plugins.almond.thingtalk.tree import Program

QUOTED_CHARACTERS: Final = 200
"""The number of characters of a program that an error message quotes."""

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
"""The kind of token for a value of a type."""


def read_program(source: ProgramSource) -> Program:
    """Read a program sent by a client; raise `BadInput` if it has no statements."""
    tree = parse(source.text) if source.text is not None else parse_tokens(*_fill_slots(source))
    if not isinstance(tree, Program) or not tree.statements:
        raise BadInput("there is nothing to run in it", field="code")
    return tree


def parse_program(code: str) -> Program:
    """Read the source of a program; raise `BadInput` if it has no statements."""
    tree = parse(code)
    if not isinstance(tree, Program) or not tree.statements:
        raise BadInput(NOT_UNDERSTOOD, field="code")
    return tree


def quote_source(source: ProgramSource | None) -> str:
    """Return the beginning of a program as it was sent, for an error message."""
    if source is None:
        return ""
    text = source.text if source.text is not None else " ".join(source.code)
    return " ".join(text.split())[:QUOTED_CHARACTERS]


def _fill_slots(source: ProgramSource) -> tuple[list[str], dict[str, Any]]:
    """Replace each `SLOT_n` by a token of its type; a slot without a value is asked for later.

    The value of slot n is the entity `SLOT_n`.
    """
    code, entities = source.code, dict(source.entities)
    for number, name in enumerate(source.slots):
        slot = f"SLOT_{number}"
        value = entities.get(slot)
        kind = _token(source.slot_types.get(name))
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
