"""The clock: an agent for the time, the date and the weekday, here and in other places."""

import datetime as dt
import re
from typing import Any

from prolocutor_demo.clock.calendar_facts import FACTS
from prolocutor_demo.clock.clock_functions import FUNCTIONS
from prolocutor_demo.clock.zones import TimeZonePlace, find_place
from prolocutor_demo.reading.dates import date_text
from prolocutor_demo.reading.function_calls import call
from prolocutor_demo.reading.request import now_of, text_of
from prolocutor_demo.reading.wording import (
    SURE,
    Reading,
    question,
    read_whole_or_parts,
    reply,
)

DECLINING = "I can only tell the time and the date."

_NOW = r"(?: (?:right |just )?now| at the moment| currently| these days| yet)?"
_IN = r"(?:over )?(?:in|at|for|on|within) "
_LATE = r"how late is it"
_ASK = (
    r"(?:(?:what )?(?:the )?(?:current |local |exact )?(?:time|hour)(?: is it| it is)?|"
    r"what is the (?:current |local |exact )?time(?: like)?|" + _LATE + ")"
)
_TIME = (
    r"(?P<time>\d{1,2}:\d\d ?(?:[ap]\.?m\.?)?|\d{1,2} ?(?:[ap]\.?m\.?|o'?clock)|noon|midnight|"
    r"midday)"
)


def answer(request: dict[str, Any]) -> Any:
    """Return the time or date, in the user's time zone unless the text names a place."""
    if "function" in request:
        return call(request, FUNCTIONS)
    now = now_of(request)
    return reply(read_whole_or_parts(text_of(request), lambda words: _read(words, now)), DECLINING)


def _read(words: str, now: dt.datetime) -> Reading | None:
    try:
        for pattern, tell in _QUESTIONS:
            if (found := pattern.fullmatch(words)) and (text := tell(found, now)):
                return text, SURE
    except (ValueError, OverflowError):
        # A day before the year 1 or after 9999.
        return None
    return None


def _time(found: re.Match[str], now: dt.datetime) -> str | None:
    name = found.groupdict().get("place")
    if name is None:
        return f"It is {now:%H:%M}."
    if place := find_place(name):
        return _time_in(place, now)
    places = [find_place(part) for part in re.split(r",? and (?:in )?|, (?:in )?", name)[:5]]
    known = [place for place in places if place]
    if len(known) < len(places):
        return None
    return " ".join(_time_in(place, now) for place in known)


def _time_with_date(found: re.Match[str], now: dt.datetime) -> str | None:
    name = found["place"]
    if name is None:
        return f"It is {now:%H:%M} on {date_text(now)}."
    place = find_place(name)
    if place is None:
        return None
    there = now.astimezone(place.clock)
    return f"In {place.name} it is {there:%H:%M} on {date_text(there)}."


def _later(found: re.Match[str], now: dt.datetime) -> str | None:
    if not found["hours"] and not found["minutes"]:
        return None
    hours = (1 if found["hours"] == "an" else int(found["hours"] or 0)) + (
        found["half"] is not None
    ) / 2
    minutes = int(found["minutes"] or 0)
    # In UTC, because hours added to local time ignore daylight saving time.
    then = now.astimezone(dt.UTC) + dt.timedelta(hours=hours, minutes=minutes)
    return f"It will be {then.astimezone(now.tzinfo):%H:%M}."


def _until(found: re.Match[str], now: dt.datetime) -> str | None:
    """Say how long it is until a time of day, today or tomorrow."""
    said = {"noon": "12", "midday": "12", "midnight": "0"}.get(found["at"])
    hour, minute = int(said or found["hour"]), int(found["minute"] or 0)
    half = found["half"]
    if half and 1 <= hour <= 12:
        hour = hour % 12 + (12 if half == "p" else 0)
    if hour > 24 or minute > 59 or not (said or half or found["minute"] or found["clock"]):
        return None
    then = now.replace(hour=hour % 24, minute=minute, second=0, microsecond=0)
    if then <= now:
        then += dt.timedelta(days=1)
    left = (then.astimezone(dt.UTC) - now.astimezone(dt.UTC)).total_seconds() // 60
    hours, minutes = divmod(int(left), 60)
    parts = [
        f"{count} {unit}{'' if count == 1 else 's'}"
        for count, unit in ((hours, "hour"), (minutes, "minute"))
        if count
    ]
    return f"{' and '.join(parts) or 'Less than a minute'} until {then:%H:%M}."


def _time_in(place: TimeZonePlace, now: dt.datetime) -> str:
    there = now.astimezone(place.clock)
    return f"In {place.name} it is {there:%H:%M} on {_day(there)}."


