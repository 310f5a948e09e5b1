"""The results of a program as messages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from prolocutor.dialog.messages import checked_messages
from prolocutor.dialog.rendering import plain_text
from prolocutor.errors import BadReply
from prolocutor.plugins.almond.programs.evaluating import ResultRow
from prolocutor.plugins.almond.programs.resolving import EVENT, find_field
from prolocutor.plugins.almond.thingtalk.manifests import Function
from prolocutor.plugins.almond.thingtalk.types import Type

Message = dict[str, Any]

MAX_RESULTS: Final = 10
"""The number of results shown; the reply gives the number of further results."""

MAX_FIELD_CHARACTERS: Final = 2000
"""The number of characters shown of a field."""

NOTHING: Final = "Sorry, I did not find any result."
DONE: Final = "Done."

_FIELD: Final = re.compile(r"\$\{([\w.]+)(?::[^${}]*)?\}|\$(\w+(?:\.\w+)*)")
_WRITTEN_UNIT: Final = re.compile(r"\s?(°?\w+(?:/\w+)?)")
_UNIT: Final = {"C": " °C", "ms": " ms", "byte": " bytes", "Pa": " Pa"}
_RDL: Final = ("webCallback", "displayTitle", "displayText", "callback", "pictureUrl")


def show_result(row: ResultRow) -> list[Message]:
    """Return the messages of a result, by its manifest's format, else its fields by name."""
    function = row.call.function if row.call is not None else None
    if function is not None and row.whole:
        formatted = function.text("formatted")
        if formatted is None:
            result = function.text("result")
            formatted = result[:1] if isinstance(result, list) else result
        messages = _format_messages(formatted, row.fields, _types(function))
        if messages:
            return messages
    return _plainly(row, function)


def event_text(row: ResultRow) -> str:
    """Return a result as a text, the value of `$event`."""
    return plain_text(show_result(row))


def objects(rows: Sequence[ResultRow]) -> list[dict[str, Any]]:
    """Return the fields of the shown results."""
    return [result_object(row) for row in rows[:MAX_RESULTS]]


def result_object(row: ResultRow) -> dict[str, Any]:
    """Return the fields of a result."""
    return {name: value for name, value in row.fields.items() if not name.startswith(EVENT)}


def fill_template(
    template: str, fields: Mapping[str, Any], types: Mapping[str, Type]
) -> str | None:
    """Replace each `${name}` in a template by its field; None if a field has no value.

    A number is followed by its unit, unless the template has the unit there: "${temperature} °C".
    """
    missing = False

    def put(match: re.Match[str]) -> str:
        nonlocal missing
        name = match[1] or match[2]
        value = find_field(fields, name)
        missing = missing or value is None
        kind = types.get(name)
        if (
            kind is not None
            and kind.name == "Measure"
            and _is_unit(kind.of, template[match.end() :])
        ):
            kind = None
        return value_text(value, kind)

    put_in = _FIELD.sub(put, template)
    return None if missing else put_in


def _is_unit(unit: str, after: str) -> bool:
    """Return whether a text begins with a unit, or with a way to write it."""
    match = _WRITTEN_UNIT.match(after)
    return match is not None and match[1] in (unit, _UNIT.get(unit, "").strip(), f"°{unit}")


def value_text(value: Any, kind: Type | None = None) -> str:
    """Return a value in words."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        unit = kind.of if kind is not None and kind.name == "Measure" else ""
        return _number(value) + (_UNIT.get(unit, f" {unit}") if unit else "")
    if isinstance(value, dict):
        if "code" in value and "value" in value:
            return f"{_number(value['value'])} {str(value['code']).upper()}"
        if "latitude" in value:
            return str(value.get("display") or f"{value['latitude']}, {value['longitude']}")
        return ", ".join(f"{name}: {value_text(one)}" for name, one in value.items())
    if isinstance(value, list):
        element = kind.element if kind is not None else None
        return ", ".join(value_text(one, element) for one in value) or "none"
    return str(value)[:MAX_FIELD_CHARACTERS]


def text(words: str) -> Message:
    """Return a text message."""
    return {"type": "text", "text": words}


def _format_messages(
    given: Any, fields: Mapping[str, Any], types: Mapping[str, Type]
) -> list[Message]:
    """Return the messages of the templates with values for all fields."""
    templates = given if isinstance(given, list) else [] if given is None else [given]
    messages = []
    for template in templates:
        message = _message(template, fields, types)
        if message is None:
            continue
        try:
            messages += checked_messages([message])
        except BadReply:
            continue
    return messages


def _message(template: Any, fields: Mapping[str, Any], types: Mapping[str, Type]) -> Any:
    if isinstance(template, str):
        put_in = fill_template(template, fields, types)
        return None if put_in is None else text(put_in)
    if not isinstance(template, dict):
        return None
    kind = template.get("type")
    made = {name: _inside(one, fields, types) for name, one in template.items()}
    if kind == "rdl" and "rdl" not in made:
        made = {"type": "rdl", "rdl": {name: made[name] for name in _RDL if made.get(name)}}
    if kind == "result" and "result" not in made:
        whole = {name: field for name, field in fields.items() if not name.startswith(EVENT)}
        made = {**made, "result": whole}
    return None if None in made.values() else made


def _inside(given: Any, fields: Mapping[str, Any], types: Mapping[str, Type]) -> Any:
    if isinstance(given, str):
        return fill_template(given, fields, types)
    if isinstance(given, dict):
        return {name: _inside(one, fields, types) for name, one in given.items()}
    return given


def _plainly(row: ResultRow, function: Function | None) -> list[Message]:
    """Return the messages of a result without a format: pictures, then other fields by name."""
    types = _types(function)
    names = [name for name in row.fields if not name.startswith(EVENT)]
    if function is not None and row.whole:
        names = [each.name for each in function.outputs]
    called = _names(function)
    words, pictures = [], []
    for name in names:
        value, kind = row.fields.get(name), types.get(name)
        if value is None:
            continue
        if kind is not None and kind.of == "tt:picture" and isinstance(value, str):
            pictures.append({"type": "picture", "url": value})
        else:
            words.append((called.get(name, name.replace("_", " ")), value_text(value, kind)))
    if not row.whole and len(words) == 1:
        lines = [text(f"The {words[0][0]} is {words[0][1]}.")]
    else:
        lines = [text(", ".join(f"{name}: {value}" for name, value in words))] if words else []
    return [*lines, *pictures] or [text(DONE)]


def _types(function: Function | None) -> dict[str, Type]:
    return {each.name: each.type for each in function.parameters} if function else {}


def _names(function: Function | None) -> dict[str, str]:
    return {each.name: each.canonical for each in function.parameters} if function else {}


def _number(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)
