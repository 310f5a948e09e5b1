"""Finds the timers that a request refers to, and formats them."""

import datetime as dt
import re
from typing import Final, NamedTuple

from prolocutor_demo.reading.accents import without_accents
from prolocutor_demo.reading.asking import Question
from prolocutor_demo.reading.when.lengths import Length, lengths_in, number_of, say_length
from prolocutor_demo.reading.when.moments import say_moment
from prolocutor_demo.timer import timer_phrases
from prolocutor_demo.timer.timers import LONGEST_NAME, Timer


class TimerReply(NamedTuple):
    """The timer agent's reply: text, confidence, and the new timers if they change."""

    text: str
    confidence: float
    timers: list[Timer] | None = None  # None if unchanged
    asks: Question | None = None


class TimerRequest(NamedTuple):
    """A request to the timer agent: bare text, current timers, time, and an id for a new timer."""

    text: str
    timers: list[Timer]
    now: dt.datetime
    new_id: str
    before: str  # this agent's last reply; "" if another agent spoke last


def timers_meant(asked: TimerRequest) -> list[Timer]:
    """Return the timers with the names, lengths or places in the text; all if it has none."""
    if named := timers_named(asked):
        return named
    if name_said(asked):
        return []
    said = {length.seconds for length in lengths_said(asked)}
    if meant := [one for one in asked.timers if one.duration_s in said]:
        return meant
    place = timer_phrases.PLACE.search(asked.text)
    return timers_at(place["place"].lower(), asked) if place else asked.timers


def timers_named(asked: TimerRequest) -> list[Timer]:
    """Return the timers of whose names the text has a word."""
    said = stems_of(asked.text)
    return [one for one in asked.timers if said & stems_of(one.name)]


def timers_at(place: str, asked: TimerRequest) -> list[Timer]:
    """Return the timer at a place among all, such as "second", "other", "longest"."""
    timers = asked.timers
    if place == "other":
        spoken = stems_of(asked.before)
        return [one for one in timers if not stems_of(title_of(one, asked)) <= spoken] or timers
    if place in timer_phrases.PLACES:
        at = timer_phrases.PLACES.index(place)
        return timers[at : at + 1]
    if place == "last":
        return timers[-1:]
    ordered = sorted(timers, key=lambda one: one.duration_s)
    return ordered[:1] if place.startswith("short") else ordered[-1:]


def are_several(meant: list[Timer], asked: TimerRequest) -> bool:
    """Return whether a request is about each of several timers: all, or each by its name."""
    if timer_phrases.ALL.search(asked.text):
        return True
    said = stems_of(asked.text)
    names = [stems_of(one.name) & said for one in meant]
    return all(names) and len({*map(frozenset, names)}) == len(names)


def with_noun(asked: TimerRequest) -> TimerRequest:
    """Return a request with the noun where it is left out: "the first one", "the pasta"."""
    text = asked.text
    if timer_phrases.NOUN.search(text):
        return asked
    names = {stem for one in asked.timers for stem in stems_of(one.name)}
    if names & stems_of(text):
        for word in reversed([*_WORD.finditer(text)]):
            if stems_of(word[0]) & names:
                rest = timer_phrases.ONES.sub("", text[word.end() :], count=1)
                return asked._replace(text=f"{text[: word.end()]} timer{rest}")
    if not asked.before:
        return asked
    return asked._replace(text=timer_phrases.LEFT_OUT.sub(timer_phrases.noun_put, text, count=1))


def stems_of(text: str) -> set[str]:
    """Return the words of a text in small letters, without endings of the plural."""
    return {_PLURAL.sub("", one) for one in _NAME.findall(without_accents(text.lower()))}


_NAME: Final = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_WORD: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_PLURAL: Final = re.compile(r"(?<=\w\w)(?:(?<=[sxzo])es|(?<=[sc]h)es|(?<!s)s)$")