def _date(found: re.Match[str], now: dt.datetime) -> str | None:
    place = find_place(found["place"])
    return f"In {place.name} it is {date_text(now.astimezone(place.clock))}." if place else None


def _part_of_day(found: re.Match[str], now: dt.datetime) -> str | None:
    place = find_place(found["place"])
    if place is None:
        return None
    there = now.astimezone(place.clock)
    asked = found["part"]
    if asked in _HOURS:
        first, last = _HOURS[asked]
        hour = there.hour + 24 if there.hour < first else there.hour
        fits = first <= hour < last
    else:
        days = (there.date() - now.date()).days
        fits = days == {"tomorrow": 1, "yesterday": -1}.get(asked, 0)
    word = "Yes" if fits else "No"
    return f"{word}, in {place.name} it is {there:%H:%M} on {_day(there)}."


def _moved(found: re.Match[str], now: dt.datetime) -> str | None:
    """Return the time in `there` that corresponds to a time in `here`."""
    here, there = find_place(found["here"]), find_place(found["there"])
    time = _clock_time(found["time"])
    if here is None or there is None or time is None:
        return None
    today = now.astimezone(here.clock).date()
    moment = dt.datetime.combine(today, time, here.clock)
    moved = moment.astimezone(there.clock)
    days = (moved.date() - moment.date()).days
    day = {1: " the next day", -1: " the day before"}.get(days, "")
    return f"{time:%H:%M} in {here.name} is {moved:%H:%M}{day} in {there.name}."


def _difference(found: re.Match[str], now: dt.datetime) -> str | None:
    places = found.groupdict()
    one = find_place(places["one"])
    other_name = places.get("other")
    if other_name in (None, "me", "us", "here", "my time"):
        other: TimeZonePlace | None = TimeZonePlace("you", str(now.tzinfo)) if one else None
        offset = now.utcoffset()
    else:
        other = find_place(other_name or "")
        offset = now.astimezone(other.clock).utcoffset() if other else None
    if one is None or other is None or offset is None:
        return None
    ahead = (now.astimezone(one.clock).utcoffset() or dt.timedelta()) - offset
    if not ahead:
        return f"None: {one.name} and {other.name} keep the same time."
    relation = "ahead of" if ahead > dt.timedelta() else "behind"
    return f"{one.name} is {_hours(abs(ahead))} {relation} {other.name}."


