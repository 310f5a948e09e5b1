"""Reads times of day: clocks, words ("half past seven"), and "in twenty minutes"."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from typing import Final

from prolocutor.reading import libraries, numbers
from prolocutor.reading.dates import ReadingContext

_HOURS: Final = {
    word: n
    for n, word in enumerate(
        "one two three four five six seven eight nine ten eleven twelve".split(), start=1
    )
} | {"noon": 12, "midday": 12, "midnight": 24}
_MINUTES: Final = {"half": 30, "quarter": 15, "five": 5, "ten": 10, "twenty": 20, "fifteen": 15}
_MINUTES.update({"twenty five": 25, "twenty-five": 25, "thirty": 30, "forty five": 45, "forty": 40})
_MINUTES.update({"forty-five": 45, "fifty": 50, "thirty five": 35, "fifty five": 55, "oh five": 5})
_NAMED: Final = {
    "noon": 12,
    "midday": 12,
    "mid-day": 12,
    "12 noon": 12,
    "midnight": 0,
    "12 midnight": 0,
}
_NAMED.update({"twelve noon": 12, "high noon": 12, "noontime": 12})

_HOUR: Final = rf"(?P<hour>\d{{1,2}}|{'|'.join(_HOURS)})"
_WORDED: Final = "|".join(sorted(_MINUTES, key=len, reverse=True))
_HALF: Final = (
    r"(?:\s*(?P<half>[ap])(?:\.? ?m)?\.?|\s+(?:in the (?P<part>morning|afternoon|evening|night)"
    r"|(?:at|this|to)\s?(?P<late>night|evening|afternoon|morning)))?"
)
_CLOCK: Final = re.compile(
    r"(?P<hour>\d{1,2})(?:\s*[:.h]\s*| )(?P<minute>\d{2})(?:[:.](?P<second>\d{2})(?:\.\d+)?)?"
    rf"(?: ?(?:h|hrs|hours|uhr|o'? ?clock))?{_HALF}"
)
_RAILWAY: Final = re.compile(r"(?P<hour>[01]?\d|2[0-3])(?P<minute>[0-5]\d) ?(?:h|hrs|hours)?")
_WHOLE: Final = re.compile(rf"{_HOUR}(?: ?(?:h|uhr|o'? ?clock))?{_HALF}")
_SPOKEN: Final = re.compile(rf"{_HOUR} (?P<words>{_WORDED}){_HALF}")
_PAST: Final = re.compile(
    rf"(?:an? )?(?P<minutes>{_WORDED}|\d{{1,2}})(?: minutes?)? "
    rf"(?P<way>past|after|to|before|till|of) {_HOUR}(?: o'? ?clock)?{_HALF}"
)
_HALF_HOUR: Final = re.compile(rf"half {_HOUR}{_HALF}")
_SPAN: Final = re.compile(
    r"(?:in|after) (?P<count>.{1,40}?) (?P<unit>second|sec|minute|min|hour|hr|h)s?"
    r"(?: and (?P<more>.{1,40}?) minutes?|(?P<half> and a half))?(?:'s?)?(?: time| from now)?"
)
_LEAD: Final = re.compile(
    r"^(?:(?:at|by|around|about|from|until|till|for|before|after|today|time) )+"
)
_PART_FIRST: Final = re.compile(
    r"(?:(?P<night>tonight)|(?:this|in the) (?P<part>morning|afternoon|evening)),? (?:at )?"
    r"(?P<clock>.+)"
)
_ROUGHLY: Final = re.compile(r" ?(?:ish| or so| sharp| on the dot| exactly)$")
_FROM_NOW: Final = re.compile(r"(.+) (?:from now|later)")
_TODAY: Final = re.compile(r",? today$")
_SECONDS: Final = {
    "second": 1,
    "sec": 1,
    "minute": 60,
    "min": 60,
    "hour": 3600,
    "hr": 3600,
    "h": 3600,
}
_PM: Final = frozenset({"p", "afternoon", "evening", "night"})


_FORMS: Final[dict[str, dict[str, str | Callable[[re.Match[str]], str]]]] = {
    "de": {
        r"\b(?:um|gegen|ab|so) ": "",
        r"\bhalb (\d+)\b": lambda found: f"{(int(found[1]) - 2) % 12 + 1}:30",
        r"\bviertel nach\b": "quarter past",
        r"\bviertel vor\b": "quarter to",
        r"\b(\d+) uhr (\d+)\b": r"\1:\2",
        r" uhr\b": ":00",
        r"\bmittags?\b": "noon",
        r"\bmitternacht\b": "midnight",
        r" (?:morgens|früh|vormittags)\b": " in the morning",
        r" nachmittags\b": " in the afternoon",
        r" abends\b": " in the evening",
    },
    "fr": {
        r"\b(?:à|vers|a) ": "",
        r" ?h(?:eures?)? et demie?\b": ":30",
        r" ?h(?:eures?)? et quart\b": ":15",
        r"\b(\d+) ?h(?:eures?)? moins le quart\b": r"quarter to \1",
        r"\b(\d+) ?h(?:eures?)? (\d+)\b": r"\1:\2",
        r"(?<=\d) ?h(?:eures?)?\b(?! ?\d)": ":00",
        r" de l'après-midi\b": " in the afternoon",
        r"\bmidi\b": "noon",
        r"\bminuit\b": "midnight",
        r" du matin\b": " in the morning",
        r" du soir\b": " in the evening",
    },
    "es": {
        r"\b(?:a|sobre) las? |^las? ": "",
        r" y media\b": ":30",
        r" y cuarto\b": ":15",
        r"\b(\d+) menos cuarto\b": r"quarter to \1",
        r"\b(\d+) y (\d+)\b": r"\1:\2",
        r"\b(?:al? )?mediodía\b": "noon",
        r"\b(?:a )?medianoche\b": "midnight",
        r" de la (?:mañana|madrugada)\b": " in the morning",
        r" de la tarde\b": " in the afternoon",
        r" de la noche\b": " in the evening",
    },
}
"""Times of day as they are said in other languages, and in English, in the order of replacement."""


def translate_time(said: str, language: str | None) -> str:
    """Return a plain text for a time of day with its words in English; others as they are.

    >>> translate_time("um halb sieben", "de"), translate_time("a las 9 y media", "es")
    ('6:30', '9:30')
    """
    code = (language or "")[:2]
    if code not in _FORMS:
        return said

    def digits(found: re.Match[str]) -> str:
        number = numbers.read_foreign_number(found[0], code)
        return found[0] if number is None else str(number)

    said = re.sub(r"[^\W\d_]{3,}", digits, said)
    for pattern, english in _FORMS[code].items():
        said = re.sub(pattern, english, said)
    return said


def read_time(said: str, context: ReadingContext) -> dt.time | None:
    """Return the time of day, in whole seconds, of a plain text read as a whole; else None."""
    said = _ROUGHLY.sub("", said.strip(' ,!;"'))
    now = context.local_now()
    if said in {"now", "right now"}:
        return now.time().replace(microsecond=0)
    later = _FROM_NOW.fullmatch(said)
    try:
        if match := _SPAN.fullmatch(f"in {later[1]}" if later else said):
            return _later(match, now)
        said = translate_time(said, context.language)
        return _clock(said) or _clock(libraries.write_digits(said.replace("-", " ")))
    except (ValueError, OverflowError):
        return None


def _clock(said: str) -> dt.time | None:
    said = _LEAD.sub("", _TODAY.sub("", said))
    if match := _PART_FIRST.fullmatch(said):
        said = f"{match['clock']} {'at night' if match['night'] else 'in the ' + match['part']}"
    if said in _NAMED:
        return dt.time(_NAMED[said])
    for shape in (_CLOCK, _RAILWAY, _WHOLE, _SPOKEN, _PAST, _HALF_HOUR):
        if match := shape.fullmatch(said):
            return _read(match)
    return None


def _read(found: re.Match[str]) -> dt.time | None:
    groups = found.groupdict()
    hour = _HOURS.get(groups["hour"]) or int(groups["hour"])
    minute, second = int(groups.get("minute") or 0), int(groups.get("second") or 0)
    if words := groups.get("words"):
        minute = _MINUTES[words]
    part = groups.get("half") or groups.get("part") or groups.get("late")
    if part in {"a", "p"} and not 1 <= hour <= 12:
        return None
    if found.re is _PAST:
        away = _MINUTES.get(groups["minutes"]) or int(groups["minutes"])
        hour, minute = _shift_minutes(hour, away, groups["way"] in {"past", "after"})
    elif found.re is _HALF_HOUR:
        minute = 30
    if hour == 24 and minute == second == 0:
        hour = 0
    return dt.time(_hour_in_day(hour, part), minute, second)


def _shift_minutes(hour: int, minutes: int, past: bool) -> tuple[int, int]:
    if not 0 < minutes < 60 or not 0 <= hour <= 24:
        raise ValueError("no such time")
    return (hour % 24, minutes) if past else ((hour - 1) % 24, 60 - minutes)


def _hour_in_day(hour: int, part: str | None) -> int:
    """Return the hour of 24 for an hour of 12 in a part of the day."""
    if part == "night" and (hour == 12 or hour < 5):
        return hour % 12
    if part in _PM and hour < 12:
        return hour + 12
    if part in {"a", "morning"} and hour == 12:
        return 0
    return hour


def _later(found: re.Match[str], now: dt.datetime) -> dt.time | None:
    count = _count(found["count"])
    more = _count(found["more"]) if found["more"] else 0
    if count is None or more is None or not 0 <= count <= 10**6 or not 0 <= more <= 10**6:
        return None
    count += 0.5 if found["half"] else 0
    seconds = count * _SECONDS[found["unit"]] + 60 * more
    then = now.astimezone(dt.UTC) + dt.timedelta(seconds=float(seconds))
    return then.astimezone(now.tzinfo).time().replace(microsecond=0)


def _count(said: str) -> int | float | None:
    if said in {"half a", "half an"}:
        return 0.5
    return 1 if said in {"a", "an", "one"} else numbers.read_value(said)
