"""The todo agent: lists of things to do, and reminders, stored in the user's attributes."""

import datetime as dt
import re
from collections.abc import Callable
from typing import Any

from prolocutor_demo.reading.asking import Question, asking
from prolocutor_demo.reading.courtesy import bare, is_chat
from prolocutor_demo.reading.function_calls import call
from prolocutor_demo.reading.request import (
    attributes_of,
    id_before,
    id_of,
    is_correction,
    mended_words,
    now_of,
    said_of,
    text_of,
    words_of_follow_up,
)
from prolocutor_demo.reading.when.lengths import lengths_in
from prolocutor_demo.reading.when.moments import find_moment, say_day, say_moment
from prolocutor_demo.todo import todo_phrases
from prolocutor_demo.todo.changing import (
    finish,
    remove,
    remove_loosely,
    replace_item,
    report,
    take_off,
    with_items,
)
from prolocutor_demo.todo.clearing import clear, clear_all
from prolocutor_demo.todo.reminder_ringing import ringing
from prolocutor_demo.todo.todo_functions import FUNCTIONS
from prolocutor_demo.todo.todo_items import MOST_ITEMS, TodoItem, TodoList, words_of
from prolocutor_demo.todo.todo_words import (
    TodoReply,
    TodoRequest,
    and_reminders,
    aside,
    chosen,
    clean,
    entries_of,
    first_time,
    list_named,
    listed,
    nothing,
    repeated,
    staying,
    when,
    without_nouns,
)

NAME = "todo"
WHAT = "What shall I remind you of?"
WHAT_ENTRY = "What shall I add to your {list} list?"
WHEN = "When is it due?"
AS_ENTRY = "Any words will do, for example: oat milk."
AS_MOMENT = "I need a day or a time, for example: tomorrow at 9."
MOST_AT_ONCE = 3
ADDS = re.compile(r"(?:and|also|plus|again|another)\b", re.IGNORECASE)
"""The beginning of words that want one more."""

LATER = 0.75
"""How sure it is that "on it" is a list of which another agent spoke last."""

DECLINE = "That is nothing for your todo list or your reminders."


def answer(request: dict[str, Any]) -> Any:
    """Add, list, tick off, move and remove todos and reminders; decline all else."""
    if "function" in request:
        return call(request, FUNCTIONS)
    text, said = bare(text_of(request)), _said_before(request)
    stored = TodoList(attributes_of(request).get(NAME), now_of(request))
    before = stored.before_change(id_before(request)) if is_correction(request) else None
    reply, todo = (
        _shown_again(request, said, stored)
        or _taken_off(request, said, stored)
        or _taken_back(request, text, said, stored)
        or _timed_anew(request, text, said, stored)
        or _read(request, text, said, stored)
    )
    hypothesis: dict[str, Any] = {"text": reply.text, "confidence": reply.confidence}
    if reply.changed:
        mended = before is not None and reply.mends
        changed_from = before if mended and before else stored
        hypothesis["human_attributes"] = {NAME: todo.to_json(changed_from, id_of(request))}
        hypothesis |= ringing(stored.open, todo.open, todo.now)
    return [asking(hypothesis, reply.asks)]


def _read(
    request: dict[str, Any], text: str, said: str, stored: TodoList
) -> tuple[TodoReply, TodoList]:
    for read in (_replies, _reply):
        todo = stored.copy()
        if reply := read(TodoRequest(text, todo, said)):
            return reply, todo
    return TodoReply(DECLINE, 0.05), stored


def _shown_again(
    request: dict[str, Any], said: str, stored: TodoList
) -> tuple[TodoReply, TodoList] | None:
    """Handle "show it" and "what's there" after a reply of this agent."""
    said_so = (said_of(request), mended_words(request), text_of(request))
    texts = [bare(one).strip(" .?!") for one in said_so if one]
    asked = {todo_phrases.WAIT.sub("", one, count=1) or one for one in texts} | {*texts}
    patterns = [*(todo_phrases.SHOW_IT if said else ()), *todo_phrases.SHOW_LATER]
    todo = stored.copy()
    if (said or todo.open) and (looked := _looked(asked, todo, said)):
        return looked, todo
    if not any(one.fullmatch(text) for one in patterns for text in asked):
        return None
    if not (said or todo.open):
        return None
    only_reminders = todo.open and all(one.reminder for one in todo.open)
    shown = "reminders" if only_reminders else f"{todo.last} list"
    sure = 0.96 if said else LATER
    return _shown(TodoRequest(f"show my {shown}", todo, said), sure), todo


