"""Strings of ThingTalk: what stands between the quotation marks."""

from __future__ import annotations

import re

from prolocutor.almond.thingtalk.nodes import SourcePosition, fault

_ESCAPE = re.compile(r"\\(u\{[0-9A-Fa-f]{1,6}\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|.)", re.DOTALL)
_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_TO_ESCAPE = re.compile(r'["\\\x00-\x1f\x7f\u0085\u2028\u2029]')
_WRITTEN = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def unescaped(text: str, place: SourcePosition) -> str:
    """Return the text that a string literal stands for; `ThingTalkError` for an odd escape."""
    if "\\" not in text:
        return _whole(text, place)

    def read(match: re.Match[str]) -> str:
        escape = match[1]
        if len(escape) > 1:
            code = int(escape[1:].strip("{}"), 16)
            if code > 0x10FFFF:
                raise fault(f"\\{escape} is no character", place)
            return chr(code)
        if escape in "ux":
            raise fault(f"\\{escape} has to be followed by the number of a character", place)
        return _LETTERS.get(escape, escape)

    read_text = _ESCAPE.sub(read, text)
    return _whole(read_text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), place)


def escaped(text: str) -> str:
    """Return a text as a string literal, in double quotation marks, on one line."""
    return '"' + _TO_ESCAPE.sub(_write, text) + '"'


def _write(match: re.Match[str]) -> str:
    char = match[0]
    return _WRITTEN.get(char) or (
        f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}"
    )


def _whole(text: str, place: SourcePosition) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise fault("a lone surrogate is no Unicode text", place) from None
    return text
