"""Reads a value out of tokens and entities, in the form that skills are given answers in."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from prolocutor.dialog.rounds import Ask
from prolocutor.errors import BadInput

_ENTITY: Final = re.compile(r"(?P<type>[A-Z][A-Z_]*?|MEASURE_.+|GENERIC_ENTITY_.+)_(?P<n>\d{1,6})")
_NUMBER: Final = re.compile(r"[+-]?(?:\d{1,300}(?:\.\d{1,300})?|\.\d{1,300})(?:e[+-]?\d{1,3})?")
_MEASURE: Final = re.compile(rf"({_NUMBER.pattern})\$?([A-Za-z]\w{{0,20}})")
_CLOCK: Final = re.compile(r"time:(\d{1,2}):(\d{1,2})(?::(\d{1,2}))?")
_TEXTS: Final[dict[str, Ask]] = {
    "QUOTED_STRING": "raw_string",
    "USERNAME": "raw_string",
    "HASHTAG": "raw_string",
    "URL": "raw_string",
    "PATH_NAME": "raw_string",
    "PHONE_NUMBER": "phone_number",
    "EMAIL_ADDRESS": "email_address",
    "PICTURE": "picture",
}
_ENTITY_ASKS: Final[dict[str, Ask]] = {
    "tt:picture": "picture",
    "tt:phone_number": "phone_number",
    "tt:email_address": "email_address",
    "tt:contact": "contact",
}
_DEEPEST: Final = 8
_MADE: Final = {"Date": "Date", "Time": "Time", "Location": "Location"}
_MADE.update({f"make{name}": name for name in ("Date", "Time", "Location")})


class Answer(msgspec.Struct, frozen=True):
    """A value, and the ask that it answers.

    A date of which parts are missing is the object of its parts: what is missing is today's, as
    the person's time zone has it.
    """

    value: Any
    kind: Ask


class Tokens:
    """Tokens, one after the other, and the entities that they name. `BadInput` names a bad one."""

    def __init__(self, tokens: Sequence[Any], entities: dict[str, Any]) -> None:
        self._tokens, self._entities, self._position = tokens, entities, 0
        self._depth = 0

    def look(self) -> Any:
        """Give the next token, None after the last."""
        return self._tokens[self._position] if self._position < len(self._tokens) else None

    def take(self, expected: str) -> Any:
        """Give the next token and go on; `expected` says what is missing where there is none."""
        if self._position >= len(self._tokens):
            raise BadInput(f"the code ends where {expected} is expected", field="code")
        self._position += 1
        return self._tokens[self._position - 1]

    def skip(self, *tokens: str) -> bool:
        """Go past the next token if it is one of these."""
        if self.look() in tokens and isinstance(self.look(), str):
            self._position += 1
            return True
        return False

    def end(self) -> None:
        """Check that nothing follows."""
        if self._position < len(self._tokens):
            raise self.refusal(self.look(), "the end", self._position)

    def word(self, expected: str, prefix: str = "") -> str:
        """Take a word, without its prefix."""
        token = self.take(expected)
        if not isinstance(token, str) or not token.removeprefix(prefix):
            raise self.refusal(token, expected)
        return token.removeprefix(prefix)

    def whole(self) -> int:
        """Take a whole number: `1`, `"1"` or `NUMBER_0`."""
        answer = self.answer()
        value = answer.value
        if isinstance(value, str) and re.fullmatch(r"\s*\d{1,9}\s*", value):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
            raise self.refusal(self._tokens[self._position - 1], "a whole number")
        return int(value)

    def answer(self) -> Answer:
        """Take a value, with its unit or the type of its entity."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise BadInput(f"values are nested more than {_DEEPEST} deep", field="code")
        answer = self._typed(self._value(self.take("a value")))
        self._depth -= 1
        return answer

    def refusal(self, token: Any, expected: str, position: int | None = None) -> BadInput:
        """Make the error for a token that is not what is expected."""
        place = self._position - 1 if position is None else position
        return BadInput(f"code[{place}]: expected {expected}, not {_shown(token)}", field="code")

    def _typed(self, answer: Answer) -> Answer:
        follows = self.look()
        if not isinstance(follows, str):
            return answer
        if follows.startswith("unit:") and answer.kind == "number":
            self._position += 1
            return Answer({"value": answer.value, "unit": follows[5:]}, "generic")
        if follows.startswith("^^"):
            self._position += 1
            return self._entity(answer.value, follows[2:])
        return answer

    def _value(self, token: Any) -> Answer:
        if isinstance(token, bool):
            return Answer(token, "yesno")
        if isinstance(token, int | float) and math.isfinite(token):
            return Answer(token, "number")
        if not isinstance(token, str) or not token:
            raise self.refusal(token, "a value")
        if token == '"':
            return Answer(self._quoted(), "raw_string")
        if token in {"true", "false"}:
            return Answer(token == "true", "yesno")
        if token == "null" and str(self.look()).startswith("^^"):
            return Answer(None, "raw_string")
        for read in (self._literal, self._named, self._made):
            answer = read(token)
            if answer is not None:
                return answer
        raise self.refusal(token, "a value")

    def _quoted(self) -> str:
        words: list[str] = []
        while (word := self.take("a closing quote")) != '"':
            words.append(word if isinstance(word, str) else str(word))
        return " ".join(words)

    def _literal(self, token: str) -> Answer | None:
        if _NUMBER.fullmatch(token):
            return Answer(self._number(token), "number")
        if found := _MEASURE.fullmatch(token):
            return Answer({"value": self._number(found[1]), "unit": found[2]}, "generic")
        if len(token) > 1 and token[0] == token[-1] == '"':
            try:
                return Answer(msgspec.json.decode(token, type=str), "raw_string")
            except msgspec.DecodeError:
                raise self.refusal(token, "a quoted text") from None
        if found := _CLOCK.fullmatch(token):
            return self._time([int(part or 0) for part in found.groups()], token)
        kind, _, name = token.partition(":")
        if kind == "enum" and name:
            return Answer(name, "raw_string")
        if kind == "location" and name:
            return _somewhere(name)
        return None

    def _number(self, token: str) -> int | float:
        number = float(token)
        if not math.isfinite(number):
            raise self.refusal(token, "a number of that size")
        return int(number) if number == int(number) and abs(number) <= 2**53 else number

    def _named(self, token: str) -> Answer | None:
        found = _ENTITY.fullmatch(token)
        if found is None:
            return None
        if token not in self._entities:
            raise self.refusal(token, "an entity that is given")
        kind, value = found["type"], self._entities[token]
        answer = self._of_type(kind, value, token)
        if answer is None:
            raise BadInput(f"entities.{token[:80]}: not a value of that type", field="entities")
        return answer

    def _of_type(self, kind: str, value: Any, token: str) -> Answer | None:
        if kind in _TEXTS:
            return Answer(value, _TEXTS[kind]) if isinstance(value, str) else None
        if kind == "NUMBER":
            return Answer(value, "number") if _is_number(value) else None
        if kind in {"DURATION", "CURRENCY"} or kind.startswith("MEASURE_"):
            return _measure(value, kind)
        if kind == "DATE":
            return self._date(value, token)
        if kind == "TIME" and isinstance(value, dict):
            return self._time(
                [value.get(name) or 0 for name in ("hour", "minute", "second")], token
            )
        if kind == "LOCATION" and isinstance(value, dict):
            return _location(value.get("latitude"), value.get("longitude"), value.get("display"))
        if kind.startswith("GENERIC_ENTITY_") and isinstance(value, dict):
            named = value.get("value")
            named = value.get("display") if named is None else named
            return self._entity(named, kind.removeprefix("GENERIC_ENTITY_"))
        return None

    def _made(self, token: str) -> Answer | None:
        """Read what is made of parts: `new Time ( 12 , 30 )`, `enum ( on )`, `$location . home`."""
        if token in {"new", *_MADE}:
            name = self.take("Date, Time or Location") if token == "new" else token
            if name not in _MADE:
                raise self.refusal(name, "Date, Time or Location")
            return self._of_parts(_MADE[name], self._arguments(), name)
        if token == "enum":
            opened = self.skip("(")
            name = self.take("the name of the enum's value")
            if not isinstance(name, str) or (opened and not self.skip(")")):
                raise self.refusal(name, "the name of the enum's value")
            return Answer(name, "raw_string")
        if token == "$now":
            return Answer({}, "date")
        if token.startswith(("$location", "$context")):
            path = token.split(".")
            while self.skip("."):
                path.append(str(self.take("a name")))
            return (
                _somewhere(path[-1]) if "location" in path[0] or "location" in path[1:2] else None
            )
        return None

    def _arguments(self) -> list[Any]:
        if not self.skip("("):
            raise self.refusal(self.look(), "(", self._position)
        values: list[Any] = []
        while not self.skip(")"):
            values.append(self.answer().value)
            if not self.skip(",") and self.look() != ")":
                raise self.refusal(self.look(), ", or )", self._position)
        return values

    def _of_parts(self, kind: str, parts: list[Any], token: str) -> Answer:
        if kind == "Time":
            return self._time(parts, token)
        if kind == "Date":
            if parts and isinstance(parts[0], str):
                return self._date(parts[0], token) or self._fail(token, "a date")
            names = ("year", "month", "day")
            given = dict(zip(names, parts, strict=False))
            return self._date(given, token) or self._fail(token, "a date")
        found = _location(*(parts + [None] * 3)[:3])
        return found or self._fail(token, "a location")

    def _fail(self, token: str, expected: str) -> Answer:
        raise self.refusal(token, expected)

    def _time(self, parts: list[Any], token: str) -> Answer:
        try:
            return Answer(dt.time(*(int(part) for part in parts[:3])).isoformat(), "time")
        except (ValueError, TypeError, OverflowError):
            raise self.refusal(token, "a time of day") from None

    def _date(self, value: Any, token: str) -> Answer | None:
        if isinstance(value, str):
            return Answer(value, "date")
        if not isinstance(value, dict):
            return None
        names = ("year", "month", "day")
        parts = {name: value[name] for name in names if value.get(name) not in {None, -1}}
        try:
            if len(parts) < len(names):
                return Answer({name: int(part) for name, part in parts.items()}, "date")
            return Answer(dt.date(*(int(parts[name]) for name in names)).isoformat(), "date")
        except (ValueError, TypeError, OverflowError):
            raise self.refusal(token, "a date") from None

    def _entity(self, value: Any, kind: str) -> Answer:
        if self.skip("("):
            display = self.answer().value
            self.skip(")")
            value = display if value is None else value
        if not isinstance(value, str):
            raise self.refusal(value, f"a text for {kind[:80]}")
        return Answer(value, _ENTITY_ASKS.get(kind, "raw_string"))


def _measure(value: Any, kind: str) -> Answer | None:
    if not isinstance(value, dict) or not _is_number(value.get("value")):
        return None
    unit = value.get("unit") or kind.removeprefix("MEASURE_")
    return (
        Answer({"value": value["value"], "unit": unit}, "generic")
        if isinstance(unit, str)
        else None
    )


def _location(latitude: Any, longitude: Any, display: Any) -> Answer | None:
    if not (_is_number(latitude) and _is_number(longitude)):
        return None
    if abs(latitude) > 90 or abs(longitude) > 180:
        return None
    named = display if isinstance(display, str) and display else f"{latitude}, {longitude}"
    return Answer({"latitude": latitude, "longitude": longitude, "display": named}, "location")


def _somewhere(name: str) -> Answer:
    display = {"current_location": "here"}.get(name, name)
    return Answer({"latitude": None, "longitude": None, "display": display}, "location")


def _is_number(value: Any) -> bool:
    whole = isinstance(value, int | float) and not isinstance(value, bool)
    return whole and abs(value) < 2**1000 and math.isfinite(value)


def _shown(token: Any) -> str:
    return "nothing" if token is None else f"{token!r:.80}"