def _looked(texts: set[str], todo: TodoList, said: str) -> TodoReply | None:
    """Handle "did I put milk on there": whether an entry is on the list that was used last."""
    patterns = todo_phrases.LOOK_THERE
    found = next((m for text in texts for one in patterns if (m := one.fullmatch(text))), None)
    if found is None:
        return None
    reply = _look(TodoRequest(f"is it on my {todo.last} list", todo, said), found)
    return reply if reply is None or said else reply._replace(confidence=LATER)


def _taken_off(
    request: dict[str, Any], said: str, stored: TodoList
) -> tuple[TodoReply, TodoList] | None:
    """Handle "we don't need eggs any more" and "honey instead of jam", whatever the words may mean
    as a follow-up."""
    todo = stored.copy()
    for words in filter(None, (said_of(request), mended_words(request))):
        asked = TodoRequest(bare(words), todo, said)
        if reply := replace_item(asked) or take_off(asked):
            return reply, todo
    return None


def _taken_back(
    request: dict[str, Any], text: str, said: str, stored: TodoList
) -> tuple[TodoReply, TodoList] | None:
    """Handle "no, oat milk" and "scratch that": what the turn before changed is as it was."""
    before = stored.before_change(id_before(request)) if said and is_correction(request) else None
    if before is None:
        return None
    reply, todo = _read(request, text, said, before)
    if reply.changed and reply.confidence >= 0.6:
        return reply._replace(mends=True), todo
    if words_of_follow_up(request):
        return None
    gone = [item.text for item in stored.items if item not in before.items]
    back = [item.text for item in before.items if item not in stored.items]
    told = f"taken off again: {', '.join(gone)}" if gone else f"back again: {', '.join(back)}"
    return TodoReply(f"All right, {told}.", 0.95, changed=True), before


def _timed_anew(
    request: dict[str, Any], text: str, said: str, stored: TodoList
) -> tuple[TodoReply, TodoList] | None:
    """Handle "at ten": the reminder of the turn before gets another time, and no second one."""
    before = stored.before_change(id_before(request)) if words_of_follow_up(request) else None
    if before is None:
        return None
    noted = [item for item in stored.reminders if item not in before.items]
    without = stored.copy()
    without.remove(noted)
    reply, todo = _read(request, text, said, without)
    anew = [item for item in todo.reminders if item not in without.items]
    is_same = noted and [item.text for item in anew] == [item.text for item in noted]
    return (reply, todo) if is_same and not ADDS.match(said_of(request)) else None


def _replies(asked: TodoRequest) -> TodoReply | None:
    """Handle two or three requests in one text in order, if each is understood."""
    parts = _reminders(asked) or _with_list(todo_phrases.AND_THEN.split(asked.text))
    if not 1 < len(parts) <= MOST_AT_ONCE:
        return None
    parts = [part for part in parts if part is parts[0] or not todo_phrases.IT_OFF.fullmatch(part)]
    replies = [reply for part in parts if (reply := _reply(asked._replace(text=part)))]
    if len(replies) < len(parts) or min(reply.confidence for reply in replies) < 0.6:
        return None
    text = " ".join(reply.text for reply in replies)
    asks = next((reply.asks for reply in replies if reply.asks), None)
    return TodoReply(text, 0.95, any(reply.changed for reply in replies), asks)


def _reminders(asked: TodoRequest) -> list[str]:
    """Return the reminders of "remind me to call mum at 5 and to feed the cat at 6"; else []."""
    first, *others = todo_phrases.AND_TO.split(asked.text)
    parts = [first, *(f"remind me {one}" for one in others)]
    timed = all(find_moment(one, asked.now) for one in parts)
    return parts if others and timed and todo_phrases.REMINDERS.search(first) else []


def _with_list(parts: list[str]) -> list[str]:
    """Return the parts, each with the list that the last one names."""
    tail = todo_phrases.OF_LIST_AT_END.search(parts[-1])
    if tail is None:
        return parts
    return [
        part
        if todo_phrases.OF_LISTS.search(part) or todo_phrases.REMINDERS.search(part)
        else part + tail[0]
        for part in parts
    ]


