"""Normalized text: lower case, without courtesy, of limited length; and tests of its form."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Final

_PLAIN: Final = str.maketrans(
    "àáâäãåçèéêëìíîïñòóôöõùúûüÿÀÁÂÄÃÅÇÈÉÊËÌÍÎÏÑÒÓÔÖÕÙÚÛÜ",
    "aaaaaaceeeeiiiinooooouuuuyAAAAAACEEEEIIIINOOOOOUUUU",
)

MAX_CHARACTERS = 300
"""The number of characters that readers accept; longer answers are not read (except raw texts)."""

_QUOTES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"', "−": "-", "–": "-"})
_LEAD = re.compile(
    r"^(?:(?:well|so|um+|uh+|er+|hm+|oh|ok(?:ay)?|please|then|and|actually|sorry|i think|i guess"
    r"|i would say|i'd say|let'?s say|maybe|perhaps|make (?:it|that)|that(?:'s| is| would be)"
    r"|it(?:'s| is| was| will be)|the answer is|my answer is|say|how about)\b[\s,.:]*)+",
)
_TAIL = re.compile(
    r"(?:[\s,.!;]+(?:please|thanks?|thank you|thx|then|i think|i guess|or so))*[\s.,!;]*$"
)
_QUESTION = re.compile(
    r"(?:what|who|whom|whose|where|when|why|how|which|do|does|did|is|are|am|was|were|can|could|may"
    r"|shall|should|will|would|have|has|had)\b"
)
_COMMAND = re.compile(
    r"(?:play|set|show|tell|turn|give|get|make|start|stop|cancel|remind|open|find|search|add|remove"
    r"|delete|list|post|send|read|say|convert|book|order|buy|switch|i|we|you|it|there|hey|hello|hi"
    r"|never|no|not|yes|ok|okay)\b"
)
_NO_NAME = frozenset(
    "hi hello hey yes no ok okay yeah yep nope nah thanks stop help cancel maybe nothing nowhere"
    " nobody none never more back next anywhere somewhere sure please i you it me him her us"
    " what who where when why how which".split()
)
_NAME = re.compile(r"[^\W\d_][\w .,'’()/&-]*")


class FoldedPattern:
    """A regular expression for texts in lower case (`fold_text`); it is compiled at its first use.

    Its source is put in lower case, too: that is read two to four times as quickly as with
    `re.IGNORECASE`. Its methods are those of the compiled expression.
    """

    match: Callable[..., re.Match[str] | None]
    fullmatch: Callable[..., re.Match[str] | None]
    search: Callable[..., re.Match[str] | None]
    finditer: Callable[..., Iterator[re.Match[str]]]

    def __init__(self, source: str) -> None:
        self.pattern = _CAPITALS.sub(lambda found: found[1] or found[0].lower(), source)

    def __getattr__(self, name: str) -> Any:
        """Compile the expression, and keep its methods as attributes of this object."""
        if name not in _METHODS:
            raise AttributeError(name)
        for method in _METHODS:
            setattr(self, method, getattr(self.lower, method))
        return getattr(self, name)

    @cached_property
    def lower(self) -> re.Pattern[str]:
        """The compiled expression."""
        return re.compile(self.pattern)

    def sub(self, put: Callable[[re.Match[str]], str], text: str) -> str:
        """Return a text in any case with other words in place of each match."""
        pieces, at = [], 0
        for found in self.finditer(_lower_case(text)):
            pieces += [text[at : found.start()], put(found)]
            at = found.end()
        return "".join([*pieces, text[at:]])


_METHODS: Final = ("match", "fullmatch", "search", "finditer")


def compile_patterns(holder: object) -> None:
    """Compile the patterns among the attributes of an object, also those in lists and pairs."""
    held = [*vars(holder).values()]
    for one in held:
        if isinstance(one, list | tuple):
            held += one
        elif isinstance(one, FoldedPattern):
            one.search("")


_CAPITALS: Final = re.compile(r"(\\.|\(\?P)|[^\W\d_]")
"""The letters of an expression, without its escapes and the sign of its groups."""


def _lower_case(text: str) -> str:
    """Return a text in lower case, of the same length."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text.replace("İ", "I").lower()


def strip_accents(text: str) -> str:
    """Return the text without accents, of the same length.

    >>> strip_accents("Wie spät? ¿Qué día?")
    'Wie spat? ¿Que dia?'
    """
    return text.translate(_PLAIN)


def fold_text(text: str) -> str:
    """Return the text in lower case and without accents, of the same length.

    >>> fold_text("Wie spät? ¿Qué día?")
    'wie spat? ¿que dia?'
    """
    return text.lower() if text.isascii() else _lower_case(strip_accents(text))


def plain(text: str) -> str:
    """Return the text in lower case, compatible characters, single blanks, straight quotes.

    A text longer than `MAX_CHARACTERS` becomes "": it is not an answer to an ask for a value.
    """
    if len(text) > 10 * MAX_CHARACTERS:
        return ""
    if not text.isascii():
        text = text.translate(_QUOTES).encode(errors="replace").decode()
        text = unicodedata.normalize("NFKC", text).replace("\u2044", "/")
    text = " ".join(text.lower().split())
    return text if len(text) <= MAX_CHARACTERS else ""


def bare(text: str) -> str:
    """Return `plain` text without the phrases around an answer: "well, it's 5, please" -> "5"."""
    text = plain(text)
    text = _LEAD.sub("", text, count=1)
    tail = _TAIL.search(text)
    return text[: tail.start()] if tail else text


def original_text(text: str, part: str) -> str:
    """Return a part of a plain text as written in the original text, with its capitals."""
    written = " ".join(text.split())
    start = written.lower().rfind(part)
    found = written[start : start + len(part)] if start >= 0 else ""
    return found if plain(found) == part else part


def is_question(text: str) -> bool:
    """Return whether a plain text is a question; a single word ("may", "will") can be a name."""
    return text.endswith("?") or (" " in text and _QUESTION.match(text) is not None)


def is_name(text: str, *, words: int) -> bool:
    """Return whether a plain text can be a name: few words, no command and no question.

    A single word ("may", "set") is a name, even if commands begin with it.
    """
    if not _NAME.fullmatch(text) or len(text.split()) > words or text in _NO_NAME:
        return False
    return not is_question(text) and not (_COMMAND.match(text) and " " in text)
