"""A user's todos and reminders as stored in the attributes, validated when read."""

import datetime as dt
import re
from typing import Any, NamedTuple

from dateutil import relativedelta

MOST_ITEMS = 60
MOST_DONE = 10
LONGEST_ITEM = 120
EVERY = ("day", "week", "month", "year", "weekday")

_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1}
_COUNTS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8}
_NUMBER = re.compile(
    rf"(?:^|\b(?:number|no\.?|nr\.?|task|item|todo|reminder|entry)\s+|#)"
    rf"(?P<number>\d{{1,4}}|{'|'.join(_COUNTS)})\b(?!\s+[a-z]{{3,}})",
    re.IGNORECASE,
)
_ORDINAL = re.compile(
    rf"\b({'|'.join(_ORDINALS)})\b(?: (?:one|item|task|todo|entry|reminder)|$)", re.IGNORECASE
)
_STOP = frozenset(
    "a an the my to for of on in at with and about task item reminder todo one that it this".split()
)


class TodoItem(NamedTuple):
    """One thing to do; `list` is "todo" or another list's name, such as "shopping"."""

    id: int
    text: str
    list: str = "todo"
    due: dt.datetime | None = None
    every: str | None = None
    done: bool = False
    reminder: bool = False


class TodoList:
    """All items of a user, open ones first, in the order of their addition."""

    def __init__(self, stored: object, now: dt.datetime) -> None:
        state = stored if isinstance(stored, dict) else {}
        raw = state.get("items")
        read = [_item(one, now) for one in raw[:200]] if isinstance(raw, list) else []
        self.items = [item for item in read if item is not None]
        self.last = _name(state.get("last"))  # the list mentioned last
        self._change = change if isinstance(change := state.get("change"), dict) else {}
        self.now = now

    def copy(self) -> "TodoList":
        """Return another list of the same items, to be changed."""
        other = TodoList({"last": self.last}, self.now)
        other.items, other._change = list(self.items), self._change
        return other

    @property
    def open(self) -> list[TodoItem]:
        """Return the open items."""
        return [item for item in self.items if not item.done]

    @property
    def reminders(self) -> list[TodoItem]:
        """Return the open reminders; they are on no list."""
        return [item for item in self.open if item.reminder]

    def add(self, item: TodoItem) -> TodoItem:
        """Add an item under the next free number."""
        number = max((one.id for one in self.items), default=0) + 1 if self.open else 1
        if not self.open:
            self.items = []
        item = item._replace(id=number, text=item.text[:LONGEST_ITEM].strip())
        self.items.append(item)
        self.last = item.list
        return item

    def replace(self, item: TodoItem) -> None:
        """Replace the item with the same number."""
        self.items = [item if one.id == item.id else one for one in self.items]

    def finish(self, item: TodoItem) -> TodoItem:
        """Tick an item off; move a repeated one to its next time."""
        if item.every and item.due:
            item = item._replace(due=next_time(item.due, item.every, max(self.now, item.due)))
        else:
            item = item._replace(done=True)
        self.replace(item)
        return item

    def remove(self, items: list[TodoItem]) -> None:
        """Remove items permanently."""
        gone = {item.id for item in items}
        self.items = [item for item in self.items if item.id not in gone]

    def find(self, words: str, among: list[TodoItem]) -> list[TodoItem]:
        """Return the items for "number 2", "the last one" or some of their words."""
        if words.lower() in {"it", "that", "that one", "this"}:
            return among[-1:]
        if number := _NUMBER.search(words):
            said = number["number"].lower()
            value = _COUNTS[said] if said in _COUNTS else int(said)
            return [item for item in among if item.id == value]
        if (ordinal := _ORDINAL.search(words)) and among:
            index = _ORDINALS[ordinal[1].lower()]
            return among[index:][:1] if -len(among) <= index < len(among) else []
        return _best(words, among)

    def before_change(self, turn: str) -> "TodoList | None":
        """Return the list as it was before its last change; None if that was in another turn."""
        if not turn or self._change.get("turn") != turn:
            return None
        added, was = self._change.get("added"), self._change.get("was")
        earlier = [_item(one, self.now) for one in was] if isinstance(was, list) else []
        kept = {item.id: item for item in self.items if item.id not in (added or ())}
        kept |= {item.id: item for item in earlier if item is not None}
        old = TodoList({"last": self._change.get("last")}, self.now)
        old.items = [kept[number] for number in sorted(kept)]
        return old

    def to_json(self, before: "TodoList", turn: str) -> dict[str, Any]:
        """Return the JSON value for the user's attributes: the items, and what changed in a turn
        since the list was as before."""
        done = [item for item in self.items if item.done][-MOST_DONE:]
        state: dict[str, Any] = {"items": [_item_to_json(item) for item in done + self.open]}
        was = [_item_to_json(item) for item in before.items if item not in self.items]
        new = {item.id for item in self.items} - {item.id for item in before.items}
        change = {"turn": turn, "added": sorted(new), "was": was, "last": before.last}
        state |= {"change": change} if turn else {}
        return state | ({"last": self.last} if self.last != "todo" else {})