def _zone(found: re.Match[str], now: dt.datetime) -> str | None:
    name = found.groupdict().get("place")
    place = TimeZonePlace("you", str(now.tzinfo)) if name is None else find_place(name)
    if place is None:
        return None
    there = now if name is None else now.astimezone(place.clock)
    offset = there.utcoffset() or dt.timedelta()
    minutes = int(abs(offset).total_seconds() // 60)
    sign = "-" if offset < dt.timedelta() else "+"
    told = f"UTC{sign}{minutes // 60}" + (f":{minutes % 60:02}" if minutes % 60 else "")
    owner = "You are" if name is None else f"{place.name} is"
    return f"{owner} in the zone {place.zone}, at present {told}."


def _day(moment: dt.datetime) -> str:
    return f"{moment:%A}, {moment.day} {moment:%B}"


def _hours(span: dt.timedelta) -> str:
    hours, minutes = divmod(int(span.total_seconds() // 60), 60)
    text = f"{hours} hour{'' if hours == 1 else 's'}" if hours else ""
    return " and ".join(filter(None, [text, f"{minutes} minutes" if minutes else ""]))


def _clock_time(text: str) -> dt.time | None:
    if text in ("noon", "midday", "midnight"):
        return dt.time(0 if text == "midnight" else 12)
    hour, minute = (int(digits) for digits in ([*re.findall(r"\d+", text), "0"])[:2])
    if "p" in text and hour < 12:
        hour += 12
    if re.search(r"\da|\d a", text) and hour == 12:
        hour = 0
    return dt.time(hour, minute) if hour < 24 and minute < 60 else None


_HOURS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (18, 23), "night": (21, 30)}
_HOURS |= {"daytime": (6, 20), "day": (6, 20), "dark": (20, 30)}
_PLACE = r"(?P<place>[^\d?]+?)"
_ONE_OTHER = r"(?P<one>[^\d?]+?) (?:and|to|from|vs|versus|-) (?P<other>[^\d?]+?)"
_QUESTIONS = [
    question(
        _until,
        r"(?:how (?:long|many (?:hours|minutes)|much (?:time|longer))"
        r"(?: is it| is there| do i have| left)*|time left) (?:until|to|before) "
        r"(?P<at>noon|midday|midnight|(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))?"
        r" ?(?:(?P<half>[ap])\.?m\.?)?(?P<clock> ?o'clock)?)",
    ),
    *FACTS,
    question(
        _time_with_date,
        r"(?:what (?:is|are) )?(?:the |today's )?(?:current |local )?",
        r"(?:time and (?:the )?(?:date|day)|(?:date|day) and (?:the )?time)(?: is it| today)?",
        rf"(?: {_IN}{_PLACE})?{_NOW}",
    ),
    question(_time, rf"{_ASK}{_NOW}(?: here)?"),
    question(
        _later,
        r"what time (?:will|would|is) it (?:be )?in (?:(?P<hours>\d{1,3}|an)",
        r"(?P<half> and a half)? hours?)?(?: and )?(?:(?P<minutes>\d{1,4}) min(?:ute)?s?)?",
    ),
    question(_time, r"(?:do you have|have you got|you got|got|give me|have) the time"),
    question(_time, rf"{_ASK}{_NOW} {_IN}{_PLACE}{_NOW}"),
    question(_time, rf"{_ASK} of {_PLACE}{_NOW}"),
    question(
        _time,
        rf".* (?:in|to|from) {_PLACE},? (?:so |and |but )?(?:what time is it|what is the time)",
        rf"(?: over)? there{_NOW}",
    ),
    question(_time, rf"what time (?:do they have|have they got) {_IN}{_PLACE}{_NOW}"),
    question(_time, rf"{_ASK} (?P<place>utc|gmt|[ecmp][sd]t|ce[s]?t|bst|jst|ist){_NOW}"),
    question(_time, rf"(?:what is (?:the )?)?{_PLACE}(?:'s)? (?:local |current )?time{_NOW}"),
    question(
        _date,
        r"(?:what is |what )?(?:the |today's )?(?:current )?(?:date|day)(?: is it)?",
        rf"(?: today)? {_IN}{_PLACE}{_NOW}",
    ),
    question(
        _part_of_day,
        rf"is it (?:already |still |currently )?(?P<part>{'|'.join(_HOURS)}|tomorrow|",
        rf"yesterday|today)(?: time)?(?: already| now| yet)? {_IN}{_PLACE}{_NOW}",
    ),
    question(
        _moved,
        rf"(?:when|if) it is {_TIME} (?:in )?(?P<here>.+?),? (?:then )?(?:what time is it|",
        r"what is the time|what time will it be|what time would it be) in (?P<there>.+)",
    ),
    question(
        _moved,
        r"what time (?:is|will|would) it (?:be )?in (?P<there>[^\d?]+?) (?:when|if) it is ",
        rf"{_TIME} in (?P<here>.+)",
    ),
    question(_moved, rf"{_TIME} (?:in )?(?P<here>.+?) is what time in (?P<there>.+)"),
    question(
        _moved,
        rf"(?:what(?: time)? is |convert )?{_TIME} (?:in )?(?P<here>.+?)(?: time)? ",
        r"(?:in|to) (?P<there>.+?)(?: time)?",
    ),
    question(
        _difference,
        r"(?:what is )?(?:the )?(?:(?:time(?: ?zone)?|hours?) difference"
        r"|difference (?:in|of) (?:time|hours|time zones?)) (?:between |from )?",
        _ONE_OTHER,
    ),
    question(
        _difference, r"(?:what is )?(?:the )?time(?: ?zone)? difference (?:with|to|for) (?P<one>.+)"
    ),
    question(
        _difference,
        r"how many hours(?: difference)?(?: is it| are there| are)?(?: between| from) ",
        _ONE_OTHER,
    ),
    question(
        _difference,
        r"how (?:many hours|far|much) (?:ahead|behind)(?: of)?(?: (?P<other>[a-z ]+?))? ",
        r"(?:is|are) (?P<one>[^\d]+)",
    ),
    question(
        _difference,
        r"(?:how (?:many hours|far|much) )?is (?P<one>[^\d]+?) (?:ahead(?: of)?|behind)",
        r"(?: or (?:ahead(?: of)?|behind))? (?P<other>[^\d]+)",
    ),
    question(_zone, r"(?:what|which) time ?zone am i in|(?:what is )?my time ?zone"),
    question(
        _zone,
        rf"(?:what|which) time ?zone (?:is|does|do they use in|are) {_PLACE}",
        r"(?: in| use| have)?",
    ),
    question(
        _zone, rf"(?:what is )?(?:the )?(?:time ?zone|utc offset|offset) (?:of|in|for) {_PLACE}"
    ),
]
