"""Changes of entries: ticking off and removing them."""

import re
from collections.abc import Callable
from typing import Final

from prolocutor_demo.reading.asking import Question
from prolocutor_demo.reading.when.moments import find_moment, say_moment
from prolocutor_demo.todo import todo_phrases
from prolocutor_demo.todo.todo_items import TodoItem, words_of
from prolocutor_demo.todo.todo_words import (
    TodoReply,
    TodoRequest,
    chosen,
    clean,
    listed,
    nothing,
    without_nouns,
)

_PRONOUN: Final = re.compile(r"\b(?:it|that|them)\b", re.IGNORECASE)


def finish(asked: TodoRequest, found: re.Match[str]) -> TodoReply | None:
    """Tick off the entry in question."""
    what = found["what"]
    if len(asked.todo.open) == 1 and _PRONOUN.search(what):
        what = "it"
    return with_items(asked, what, _finish_item, 0.93, "mark {} as done")


def remove(asked: TodoRequest, found: re.Match[str]) -> TodoReply | None:
    """Remove the entry in question."""
    return with_items(asked, found["what"], _remove_item, 0.93, "remove {}")


def remove_loosely(asked: TodoRequest, found: re.Match[str]) -> TodoReply | None:
    """Remove an entry of any list; say that there is none with little confidence."""
    if not found["what"]:
        sure = 0.85 if asked.before else 0.6
        return with_items(asked, "something", _remove_item, sure, "remove {}")
    if asked.todo.open and todo_phrases.SOMETHING.fullmatch(found["what"]):
        return with_items(asked, found["what"], _remove_item, 0.85, "remove {}")
    hits = asked.todo.find(found["what"], asked.todo.open)
    if hits:
        return with_items(asked, found["what"], _remove_item, 0.85, "remove {}")
    if todo_phrases.WEAKLY.match(asked.text):
        return None
    if any(word in todo_phrases.NOT_OURS for word in found["what"].lower().split()):
        return None
    return _not_found(asked)


def _not_found(asked: TodoRequest) -> TodoReply:
    sure = 0.9 if asked.before else 0.6  # also where an entry is asked for
    if not asked.todo.open:
        return TodoReply(nothing(asked), sure)
    shown = listed(asked.todo.open, asked.now)
    return TodoReply(f"I do not find that on your lists: {shown}.", sure)


def take_off(asked: TodoRequest) -> TodoReply | None:
    """Remove the entries that a text names among words that take them off; None for other texts."""
    text = asked.text.lower()
    named = [item for item in asked.todo.open if _names(text, item)]
    ticks = any(one.fullmatch(text) for one in todo_phrases.FINISH)
    if not named or ticks or todo_phrases.QUESTION.match(text):
        return None
    rest = text
    for word in {word for item in named for word in words_of(item.text)}:
        rest = re.sub(rf"\b{re.escape(word)}\w{{0,3}}\b", " ", rest)
    but = todo_phrases.ALL_BUT.search(rest)
    rest = rest.replace(but[0], " ") if but else rest
    around = re.sub(r"[^\w']+", " ", todo_phrases.TAKES_OFF.sub(" ", rest)).split()
    if rest == todo_phrases.TAKES_OFF.sub("", rest) or not {*around} <= todo_phrases.AROUND_ENTRY:
        return None
    gone = [item for item in asked.todo.open if item not in named] if but else named
    asked.todo.remove(gone)
    return TodoReply(f"Removed: {', '.join(item.text for item in gone)}.", 0.96, changed=True)