def _reply(asked: TodoRequest) -> TodoReply | None:
    if not asked.text:
        return None
    for patterns, do in _INTENTS:
        for pattern in patterns:
            found = pattern.fullmatch(asked.text)
            reply = do(asked, found) if found else None
            if reply is not None:
                return reply
    return _follow_up(asked) if asked.before else None


def _add(asked: TodoRequest, found: re.Match[str]) -> TodoReply | None:
    outside = _around(asked.text, found) if "list" in found.groupdict() else ""
    same = asked.todo.last if todo_phrases.SAME_LIST.search(outside) else "todo"
    named = list_named(outside) or same
    tail = todo_phrases.AND_ASKS.sub("", found.groupdict().get("tail") or "")
    said = todo_phrases.HEDGE.sub(r"\1", f"{found['what']} {tail}")
    every, said = repeated(said)
    moment = find_moment(said, asked.now)
    due = moment.at if moment else None
    if every:
        due = first_time(every, due, asked.now)
    what = todo_phrases.ALL_OF_THEM.sub("", clean(moment.rest if moment else said))
    what = todo_phrases.ON_IT.sub("", what)
    if lead := todo_phrases.LEADS_IN.match(what):
        what = what[lead.end() :]
    if not what or todo_phrases.NOTHING_NAMED.fullmatch(what) or is_chat(what):
        plain = todo_phrases.REMINDERS.search(asked.text) or not (
            what or todo_phrases.OF_LISTS.search(asked.text)
        )
        if plain:
            told = found["what"].replace(what, " ") if what else found["what"]
            request = f"remind me to {{}} {clean(told)}".strip()
            return TodoReply(WHAT, 0.95, asks=Question(WHAT, request, AS_ENTRY, verbatim=True))
        text, request = WHAT_ENTRY.format(list=named), f"add {{}} to my {named} list"
        return TodoReply(text, 0.95, asks=Question(text, request, AS_ENTRY, verbatim=True))
    if _is_length(what):
        return None
    around = _around(asked.text, found)
    remind = todo_phrases.REMINDERS.search(asked.text) is not None
    remind = remind or (due is not None and todo_phrases.OF_LISTS.search(around) is None)
    texts = [what] if remind else entries_of(what, named)
    if len(asked.todo.open) + len(texts) > MOST_ITEMS:
        return TodoReply(
            f"Your list is full: it holds {MOST_ITEMS} entries. Tick some off first.", 0.9
        )
    items = [
        asked.todo.add(TodoItem(0, text, named, due, every, reminder=remind)) for text in texts
    ]
    asks = _due_question(WHEN, items[-1]) if remind and due is None else None
    return TodoReply(_added(asked, items, remind), 0.95, changed=True, asks=asks)


def _is_length(what: str) -> bool:
    """Return whether words are a length of time and nothing else, which is no entry."""
    lengths = lengths_in(what)
    return len(lengths) == 1 and not f"{what[: lengths[0].start]}{what[lengths[0].end :]}".strip()


def _due_question(text: str, item: TodoItem) -> Question:
    """Return the question when an item is due."""
    over = f"All right, no time: {item.text}."
    return Question(text, f"move item {item.id} to {{}}", AS_MOMENT, given_up=over)


def _add_loosely(asked: TodoRequest, found: re.Match[str]) -> TodoReply | None:
    reply = _add(asked, found)
    return reply._replace(confidence=0.6) if reply else None


def _add_verbless(asked: TodoRequest, found: re.Match[str]) -> TodoReply | None:
    if todo_phrases.CLAUSE.search(found["what"]):
        return None
    return _add(asked, found)


def _add_bare(asked: TodoRequest, found: re.Match[str]) -> TodoReply | None:
    return _add(asked._replace(text=f"{asked.text} to my {asked.todo.last} list"), found)


def _add_there(asked: TodoRequest, found: re.Match[str]) -> TodoReply | None:
    """Add to the list that was used last, if there is one with entries."""
    what = found["what"]
    if not (asked.before or asked.todo.open) or todo_phrases.NO_ENTRY.fullmatch(what):
        return None
    if todo_phrases.QUESTION.match(todo_phrases.WAIT.sub("", what, count=1)):
        return None
    text = f"add {what} to my {asked.todo.last} list"
    reply = _reply(asked._replace(text=text))
    return reply if reply is None or asked.before else reply._replace(confidence=LATER)


