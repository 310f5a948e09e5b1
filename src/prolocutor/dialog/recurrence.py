"""Times that come again: every day, weekday, week, month or year, by the clock of a zone."""

from __future__ import annotations

import calendar
from datetime import datetime, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from prolocutor.durations import DAY

EVERY: Final[dict[str, float]] = {
    "day": DAY,
    "weekday": DAY,
    "week": 7 * DAY,
    "month": 31 * DAY,
    "year": 366 * DAY,
}
"""What can come again, with the longest time in seconds between two days that it may fall on."""

LATEST: Final = 1e11
"""The latest time that is taken, in UNIX seconds."""


def next_time(first: float, every: str, zone: str | None, after: float) -> float:
    """Return the first time later than `after` of what comes again from `first` on (UNIX seconds).

    The hour stays the same by the clock of `zone` (None: the server's), in summer and in winter.
    The 31st is the last day of a month that is shorter, 29 February the 28th.
    """
    first = max(0.0, first)
    start = datetime.fromtimestamp(first, zone_of(zone))
    count = max(0, int((after - first) // EVERY[every]) - 1)
    while True:
        at = _moved(start, every, count)
        time = at.timestamp()
        if time > after and time >= first and (every != "weekday" or at.weekday() < 5):
            return time
        count += 1


def zone_of(name: str | None) -> tzinfo | None:
    """Return a time zone, None for the server's; raise `ValueError` for an unknown name."""
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (OSError, KeyError, ValueError):
        raise ValueError(f"no time zone is called {name!r:.80}") from None


def _moved(start: datetime, every: str, count: int) -> datetime:
    if every in ("day", "weekday"):
        return start + timedelta(days=count)
    if every == "week":
        return start + timedelta(weeks=count)
    months = start.month - 1 + count * (12 if every == "year" else 1)
    year, month = start.year + months // 12, months % 12 + 1
    day = min(start.day, calendar.monthrange(year, month)[1])
    return start.replace(year=year, month=month, day=day)
