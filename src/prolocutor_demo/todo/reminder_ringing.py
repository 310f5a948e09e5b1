"""Schedules the messages of reminders, and withdraws them as the list changes."""

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

from prolocutor_demo.todo.todo_items import TodoItem, next_time


def ringing(before: list[TodoItem], after: list[TodoItem], now: dt.datetime) -> dict[str, Any]:
    """Return `schedule` for open items with a new due time, and `unschedule` for the rest.

    What stands on a list and has a time rings as well as a reminder.
    """
    coming = [item for item in after if item.due and (item.every or item.due > now)]
    schedule = [_ring(item, now) for item in coming if item not in before]
    still = {item.id for item in coming}
    over = [str(item.id) for item in before if item.due and item.id not in still]
    lines = {"schedule": schedule, "unschedule": over}
    return {name: each for name, each in lines.items() if each}


def _ring(item: TodoItem, now: dt.datetime) -> dict[str, Any]:
    due = item.due or now
    line: dict[str, Any] = {"key": str(item.id), "messages": [_text(item)]}
    if item.every:
        due = next_time(due, item.every, now)
        line["every"] = item.every
        if isinstance(now.tzinfo, ZoneInfo):
            line["timezone"] = now.tzinfo.key
    return line | {"at": due.isoformat()}


def _text(item: TodoItem) -> dict[str, Any]:
    number = f"{item.id}: {item.text}."
    said = f"Reminder {number}" if item.reminder else f"Due now on your {item.list} list, {number}"
    return {"type": "text", "text": said}
