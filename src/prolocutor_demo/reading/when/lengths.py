"""Reads and formats lengths of time: "an hour and a half", "1h20m", "45 s"."""

import re
from typing import NamedTuple

from prolocutor_demo.reading.number_words import ONES, TENS

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
LONGEST = 366 * SECONDS["d"]

_WORDS = {word: float(value) for value, word in enumerate(ONES)}
_WORDS |= {word: 10.0 * value for value, word in enumerate(TENS, start=2)}
_WORDS |= {"a": 1, "an": 1, "another": 1, "half": 0.5, "half a": 0.5, "half an": 0.5}
_WORDS |= {"a quarter of an": 0.25, "quarter of an": 0.25, "three quarters of an": 0.75}
_WORDS |= {"a couple of": 2, "a couple": 2, "a few": 3, "fourty": 40, "a hundred": 100}

NUMBER = (
    rf"(?:\d{{1,12}}(?:[.,]\d{{1,4}})?|(?:{'|'.join(TENS)})[ -](?:{'|'.join(ONES[1:10])})|"
    + "|".join(sorted((re.escape(word) for word in _WORDS), key=len, reverse=True))
    + r")"
)
UNIT = r"(?:hours?|hrs?|minutes?|mins?|minuets?|seconds?|secs?|days?|weeks?)"
_LENGTH = re.compile(
    rf"(?:(?<![\w.,:])|(?<=\d[hm]))(?:more )?(?P<number>{NUMBER})(?P<half> and a half)?(?: more)?"
    rf"(?:[\s-]*(?P<unit>{UNIT})|(?<=\d)\s?(?P<letter>[hms]))(?![a-z])(?P<after> and a half)?",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"(?<![\w:.])(?:(\d{1,2}):)?(\d{1,3}):([0-5]\d)(?![\w:])(?! ?[ap]\.?m)")
_SHORT = re.compile(
    r"(?<![\w.,:])(\d{1,2})\s?h\s?(\d{1,2})(?!\w)(?! ?(?:m|s|mins?|minutes?|secs?)\b)",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"[\s,]*(?:and\s+)?", re.IGNORECASE)


class Length(NamedTuple):
    """A length of time in a text: its position and its seconds."""

    start: int
    end: int
    seconds: float


def number_of(words: str) -> float:
    """Return the value of one NUMBER, such as "twenty-five", "2.5" or "half an"."""
    words = words.lower().strip()
    if words in _WORDS:
        return _WORDS[words]
    if words[:1].isdigit():
        return float(words.replace(",", "."))
    tens, _, ones = words.replace("-", " ").partition(" ")
    return _WORDS[tens] + _WORDS[ones]


def lengths_in(text: str, clock: bool = False, longest: float = LONGEST) -> list[Length]:
    """Return all lengths of time in the text, in order; with `clock` also "1:30" (min, s)."""
    found = [_short(match) for match in _SHORT.finditer(text)]
    found = found or _joined(text, [_length(match) for match in _LENGTH.finditer(text)])
    if clock and not found:
        found = [_clock(match) for match in _CLOCK.finditer(text)]
    return [length for length in found if 0 < length.seconds <= longest]


def say_length(seconds: float) -> str:
    """Return a length of time in words: "1 hour 30 minutes"."""
    left, parts = max(0, round(seconds)), []
    for name, size in (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)):
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {name}{'' if count == 1 else 's'}")
    return " ".join(parts) or "0 seconds"


def _length(match: re.Match[str]) -> Length:
    unit = (match["unit"] or match["letter"]).lower()[0]
    halves = bool(match["half"]) + bool(match["after"])
    seconds = (number_of(match["number"]) + halves / 2) * SECONDS[unit]
    return Length(match.start(), match.end(), seconds)


def _short(match: re.Match[str]) -> Length:
    return Length(match.start(), match.end(), int(match[1]) * 3600.0 + int(match[2]) * 60.0)


def _clock(match: re.Match[str]) -> Length:
    seconds = int(match[1] or 0) * 3600.0 + int(match[2]) * 60.0 + int(match[3])
    return Length(match.start(), match.end(), seconds)


def _joined(text: str, lengths: list[Length]) -> list[Length]:
    """Return the lengths with adjacent ones joined, as in "two hours and fifteen minutes"."""
    joined: list[Length] = []
    for length in lengths:
        last = joined[-1] if joined else None
        smaller = last is not None and last.seconds > length.seconds
        if last and smaller and _BETWEEN.fullmatch(text, last.end, length.start):
            joined[-1] = Length(last.start, length.end, last.seconds + length.seconds)
        else:
            joined.append(length)
    return joined