def none_running(asked: TimerRequest) -> str:
    """Return that no such timer runs, and which others do."""
    name = name_said(asked)
    others = [timer for timer in asked.timers if timer.left(asked.now) > 0]
    if name and others:
        return f"You have no {name} timer, but: " + " ".join(state_of(one, asked) for one in others)
    return "You have no timer running."


def ask_which(timers: list[Timer], asked: TimerRequest, request: str) -> TimerReply:
    """Return the question which of several timers a request, with its title as `{}`, is about."""
    titles = [title_of(timer, asked) for timer in timers]
    text = f"Which one: {', '.join(titles)}?"
    question = Question(text, request, choices=[(one, one) for one in titles])
    return TimerReply(text, 0.85, asks=question)


def title_of(timer: Timer, asked: TimerRequest) -> str:
    """Return a timer's title: "pasta timer", "timer", of several unnamed "5 minute timer"."""
    nameless = [one for one in asked.timers if not one.name and one.alarm == timer.alarm]
    if timer.name or len(nameless) < 2:
        return timer.title()
    return f"{say_length(timer.duration_s)} {timer.title()}".replace("s ", " ")


def state_of(timer: Timer, asked: TimerRequest) -> str:
    """Return the time left on a timer, or the time since it ended."""
    title, left = capital(title_of(timer, asked)), timer.left(asked.now)
    if timer.due is None:
        return f"{title}: paused with {say_length(left)} left."
    if left <= 0:
        return f"{title}: ended {say_length(-left)} ago."
    return f"{title}: {say_length(max(1.0, left))} left, {until(timer, asked)}."


def until(timer: Timer, asked: TimerRequest) -> str:
    """Return the end as "until 13:05", with the day or the seconds where needed."""
    if timer.due is None:
        return "paused"
    due = timer.due.astimezone(asked.now.tzinfo)
    if due.date() != asked.now.date():
        return f"until {say_moment(due, asked.now)}"
    return f"until {due:%H:%M:%S}" if due.second else f"until {due:%H:%M}"


def lengths_said(asked: TimerRequest) -> list[Length]:
    """Return the lengths of time in the text."""
    if seconds := timer_phrases.SECONDS.fullmatch(asked.text):
        return [Length(seconds.start(1), seconds.end(1), float(seconds[1]))]
    if minutes := timer_phrases.MINUTES.search(asked.text):
        place = 1 if minutes[1] else 2
        return [Length(*minutes.span(place), 60 * number_of(minutes[place]))]
    return lengths_in(timer_phrases.LISTED.sub(r"\1 \g<unit>", asked.text), clock=True)


def lengths_too_long(asked: TimerRequest) -> bool:
    """Return whether the text has a length of time above the limit."""
    return not lengths_said(asked) and bool(lengths_in(asked.text, longest=float("inf")))


def name_said(asked: TimerRequest) -> str:
    """Return the name of the timer in the text: "pasta" in "what is left on the pasta timer"."""
    patterns = (
        timer_phrases.NAMED,
        timer_phrases.NAMED_FOR,
        timer_phrases.NAMED_LAST,
        timer_phrases.NAMED_BEFORE,
    )
    for pattern in patterns:
        for found in pattern.finditer(asked.text):
            name = found["name"].lower().strip("'-")
            if name and name not in timer_phrases.NO_NAME and not lengths_in(f"1 {name}"):
                return name[:LONGEST_NAME]
    return ""


def new_name(asked: TimerRequest) -> str:
    """Return the name for a new timer, read outside the length of time."""
    text = timer_phrases.LISTED.sub(r"\1 \g<unit>", asked.text)
    for length in reversed(lengths_said(asked)):
        text = f"{text[: length.start]} {text[length.end :]}"
    text = " ".join(text.split()).strip(" ,.;")
    if name := name_said(asked._replace(text=text)):
        return name
    after = timer_phrases.NAMED_AFTER.fullmatch(text)
    name = after["name"].lower() if after and lengths_said(asked) else ""
    return "" if name in timer_phrases.NO_NAME else name[:LONGEST_NAME]


def capital(text: str) -> str:
    """Return the text with its first letter capitalized."""
    return text[:1].upper() + text[1:]
