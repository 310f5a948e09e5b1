"""Surface ThingTalk into tokens, for both syntaxes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from lark import Token

from prolocutor.almond.thingtalk.nodes import SourcePosition, fault
from prolocutor.almond.thingtalk.strings import unescaped
from prolocutor.almond.thingtalk.words import made

SPECIAL = frozenset(
    "yes no nevermind stop help wakeup debug failed train back more empty maybe makerule hello"
    " cancel".split()
)
"""Control commands without a value."""

LARGEST = 10**300
"""No number is as large as this."""

_TOKEN = re.compile(
    r"""
    (?P<newline> \r\n | [\n\r\u2028\u2029] )
  | (?P<space>   [ \t\v\f\u00a0\ufeff]+ | //[^\n\r]* )
  | (?P<comment> /\*(?:[^*]|\*(?!/))*\*/ )
  | (?P<STRING>  "(?:[^\\\n\r"]|\\.)*" | '(?:[^\\\n\r']|\\.)*' )
  | (?P<entity>  Entity\s*\(\s*(?:\^\^)?(?P<kind>[A-Za-z_][\w.-]*:[A-Za-z_]\w*)\s*\) )
  | (?P<ENTITY_KIND> \^\^[A-Za-z_][\w.-]*:[A-Za-z_]\w* )
  | (?P<REF>     @[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)* )
  | (?P<dollar>  \$(?:\w+|\?) )
  | (?P<NUMBER>  -?(?:0[xX][0-9A-Fa-f]+|0[bB][01]+|0[oO][0-7]+
                 |(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?) )
  | (?P<word>    ~[A-Za-z_]\w* | [A-Za-z_]\w*(?:~(?!=))? )
  | (?P<other>   \#_\[ | \#\[ | => | =~ | ~= | == | >= | <= | && | \|\| | != | := | -> | \*\*
                 | (?!/\*)[^\s\w"'] )
    """,
    re.VERBOSE | re.ASCII,
)

_MADE = {"makeTime": "Time", "makeDate": "Date", "makeLocation": "Location"} | {
    "makeCurrency": "Currency"
}
_CALLED = re.compile(r"\s*\(")


def surface_tokens(source: str, words: Mapping[str, str]) -> Iterator[Token]:
    """Cut a source into tokens; `words` gives the kind of each word and sign of the language.

    `ThingTalkError` for what is no token at all: an open string, an odd character, a number
    beyond all bounds.
    """
    at, line, begin = 0, 1, 0
    choices = _Choices()
    while at < len(source):
        place = SourcePosition(line, at - begin + 1)
        match = _TOKEN.match(source, at)
        if match is None:
            raise _no_token(source, at, place)
        at, kind, text = match.end(), str(match.lastgroup), match.group()
        if kind == "newline":
            line, begin = line + 1, at
        elif kind == "comment":
            line += text.count("\n")
            begin = match.start() + text.rfind("\n") + 1 if "\n" in text else begin
        elif kind != "space":
            tokens = _read(kind, text, match, place, words)
            yield from map(choices.seen, tokens)


def _read(
    kind: str, text: str, match: re.Match[str], place: SourcePosition, words: Mapping[str, str]
) -> Iterator[Token]:
    if kind == "STRING":
        yield made(kind, unescaped(text[1:-1], place), place, text)
    elif kind == "NUMBER":
        yield made(kind, number(text, place), place, text)
    elif kind == "REF":
        yield made(kind, text[1:], place, text)
    elif kind == "ENTITY_KIND":
        yield made(kind, text[2:], place, text)
    elif kind == "entity":
        yield made(words["Entity"], "Entity", place)
        yield made(words["("], "(", place)
        yield made("ENTITY_KIND", match["kind"], place, "^^" + match["kind"])
        yield made(words[")"], ")", place)
    elif kind == "dollar":
        yield dollar(text, place, words)
    elif kind == "word" and text in _MADE and _CALLED.match(match.string, match.end()):
        yield made(words["new"], "new", place)
        yield made(words[_MADE[text]], _MADE[text], place)
    elif text in ("start_of", "end_of") and _CALLED.match(match.string, match.end()):
        yield dollar("$" + text, place, words)
    else:
        yield made(words.get(text, "NAME" if kind == "word" else "OTHER"), text, place)


def dollar(text: str, place: SourcePosition, words: Mapping[str, str]) -> Token:
    """Return the token of a word that begins with a dollar sign."""
    if text in words:
        return made(words[text], text, place)
    if text[1:] in SPECIAL:
        return made("SPECIAL", text[1:], place, text)
    return made("CURRENCY_CODE", text[1:].lower(), place, text)


def number(text: str, place: SourcePosition) -> int | float:
    """Return the number that is written; whole ones as ints."""
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    base = {"0x": 16, "0b": 2, "0o": 8}.get(digits[:2].lower())
    if base and len(digits) > 2:
        value: float = sign * int(digits[2:], base)
    else:
        value = float(text)
    if not abs(value) < LARGEST:
        raise fault(f"{text:.40} is too large a number", place)
    return int(value) if value == int(value) and abs(value) < 2**53 else float(value)


class _Choices:
    """Turns the words of `enum(...)` and `Enum(...)` into names, whatever else they may mean."""

    def __init__(self) -> None:
        self._state = ""

    def seen(self, token: Token) -> Token:
        kind, state = token.type, self._state
        if state == "inside" and kind == "RPAR":
            self._state = ""
        elif state == "begin" and kind == "LPAR":
            self._state = "inside"
        elif state and re.fullmatch(r"\w+", str(token)):
            token.type = "NAME"
            self._state = state if state == "inside" else ""
        elif state != "inside":
            self._state = "begin" if str(token) in ("enum", "Enum") else ""
        return token


def _no_token(source: str, at: int, place: SourcePosition) -> Exception:
    found = source[at]
    if found in "\"'":
        return fault("the string has no end", place, f"close it with {found} on the same line")
    if source.startswith("/*", at):
        return fault("the comment has no end", place, "close it with */")
    return fault(f"{found!a} means nothing here", place, "put text between quotation marks")