def _buy(asked: TodoRequest, found: re.Match[str]) -> TodoReply | None:
    wrapped = f"add {found['what']} to my shopping list"
    added = todo_phrases.ADD_TO_SHOPPING.fullmatch(wrapped)
    return _add_loosely(asked._replace(text=wrapped), added) if added else None


def _added(asked: TodoRequest, items: list[TodoItem], remind: bool) -> str:
    texts, last = ", ".join(item.text for item in items), items[-1]
    if last.due and not remind:
        return f"Added to your {last.list} list: {texts}, {when(last, asked.now)}."
    if last.due:
        return f"Noted as reminder {last.id}: {texts}, {when(last, asked.now)}."
    if remind:
        return f"Noted as reminder {last.id}: {texts}. {WHEN}"
    number = f" as number {last.id}" if len(items) == 1 else ""
    return f"Added to your {last.list} list{number}: {texts}."


def _show(asked: TodoRequest, found: re.Match[str]) -> TodoReply | None:
    return _shown(asked, 0.93)


def _show_loosely(asked: TodoRequest, found: re.Match[str]) -> TodoReply | None:
    if len(asked.text) > 120 or todo_phrases.ELSEWHERE.search(asked.text):
        return None
    return _shown(asked, 0.85)


def _mention(asked: TodoRequest, found: re.Match[str]) -> TodoReply | None:
    shown = _show_loosely(asked, found)
    return shown._replace(confidence=0.6) if shown else None


def _shown(asked: TodoRequest, confidence: float) -> TodoReply:
    text, todo, now = asked.text, asked.todo, asked.now
    items, what = chosen(asked)
    if re.search(r"\boverdue\b", text, re.IGNORECASE):
        items, what = [item for item in items if item.due and item.due < now], f"overdue {what}"
    items, period = _in_period(asked, items)
    if not items:
        return TodoReply(and_reminders(nothing(asked, period), asked), confidence)
    if re.search(r"\bhow many\b", text, re.IGNORECASE):
        count = len(items)
        return TodoReply(f"There {'is 1' if count == 1 else f'are {count}'} on {what}.", confidence)
    if re.search(r"\b(?:next|when)\b", text, re.IGNORECASE) and any(item.due for item in items):
        items = _next(asked, items)
    todo.last = items[0].list if len({item.list for item in items}) == 1 else todo.last
    lines = [
        f"{item.id}. {item.text}{aside(item, now, what)}" for item in items if not item.reminder
    ]
    reminders = [
        f"{item.id}. {item.text}{aside(item, now, what)}" for item in items if item.reminder
    ]
    if reminders:
        lines += ["Your reminders:", *reminders] if lines else reminders
    elif asked.todo.reminders:
        lines.append(f"{staying(asked)}.")
    return TodoReply("\n".join([f"{what[:1].upper()}{what[1:]}:", *lines]), confidence)


def _in_period(asked: TodoRequest, items: list[TodoItem]) -> tuple[list[TodoItem], str]:
    """Return the items of the day or week in the text and its name; all if it has none."""
    now, moment = asked.now, find_moment(asked.text, asked.now)
    if moment is None:
        return items, ""
    end, today = moment.at.date(), now.date()
    if re.search(r"\b(?:week|month|year|weekend)\b", asked.text, re.IGNORECASE):
        period = f" until {say_day(moment.at, now)}"
        return [item for item in items if item.due and today <= item.due.date() <= end], period
    if end == today:  # items without a day and late ones count as today's
        return [item for item in items if not item.due or item.due.date() <= today], " for today"
    on_day = [item for item in items if item.due and item.due.date() == end]
    return on_day, f" for {say_day(moment.at, now)}"


def _next(asked: TodoRequest, items: list[TodoItem]) -> list[TodoItem]:
    """Return the due items that the words name, else the next due one."""
    due = sorted((item for item in items if item.due), key=lambda item: item.due or asked.now)
    named = asked.todo.find(without_nouns(asked.text), due)
    coming = [item for item in due if item.due and item.due >= asked.now]
    return named if named and len(named) < len(due) else (coming or due)[:1]


def _look(asked: TodoRequest, found: re.Match[str]) -> TodoReply | None:
    items, what = chosen(asked)
    if re.search(r"\b(?:anything|something|what|how)\b", found["what"], re.IGNORECASE):
        return None
    if not items:
        return TodoReply(nothing(asked), 0.9)
    hits = asked.todo.find(found["what"], items)
    if not hits:
        return TodoReply(f"No, {clean(found['what'])} is not on {what}.", 0.9)
    return TodoReply(f"Yes, on {what}: {listed(hits, asked.now)}.", 0.9)


