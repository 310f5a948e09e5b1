"""The day counter: an agent for ages, days until and since a date, and dates a span away."""

import calendar
import datetime as dt
import re
from typing import Any

from dateutil.relativedelta import relativedelta

from prolocutor_demo.days.ages import read_age
from prolocutor_demo.days.spans import Span, counted, length, read_span, shifted
from prolocutor_demo.reading.dates import DATE, MONTHS, date_text, read_date
from prolocutor_demo.reading.number_words import with_digits
from prolocutor_demo.reading.request import attributes_of, now_of, text_of
from prolocutor_demo.reading.wording import (
    LIKELY,
    SURE,
    Reading,
    question,
    read_whole_or_parts,
    reply,
)

DECLINING = "I only count days: ages, days until a date, and dates so many days away."

_UNIT = (
    r"(?P<unit>days?|weeks?|months?|years?|hours?|sleeps|nights|weekends|"
    r"(?:working |business |work |week ?)days?)"
)
_THERE = r"(?:(?: are| is| it is| there are)?(?: there| it)?(?: left| remaining| to go)?)"
_LEAD = (
    r"(?:(?:what|which|when|is|was|will|would|be|it|the|date|day|weekday|of|comes|falls|give|me|"
    r"in|on|we|have) )*?"
)
_SPAN = (
    r"(?P<span>(?:the |an? |\d+(?:\.\d+)? )(?:more )?"
    r"(?:(?:working |business |week ?)?days?|weeks?|fortnights?|months?|years?|decades?|hours?)"
    r"(?:(?: and|,)? \d+ (?:days?|weeks?|months?))*)"
)
_TRAILING = re.compile(
    r"(?<=\w) (?:is|was|will be|would be|falls? on) (?:when|(?:what|which) (?:date|day))$"
)
_ASKING = r"(?:[.,]? (?:when|what|which)\b.*)?"


