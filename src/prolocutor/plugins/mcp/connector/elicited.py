"""Elicitation: what a server wants to know of the person becomes an ask, and the answer goes back.

Source: the specification of 2025-11-25 and 2026-07-28, "Elicitation". A form has one level of
texts, numbers, booleans and enumerations; what is required of it is asked for one by one.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from prolocutor.dialog.plain import JsonObject
from prolocutor.plugins.mcp.wire.tools import ElicitParams

MAX_FIELDS: Final = 20
_FORMATS: Final = {"date": "date", "email": "email_address"}


class Form(msgspec.Struct, omit_defaults=True):
    """A form and what was answered so far; `asked` is the field whose answer is waited for.

    `values` begin with the defaults of what is not asked for.
    """

    message: str
    fields: dict[str, JsonObject]
    url: str | None = None
    asked: str = ""
    values: JsonObject = {}

    @classmethod
    def of(cls, params: JsonObject) -> Form:
        """Read what a server asks for; raise `ValidationError` for what is no such request."""
        given = msgspec.convert(params, ElicitParams)
        if given.mode == "url":
            return cls(given.message, {}, given.url)
        fields = given.requested_schema.get("properties")
        named = {
            name: one
            for name, one in (fields.items() if isinstance(fields, dict) else ())
            if isinstance(one, dict)
        }
        required = [name for name in given.requested_schema.get("required") or () if name in named]
        usual = {name: one["default"] for name, one in named.items() if "default" in one}
        wanted = required or [name for name in named if name not in usual]
        if len(wanted) > MAX_FIELDS:
            raise msgspec.ValidationError(f"a form of more than {MAX_FIELDS} fields")
        values = {name: value for name, value in usual.items() if name not in wanted}
        return cls(given.message, {name: named[name] for name in wanted}, values=values)

    def question(self) -> JsonObject | None:
        """Return a hypothesis that asks for the next field; None if nothing is left to ask."""
        left = [name for name in self.fields if name not in self.values]
        if not left and (self.fields or "" in self.values):
            return None
        self.asked = left[0] if left else ""
        field = self.fields.get(self.asked, {"type": "boolean"})
        text = self._words(field)
        messages: list[JsonObject] = [{"type": "text", "text": text}]
        if self.url is not None:
            messages.append({"type": "link", "title": self.url, "url": self.url})
        messages += [{"type": "choice", "title": title} for _, title in choices_of(field)]
        return {"text": text, "messages": messages, "ask": ask_of(field), "can_continue": True}

    def take(self, answer: JsonObject) -> None:
        """Take the answer to what was asked last."""
        field = self.fields.get(self.asked, {"type": "boolean"})
        self.values = {**self.values, self.asked: value_for(field, answer.get("value"))}

    def result(self) -> JsonObject:
        """Return the answer for the server, once nothing is left to ask."""
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


CANCELLED: Final[JsonObject] = {"action": "cancel"}


def ask_of(field: JsonObject) -> str:
    """Return the kind of ask that a field of a form comes to."""
    if choices_of(field):
        return "choice"
    match field.get("type"):
        case "boolean":
            return "yesno"
        case "number" | "integer":
            return "number"
    return _FORMATS.get(str(field.get("format")), "raw_string")


def choices_of(field: JsonObject) -> list[tuple[Any, str]]:
    """Return the values that a field allows, with their titles; none if it allows any."""
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


def value_for(field: JsonObject, value: Any) -> Any:
    """Return the value of an answer as the form wants it."""
    if (choices := choices_of(field)) and isinstance(value, dict):
        chosen = choices[value["idx"]][0] if 0 <= value.get("idx", -1) < len(choices) else None
        return [chosen] if field.get("type") == "array" else chosen
    if field.get("type") == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    return value
