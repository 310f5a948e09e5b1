"""Bookkeeping: control commands and answers in ThingTalk, as Almond's clients send them.

Both generations are understood: `bookkeeping special special:yes` and `$yes ;` as tokens,
`bookkeeping(yes);` and `$yes;` as source. Sources: the Almond Dialog API, thingtalk 1.x and 2.x.
All errors are `BadInput`. The module is a `CommandLanguage`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Final, cast

import msgspec

from prolocutor.asks.entity_values import (
    ParsedValue,
    make_place,
    read_coordinates,
    read_date_entity,
    read_entity,
    read_time_entity,
    read_typed_entity,
)
from prolocutor.asks.intents import CONTROLS, ControlName, Intent, control_name, read_parsed
from prolocutor.errors import BadInput
from prolocutor.reading.dates import DAY_EDGES, EDGE_UNITS

_CALLS: Final = frozenset({"choice", "answer", "category", "commands", "filter", "special"})
MAX_SOURCE: Final = 20_000
_FORMS: Final = re.compile(
    r'"(?:[^"\\]|\\.)*"|\^\^[\w.:-]+|[$@]?[A-Za-z_][\w:]*|[+-]?\d[\w.$+]*|==|[<>=~!]=?~?|\S'
)
_GLUED: Final = re.compile(r'"[^"\s][^"]*"|\S+')

_ENTITY: Final = re.compile(r"(?P<type>[A-Z][A-Z_]*?|MEASURE_.+|GENERIC_ENTITY_.+)_\d{1,6}")
_NUMBER: Final = re.compile(r"[+-]?(?:\d{1,300}(?:\.\d{1,300})?|\.\d{1,300})(?:e[+-]?\d{1,3})?")
_MEASURE: Final = re.compile(rf"({_NUMBER.pattern})\$?([A-Za-z]\w{{0,20}})")
_CLOCK: Final = re.compile(r"time:(\d{1,2}):(\d{1,2})(?::(\d{1,2}))?")
_DEEPEST: Final = 8
_MADE: Final = {"Date": "Date", "Time": "Time", "Location": "Location"}


def read(parsed: dict[str, Any]) -> Intent | None:
    """Read the intent of a command (`read_parsed`); None if it is a program."""
    if "program" in parsed:
        return intent_of_source(parsed["program"])
    return intent_of_tokens(parsed["code"], parsed["entities"])


def read_typed(text: str) -> dict[str, Any] | None:
    r"""Read `\r {json}`, `\r` and tokens, or `\t` and a program; None for plain words."""
    if text.startswith("\\t "):
        return read_parsed({"program": text[3:]})
    if not text.startswith("\\r "):
        return None
    rest = text[3:].strip()
    if rest.startswith(("{", '"{')):
        return read_parsed(rest)
    return read_parsed({"code": _split(rest), "entities": {}})


def intent_of_tokens(code: list[Any], entities: dict[str, Any]) -> Intent | None:
    """Read tokens of bookkeeping; None if they are a program. `BadInput` names a bad token."""
    if not code or not isinstance(code[0], str):
        return None
    if code[0] == "bookkeeping":
        tokens = IntentTokens(code, entities)
        tokens.take("bookkeeping")
        opened = tokens.skip("(")
        intent = _intent(tokens, opened)
        if opened and not tokens.skip(")"):
            raise BadInput("the code ends where ) is expected", field="code")
    elif code[0].startswith("$") and control_name(code[0][1:]) in CONTROLS | {"choice", "answer"}:
        if "=>" in code:
            return None
        tokens = IntentTokens([code[0][1:], *code[1:]], entities)
        intent = _intent(tokens, True)
    else:
        return None
    while tokens.skip(";"):
        pass
    tokens.end()
    return intent


def intent_of_source(source: str) -> Intent | None:
    """Read the source of bookkeeping, `bookkeeping(choice(1));` or `$yes;`; None for a program."""
    source = source.strip()
    if not source.startswith(("bookkeeping", "$")) or len(source) > MAX_SOURCE:
        return None
    return intent_of_tokens(_FORMS.findall(source), {})


def _intent(tokens: IntentTokens, parentheses: bool) -> Intent:
    name = control_name(tokens.word("what the bookkeeping is about"))
    if name == "special":
        name = control_name(tokens.word("special: and a name"))
    elif name in _CALLS:
        opened = parentheses and tokens.skip("(")
        intent = _call(name, tokens)
        if opened and not tokens.skip(")"):
            raise tokens.refusal(tokens.look(), ")")
        return intent
    if name not in CONTROLS:
        raise tokens.refusal(name, "the name of a bookkeeping intent")
    return Intent(cast(ControlName, name))


def _call(name: str, tokens: IntentTokens) -> Intent:
    if name == "choice":
        return Intent("choice", tokens.whole(), "choice")
    if name == "answer":
        answer = tokens.answer()
        return Intent("answer", answer.value, answer.kind)
    if name == "category":
        return Intent("category", tokens.word("a category"))
    if name == "commands":
        category = tokens.word("a category")
        tokens.skip(",")
        return Intent(
            "commands", {"category": category, "device": tokens.word("a device", "device:")}
        )
    return _filter(tokens)


def _filter(tokens: IntentTokens) -> Intent:
    negated = tokens.skip("not", "!")
    param, _, type_name = tokens.word("param:name:Type", "param:").partition(":")
    operator = tokens.word("an operator")
    value = tokens.answer()
    return Intent(
        "filter",
        {
            "param": param,
            "type": type_name,
            "op": operator,
            "value": value.value,
            "negated": negated,
        },
        value.kind,
    )


def _split(text: str) -> list[str]:
    """Split tokens at blanks, and quotation marks off the words that they touch."""
    tokens: list[str] = []
    for token in _GLUED.findall(text):
        quoted = len(token) > 2 and token[0] == token[-1] == '"'
        tokens.extend(['"', *token[1:-1].split(), '"'] if quoted else [token])
    return tokens


_MADE.update({f"make{name}": name for name in ("Date", "Time", "Location")})


class IntentTokens:
    """Reads tokens in order, and the entities that they name. `BadInput` names a bad token."""

    def __init__(self, tokens: Sequence[Any], entities: dict[str, Any]) -> None:
        self._tokens, self._entities, self._position = tokens, entities, 0
        self._depth = 0

    def look(self) -> Any:
        """Return the next token, None after the last."""
        return self._tokens[self._position] if self._position < len(self._tokens) else None

    def take(self, expected: str) -> Any:
        """Return the next token and advance; `expected` is named in the error if there is none."""
        if self._position >= len(self._tokens):
            raise BadInput(f"the code ends where {expected} is expected", field="code")
        self._position += 1
        return self._tokens[self._position - 1]

    def skip(self, *tokens: str) -> bool:
        """Skip the next token if it is one of these."""
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

    def answer(self) -> ParsedValue:
        """Take a value, with its unit or the type of its entity."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise BadInput(f"values are nested more than {_DEEPEST} deep", field="code")
        answer = self._read_unit(self._value(self.take("a value")))
        self._depth -= 1
        return answer

    def refusal(self, token: Any, expected: str, position: int | None = None) -> BadInput:
        """Return the error for an unexpected token."""
        place = self._position - 1 if position is None else position
        return BadInput(
            f"code[{place}]: expected {expected}, not {_token_text(token)}", field="code"
        )

    def _read_unit(self, answer: ParsedValue) -> ParsedValue:
        follows = self.look()
        if not isinstance(follows, str):
            return answer
        if follows.startswith("unit:") and answer.kind == "number":
            self._position += 1
            return ParsedValue({"value": answer.value, "unit": follows[5:]}, "generic")
        if follows.startswith("^^"):
            self._position += 1
            return self._entity(answer.value, follows[2:])
        return answer

    def _value(self, token: Any) -> ParsedValue:
        if isinstance(token, bool):
            return ParsedValue(token, "yesno")
        if isinstance(token, int | float) and math.isfinite(token):
            return ParsedValue(token, "number")
        if not isinstance(token, str) or not token:
            raise self.refusal(token, "a value")
        if token == '"':
            return ParsedValue(self._read_quoted(), "raw_string")
        if token == "location:":
            return self._quoted_place()
        if token == "now":
            return ParsedValue({}, "date")
        if token.removeprefix("$") in DAY_EDGES:
            return self._day_edge(token)
        if token in {"true", "false"}:
            return ParsedValue(token == "true", "yesno")
        if token == "null" and str(self.look()).startswith("^^"):
            return ParsedValue(None, "raw_string")
        for read in (self._literal, self._read_entity, self._made):
            answer = read(token)
            if answer is not None:
                return answer
        raise self.refusal(token, "a value")

    def _quoted_place(self) -> ParsedValue:
        """Read a place that the tokens name: `location: " seattle "`."""
        token = self.take("the name of a place")
        name = self._read_quoted() if token == '"' else str(token).strip('"')
        if not name.strip():
            raise self.refusal(token, "the name of a place")
        return ParsedValue({"latitude": None, "longitude": None, "display": name}, "location")

    def _day_edge(self, token: str) -> ParsedValue:
        """Read where a day, week, month or year begins or ends: `end_of unit:week`."""
        opened = self.skip("(")
        unit = self.word("a unit of time", "unit:")
        if unit not in EDGE_UNITS:
            raise self.refusal(unit, f"a unit of time ({', '.join(EDGE_UNITS)})")
        if opened and not self.skip(")"):
            raise self.refusal(self.look(), ")", self._position)
        return ParsedValue({"edge": token.removeprefix("$"), "unit": unit}, "date")

    def _read_quoted(self) -> str:
        words: list[str] = []
        while (word := self.take("a closing quote")) != '"':
            words.append(word if isinstance(word, str) else str(word))
        return " ".join(words)

    def _literal(self, token: str) -> ParsedValue | None:
        if _NUMBER.fullmatch(token):
            return ParsedValue(self._number(token), "number")
        if match := _MEASURE.fullmatch(token):
            return ParsedValue({"value": self._number(match[1]), "unit": match[2]}, "generic")
        if len(token) > 1 and token[0] == token[-1] == '"':
            try:
                return ParsedValue(msgspec.json.decode(token, type=str), "raw_string")
            except msgspec.DecodeError:
                raise self.refusal(token, "a quoted text") from None
        if match := _CLOCK.fullmatch(token):
            return self._check_answer(
                read_time_entity([part or 0 for part in match.groups()]), token, "a time"
            )
        kind, _, name = token.partition(":")
        if kind == "enum" and name:
            return ParsedValue(name, "raw_string")
        if kind == "location" and name:
            return make_place(name)
        return None

    def _number(self, token: str) -> int | float:
        number = float(token)
        if not math.isfinite(number):
            raise self.refusal(token, "a number of that size")
        return int(number) if number == int(number) and abs(number) <= 2**53 else number

    def _read_entity(self, token: str) -> ParsedValue | None:
        match = _ENTITY.fullmatch(token)
        if match is None:
            return None
        if token not in self._entities:
            raise self.refusal(token, "an entity that is given")
        answer = read_entity(match["type"], self._entities[token])
        if answer is None:
            raise BadInput(f"entities.{token[:80]}: not a value of that type", field="entities")
        return answer

    def _made(self, token: str) -> ParsedValue | None:
        """Read a value made of parts: `new Time ( 12 , 30 )`, `enum ( on )`, `$location . home`."""
        if token in {"new", *_MADE}:
            name = self.word("Date, Time or Location") if token == "new" else token
            if name not in _MADE:
                raise self.refusal(name, "Date, Time or Location")
            return self._join_parts(_MADE[name], self._arguments(), name)
        if token == "enum":
            opened = self.skip("(")
            name = self.word("the name of the enum's value")
            if opened and not self.skip(")"):
                raise self.refusal(self.look(), ")", self._position)
            return ParsedValue(name, "raw_string")
        if token == "$now":
            return ParsedValue({}, "date")
        if token.startswith(("$location", "$context")):
            path = token.split(".")
            while self.skip("."):
                path.append(str(self.take("a name")))
            named = "location" in path[0] or "location" in path[1:2]
            return make_place(path[-1]) if named else None
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

    def _join_parts(self, kind: str, parts: list[Any], token: str) -> ParsedValue:
        if kind == "Time":
            answer = read_time_entity(parts)
        elif kind == "Location":
            answer = read_coordinates(*(parts + [None] * 3)[:3])
        elif parts and isinstance(parts[0], str):
            answer = read_date_entity(parts[0])
        else:
            answer = read_date_entity(dict(zip(("year", "month", "day"), parts, strict=False)))
        return self._check_answer(answer, token, f"the parts of a {kind.lower()}")

    def _entity(self, value: Any, kind: str) -> ParsedValue:
        if self.skip("("):
            display = self.answer().value
            self.skip(")")
            value = display if value is None else value
        return self._check_answer(read_typed_entity(value, kind), value, f"a text for {kind[:80]}")

    def _check_answer(self, answer: ParsedValue | None, token: Any, expected: str) -> ParsedValue:
        if answer is None:
            raise self.refusal(token, expected)
        return answer


def _token_text(token: Any) -> str:
    return "nothing" if token is None else f"{token!r:.80}"
