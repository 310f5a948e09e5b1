"""Streams: when a monitor or a timer is due next, and which results are new."""

from __future__ import annotations

import datetime as dt
import hashlib
import math
from collections.abc import Sequence
from typing import Any, Final

from prolocutor.dialog import plain
from prolocutor.plugins.almond.programs.describing import find_stream
from prolocutor.plugins.almond.programs.evaluating import ResultRow
from prolocutor.plugins.almond.programs.failures import ProgramFailure
from prolocutor.plugins.almond.programs.resolving import EVENT, ValueResolver, find_field
from prolocutor.plugins.almond.thingtalk.checked import CheckedStatement
from prolocutor.plugins.almond.thingtalk.tree import AtTimerStream, Invocation, Monitor, TimerStream
from prolocutor.plugins.almond.thingtalk.values import Value

SHORTEST_TIMER: Final = 10.0
"""Seconds between two runs of a timer, at least."""

SHORTEST_POLL: Final = 60.0
"""Seconds between two calls of a monitor, at least."""

USUAL_POLL: Final = 600.0
"""Seconds between polls of a monitor without `poll_interval` in its manifest."""

ROUNDING: Final = 1e-6
"""The share of an interval by which a timer may be early without going off twice."""

LATEST: Final = 1e11
"""The latest time of a stream, in UNIX seconds."""


def next_due(statement: CheckedStatement, resolver: ValueResolver, now: float) -> float | None:
    """Return the next time of a program (UNIX seconds); None if never again."""
    assert statement.stream is not None, "the statement is not a stream"
    stream = find_stream(statement.stream)
    if isinstance(stream, TimerStream):
        due: float | None = _timer(stream, resolver, now)
    elif isinstance(stream, AtTimerStream):
        due = _next_time(stream, resolver, now)
    else:
        due = now + _poll(statement)
    return None if due is None or due > LATEST else due


def fresh(
    monitor: Monitor, rows: Sequence[ResultRow], seen: list[str] | None
) -> tuple[list[ResultRow], Any]:
    """Return the results that are new since the last poll, and the digests of all."""
    before, digests, new = set(seen or ()), [], []
    for row in rows:
        digest = _digest(monitor, row)
        if digest not in before:
            new.append(row)
            before.add(digest)
        digests.append(digest)
    return new, list(dict.fromkeys(digests))


def find_monitor(statement: CheckedStatement) -> Monitor | None:
    """Return the monitor at the beginning of a statement; None for other statements."""
    stream = find_stream(statement.stream) if statement.stream is not None else None
    return stream if isinstance(stream, Monitor) else None


def _timer(timer: TimerStream, resolver: ValueResolver, now: float) -> float:
    base = _moment(timer.base, resolver, now)
    interval = _number(timer.interval, resolver) / 1000
    if timer.frequency is not None:
        interval /= max(1.0, _number(timer.frequency, resolver))
    if interval < SHORTEST_TIMER:
        raise ProgramFailure("", f"a timer goes off every {SHORTEST_TIMER:g} seconds at most")
    passed = math.floor((now - base) / interval + ROUNDING) + 1
    return base + max(0, passed) * interval


def _next_time(timer: AtTimerStream, resolver: ValueResolver, now: float) -> float | None:
    today = dt.datetime.fromtimestamp(now, resolver.zone).date()
    dues = []
    for value in timer.times:
        time = _time(resolver.value(value, {}))
        for days in (0, 1, 2):
            at = dt.datetime.combine(today + dt.timedelta(days), time, resolver.zone)
            if at.timestamp() > now:
                dues.append(at.timestamp())
                break
    if not dues:
        raise ProgramFailure("", "an attimer needs a time of day")
    due = min(dues)
    if timer.expiration is not None and due > _moment(timer.expiration, resolver, now):
        return None
    return due


def _poll(statement: CheckedStatement) -> float:
    """Return the seconds between two polls: the shortest interval of the watched functions."""
    intervals = [
        interval / 1000
        for each in _watched_calls(statement)
        if isinstance(interval := each.function.setting("poll_interval"), int | float)
        and not isinstance(interval, bool)
    ]
    return max(SHORTEST_POLL, min(intervals, default=USUAL_POLL))


def _watched_calls(statement: CheckedStatement) -> list[Any]:
    monitor: Any = find_monitor(statement)
    while monitor is not None and not isinstance(monitor, Invocation):
        monitor = monitor.source
    return [each for each in statement.calls if each.call == monitor]


def _digest(monitor: Monitor, row: ResultRow) -> str:
    if monitor.fields:
        watched: dict[str, Any] = {name: find_field(row.fields, name) for name in monitor.fields}
    else:
        watched = {name: field for name, field in row.fields.items() if not name.startswith(EVENT)}
    return hashlib.blake2b(plain.encode(sorted(watched.items())), digest_size=8).hexdigest()


def _moment(value: Value, resolver: ValueResolver, usual: float) -> float:
    moment = resolver.moment(resolver.value(value, {}))
    return usual if moment is None else moment.timestamp()


def _number(value: Value, resolver: ValueResolver) -> float:
    number = resolver.value(value, {})
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise ProgramFailure("", "the interval of a timer is a number of seconds, minutes or hours")
    return number


def _time(text: Any) -> dt.time:
    try:
        return dt.time.fromisoformat(str(text))
    except ValueError:
        raise ProgramFailure("", f"{text!r:.40} is not a time of day") from None