def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Return an age, a number of days or a date; decline all else."""
    now = now_of(request)
    birthday = str(attributes_of(request).get("birthday", ""))
    return reply(
        read_whole_or_parts(text_of(request), lambda words: _read(words, now, birthday)), DECLINING
    )


def _read(words: str, now: dt.datetime, birthday: str) -> Reading | None:
    words = re.sub(r"\s*\+\s*", " plus ", with_digits(words))
    words = re.sub(r"\s+-\s+", " minus ", words)
    words = _TRAILING.sub("", words)
    try:
        if reading := read_age(words, now.date(), birthday):
            return reading
        for pattern, tell in _QUESTIONS:
            if (found := pattern.fullmatch(words)) and (text := tell(found, now)):
                return text, SURE if found.groupdict().get("loose") is None else LIKELY
    except (ValueError, OverflowError):
        # A date before the year 1 or after 9999.
        return None
    return None


def _until(found: re.Match[str], now: dt.datetime) -> str | None:
    today = now.date()
    day = read_date(found["event"], today, future=True) or _year(found["event"])
    if day is None:
        dated = re.search(rf"(?: on| at| in|,) ({DATE})$", found["event"])
        day = read_date(dated[1], today, future=True) if dated else None
    if day is None:
        return None
    if day < today:
        return f"{date_text(day)} is past: {counted((today - day).days, 'day')} ago."
    unit = _singular(found["unit"])
    if unit == "hour":
        midnight = dt.datetime.combine(day, dt.time(), now.tzinfo)
        hours = max(0, int((midnight - now).total_seconds() // 3600))
        return f"{counted(hours, 'hour')} until {date_text(day)} begins."
    if unit == "working day":
        return (
            f"{length(today + dt.timedelta(days=1), day, unit)} until {date_text(day)}{_WORKING}."
        )
    return f"{length(today, day, unit or 'day')} until {date_text(day)}."


def _left(found: re.Match[str], now: dt.datetime) -> str | None:
    today = now.date()
    day = dt.date(today.year, 12, 31) if found["whole"] == "year" else today + relativedelta(day=31)
    return f"{length(today, day, _singular(found['unit']) or 'day')} until {date_text(day)}."


def _then(found: re.Match[str], now: dt.datetime) -> str | None:
    day = read_date(found["event"], now.date(), future=True)
    return (
        f"{length(now.date(), day, _singular(found['unit']))} until {date_text(day)}."
        if day
        else None
    )


def _since(found: re.Match[str], now: dt.datetime) -> str | None:
    today = now.date()
    day = _day_or_year(found["event"], today)
    if day is None:
        return None
    if day > today and not re.search(r"\d{4}", found["event"]):
        day -= relativedelta(years=1)
    if day > today:
        return f"{date_text(day)} is still to come, in {counted((day - today).days, 'day')}."
    if re.fullmatch(r"\d{3,4}", found["event"]):
        return f"{counted(today.year - day.year, 'year')} since {day.year}."
    return f"{length(day, today, _singular(found['unit']))} since {date_text(day)}."


def _between(found: re.Match[str], now: dt.datetime) -> str | None:
    today = now.date()
    for joint in re.finditer(r" (?:and|to|until|through|-) ", found["ends"]):
        texts = found["ends"][: joint.start()], found["ends"][joint.end() :]
        first, last = (_day_or_year(text, today) for text in texts)
        if first is None or last is None:
            continue
        if last < first and not re.search(r"\d{4}", texts[1]):
            last += relativedelta(years=1)
        first, last = min(first, last), max(first, last)
        unit = _singular(found["unit"])
        note = _WORKING if unit == "working day" else ""
        number = length(first, last, unit)
        return f"{number} from {date_text(first)} to {date_text(last)}{note}."
    return None


def _shift(found: re.Match[str], now: dt.datetime) -> str | None:
    today = now.date()
    span = read_span(found["span"])
    groups = found.groupdict()
    start = read_date(groups.get("event") or "today", today)
    if span is None or start is None:
        return None
    past = groups.get("way") in ("ago", "before", "minus", "subtract", "take")
    day = shifted(start, span, past=past)
    note = _WORKING if span.working else ""
    return (
        f"{_said_span(span, found['span'])} {_way(start, today, past)} is {date_text(day)}{note}."
    )


def _said_span(span: Span, text: str) -> str:
    text = re.sub(r"^(?:the|an?) (?:more )?", "1 ", text)
    return re.sub(r"^1 (\w+)$", r"One \1", text)


def _way(start: dt.date, today: dt.date, past: bool) -> str:
    if start == today:
        return "ago" if past else "from today"
    return f"{'before' if past else 'after'} {date_text(start, weekday=False)}"


def _named(found: re.Match[str], now: dt.datetime) -> str | None:
    day = read_date(found["event"], now.date())
    event = found["event"]
    return f"{event[0].upper()}{event[1:]}: {date_text(day)}." if day else None


def _days_in(found: re.Match[str], now: dt.datetime) -> str | None:
    year = int(found["year"] or now.year)
    if not found["month"]:
        return f"{year} has {365 + calendar.isleap(year)} days."
    month = next(n for n, name in enumerate(MONTHS, start=1) if name[:3] == found["month"][:3])
    return (
        f"{MONTHS[month - 1].capitalize()} {year} has {calendar.monthrange(year, month)[1]} days."
    )


def _day_or_year(text: str, today: dt.date) -> dt.date | None:
    return _year(text) or read_date(text, today)


def _year(text: str) -> dt.date | None:
    """Return the first day of the year that the text names; None if it names none."""
    year = re.fullmatch(r"(?:the year )?(\d{3,4})", text)
    return dt.date(int(year[1]), 1, 1) if year else None


def _singular(unit: str | None) -> str:
    """Return the unit: "day" for "sleeps", "working day" for "business days"; "" if none."""
    if unit is None:
        return ""
    if re.match(r"working|business|work |week ?day", unit):
        return "working day"
    return "day" if unit in ("sleeps", "nights") else unit.rstrip("s")


_WORKING = " (Monday to Friday; holidays are not taken off)"
_COUNTED = rf"(?:how many|number of|how much|the number of) {_UNIT}"
_LAPSE = rf"(?:how (?:long|far)|the time|time|{_COUNTED}|{_UNIT.replace('?P<unit>', '?:')})"
_MONTH_NAME = rf"(?P<month>{'|'.join(f'{name[:3]}(?:{name[3:]})?' for name in MONTHS)}|february)"
_QUESTIONS = [
    question(
        _left,
        rf"(?:(?:{_COUNTED})|how (?:long|far))(?: is| are)?{_THERE}(?: in)? (?:this|the) ",
        r"(?P<whole>year|month)",
    ),
    question(
        _until,
        rf"(?:{_COUNTED}|how (?:long|far|soon)|(?:the )?countdown|time left)(?: away)?{_THERE}",
        r" (?:until|to|before) (?P<event>.+)",
    ),
    question(_until, rf"{_UNIT}{_THERE} (?:until|to|before) (?P<event>.+)"),
    question(
        _then,
        rf"(?P<loose>.*)\bon (?P<event>{DATE})\W+{_COUNTED} (?:is|are) (?:that|it|there)",
        r"(?: from (?:now|today)| away| until then)?",
    ),
    question(
        _since,
        rf"(?:{_COUNTED}|how long)(?: have| has| is)?(?: it)?(?: been| passed| gone by)?",
        r" (?:since|ago (?:was|is|were)) (?P<event>.+)",
    ),
    question(_since, rf"{_UNIT} since (?P<event>.+)"),
    question(
        _between,
        rf"(?:{_COUNTED}|how long|(?:the )?time)(?: are| is| was| passed| elapsed)?",
        r"(?: there| it)?(?: between| from) (?P<ends>.+)",
    ),
    question(_between, rf"{_UNIT} (?:between|from) (?P<ends>.+)"),
    question(_shift, rf"(?:add|plus) {_SPAN} to (?P<event>.+)"),
    question(_shift, rf"(?P<way>subtract|take) {_SPAN} (?:off|from) (?P<event>.+)"),
    question(
        _shift, rf"{_LEAD}{_SPAN} (?P<way>ago|hence|from (?:now|today)|later)(?: {_LEAD}is it)?"
    ),
    question(_shift, rf"{_SPAN} from now what day (?:is|will) it(?: be)?"),
    question(_shift, rf"{_LEAD}{_SPAN} (?P<way>from|after|before) (?P<event>.+?)"),
    question(
        _shift, rf"(?P<loose>.+?) {_SPAN} (?P<way>from|after|before) (?P<event>{DATE}){_ASKING}"
    ),
    question(_shift, rf"(?:what|which) (?:day|date) (?:will|would|is) it (?:be )?in {_SPAN}"),
    question(_shift, rf"{_LEAD}in {_SPAN}"),
    question(_shift, rf"{_LEAD}(?P<event>{DATE}|today|tomorrow) (?P<way>plus|minus) {_SPAN}"),
    question(
        _named,
        rf"{_LEAD}(?P<event>(?:next |last |this |coming |this coming )?",
        r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:the )?day after tomorrow|",
        r"(?:the )?day before yesterday)",
    ),
    question(
        _days_in,
        r"how many days (?:(?:are|is|were)?(?: there)? ?in|does|has|was|were|did) ",
        rf"(?:the (?:month|year)(?: of)? )?(?:{_MONTH_NAME}(?: (?:in |of )?)?)?",
        r"(?P<year>\d{4})?(?: have)?",
    ),
]
