"""ThingTalk in tokens, of both generations, into the tokens of the grammars."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lark import Token

from prolocutor.almond.thingtalk.constants import time
from prolocutor.almond.thingtalk.entities import entity_token, is_entity
from prolocutor.almond.thingtalk.lexer import dollar, number
from prolocutor.almond.thingtalk.nodes import SourcePosition, fault
from prolocutor.almond.thingtalk.values import NamedTime, RelativeLocation
from prolocutor.almond.thingtalk.words import made

_NUMBER = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NAMES = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", re.ASCII)
_CLASS = re.compile(r"[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*", re.ASCII)
_KIND = re.compile(r"[A-Za-z_][\w.-]*:[A-Za-z_]\w*", re.ASCII)
_CLOCK = re.compile(r"time:(\d{1,2}):(\d{1,2}):(\d{1,2})")


def tokens_of(
    code: Sequence[str], entities: Mapping[str, Any], words: Mapping[str, str]
) -> Iterator[Token]:
    """Return the tokens of a program in the new form; `ThingTalkError` for what is none."""
    quoted = False
    for text, place, is_string in _with_strings(code):
        if is_string:
            yield made("STRING", text, place, f'"{text}"')
        elif _NUMBER.fullmatch(text):
            yield made("NUMBER", number(text, place), place, text)
        elif is_entity(text):
            yield entity_token(text, entities, place)
        elif text.startswith("@") and _CLASS.fullmatch(text[1:]):
            yield made("REF", text[1:], place, text)
        elif text.startswith("^^") and _KIND.fullmatch(text[2:]):
            yield made("ENTITY_KIND", text[2:], place, text)
        elif text.startswith("$"):
            yield dollar(text, place, words)
        elif quoted and _NAMES.fullmatch(text):
            yield made("NAME", text, place)
        elif "." in text and _NAMES.fullmatch(text):
            yield from _dotted(text, place, words)
        else:
            is_name = _NAMES.fullmatch(text) is not None
            yield made(words.get(text, "NAME" if is_name else "OTHER"), text, place)
        quoted = text == "enum" or (quoted and text == "(")


def old_tokens(
    code: Sequence[str], entities: Mapping[str, Any], words: Mapping[str, str]
) -> Iterator[Token]:
    """Return the tokens of a program in the old form; `ThingTalkError` for what is none."""
    for text, place, is_string in _with_strings(code):
        kind, _, rest = text.partition(":")
        if is_string:
            yield made("STRING", text, place, f'"{text}"')
        elif _NUMBER.fullmatch(text):
            yield made("NUMBER", number(text, place), place, text)
        elif is_entity(text):
            yield entity_token(text, entities, place)
        elif text in words:
            yield made(words[text], text, place)
        elif text.startswith("@"):
            yield _function(text, place)
        elif text.startswith("^^"):
            yield made("ENTITY_KIND", text[2:], place, text)
        elif text in ("start_of", "end_of"):
            yield made("EDGE", text, place)
        elif kind in ("location", "time") and rest:
            yield made("CONSTANT", _relative(text, kind, rest, place), place, text)
        elif kind in _PREFIXES and rest:
            yield _prefixed(kind, rest, place)
        else:
            yield made("OTHER", text, place)


_PREFIXES = {
    "param": "PARAM",
    "attribute": "ATTRIBUTE",
    "enum": "CHOICE",
    "unit": "UNIT",
    "device": "DEVICE",
    "context": "CONTEXT_REF",
}


def _prefixed(kind: str, rest: str, place: SourcePosition) -> Token:
    if kind == "unit" and rest.startswith("$"):
        return made("CURRENCY_CODE", rest[1:], place)
    if kind in ("param", "attribute"):
        name = rest.partition(":")[0]
        if not _NAMES.fullmatch(name):
            raise fault(f"{name:.40!r} is no name of a parameter", place)
        return made(_PREFIXES[kind], name, place)
    return made(_PREFIXES[kind], rest, place)


def _function(text: str, place: SourcePosition) -> Token:
    if not _CLASS.fullmatch(text[1:]) or "." not in text:
        raise fault(f"{text:.60} names no function", place, "write @class.function")
    return made("FUNCTION", text[1:], place, text)


def _relative(text: str, kind: str, rest: str, place: SourcePosition) -> Any:
    clock = _CLOCK.fullmatch(text)
    if clock:
        return time([int(part) for part in clock.groups()], place)
    if kind == "time":
        return NamedTime(rest, place=place)
    return RelativeLocation(rest, place=place)


def _dotted(text: str, place: SourcePosition, words: Mapping[str, str]) -> Iterator[Token]:
    for number_, part in enumerate(text.split(".")):
        if number_:
            yield made(words["."], ".", place)
        yield made(words.get(part, "NAME"), part, place)


def _with_strings(code: Sequence[str]) -> Iterator[tuple[str, SourcePosition, bool]]:
    """Return each token with its place; the words between two quotation marks as one string."""
    column = 1
    said: list[str] | None = None
    begin = SourcePosition(1, 1)
    for text in code:
        place = SourcePosition(1, column)
        if not isinstance(text, str):
            raise fault(f"a token is a string, not {text!r:.40}", place)
        try:
            text.encode()
        except UnicodeEncodeError:
            raise fault("a lone surrogate is no Unicode text", place) from None
        column += len(text) + 1
        if text == '"' and said is None:
            said, begin = [], place
        elif text == '"' and said is not None:
            yield " ".join(said), begin, True
            said = None
        elif said is not None:
            said.append(text)
        elif text == '""':
            yield "", place, True
        elif text:
            yield text, place, False
    if said is not None:
        raise fault("the string has no end", begin, 'close it with the token "')
