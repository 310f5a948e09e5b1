"""Tokenizes surface ThingTalk, of both syntaxes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lark import Token

from prolocutor.plugins.almond.thingtalk.nodes import SourcePosition, fault

_ESCAPE = re.compile(r"\\(u\{[0-9A-Fa-f]{1,6}\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|.)", re.DOTALL)
_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}

SPECIAL = frozenset(
    "yes no nevermind stop help wakeup debug failed train back more empty maybe makerule hello"
    " cancel".split()
)
"""Control commands without a value."""

LARGEST = 10**300
"""Numbers of this size and above are refused."""

LONGEST_NUMBER = 1000
"""Most characters of a number."""

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
                 |(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?) )
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


def token_position(token: Token) -> SourcePosition:
    """Return the position of a token's beginning."""
    return SourcePosition(token.line or 0, token.column or 0)


def made(kind: str, value: Any, position: SourcePosition, text: str | None = None) -> Token:
    """Make a token of a kind; errors quote `text`."""
    token = Token(
        kind, text if text is not None else str(value), None, position.line, position.column
    )
    token.value = value
    return token


def unescape(text: str, position: SourcePosition) -> str:
    """Return the text of a string literal; raise `ThingTalkError` for an invalid escape."""
    if "\\" not in text:
        return _whole(text, position)

    def read(match: re.Match[str]) -> str:
        escape = match[1]
        if len(escape) > 1:
            code = int(escape[1:].strip("{}"), 16)
            if code > 0x10FFFF:
                raise fault(f"\\{escape} is not a character", position)
            return chr(code)
        if escape in "ux":
            raise fault(f"\\{escape} has to be followed by the number of a character", position)
        return _LETTERS.get(escape, escape)

    read_text = _ESCAPE.sub(read, text)
    return _whole(read_text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), position)


def _whole(text: str, position: SourcePosition) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise fault("a lone surrogate is not Unicode text", position) from None
    return text


def surface_tokens(source: str, words: Mapping[str, str]) -> Iterator[Token]:
    """Tokenize a source; `words` maps keywords and signs to token kinds.

    `ThingTalkError` for an unterminated string, an unknown character or a number that is too large.
    """
    at, line, begin = 0, 1, 0
    choices = _Choices()
    while at < len(source):
        position = SourcePosition(line, at - begin + 1)
        match = _TOKEN.match(source, at)
        if match is None:
            raise _no_token(source, at, position)
        at, kind, text = match.end(), str(match.lastgroup), match.group()
        if kind == "newline":
            line, begin = line + 1, at
        elif kind == "comment":
            line += text.count("\n")
            begin = match.start() + text.rfind("\n") + 1 if "\n" in text else begin
        elif kind != "space":
            tokens = _read(kind, text, match, position, words)
            yield from map(choices.note, tokens)


def _read(
    kind: str, text: str, match: re.Match[str], position: SourcePosition, words: Mapping[str, str]
) -> Iterator[Token]:
    if kind == "STRING":
        yield made(kind, unescape(text[1:-1], position), position, text)
    elif kind == "NUMBER":
        yield made(kind, number(text, position), position, text)
    elif kind == "REF":
        yield made(kind, text[1:], position, text)
    elif kind == "ENTITY_KIND":
        yield made(kind, text[2:], position, text)
    elif kind == "entity":
        yield made(words["Entity"], "Entity", position)
        yield made(words["("], "(", position)
        yield made("ENTITY_KIND", match["kind"], position, "^^" + match["kind"])
        yield made(words[")"], ")", position)
    elif kind == "dollar":
        yield dollar(text, position, words)
    elif kind == "word" and text in _MADE and _CALLED.match(match.string, match.end()):
        yield made(words["new"], "new", position)
        yield made(words[_MADE[text]], _MADE[text], position)
    elif text in ("start_of", "end_of") and _CALLED.match(match.string, match.end()):
        yield dollar("$" + text, position, words)
    else:
        yield made(words.get(text, "NAME" if kind == "word" else "OTHER"), text, position)


def dollar(text: str, position: SourcePosition, words: Mapping[str, str]) -> Token:
    """Return the token of a word beginning with a dollar sign."""
    if text in words:
        return made(words[text], text, position)
    if text[1:] in SPECIAL:
        return made("SPECIAL", text[1:], position, text)
    return made("CURRENCY_CODE", text[1:].lower(), position, text)


def number(text: str, position: SourcePosition) -> int | float:
    """Return the number of a literal; whole numbers are ints."""
    if len(text) > LONGEST_NUMBER:
        raise fault(f"{text!s:.40} is too long a number", position)
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    base = {"0x": 16, "0b": 2, "0o": 8}.get(digits[:2].lower())
    if base and len(digits) > 2:
        value: float = sign * int(digits[2:], base)
    else:
        value = float(text)
    if not abs(value) < LARGEST:
        raise fault(f"{text!s:.40} is too large a number", position)
    return int(value) if value == int(value) and abs(value) < 2**53 else float(value)


class _Choices:
    """Turns the words of `enum(...)` and `Enum(...)` into names, also keywords."""

    def __init__(self) -> None:
        self._state = ""

    def note(self, token: Token) -> Token:
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


def _no_token(source: str, at: int, position: SourcePosition) -> Exception:
    found = source[at]
    if found in "\"'":
        return fault("the string has no end", position, f"close it with {found} on the same line")
    if source.startswith("/*", at):
        return fault("the comment has no end", position, "close it with */")
    return fault(f"{found!a} means nothing here", position, "put text between quotation marks")
