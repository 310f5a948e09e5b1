"""Clears lists and reminders, independently of each other."""

import re

from prolocutor_demo.reading.asking import Question
from prolocutor_demo.todo import todo_phrases
from prolocutor_demo.todo.todo_words import TodoReply, TodoRequest, and_reminders, chosen, nothing


def clear(asked: TodoRequest, found: re.Match[str]) -> TodoReply | None:
    """Clear one list or the reminders, and leave all else."""
    items, what = chosen(asked)
    if todo_phrases.REMINDERS.search(asked.text):
        items = asked.todo.reminders
    else:
        items = [item for item in items if not item.reminder]
        lists = sorted({item.list for item in items})
        if len(lists) > 1:
            text = f"Which list: {', '.join(lists)}?"
            titles = [(one, one) for one in lists]
            question = Question(text, "clear my {} list", choices=titles)
            return TodoReply(text, 0.9, asks=question)
    if not items:
        return TodoReply(and_reminders(nothing(asked), asked), 0.9)
    asked.todo.remove(items)
    count = "1 entry" if len(items) == 1 else f"{len(items)} entries"
    return TodoReply(
        and_reminders(f"Done: {count} removed from {what}.", asked), 0.93, changed=True
    )


def clear_all(asked: TodoRequest, found: re.Match[str]) -> TodoReply | None:
    """Clear all lists and the reminders."""
    reminders, count = len(asked.todo.reminders), len(asked.todo.open)
    if not count:
        return TodoReply("There is nothing on your lists, and you have no reminders.", 0.7)
    asked.todo.remove(asked.todo.open)
    entries = "1 entry" if count - reminders == 1 else f"{count - reminders} entries"
    removed = "1 reminder" if reminders == 1 else f"{reminders} reminders"
    return TodoReply(f"Done: {entries} and {removed} removed.", 0.93, changed=True)
