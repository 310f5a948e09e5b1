"""Elicitation: a server's question to the person becomes an ask, whose answer goes back.

Source: the specification of 2025-11-25 and 2026-07-28, "Elicitation". A form has one level of
texts, numbers, booleans and enumerations; the required fields are asked for in sequence.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from prolocutor.dialog.plain import JsonObject
from prolocutor.plugins.mcp.wire.tools import ElicitParams

MAX_FIELDS: Final = 20
_FORMATS: Final = {"date": "date", "email": "email_address"}

CANCELLED: Final[JsonObject] = {"action": "cancel"}


class Form(msgspec.Struct, omit_defaults=True):
    """A form and its answers so far; `asked` is the field that waits for an answer.

    `values` begin with the defaults of the fields that are not asked for.
    """

    message: str
    fields: dict[str, JsonObject]
    url: str | None = None
    asked: str = ""
    values: JsonObject = {}

    @classmethod
    def read_form(cls, params: JsonObject) -> Form:
        """Read a server's request; raise `ValidationError` for an invalid form."""
        given = msgspec.convert(params, ElicitParams)
        if given.mode == "url":
            return cls(given.message, {}, given.url)
        fields = given.requested_schema.get("properties")
        named = {
            name: field
            for name, field in (fields.items() if isinstance(fields, dict) else ())
            if isinstance(field, dict)
        }
        required = [name for name in given.requested_schema.get("required") or () if name in named]
        usual = {name: one["default"] for name, one in named.items() if "default" in one}
        wanted = required or [name for name in named if name not in usual]
        if len(wanted) > MAX_FIELDS:
            raise msgspec.ValidationError(f"a form of more than {MAX_FIELDS} fields")
        values = {name: value for name, value in usual.items() if name not in wanted}
        return cls(given.message, {name: named[name] for name in wanted}, values=values)

    def question(self) -> JsonObject | None:
        """Return a hypothesis that asks for the next field; None after the last."""
        left = [name for name in self.fields if name not in self.values]
        if not left and (self.fields or "" in self.values):
            return None
        self.asked = left[0] if left else ""
        field = self.fields.get(self.asked, {"type": "boolean"})
        text = self._words(field)
        messages: list[JsonObject] = [{"type": "text", "text": text}]
        if self.url is not None:
            messages.append({"type": "link", "title": self.url, "url": self.url})
        messages += [{"type": "choice", "title": title} for _, title in allowed_values(field)]
        return {"text": text, "messages": messages, "ask": ask_kind(field), "can_continue": True}

    def take(self, answer: JsonObject) -> None:
        """Store the answer to the last question."""
        field = self.fields.get(self.asked, {"type": "boolean"})
        self.values = {**self.values, self.asked: typed_value(field, answer.get("value"))}

    def result(self) -> JsonObject:
        """Return the answer for the server, after the last field."""
        values = {name: value for name, value in self.values.items() if name}
        if self.values.get("", True) is not True:
            return {"action": "decline"}
        return {"action": "accept", "content": values}

    def _words(self, field: JsonObject) -> str:
        shown = (field.get("description"), field.get("title"))
        own = next((one for one in shown if isinstance(one, str) and one.strip()), self.asked)
        if not self.message.strip():
            return own or "Shall it go on?"
        if len(self.fields) < 2:
            return self.message
        begun = any(name in self.values for name in self.fields)
        return own if begun else f"{self.message}\n{own}"


def ask_kind(field: JsonObject) -> str:
    """Return the kind of ask for a field of a form."""
    if allowed_values(field):
        return "choice"
    match field.get("type"):
        case "boolean":
            return "yesno"
        case "number" | "integer":
            return "number"
    return _FORMATS.get(str(field.get("format")), "raw_string")


def allowed_values(field: JsonObject) -> list[tuple[Any, str]]:
    """Return the allowed values of a field with their titles; [] if it allows any value."""
    if field.get("type") == "array" and isinstance(field.get("items"), dict):
        field = field["items"]
    titled = field.get("oneOf") or field.get("anyOf")
    if isinstance(titled, list):
        return [
            (one["const"], str(one.get("title") or one["const"]))
            for one in titled
            if isinstance(one, dict) and "const" in one
        ]
    values = field.get("enum")
    if not isinstance(values, list):
        return []
    names = field.get("enumNames")
    titles = names if isinstance(names, list) and len(names) == len(values) else values
    return [(value, str(title)) for value, title in zip(values, titles, strict=True)]


def typed_value(field: JsonObject, value: Any) -> Any:
    """Return the value of an answer in the type of the field."""
    if (choices := allowed_values(field)) and isinstance(value, dict):
        chosen = choices[value["idx"]][0] if 0 <= value.get("idx", -1) < len(choices) else None
        return [chosen] if field.get("type") == "array" else chosen
    if field.get("type") == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    return value
