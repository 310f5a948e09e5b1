"""Phrasings: what people say to ask for a thing, as words with slots."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from prolocutor.plugins.language.follow_up.grammar import plain_of
from prolocutor.reading.languages import is_frequent

SLOT: Final = re.compile(r"\{([a-z]+\d*)\}")
"""A slot of a phrasing: its kind, and a number where there are several of the kind."""

_PART: Final = (
    r"~|\d+(?:[.,:/]\d+)*(?:st|nd|rd|th)?(?![^\W\d_])|\d+(?:[.,:/]\d+)*"
    r"|[^\W\d_]+(?:'[^\W\d_]{1,2}(?![^\W\d_]))?"
    r"|[%€$£+×*/^=]|(?<![^\W\d_])-(?![^\W\d_])"
)
_TOKEN: Final = re.compile(_PART)
_PIECE: Final = re.compile(rf"\{{[a-z]+\d*\}}|{_PART}")


class TextToken(NamedTuple):
    """A word, number or sign of a text in plain small letters, and where it stands."""

    word: str
    start: int
    end: int


class Span(NamedTuple):
    """Tokens, from the first to before the last, that are a value of a kind: "date", "place"."""

    first: int
    last: int
    kind: str


class PhrasedIntent(msgspec.Struct, frozen=True):
    """A thing that a skill can be asked for.

    `asks` are requests that the skill understands, with slots; those with more slots come first.
    `said` are the words of phrasings, slots in braces.
    """

    skill: str
    asks: list[str]
    said: list[list[str]]


def kind_of(slot: str) -> str:
    """Return the kind of a slot: its name without a number."""
    return slot.rstrip("0123456789")


def tokens_of(text: str) -> list[TextToken]:
    """Return the words, numbers and signs of a text; "what's" is a word, as people type "whats"."""
    plain = plain_of(text).lower()
    return [TextToken(*one) for one in _read(_TOKEN, plain)]


def pieces_of(phrasing: str) -> list[str]:
    """Return the words of a phrasing, and its slots in braces."""
    return [word for word, _, _ in _read(_PIECE, plain_of(phrasing).lower())]


def _read(pattern: re.Pattern[str], plain: str) -> Iterator[tuple[str, int, int]]:
    """Return the matches of a pattern; a frequent word with a short one behind it is joined."""
    for one in pattern.finditer(plain):
        word, mark, short = one[0].partition("'")
        if mark and not is_frequent(word):
            middle = one.start() + len(word)
            yield word, one.start(), middle
            yield short, middle + 1, one.end()
        else:
            yield word + short, one.start(), one.end()
