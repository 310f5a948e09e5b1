"""Answers from the calendar, for today or a date: day, week, quarter, leap year, weekday."""

import calendar
import datetime as dt
import re

from prolocutor_demo.reading.dates import (
    DATE,
    MONTHS,
    WEEKDAYS,
    date_text,
    read_date,
    weekday_number,
)
from prolocutor_demo.reading.wording import question


def _date(found: re.Match[str], now: dt.datetime) -> str:
    return f"Today is {date_text(now.date())}."


def _near_date(found: re.Match[str], now: dt.datetime) -> str:
    near = found["near"]
    day = now.date() + dt.timedelta(days=1 if near == "tomorrow" else -1)
    return f"{near.capitalize()} {'is' if near == 'tomorrow' else 'was'} {date_text(day)}."


def _month(found: re.Match[str], now: dt.datetime) -> str:
    return f"It is {MONTHS[now.month - 1].capitalize()} {now.year}."


def _year(found: re.Match[str], now: dt.datetime) -> str:
    return f"It is the year {now.year}."


def _week(found: re.Match[str], now: dt.datetime) -> str:
    year, week, _ = now.isocalendar()
    return f"It is week {week} of {year}."


def _quarter(found: re.Match[str], now: dt.datetime) -> str:
    name = ("first", "second", "third", "fourth")[(now.month - 1) // 3]
    return f"It is the {name} quarter of {now.year}."


def _weekend(found: re.Match[str], now: dt.datetime) -> str:
    if now.weekday() > 4:
        return f"Yes, it is {WEEKDAYS[now.weekday()].capitalize()}."
    days = 5 - now.weekday()
    ahead = "tomorrow" if days == 1 else f"in {days} days"
    return f"No, not yet: it is {WEEKDAYS[now.weekday()].capitalize()}, the weekend begins {ahead}."


def _is_weekday(found: re.Match[str], now: dt.datetime) -> str | None:
    number = weekday_number(found["weekday"])
    word = "Yes" if number == now.weekday() else "No"
    return f"{word}, today is {date_text(now.date())}." if number is not None else None


def _was_weekday(found: re.Match[str], now: dt.datetime) -> str | None:
    day, number = read_date(found["date"], now.date()), weekday_number(found["weekday"])
    if day is None or number is None:
        return None
    return f"{'Yes' if day.weekday() == number else 'No'}, that {_is(day, now)} {date_text(day)}."


def _weekday(found: re.Match[str], now: dt.datetime) -> str | None:
    past = re.search(r"\b(?:was|did)\b", found[0]) is not None
    day = read_date(found["date"], now.date(), future=not past)
    return f"{date_text(day, weekday=False)} {_is(day, now)} a {day:%A}." if day else None


def _is(day: dt.date, now: dt.datetime) -> str:
    return "was" if day < now.date() else "is"


def _leap(found: re.Match[str], now: dt.datetime) -> str | None:
    groups = found.groupdict()
    near = {"this year": 0, "next year": 1, "last year": -1, "it": 0}.get(groups.get("near") or "")
    digits = next((groups[name] for name in ("year", "other") if groups.get(name)), None)
    year = now.year + near if near is not None else int(digits or 0)
    if not 1 <= year <= 9999:
        return None
    is_leap = calendar.isleap(year)
    word = "was" if year < now.year else "is"
    return f"{'Yes' if is_leap else 'No'}, {year} {word} {'a' if is_leap else 'not a'} leap year."


def _next_leap(found: re.Match[str], now: dt.datetime) -> str:
    year = next(year for year in range(now.year + 1, now.year + 10) if calendar.isleap(year))
    return f"The next leap year is {year}."


def _days_of_month(found: re.Match[str], now: dt.datetime) -> str:
    days = calendar.monthrange(now.year, now.month)[1]
    return f"{MONTHS[now.month - 1].capitalize()} {now.year} has {days} days."


_DAY_WORD = r"(?:day(?: of the week)?|weekday)"
_WEEKDAY = rf"(?P<weekday>{'|'.join(WEEKDAYS)})"
_DATE = rf"(?P<date>(?:{'|'.join(WEEKDAYS)},? )?{DATE}(?: (?:this|next) year)?)"
_TODAY = r"(?: today| now| right now| is it| is it today| it is)*"
FACTS = [
    question(
        _date, rf"(?:what is |what |which )?(?:the |today's |todays )*(?:current )?date{_TODAY}"
    ),
    question(
        _date, rf"(?:what|which) {_DAY_WORD} (?:is it|is today|it is|are we|do we have){_TODAY}"
    ),
    question(_date, rf"(?:what is )?(?:the )?{_DAY_WORD} today|what is today|today"),
    question(
        _near_date,
        rf"(?:what|which) (?:{_DAY_WORD}|date) (?:is|was|will|will it be|is it|was it) ",
        r"(?:it )?(?P<near>tomorrow|yesterday)(?: be)?",
    ),
    question(_near_date, r"(?:what is |what was )?(?P<near>tomorrow|yesterday)'?s (?:date|day)"),
    question(_near_date, r"(?:what is |what was )?the date (?P<near>tomorrow|yesterday)"),
    question(
        _month, r"(?:what|which)(?: is the current)? month(?: is it| are we in| is this)?(?: now)?"
    ),
    question(_month, r"(?:what is )?the (?:current )?month"),
    question(
        _year,
        r"(?:what|which)(?: is the current)? year(?: is it| are we in| is this)?",
        r"(?: now| right now| currently)?",
    ),
    question(_year, r"(?:what is )?the (?:current )?year"),
    question(
        _week,
        r"(?:what is |what |which )?(?:the )?(?:current )?(?:calendar |iso )?week(?: number)?",
        r"(?: of the year)?(?: is it| are we in| is this| of the year| now| today)*",
    ),
    question(
        _quarter, r"(?:what|which) quarter(?: of the year)? (?:is it|are we in|is this)(?: now)?"
    ),
    question(_weekend, r"is it (?:already )?(?:the )?weekend(?: yet| already| now)?"),
    question(_is_weekday, rf"is (?:it|today) (?:a )?{_WEEKDAY}(?: today| already| yet)?"),
    question(_was_weekday, rf"(?:is|was|will) (?:the )?{_DATE} (?:be )?(?:on )?(?:a )?{_WEEKDAY}"),
    question(
        _weekday,
        rf"(?:on )?(?:what|which) {_DAY_WORD}(?: is| was| will| did| does)?(?: it)?(?: be)?",
        rf"(?: on| the)? {_DATE}(?: be)?(?: fall)?(?: on)?",
    ),
    question(
        _weekday, rf"(?:what is |what was )?(?:the )?{_DAY_WORD} (?:of|for|on) (?:the )?{_DATE}"
    ),
    question(
        _leap,
        r"(?:is|was|will) (?:the year )?(?:(?P<near>this year|next year|last year|it)|",
        r"(?P<year>\d{1,4})) (?:be )?(?:a )?leap(?: ?year)?",
    ),
    question(_leap, r"leap ?year (?P<year>\d{4})|(?P<other>\d{4}) leap ?year"),
    question(_next_leap, r"(?:when|what|which)(?: year)? is the next leap ?year|next leap ?year"),
    question(_days_of_month, r"how many days (?:does|are (?:there )?in|has) this month(?: have)?"),
]
"""Questions to the calendar, as a whole utterance in plain words, and what tells the answer."""
