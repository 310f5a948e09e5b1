"""The two grammars of ThingTalk, the lexer of tokens, and parsing with them."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, cast

import msgspec
from lark import Lark, Token, UnexpectedToken
from lark.lexer import Lexer, PatternStr

from prolocutor.errors import ThingTalkError
from prolocutor.plugins.almond.thingtalk.building import ProgramBuilder
from prolocutor.plugins.almond.thingtalk.lexer import (
    LARGEST,
    dollar,
    made,
    number,
    surface_tokens,
    token_position,
)
from prolocutor.plugins.almond.thingtalk.nodes import (
    MAX_BYTES,
    SourcePosition,
    check_size,
    check_tree,
    fault,
)
from prolocutor.plugins.almond.thingtalk.old_building import OldProgramBuilder
from prolocutor.plugins.almond.thingtalk.tree import Source
from prolocutor.plugins.almond.thingtalk.unsupported import find_unsupported
from prolocutor.plugins.almond.thingtalk.values import (
    CurrencyValue,
    EntityValue,
    NamedTime,
    RelativeLocation,
    UndefinedValue,
    Value,
    calendar_date,
    iso_date,
    location,
    measure,
    time,
)

_NAME = re.compile(
    r"(QUOTED_STRING|NUMBER|MEASURE_\w+?|DURATION|CURRENCY|DATE|TIME|LOCATION|USERNAME|HASHTAG|URL"
    r"|PHONE_NUMBER|EMAIL_ADDRESS|PATH_NAME|PICTURE|GENERIC_ENTITY_.+|SLOT)_\d+"
)

_TEXTS = frozenset("USERNAME HASHTAG URL PHONE_NUMBER EMAIL_ADDRESS PATH_NAME PICTURE".split())

_SHAPES = {
    "NUMBER": "a number",
    "DURATION": '{"value", "unit"}',
    "CURRENCY": '{"value", "unit"}',
    "DATE": '{"year", "month", "day"} or ISO 8601',
    "TIME": '{"hour", "minute", "second"}',
    "LOCATION": '{"latitude", "longitude", "display"}',
}

_NUMBER = re.compile(r"-?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_NAMES = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", re.ASCII)
_CLASS = re.compile(r"[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*", re.ASCII)
_KIND = re.compile(r"[A-Za-z_][\w.-]*:[A-Za-z_]\w*", re.ASCII)
_CLOCK = re.compile(r"time:(\d{1,2}):(\d{1,2}):(\d{1,2})")

_PREFIXES = {
    "param": "PARAM",
    "attribute": "ATTRIBUTE",
    "enum": "CHOICE",
    "unit": "UNIT",
    "device": "DEVICE",
    "context": "CONTEXT_REF",
}

_KINDS = {
    "NAME": "a name",
    "REF": "@class.function",
    "STRING": "a string",
    "NUMBER": "a number",
    "ENTITY_KIND": "^^type",
    "SPECIAL": "a control command",
    "CURRENCY_CODE": "a currency",
    "CONSTANT": "a value",
    "$END": "the end",
}


def is_entity(token: str) -> bool:
    """Return whether a token stands for an entity."""
    return _NAME.fullmatch(token) is not None


def entity_token(name: str, entities: Mapping[str, Any], position: SourcePosition) -> Token:
    """Return the token of the value behind an entity's name.

    `ThingTalkError` if it is not among the entities, or not of the shape that its name says. A
    `SLOT_n` without a value is `UndefinedValue`.
    """
    match = _NAME.fullmatch(name)
    kind = match[1] if match else ""
    if kind == "SLOT" and entities.get(name) is None:
        return made("CONSTANT", UndefinedValue(position=position), position, name)
    if name not in entities:
        raise fault(f"the entity {name!s:.60} has no value", position, "name it among the entities")
    given = entities[name]
    try:
        if kind == "QUOTED_STRING" or (kind == "SLOT" and isinstance(given, str)):
            return made("STRING", _text(given), position, name)
        if kind == "NUMBER" or kind == "SLOT":
            return made("NUMBER", _number(given), position, name)
        return made("CONSTANT", _constant(kind, given, position), position, name)
    except (TypeError, ValueError, KeyError, AttributeError):
        raise fault(
            f"the entity {name!s:.60} is not of its kind",
            position,
            f"send {_SHAPES.get(kind, 'text')}",
        ) from None


def _constant(kind: str, given: Any, position: SourcePosition) -> Value:
    if kind in _TEXTS:
        return EntityValue(_text(given), f"tt:{kind.lower()}", position=position)
    if kind.startswith("GENERIC_ENTITY_"):
        value, display = given.get("value"), given.get("display")
        return EntityValue(
            None if value is None else _text(value),
            kind.removeprefix("GENERIC_ENTITY_"),
            None if display is None else _text(display),
            position=position,
        )
    if kind == "CURRENCY":
        return CurrencyValue(
            _number(given["value"]), _text(given["unit"]).lower(), position=position
        )
    if kind == "DURATION" or kind.startswith("MEASURE_"):
        return measure(_number(given["value"]), _text(given["unit"]), position)
    if kind == "TIME":
        return time(
            [int(given["hour"]), int(given["minute"]), int(given.get("second") or 0)], position
        )
    if kind == "LOCATION":
        display = given.get("display")
        return location(
            _number(given["latitude"]),
            _number(given["longitude"]),
            None if display is None else _text(display),
            position,
        )
    return _date(given, position)


def _date(given: Any, position: SourcePosition) -> Value:
    if isinstance(given, str):
        return iso_date(given, position)
    parts = [given.get(name) for name in ("year", "month", "day")]
    day = [None if part in (None, -1) else int(part) for part in parts]
    clock = [given.get(name) for name in ("hour", "minute", "second")]
    if all(part in (None, -1) for part in clock):
        return calendar_date(day, None, position)
    hours = time([0 if part in (None, -1) else int(part) for part in clock], position)
    return calendar_date(day, hours, position)


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise TypeError
    given.encode()
    return given


def _number(given: Any) -> int | float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not abs(given) < LARGEST:
        raise TypeError
    return given


def new_tokens(
    code: Sequence[str], entities: Mapping[str, Any], words: Mapping[str, str]
) -> Iterator[Token]:
    """Yield the tokens of a program in the new form; raise `ThingTalkError` for an invalid
    token.
    """
    quoted = False
    for text, position, is_string in _join_strings(code):
        if (value := _value(text, position, is_string, entities)) is not None:
            yield value
        elif text.startswith("@") and _CLASS.fullmatch(text[1:]):
            yield made("REF", text[1:], position, text)
        elif text.startswith("^^") and _KIND.fullmatch(text[2:]):
            yield made("ENTITY_KIND", text[2:], position, text)
        elif text.startswith("$"):
            yield dollar(text, position, words)
        elif quoted and _NAMES.fullmatch(text):
            yield made("NAME", text, position)
        elif "." in text and _NAMES.fullmatch(text):
            yield from _dotted_tokens(text, position, words)
        else:
            is_name = _NAMES.fullmatch(text) is not None
            yield made(words.get(text, "NAME" if is_name else "OTHER"), text, position)
        quoted = text == "enum" or (quoted and text == "(")


def _value(
    text: str, position: SourcePosition, is_string: bool, entities: Mapping[str, Any]
) -> Token | None:
    """Return a token common to both forms: a string, a number or an entity."""
    if is_string:
        return made("STRING", text, position, f'"{text}"')
    if _NUMBER.fullmatch(text):
        return made("NUMBER", number(text, position), position, text)
    return entity_token(text, entities, position) if is_entity(text) else None


def old_tokens(
    code: Sequence[str], entities: Mapping[str, Any], words: Mapping[str, str]
) -> Iterator[Token]:
    """Yield the tokens of a program in the old form; raise `ThingTalkError` for an invalid
    token.
    """
    for text, position, is_string in _join_strings(code):
        kind, _, rest = text.partition(":")
        if (value := _value(text, position, is_string, entities)) is not None:
            yield value
        elif text in words:
            yield made(words[text], text, position)
        elif text.startswith("@"):
            yield _function(text, position)
        elif text.startswith("^^"):
            yield made("ENTITY_KIND", text[2:], position, text)
        elif text in ("start_of", "end_of"):
            yield made("EDGE", text, position)
        elif kind in ("location", "time") and rest:
            yield made("CONSTANT", _relative(text, kind, rest, position), position, text)
        elif kind in _PREFIXES and rest:
            yield _prefixed_token(kind, rest, position)
        else:
            yield made("OTHER", text, position)


def _prefixed_token(kind: str, rest: str, position: SourcePosition) -> Token:
    if kind == "unit" and rest.startswith("$"):
        return made("CURRENCY_CODE", rest[1:], position)
    if kind in ("param", "attribute"):
        name = rest.partition(":")[0]
        if not _NAMES.fullmatch(name):
            raise fault(f"{name!r:.40} is not the name of a parameter", position)
        return made(_PREFIXES[kind], name, position)
    return made(_PREFIXES[kind], rest, position)


def _function(text: str, position: SourcePosition) -> Token:
    if not _CLASS.fullmatch(text[1:]) or "." not in text:
        raise fault(f"{text!s:.60} names no function", position, "write @class.function")
    return made("FUNCTION", text[1:], position, text)


def _relative(text: str, kind: str, rest: str, position: SourcePosition) -> Any:
    clock = _CLOCK.fullmatch(text)
    if clock:
        return time([int(part) for part in clock.groups()], position)
    if kind == "time":
        return NamedTime(rest, position=position)
    return RelativeLocation(rest, position=position)


def _dotted_tokens(
    text: str, position: SourcePosition, words: Mapping[str, str]
) -> Iterator[Token]:
    for number_, part in enumerate(text.split(".")):
        if number_:
            yield made(words["."], ".", position)
        yield made(words.get(part, "NAME"), part, position)


def _join_strings(code: Sequence[str]) -> Iterator[tuple[str, SourcePosition, bool]]:
    """Yield each token with its position, and words between quotation marks as one string."""
    column = 1
    said: list[str] | None = None
    begin = SourcePosition(1, 1)
    for text in code:
        position = SourcePosition(1, column)
        if not isinstance(text, str):
            raise fault(f"a token is a string, not {text!r:.40}", position)
        try:
            text.encode()
        except UnicodeEncodeError:
            raise fault("a lone surrogate is not Unicode text", position) from None
        column += len(text) + 1
        if text == '"' and said is None:
            said, begin = [], position
        elif text == '"' and said is not None:
            yield " ".join(said), begin, True
            said = None
        elif said is not None:
            said.append(text)
        elif text == '""':
            yield "", position, True
        elif text:
            yield text, position, False
    if said is not None:
        raise fault("the string has no end", begin, 'close it with the token "')


def read_source(source: str, most: int = MAX_BYTES) -> Source:
    """Read a source in either surface syntax, of at most `most` bytes."""
    check_size(len(source.encode("utf-8", "surrogatepass")), most)
    return grammar().read(source)


def cut(source: str) -> list[Token]:
    """Tokenize a surface source."""
    return list(surface_tokens(source, grammar().words))


def read_tokens(code: Sequence[str], entities: Mapping[str, Any]) -> Source:
    """Read a program in tokens of the new form, else of the old form."""
    check_size(sum(len(str(token)) + 1 for token in code), MAX_BYTES)
    try:
        check_size(len(msgspec.json.encode(entities)), MAX_BYTES)
    except (TypeError, ValueError, RecursionError):
        raise fault("the entities are not JSON", SourcePosition(1, 1)) from None
    new, old = grammar(), old_grammar()
    try:
        return new.read_tokens(lambda: new_tokens(code, entities, new.words))
    except ThingTalkError as first:
        try:
            return old.read_tokens(lambda: old_tokens(code, entities, old.words))
        except ThingTalkError as second:
            old_wins = second.column > first.column or (code and code[-1] != ";")
            raise (second if old_wins else first) from None


class _Ready(Lexer):
    """A lexer for a tokenized source."""

    def __init__(self, lexer_conf: object) -> None:
        pass

    def lex(self, lexer_state: Any, parser_state: object = None) -> Iterator[Token]:
        """Yield the tokens in order."""
        return iter(lexer_state)


class Grammar:
    """A grammar, with the token kinds of its keywords and signs."""

    def __init__(self, file: str, builder: ProgramBuilder) -> None:
        text = Path(__file__).with_name(file).read_text("utf-8")
        self.lark = Lark(text, parser="lalr", lexer=_Ready, start="source", transformer=builder)
        self.words: dict[str, str] = {
            str(terminal.pattern.value): terminal.name
            for terminal in self.lark.terminals
            if isinstance(terminal.pattern, PatternStr)
        }
        self._written = {kind: word for word, kind in self.words.items()}

    def read(self, source: str) -> Source:
        """Read a surface source."""
        return self.read_tokens(lambda: surface_tokens(source, self.words))

    def read_tokens(self, cut: Callable[[], Iterator[Token]]) -> Source:
        """Parse the tokens that `cut` returns."""
        tokens = list(cut())
        if not tokens:
            raise fault(
                "the program is empty", SourcePosition(1, 1), "write a statement, such as @a.b();"
            )
        try:
            tree = cast(Source, self.lark.parse(cast(Any, tokens)))
        except UnexpectedToken as error:
            self._explain(error, tokens)
        check_tree(tree)
        return tree

    def _explain(self, error: UnexpectedToken, tokens: list[Token]) -> NoReturn:
        number = next((n for n, each in enumerate(tokens) if each is error.token), len(tokens))
        construct = find_unsupported(tokens, number, self.words)
        if construct is not None:
            raise construct
        wanted = self._expectation_text(error.accepts or error.expected)
        if number == len(tokens):
            last = tokens[-1]
            position = SourcePosition(last.line or 1, (last.column or 1) + len(str(last)))
            raise fault("the program ends too early", position, wanted)
        raise fault(
            f"{_quote_token(error.token)} is not expected here", token_position(error.token), wanted
        )

    def _expectation_text(self, kinds: set[str]) -> str:
        if "STRING" in kinds and "NUMBER" in kinds:
            return "expected a value or a field" if "TRUE" in kinds else "expected a value"
        if "REF" in kinds:
            return "expected a call such as @class.function()"
        named = [_KINDS.get(kind) or f"'{self._written.get(kind, kind)}'" for kind in sorted(kinds)]
        if "';'" in named:
            named = ["';'", *(each for each in ("'=>'", "'filter'") if each in named)]
        if "a name" in named:
            named = ["a name", *(each for each in ("')'", "']'") if each in named)]
        return f"expected {' or '.join(named[:6])}"


def _quote_token(token: Token) -> str:
    text = str(token)
    return text if text.startswith(('"', "'")) and len(text) < 40 else f"'{text!s:.40}'"


@functools.cache
def grammar() -> Grammar:
    """Return the grammar of both surface syntaxes and of the new tokens, made once."""
    return Grammar("grammar.lark", ProgramBuilder())


@functools.cache
def old_grammar() -> Grammar:
    """Return the grammar of the old tokens, made once."""
    return Grammar("old_tokens.lark", OldProgramBuilder())
