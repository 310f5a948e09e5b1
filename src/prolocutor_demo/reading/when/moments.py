"""Reads future moments in a text: "tomorrow at 9", "in half an hour", "by friday"."""

import datetime as dt
import re
from typing import NamedTuple

from prolocutor_demo.reading.dates import WEEKDAYS
from prolocutor_demo.reading.when.days import DAY_READERS
from prolocutor_demo.reading.when.hours import HOUR_READERS, PART_ALONE, read_part
from prolocutor_demo.reading.when.lengths import SECONDS, lengths_in
from prolocutor_demo.reading.when.moment_reading import PARTS, MomentReading, combined

_LEAD = re.compile(r"\b(?:due |for )?(?:in|after|within)(?: about)?\s+$", re.IGNORECASE)
_LATER = re.compile(r"\s+(?:from now|later)\b", re.IGNORECASE)


class Moment(NamedTuple):
    """A moment in a text, whether it has a clock time, and the text without it."""

    at: dt.datetime
    timed: bool
    rest: str


def find_moment(text: str, now: dt.datetime, early: bool = False) -> Moment | None:
    """Return the future moment that the text names, in the zone of `now`; None if none.

    An hour without am or pm is the next such hour; with `early` it is in the morning.
    """
    try:
        return _found(text, now, early)
    except (ValueError, OverflowError):
        return None


def say_moment(at: dt.datetime, now: dt.datetime) -> str:
    """Return a moment in words: "today at 18:00", "Friday 27 November at 09:00"."""
    return f"{say_day(at, now)} at {at:%H:%M}"


def say_day(at: dt.datetime, now: dt.datetime) -> str:
    """Return a day in words: "today", "Friday 27 November"."""
    days = (at.date() - now.date()).days
    near = {0: "today", 1: "tomorrow", -1: "yesterday"}.get(days)
    year = f" {at.year}" if at.year != now.year else ""
    return near or f"{WEEKDAYS[at.weekday()].capitalize()} {at.day} {at:%B}{year}"


def _found(text: str, now: dt.datetime, early: bool) -> Moment | None:
    soon = _from_now(text, now)
    if soon is not None:
        return soon
    reading = MomentReading(text, now)
    for pattern, read in HOUR_READERS:
        if reading.take(pattern, read):
            break
    for pattern, read in DAY_READERS:
        if reading.take(pattern, read):
            break
    reading.vague = reading.vague and not early
    if reading.time is None:
        reading.take(PART_ALONE, read_part)
    if reading.day is None and reading.time is None:
        return None
    return Moment(_settled(reading), reading.timed, " ".join(reading.rest.split()))


def _from_now(text: str, now: dt.datetime) -> Moment | None:
    """Return the moment of "in 20 minutes", "an hour from now", in elapsed time across DST."""
    for length in lengths_in(text):
        if length.seconds % SECONDS["d"] == 0:
            continue
        before, after = text[: length.start], text[length.end :]
        lead = _LEAD.search(before)
        tail = _LATER.match(after)
        if lead is None and tail is None:
            continue
        before = before[: lead.start()] if lead else before
        after = after[tail.end() :] if tail else after
        at = now.astimezone(dt.UTC) + dt.timedelta(seconds=length.seconds)
        return Moment(at.astimezone(now.tzinfo), True, " ".join(f"{before} {after}".split()))
    return None


def _settled(reading: MomentReading) -> dt.datetime:
    now, day = reading.now, reading.day
    time = reading.time or dt.time(PARTS["morning"])
    if day is None:
        return _next_occurrence(time, reading)
    at = combined(day, time, now)
    if reading.vague and (time.hour < 7 or (at <= now and time.hour < 12)):
        at = combined(day, time.replace(hour=time.hour + 12), now)
    if at <= now and day == now.date() and not reading.timed:
        return (now + dt.timedelta(hours=1)).replace(second=0, microsecond=0)
    return at


def _next_occurrence(time: dt.time, reading: MomentReading) -> dt.datetime:
    now, today = reading.now, reading.now.date()
    times = [time]
    if reading.vague and time.hour < 12:
        times.append(time.replace(hour=(time.hour + 12) % 24))
    days = (today, today + dt.timedelta(days=1))
    return min(at for day in days for one in times if (at := combined(day, one, now)) > now)