def _due(asked: TodoRequest, found: re.Match[str]) -> TodoReply | None:
    """Tell when a reminder is due that is asked for by its words: "when do I meet Tom"."""
    wanted = words_of(found["what"])
    hits = [item for item in asked.todo.open if item.due and wanted <= words_of(item.text)]
    if not hits or not wanted:
        return None
    told = "; ".join(f"{item.text}, {when(item, asked.now)}" for item in hits)
    return TodoReply(f"{told[:1].upper()}{told[1:]}.", 0.93)


def _move(asked: TodoRequest, found: re.Match[str]) -> TodoReply | None:
    words, to = found["what"], found["when"] or ""
    ours = re.search(r"\b(?:reminder|task|todo|item)\b", words, re.IGNORECASE)
    named = asked.todo.find(without_nouns(words), asked.todo.open)
    if not ours and not named:
        return None
    if not asked.todo.open:
        return TodoReply(nothing(asked), 0.9)
    lengths, moment = lengths_in(to), find_moment(to, asked.now)
    if not (lengths or moment):
        if len(named) != 1:
            return None
        text = f"To when shall I move it: {named[0].text}?"
        return TodoReply(text, 0.9, asks=_due_question(text, named[0]))

    def move(asked: TodoRequest, item: TodoItem) -> str:
        due = moment.at if moment else (item.due or asked.now)
        if not moment:
            due += dt.timedelta(seconds=lengths[0].seconds)
        asked.todo.replace(item._replace(due=due))
        noted = f"Moved: {item.text}, now due" if item.due else f"Noted: {item.text},"
        return f"{noted} {say_moment(due, asked.now)}."

    return with_items(asked, words, move, 0.9, f"move {{}} {to}".strip())


def _follow_up(asked: TodoRequest) -> TodoReply | None:
    """Handle "and eggs" as another item of the list that was spoken of."""
    todo = asked.todo
    more = todo_phrases.AND_ALSO.fullmatch(asked.text)
    if more and (todo_phrases.NO_ENTRY.fullmatch(more["what"]) or _is_length(more["what"])):
        return None
    if more and not is_chat(more["what"]) and todo.open and len(todo.open) < MOST_ITEMS:
        item = todo.add(TodoItem(0, clean(more["what"]), todo.last))
        return TodoReply(f"Added to your {item.list} list: {item.text}.", 0.7, changed=True)
    return None


def _said_before(request: dict[str, Any]) -> str:
    """Return this agent's last reply if it was the last to answer; else ""."""
    utterances = request.get("utterances")
    if not isinstance(utterances, list):
        return ""
    spoken = [
        one
        for one in utterances
        if isinstance(one, dict)
        and one.get("active_skill")
        and not (one.get("attributes") or {}).get("no_answer")
    ]
    text = spoken[-1].get("text") if spoken and spoken[-1]["active_skill"] == NAME else ""
    return text if isinstance(text, str) else ""


def _around(text: str, found: re.Match[str]) -> str:
    """Return the request without the new entry, which may itself mention lists."""
    return f"{text[: found.start('what')]} {text[found.end('what') :]}"


_INTENTS: tuple[tuple[tuple[re.Pattern[str], ...], Callable[..., TodoReply | None]], ...] = (
    (todo_phrases.ADD_THERE, _add_there),
    (todo_phrases.ADD, _add),
    (todo_phrases.CLEAR_ALL, clear_all),
    (todo_phrases.CLEAR, clear),
    (todo_phrases.FINISH, finish),
    (todo_phrases.REMOVE, remove),
    (todo_phrases.MOVE, _move),
    (todo_phrases.LOOK, _look),
    (todo_phrases.DUE, _due),
    (todo_phrases.SHOW, _show),
    (todo_phrases.SHOW_LOOSELY, _show_loosely),
    (todo_phrases.ADD_WITHOUT_VERB, _add_verbless),
    (todo_phrases.REPORT, report),
    (todo_phrases.ADD_LOOSELY, _add_loosely),
    (todo_phrases.ADD_BARE, _add_bare),
    (todo_phrases.BUY, _buy),
    (todo_phrases.REMOVE_LOOSELY, remove_loosely),
    (todo_phrases.MENTION, _mention),
)
