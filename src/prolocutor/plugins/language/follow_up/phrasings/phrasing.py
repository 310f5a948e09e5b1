"""Phrasings: what people say to ask for a thing, as words with slots."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

import msgspec

from prolocutor.plugins.language.follow_up.grammar import plain_of

SLOT: Final = re.compile(r"\{([a-z]+\d*)\}")
"""A slot of a phrasing: its kind, and a number where there are several of the kind."""

_PART: Final = (
    r"~|\d+(?:[.,:/]\d+)*(?:st|nd|rd|th)?(?![^\W\d_])|\d+(?:[.,:/]\d+)*|[^\W\d_]+"
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
    """Return the words, numbers and signs of a text."""
    plain = plain_of(text).lower()
    return [TextToken(one[0], *one.span()) for one in _TOKEN.finditer(plain)]


def pieces_of(phrasing: str) -> list[str]:
    """Return the words of a phrasing, and its slots in braces."""
    return _PIECE.findall(plain_of(phrasing).lower())
