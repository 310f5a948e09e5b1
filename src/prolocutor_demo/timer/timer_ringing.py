"""Schedules the messages of timers, and withdraws them as timers change."""

import datetime as dt
from typing import Any

from prolocutor_demo.reading.when.lengths import say_length
from prolocutor_demo.timer.timers import Timer

SOUND = "alarm-clock-elapsed"


def ringing(before: list[Timer], after: list[Timer], now: dt.datetime) -> dict[str, Any]:
    """Return `schedule` for timers that start, and `unschedule` for those that no longer run."""
    schedule = [_ring(one, now) for one in after if one.due is not None and one not in before]
    running = {timer.id for timer in after if timer.due is not None}
    over = [timer.id for timer in before if timer.due is not None and timer.id not in running]
    lines = {"schedule": schedule, "unschedule": over}
    return {name: each for name, each in lines.items() if each}


def _ring(timer: Timer, now: dt.datetime) -> dict[str, Any]:
    due = max(timer.due or now, now).astimezone(now.tzinfo)
    return {
        "key": timer.id,
        "at": due.isoformat(),
        "messages": [{"type": "text", "text": _text(timer, due)}, {"type": "sound", "name": SOUND}],
    }


def _text(timer: Timer, due: dt.datetime) -> str:
    if timer.alarm:
        return f"It is {due:%H:%M}: your {timer.title()}."
    length = say_length(timer.duration_s)
    return f"Your {timer.title()} is over: {length}."
