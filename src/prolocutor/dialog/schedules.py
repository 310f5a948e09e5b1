"""The times and words of unasked messages: `at`, `every`, notices."""

from __future__ import annotations

import calendar
from datetime import UTC, datetime, timedelta, tzinfo
from math import isfinite
from typing import Any, Final
from zoneinfo import ZoneInfo

import msgspec

from prolocutor.clocks import DAY
from prolocutor.dialog.messages import checked_ask, checked_messages
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import BadReply

EVERY: Final[dict[str, float]] = {
    "day": DAY,
    "weekday": DAY,
    "week": 7 * DAY,
    "month": 31 * DAY,
    "year": 366 * DAY,
}
"""Repetitions, with the longest time in seconds between two of their days."""

LATEST: Final = 1e11
"""The latest time that is taken, in UNIX seconds."""

MAX_LINES: Final = 100
"""The most lines that one hypothesis may put on the agenda, and take off it."""

MAX_KEY: Final = 200

NOTIFICATION: Final = "notification"
"""The key by which a message tells that a running program says it: `{appId, raw, type, text?}`, or
`{appId, error}`. `text` is the message's own without what stands before it. The messages that
follow it, up to the closing, belong to it."""

encode = msgspec.json.Encoder().encode


def next_time(first: float, every: str, zone: str | None, after: float) -> float:
    """Return the first time later than `after` of a repetition from `first` on (UNIX seconds).

    The hour stays the same by the clock of `zone` (None: the server's), in summer and in winter.
    The 31st is the last day of a shorter month, 29 February the 28th.
    """
    first = max(0.0, first)
    start = datetime.fromtimestamp(first, find_zone(zone))
    count = max(0, int((after - first) // EVERY[every]) - 1)
    while True:
        at = _shift(start, every, count)
        time = at.timestamp()
        if time > after and time >= first and (every != "weekday" or at.weekday() < 5):
            return time
        count += 1


def find_zone(name: str | None) -> tzinfo | None:
    """Return a time zone, None for the server's; raise `ValueError` for an unknown name."""
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (OSError, KeyError, ValueError):
        raise ValueError(f"no time zone is called {name!r:.80}") from None


def _shift(start: datetime, every: str, count: int) -> datetime:
    if every in ("day", "weekday"):
        return start + timedelta(days=count)
    if every == "week":
        return start + timedelta(weeks=count)
    months = start.month - 1 + count * (12 if every == "year" else 1)
    year, month = start.year + months // 12, months % 12 + 1
    day = min(start.day, calendar.monthrange(year, month)[1])
    return start.replace(year=year, month=month, day=day)


def check(item: dict[str, Any], path: str) -> None:
    """Check both keys of a hypothesis and complete its messages; `BadReply` with the path.

    `schedule` is a list of `{key, at | in, messages, ask?, every?, timezone?}`: `at` a time in ISO
    8601 (UTC where it names no zone) or UNIX seconds, `in` seconds from now; `every` day, weekday,
    week, month or year it comes again, by the clock of `timezone`. `unschedule` is a list of keys.
    """
    for key in ("schedule", "unschedule"):
        value = item.get(key)
        if value is None:
            continue
        if not isinstance(value, list):
            raise BadReply("expected a list", path=f"{path}.{key}")
        if len(value) > MAX_LINES:
            raise BadReply(f"{len(value)}, more than the {MAX_LINES} allowed", path=f"{path}.{key}")
    for place, line in enumerate(item.get("schedule") or ()):
        _check_line(line, f"{path}.schedule[{place}]")
    for place, key in enumerate(item.get("unschedule") or ()):
        _check_key(key, f"{path}.unschedule[{place}]")


def unix_time(at: str | float) -> float:
    """Return a time in UNIX seconds."""
    if not isinstance(at, str):
        return at
    time = datetime.fromisoformat(at)
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def _check_line(line: Any, path: str) -> None:
    if not isinstance(line, dict):
        raise BadReply("expected an object with key, at or in, and messages", path=path)
    _check_key(line.get("key"), f"{path}.key")
    if (line.get("at") is None) == (line.get("in") is None):
        raise BadReply("expected either `at` or `in`", path=path)
    if line.get("in") is not None:
        _check_seconds(line["in"], f"{path}.in")
    elif isinstance(line["at"], str):
        try:
            unix_time(line["at"])
        except (ValueError, OverflowError):
            raise BadReply(f"{line['at']!r:.80} is not a time", path=f"{path}.at") from None
    else:
        _check_seconds(line["at"], f"{path}.at")
    messages = line.get("messages")
    if not isinstance(messages, list) or not messages:
        raise BadReply("expected at least one message", path=f"{path}.messages")
    line["messages"] = checked_messages(messages, f"{path}.messages")
    checked_ask(line.get("ask"), f"{path}.ask")
    _check_recurrence(line, path)


def _check_recurrence(line: dict[str, Any], path: str) -> None:
    every, zone = line.get("every"), line.get("timezone")
    if every is not None and (not isinstance(every, str) or every not in EVERY):
        raise BadReply(f"expected one of {', '.join(EVERY)}", path=f"{path}.every")
    try:
        if zone is not None:
            find_zone(zone)
    except (ValueError, TypeError) as error:
        raise BadReply(str(error), path=f"{path}.timezone") from None


def _check_key(key: Any, path: str) -> None:
    if not isinstance(key, str) or not 0 < len(key) <= MAX_KEY:
        raise BadReply(f"expected a text of 1 to {MAX_KEY} characters", path=path)


def _check_seconds(value: Any, path: str) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not isfinite(value) or abs(value) > LATEST:
        raise BadReply("expected a number of seconds", path=path)


class Notice(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Messages, perhaps a question, and how to go on with them.

    - `skill` says it, and gets the answer to `ask`.
    - `context` comes with the answer.
    - `every` (a key of `recurrence.EVERY`) brings it again, counted from `first` (UNIX seconds) by
      the clock of `timezone`.
    - `digest` tells two notices of one key apart.
    - `said`: it was said, and only stays for a client that asks again.
    - `program` belongs to the program runner; the rest is empty then.
    """

    messages: list[JsonObject] = []
    ask: str | None = None
    skill: str = ""
    context: Any = None
    every: str | None = None
    timezone: str | None = None
    first: float | None = None
    digest: str | None = None
    said: bool = False
    program: Any = None


decode = msgspec.json.Decoder(Notice).decode
