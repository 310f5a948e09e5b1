"""The functions that programs can call on the todo list: read it, and add to it."""

import datetime as dt
from typing import Any

from prolocutor_demo.reading.request import attributes_of, now_of
from prolocutor_demo.todo.reminder_ringing import ringing
from prolocutor_demo.todo.todo_items import MOST_ITEMS, TodoItem, TodoList

NAME = "todo"


def items(request: dict[str, Any], _: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the open items."""
    return [
        {
            "item": one.text,
            "list": one.list,
            "done": one.done,
            "due": one.due.isoformat(timespec="seconds") if one.due else None,
        }
        for one in _stored_list(request).open
    ]


def add(request: dict[str, Any], parameters: dict[str, Any]) -> dict[str, Any]:
    """Add an item to the list, with a reminder if it has a time."""
    todo, before = _stored_list(request), _stored_list(request)
    text = str(parameters["item"]).strip()
    if not text:
        return {"error": "there is nothing to put on the list"}
    if len(todo.open) >= MOST_ITEMS:
        return {"error": f"there are {MOST_ITEMS} items on your lists, which is the most"}
    due = _moment(parameters.get("due"), todo.now)
    todo.add(TodoItem(0, text, due=due))
    rings = ringing(before.open, todo.open, todo.now)
    return {"results": [], "human_attributes": {NAME: todo.to_json(before, "")}, **rings}


FUNCTIONS = {"items": items, "add": add}


def _stored_list(request: dict[str, Any]) -> TodoList:
    return TodoList(attributes_of(request).get(NAME), now_of(request))


def _moment(given: object, now: dt.datetime) -> dt.datetime | None:
    try:
        due = dt.datetime.fromisoformat(str(given)) if given else None
    except ValueError:
        return None
    if due is None:
        return None
    return due.astimezone(now.tzinfo) if due.tzinfo else due.replace(tzinfo=now.tzinfo)
