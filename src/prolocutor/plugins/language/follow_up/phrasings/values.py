"""Values of slots in a text: its runs of words that are of a kind, such as a date or an amount.

Numbers, percentages, dates, times and durations are told by the words of the language; agents tell
the kinds of names that they know ("Peru" is a place and a country).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from typing import Final

from prolocutor.plugins.language.follow_up.grammar import (
    LanguageGrammar,
    grammar_or_english,
    plain_of,
)
from prolocutor.plugins.language.follow_up.phrasings.phrasing import Span, TextToken

KindsOf = Callable[[str], Collection[str]]
"""Returns the kinds of values that words in small letters are, such as "place"."""

LONGEST_NAME: Final = 4
"""Words of the longest name that agents are asked for."""

NEAR: Final = 3
"""Words between a month and the number of its day, or of the year, at most."""

_SIGNS_OF_MONEY: Final = frozenset("$€£")
_PERCENT: Final = re.compile(r"%|per ?cent(?:age)?|prozent|pour cent|por ciento|porciento")


def spans_of(
    text: str, tokens: Sequence[TextToken], grammar: LanguageGrammar, kinds_of: KindsOf
) -> list[Span]:
    """Return the runs of tokens that are values, with their kinds."""
    words = [one.word for one in tokens]
    named = list(_named(words, grammar, kinds_of))
    numbers = list(_numbers(words, grammar))
    found = [*named, *(Span(first, last, "number") for first, last in numbers)]
    found += _measures(words, numbers, named, grammar)
    found += _dates(text, tokens, named, grammar)
    return list(dict.fromkeys(found))


def _named(words: Sequence[str], grammar: LanguageGrammar, kinds_of: KindsOf) -> Iterator[Span]:
    tells = [one not in grammar.function for one in words]
    for first in range(len(words)):
        for last in range(first + 1, min(len(words), first + LONGEST_NAME) + 1):
            if any(tells[first:last]):
                for kind in kinds_of(" ".join(words[first:last])):
                    yield Span(first, last, kind)


@cache
def _number(code: str) -> re.Pattern[str]:
    words = grammar_or_english(code).words.numbers
    return re.compile(rf"\d.*|{'|'.join(words) or '(?!)'}")


@cache
def _ordinal(code: str) -> re.Pattern[str]:
    """Return the pattern of numbers that rank: "third", "12th", "fifteenth"."""
    words = grammar_or_english(code).words
    listed = [one for some in words.ordinals for one in some if " " not in one]
    long = {one for one in words.numbers if one.isalpha() and len(one) > NEAR}
    stems = sorted({one[:4] if len(one) > 4 else one[:-1] for one in long})
    return re.compile(
        rf"\d+(?:st|nd|rd|th|er|e|o|a)?|{'|'.join(listed) or '(?!)'}"
        rf"|(?:{'|'.join(stems) or '(?!)'})[a-z]*(?:th|te|ten|ste|sten|ieme)"
    )


def _numbers(words: Sequence[str], grammar: LanguageGrammar) -> Iterator[tuple[int, int]]:
    """Return the first word of each number and the one after it: "two hundred", "a half"."""
    number, joint = _number(grammar.code), grammar.words.conjunction
    counts = [number.fullmatch(one) is not None for one in words]
    articled = [one in grammar.indefinite and not counts[n] for n, one in enumerate(words)]
    at = 0
    while at < len(words):
        first = at + 1 if articled[at] else at
        last = first
        while last < len(words) and counts[last]:
            last += 1
            if words[last : last + 1] == [joint]:
                more = last + 1
                more += more < len(words) and articled[more]
                if more < len(words) and counts[more] and not words[more][0].isdigit():
                    last = more
        if last > first:
            yield at, last
            if first > at:
                yield first, last
        at = max(last, at + 1)


def _measures(
    words: Sequence[str],
    numbers: Sequence[tuple[int, int]],
    named: Sequence[Span],
    grammar: LanguageGrammar,
) -> Iterator[Span]:
    """Return percentages, amounts, durations and sums of money: numbers with a unit."""
    units: dict[int, list[tuple[int, str]]] = {}
    for one in named:
        if one.kind in ("unit", "currency"):
            kind = "money" if one.kind == "currency" else "amount"
            units.setdefault(one.first, []).append((one.last, kind))
    for n, word in enumerate(words):
        if word in grammar.units:
            units.setdefault(n, []).append((n + 1, "duration"))
    single = [
        (n, n + 1) for n, one in enumerate(words) if one in grammar.indefinite and n + 1 in units
    ]
    joint = grammar.words.conjunction
    ends: dict[str, dict[int, int]] = {}
    for first, last in sorted([*numbers, *single], reverse=True):
        for size in (1, 2):
            if _PERCENT.fullmatch(" ".join(words[last : last + size])):
                yield Span(first, last + size, "percent")
        if first and words[first - 1] in _SIGNS_OF_MONEY:
            yield Span(first - 1, last, "money")
        if last < len(words) and words[last] in _SIGNS_OF_MONEY:
            yield Span(first, last + 1, "money")
        for end, kind in units.get(last, []):
            for start, far in ends.setdefault(kind, {}).items():
                if start > first and words[end:start] in ([], [joint]):
                    yield Span(first, far, kind)  # "12 stone 7 pounds"
            if words[end : end + 1] == [joint]:
                for a, b in numbers:
                    if a == end + 1:
                        yield Span(first, b, kind)  # "an hour and a half"
            ends[kind][first] = end
            yield Span(first, end, kind)


def _dates(
    text: str, tokens: Sequence[TextToken], named: Sequence[Span], grammar: LanguageGrammar
) -> Iterator[Span]:
    """Return the times and dates: days by name, and months with the numbers beside them."""
    dated = {n for one in named if one.kind == "date" for n in range(one.first, one.last)}
    for start, end, kind in grammar.typed_parts(plain_of(text).lower()):
        inside = [n for n, one in enumerate(tokens) if start <= one.start and one.end <= end]
        if inside and kind == "hour":
            yield Span(inside[0], inside[-1] + 1, "time")
        elif kind == "date":
            dated.update(inside)
    ordinal = _ordinal(grammar.code)
    for n, one in enumerate(tokens):
        if grammar.month.fullmatch(one.word):
            dated.update(_around_month(tokens, n, ordinal, grammar))
    at = 0
    while at < len(tokens):
        last = at
        while last in dated:
            last += 1
        if last > at:
            yield Span(at, last, "date")
            if at and tokens[at - 1].word in grammar.definite:
                yield Span(at - 1, last, "date")
        at = max(last, at + 1)


def _around_month(
    tokens: Sequence[TextToken], month: int, ordinal: re.Pattern[str], grammar: LanguageGrammar
) -> Iterator[int]:
    """Return the places of a month and of the numbers beside it: "the 5th of May 2027".

    A word between a month and the year is the one before the month: "5 de mayo de 2027".
    """
    first, links = month - 1, set[str]()
    while first >= 0 and month - first < NEAR and _links(tokens[first].word, grammar):
        links.add(tokens[first].word)
        first -= 1
    if first < 0 or not ordinal.fullmatch(tokens[first].word):
        first, links = month, set()
    last = month + 1
    while last < len(tokens) and last - month < NEAR and tokens[last].word in links:
        last += 1
    if last == len(tokens) or not ordinal.fullmatch(tokens[last].word):
        last = month
    if first < last:
        following = last + 1 < len(tokens) and tokens[last + 1].word.isdigit() and last > month
        yield from range(first, last + 1 + following)


def _links(word: str, grammar: LanguageGrammar) -> bool:
    """Return whether a word stands between a day and its month: "the 5th *of* May"."""
    return word in grammar.leads or word in grammar.definite