def replace_item(asked: TodoRequest) -> TodoReply | None:
    """Put another thing in place of an entry that a text names: "instead of jam write honey"."""
    patterns = (one.fullmatch(asked.text) for one in todo_phrases.REPLACE)
    found = next((one for one in patterns if one), None)
    if found is None or find_moment(found["new"], asked.now):
        return None
    items = [one for one in asked.todo.open if one.text == clean(found["old"])]
    items = items or asked.todo.find(without_nouns(found["old"]), asked.todo.open)
    new = clean(todo_phrases.OF_LIST_AT_END.sub("", todo_phrases.REASON.sub("", found["new"])))
    if len(items) != 1 or not new:
        unknown = asked.before and not items and todo_phrases.CHANGES.match(asked.text)
        return _not_found(asked) if unknown else None
    asked.todo.replace(items[0]._replace(text=new))
    number, name = items[0].id, items[0].list
    told = f"Removed: {items[0].text}. Added to your {name} list as number {number}: {new}."
    return TodoReply(told, 0.96, changed=True)


def _names(text: str, item: TodoItem) -> bool:
    """Return whether a text has all words of an entry."""
    words = words_of(item.text)
    return bool(words) and words <= words_of(text)


def report(asked: TodoRequest, found: re.Match[str]) -> TodoReply | None:
    """Tick off the item reported as done, if at least half of its words match."""
    wanted = words_of(found["what"])
    hits = [
        item
        for item in asked.todo.open
        if len(words_of(item.text) & wanted) >= max(1, 0.5 * len(words_of(item.text)))
    ]
    if len(hits) != 1:
        return None
    return TodoReply(_finish_item(asked, hits[0]), 0.75, changed=True)


def with_items(
    asked: TodoRequest,
    words: str,
    do: Callable[[TodoRequest, TodoItem], str],
    confidence: float,
    request: str,
) -> TodoReply:
    """Apply a change to the open items in question, or say why not.

    `request` is the request for one of several that fit, with its number as `{}`.
    """
    items, what = chosen(asked)
    if not items:
        return TodoReply(nothing(asked), confidence - 0.03)
    wanted = todo_phrases.AGAIN.sub("", without_nouns(words))
    if several := _each_named(asked, wanted, items):
        done = " ".join(do(asked, one) for one in several)
        return TodoReply(done, confidence, changed=True)
    nothing_named = todo_phrases.SOMETHING.fullmatch(wanted) is not None
    hits = items if nothing_named else asked.todo.find(wanted, items)
    hits = items if not wanted and len(items) == 1 else hits
    if not hits:
        return TodoReply(f"I do not find that on {what}: {listed(items, asked.now)}.", 0.8)
    if len(hits) > 1:
        text = f"Which one: {listed(hits, asked.now)}?"
        titles = [(one.text, f"number {one.id}") for one in hits]
        return TodoReply(text, 0.85, asks=Question(text, request, choices=titles))
    return TodoReply(do(asked, hits[0]), confidence, changed=True)


def _each_named(asked: TodoRequest, wanted: str, items: list[TodoItem]) -> list[TodoItem]:
    """Return the items of "milk and the second one" or of "both"; [] for the words of one item."""
    if todo_phrases.BOTH.fullmatch(wanted):
        told = [item for item in items if item.text in asked.before]
        return next((pair for pair in (told, items) if len(pair) == 2), [])
    parts = todo_phrases.JOINT.split(wanted)
    found = [asked.todo.find(part, items) for part in parts]
    whole = asked.todo.find(wanted, items)
    if len(whole) == 1 and words_of(wanted) <= words_of(whole[0].text):
        return []
    one_each = len(parts) > 1 and all(len(hits) == 1 for hits in found)
    return list(dict.fromkeys(hits[0] for hits in found)) if one_each else []


def _finish_item(asked: TodoRequest, item: TodoItem) -> str:
    after = asked.todo.finish(item)
    again = (
        f" The next time is {say_moment(after.due, asked.now)}." if after.due and item.every else ""
    )
    left = len([one for one in asked.todo.open if one.reminder == item.reminder])
    rest = again or (f" {left} left." if left else " That was the last one.")
    return f"Ticked off: {item.text}.{rest}"


def _remove_item(asked: TodoRequest, item: TodoItem) -> str:
    asked.todo.remove([item])
    return f"Removed: {item.text}."
