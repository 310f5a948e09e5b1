"""A user's timers as stored in the attributes, validated when read.

Stored as a list of `{"id", "name", "due", "duration_s"}`: `due` is when it rings (ISO, UTC),
`duration_s` the seconds it was set for; a paused timer has `"due": null` and `"left_s"`.
"""

import datetime as dt
from typing import Any, NamedTuple

MOST_TIMERS = 20
LONGEST_NAME = 30
LONGEST_S = 366 * 86_400
SHOWN_AFTER_RINGING = dt.timedelta(hours=12)


class Timer(NamedTuple):
    """One timer: running (`due` is set) or paused (`left_s` is)."""

    id: str
    name: str
    due: dt.datetime | None
    duration_s: float
    left_s: float = 0.0
    alarm: bool = False

    def left(self, now: dt.datetime) -> float:
        """Return the seconds left at `now`; negative after the end."""
        return self.left_s if self.due is None else (self.due - now).total_seconds()

    def title(self) -> str:
        """Return the title: "pasta timer"."""
        noun = "alarm" if self.alarm else "timer"
        return f"{self.name} {noun}" if self.name else noun


def read_timers(stored: object, now: dt.datetime) -> list[Timer]:
    """Return the stored timers, without invalid ones and those that ended long ago."""
    raw = stored if isinstance(stored, list) else []
    timers = [timer for one in raw[: 2 * MOST_TIMERS] if (timer := _timer(one)) is not None]
    return [timer for timer in timers if timer.left(now) > -SHOWN_AFTER_RINGING.total_seconds()]


def timers_to_json(timers: list[Timer]) -> list[dict[str, Any]]:
    """Return the JSON value for the user's attributes."""
    return [_timer_to_json(timer) for timer in timers[-MOST_TIMERS:]]


def _timer(raw: object) -> Timer | None:
    if not isinstance(raw, dict):
        return None
    number, name = raw.get("id"), raw.get("name")
    due, duration, left = _due(raw.get("due")), _seconds(raw.get("duration_s")), raw.get("left_s")
    if not isinstance(number, str) or not 0 < len(number) <= 40 or duration is None:
        return None
    if due is None and _seconds(left) is None:
        return None
    name = name[:LONGEST_NAME] if isinstance(name, str) else ""
    left_s = (_seconds(left) or 0.0) if due is None else 0.0
    return Timer(number, name, due, duration, left_s, raw.get("alarm") is True)


def _timer_to_json(timer: Timer) -> dict[str, Any]:
    due = timer.due.astimezone(dt.UTC).isoformat(timespec="seconds") if timer.due else None
    row: dict[str, Any] = {"id": timer.id, "name": timer.name, "due": due}
    row["duration_s"] = round(timer.duration_s)
    row |= {"left_s": round(timer.left_s)} if timer.due is None else {}
    return row | ({"alarm": True} if timer.alarm else {})


def _due(raw: object) -> dt.datetime | None:
    try:
        due = dt.datetime.fromisoformat(raw) if isinstance(raw, str) else None
        if due is None or due.tzinfo is None or not 1970 < due.year < 2500:
            return None
        return due.astimezone(dt.UTC)
    except (ValueError, OverflowError):
        return None


def _seconds(raw: object) -> float | None:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        return None
    return float(raw) if 0 <= raw <= LONGEST_S else None