def next_time(due: dt.datetime, every: str, after: dt.datetime) -> dt.datetime:
    """Return the first repetition after `after` of an item due at `due`."""
    if due > after:
        return due
    days = (after.date() - due.date()).days
    if every in {"day", "weekday"}:
        due += dt.timedelta(days=max(0, days))
    elif every == "week":
        due += dt.timedelta(days=max(0, days // 7 * 7))
    else:
        months = (after.year - due.year) * 12 + after.month - due.month
        due += relativedelta.relativedelta(months=months if every == "month" else months // 12 * 12)
    step = {"week": {"weeks": 1}, "month": {"months": 1}, "year": {"years": 1}}.get(
        every, {"days": 1}
    )
    while due <= after or (every == "weekday" and due.weekday() > 4):
        due += relativedelta.relativedelta(**step)  # type: ignore[arg-type]
    return due


def words_of(text: str) -> set[str]:
    """Return the words of a text that distinguish items, without endings."""
    words = re.findall(r"[^\W_]+", text.lower())
    return {re.sub(r"(?<=\w\w\w)(?:s|ed|ing)$", "", word) for word in words if word not in _STOP}


def _best(words: str, among: list[TodoItem]) -> list[TodoItem]:
    wanted = words_of(words)
    scores = [(len(wanted & words_of(item.text)) / max(1, len(wanted)), item) for item in among]
    best = max((score for score, _ in scores), default=0.0)
    return [item for score, item in scores if score == best and score >= 0.5]


def _item(raw: object, now: dt.datetime) -> TodoItem | None:
    if not isinstance(raw, dict):
        return None
    number, text = _number(raw.get("id")), raw.get("text")
    if not number or not isinstance(text, str) or not text.strip():
        return None
    every = raw.get("every") if raw.get("every") in EVERY else None
    due = _due(raw.get("due"), now)
    return TodoItem(
        number,
        text[:LONGEST_ITEM].strip(),
        _name(raw.get("list")),
        due,
        every if due else None,
        raw.get("done") is True,
        raw.get("reminder") is True,
    )


def _item_to_json(item: TodoItem) -> dict[str, Any]:
    row: dict[str, Any] = {"id": item.id, "text": item.text, "list": item.list, "done": item.done}
    row["due"] = item.due.isoformat(timespec="seconds") if item.due else None
    row |= {"every": item.every} if item.every else {}
    return row | ({"reminder": True} if item.reminder else {})


def _due(raw: object, now: dt.datetime) -> dt.datetime | None:
    try:
        due = dt.datetime.fromisoformat(raw) if isinstance(raw, str) else None
        if due is None or due.tzinfo is None or not 1970 < due.year < 2500:
            return None
        return due.astimezone(now.tzinfo)
    except (ValueError, OverflowError):
        return None


def _number(raw: object) -> int:
    return raw if type(raw) is int and 0 < raw < 10_000 else 0


def _name(raw: object) -> str:
    return raw if isinstance(raw, str) and 0 < len(raw) <= 20 else "todo"
