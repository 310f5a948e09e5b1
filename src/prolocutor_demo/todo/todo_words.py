"""Finds the items that a request refers to, and formats them."""

import datetime as dt
import re
from typing import NamedTuple

from dateutil import relativedelta

from prolocutor_demo.reading.asking import Question
from prolocutor_demo.reading.courtesy import without_end
from prolocutor_demo.reading.when.moments import find_moment, say_moment
from prolocutor_demo.todo import todo_phrases
from prolocutor_demo.todo.todo_items import TodoItem, TodoList, next_time


class TodoReply(NamedTuple):
    """The todo agent's reply: text, confidence, whether the list changed, and whether the change is
    in place of that of the turn before."""

    text: str
    confidence: float
    changed: bool = False
    asks: Question | None = None
    mends: bool = False


class TodoRequest(NamedTuple):
    """A request to the todo agent: bare text, the user's list, and this agent's last reply."""

    text: str
    todo: TodoList
    before: str  # "" if another agent spoke last

    @property
    def now(self) -> dt.datetime:
        """The time of asking, in the user's zone."""
        return self.todo.now


def list_named(text: str) -> str | None:
    """Return the list that a text names: "shopping" for "my grocery list"; None if none."""
    for found in todo_phrases.LIST_NAME.finditer(text):
        name = found["list"].lower()
        if name in {"grocery", "groceries", "shop"}:
            return "shopping"
        if name in {"todo", "to-do", "to do", "task", "tasks", "do"}:
            return "todo"
        if name not in todo_phrases.UNNAMED:
            return name[:20]
    return "todo" if re.search(r"\b(?:to-?dos?|tasks?)\b", text, re.IGNORECASE) else None


def chosen(asked: TodoRequest) -> tuple[list[TodoItem], str]:
    """Return the open items in question and what to call them."""
    items = asked.todo.open
    if todo_phrases.REMINDERS.search(asked.text):
        return [item for item in items if item.due or item.reminder], "your reminders"
    named = list_named(asked.text)
    if named is None:
        return items, "your list" if items else "your todo list"
    timed = find_moment(asked.text, asked.now) is not None
    items = [item for item in items if item.list == named and (timed or not item.reminder)]
    return items, f"your {named} list"


def nothing(asked: TodoRequest, period: str = "") -> str:
    """Return that there is nothing to show."""
    _, what = chosen(asked)
    if what == "your reminders":
        return f"You have no reminders{period}."
    return f"There is nothing on {what}{period}."


def staying(asked: TodoRequest) -> str:
    """Return the number of reminders as a sentence."""
    count = len(asked.todo.reminders)
    return f"You have {'1 reminder' if count == 1 else f'{count} reminders'}"


def and_reminders(said: str, asked: TodoRequest) -> str:
    """Return the reply with a note on the remaining reminders, if any."""
    stay = asked.todo.reminders and not todo_phrases.REMINDERS.search(asked.text)
    return f"{said} {staying(asked)} as before." if stay else said


def entries_of(what: str, named: str) -> list[str]:
    """Return the entries in one text: "eggs and bread", "call Tom, buy milk"."""
    commas = todo_phrases.COMMA.split(what)
    entries = [each for one in commas for each in todo_phrases.JOINT.split(one)]
    deeds = [todo_phrases.VERB.match(one) is not None for one in entries]
    things = not any(deeds) and all(len(one.split()) < 4 for one in entries)
    split = entries if named == "shopping" or things or all(deeds) else commas
    return [text for text in map(clean, split) if text]


def listed(items: list[TodoItem], now: dt.datetime) -> str:
    """Return a few items in one line: "1. buy milk; 2. call Anna (today at 18:00)"."""
    shown = "; ".join(f"{item.id}. {item.text}{aside(item, now, '')}" for item in items[:8])
    return shown + ("; ..." if len(items) > 8 else "")


def aside(item: TodoItem, now: dt.datetime, what: str) -> str:
    """Return the note after an item: its due time, and its list if it is another."""
    parts = [when(item, now)] if item.due else []
    parts += [item.list] if item.list != "todo" and item.list not in what else []
    return f" ({', '.join(parts)})" if parts else ""


def when(item: TodoItem, now: dt.datetime) -> str:
    """Return the due time: "tomorrow at 09:00, then every week"."""
    if item.due is None:
        return "no time set"
    if item.every:
        due = next_time(item.due, item.every, now)
        return f"{say_moment(due, now)}, then every {item.every}"
    return f"{say_moment(item.due, now)}{' (overdue)' if item.due < now else ''}"


def clean(text: str) -> str:
    """Return an item's text without prepositions and punctuation around it."""
    text = todo_phrases.OPENING.sub("", " ".join(text.split()), count=1)
    return without_end(todo_phrases.CLOSING.sub("", text.strip(" ,.;:!?\"'“”-–")))


def without_nouns(text: str) -> str:
    """Return the words that identify an item, without "my reminder about" and the like."""
    text = re.sub(
        r"\b(?:my|the|reminders?|about|from|list|due|when|is|next)\b(?! number)",
        " ",
        text,
        flags=re.IGNORECASE,
    )
    return clean(text)


def repeated(text: str) -> tuple[str | None, str]:
    """Return the period of repetition in a text, and the text without it."""
    found = todo_phrases.EVERY.search(text)
    if found is None:
        return None, text
    word = (found["every"] or found["ly"]).lower()
    period = {"daily": "day", "weekly": "week", "monthly": "month"}.get(word, word)
    period = "year" if period in {"yearly", "annually"} else period
    if period in {"morning", "afternoon", "evening", "night"}:
        return "day", text  # the part of the day remains to be read
    if period == "weekday" or (period in {"day", "week", "month", "year"} and not found["day"]):
        return period, f"{text[: found.start()]} {text[found.end() :]}"
    return ("week", text) if found["day"] else (None, text)


def first_time(every: str, due: dt.datetime | None, now: dt.datetime) -> dt.datetime:
    """Return the first time of a repetition: as given, else one period from now at 9:00."""
    if due is not None:
        return next_time(due - dt.timedelta(seconds=1), every, now) if due <= now else due
    step = {"week": {"weeks": 1}, "month": {"months": 1}, "year": {"years": 1}}.get(
        every, {"days": 1}
    )
    at = now.replace(hour=9, minute=0, second=0, microsecond=0)
    due = at + relativedelta.relativedelta(**step)  # type: ignore[arg-type]
    return due + dt.timedelta(
        days=max(0, 7 - due.weekday()) if every == "weekday" and due.weekday() > 4 else 0
    )
