"""The timer agent: sets timers and alarms, and says how long is left."""

import datetime as dt
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from prolocutor_demo.reading.asking import Question, asking
from prolocutor_demo.reading.courtesy import bare
from prolocutor_demo.reading.request import (
    attributes_of,
    id_before,
    id_of,
    is_correction,
    now_of,
    said_of,
    text_of,
    words_of_follow_up,
)
from prolocutor_demo.reading.when.lengths import NUMBER, UNIT, Length, lengths_in, say_length
from prolocutor_demo.reading.when.moments import find_moment, say_moment
from prolocutor_demo.timer import timer_phrases
from prolocutor_demo.timer.timer_ringing import ringing
from prolocutor_demo.timer.timer_words import (
    TimerReply,
    TimerRequest,
    are_several,
    ask_which,
    capital,
    lengths_said,
    lengths_too_long,
    new_name,
    none_running,
    state_of,
    timers_meant,
    timers_named,
    title_of,
    until,
    with_noun,
)
from prolocutor_demo.timer.timers import MOST_TIMERS, Timer, read_timers, timers_to_json

NAME = "timers"
SKILL = "timer"
HOW_LONG = "For how long?"
FOR_WHEN = "For when?"
_JOINTS = frozenset("and plus a an another one timer timers for of".split())
MOST_AT_ONCE = 3
AS_LENGTH = "I need a length of time, for example: 10 minutes."
AS_HOUR = "I need a time, for example: tomorrow at 7:30."
DECLINE = "I only look after timers."


def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Set, show, change and cancel timers; decline all else."""
    now = now_of(request)
    timers = read_timers(attributes_of(request).get(NAME), now)
    text = timer_phrases.SPACED.sub(r"\1,", bare(text_of(request)))
    text = timer_phrases.HOUR_AND.sub(r"\1 minutes", text)
    asked = TimerRequest(text, timers, now, _new_id(request, now), _before(request))
    reply = (
        _corrected(asked, request)
        or _told_again(asked, request)
        or _replies(asked)
        or _reply(asked)
        or TimerReply(DECLINE, 0.05)
    )
    hypothesis: dict[str, Any] = {"text": reply.text, "confidence": reply.confidence}
    if reply.timers is not None:
        hypothesis["human_attributes"] = {NAME: timers_to_json(reply.timers)}
        hypothesis |= ringing(timers, reply.timers, now)
    return [asking(hypothesis, reply.asks)]


def _told_again(asked: TimerRequest, request: dict[str, Any]) -> TimerReply | None:
    """Handle "what about the pasta?" where it would mean to set a timer that runs already."""
    said = asked._replace(text=bare(said_of(request)))
    if said.text == asked.text or lengths_said(said) or not timers_named(said):
        return None
    return _reply(said) if timer_phrases.SET.fullmatch(asked.text) else None


def _replies(asked: TimerRequest) -> TimerReply | None:
    """Handle several requests in one text in order, if each is understood."""
    parts = timer_phrases.AND_THEN.split(asked.text)
    if not 1 < len(parts) <= MOST_AT_ONCE:
        return None
    replies: list[TimerReply] = []
    timers = asked.timers
    for place, part in enumerate(parts):
        each = asked._replace(
            text=part, timers=timers, before=asked.before or part, new_id=f"{asked.new_id}.{place}"
        )
        reply = _reply(each)
        if reply is None:
            return None
        timers = timers if reply.timers is None else reply.timers
        replies.append(reply)
    asks = next((reply.asks for reply in replies if reply.asks), None)
    return TimerReply(" ".join(reply.text for reply in replies), 0.95, timers, asks)


def _reply(asked: TimerRequest) -> TimerReply | None:
    if not asked.text or len(asked.text) > 200 or timer_phrases.ELSEWHERE.search(asked.text):
        return None
    if timer_phrases.WAKE.fullmatch(asked.text):
        return _for_when()
    if reset := _reset(asked):
        return reset
    full = with_noun(asked)
    if timer_phrases.SET.fullmatch(full.text) and (impossible := _impossible(full)):
        return impossible
    for pattern, do in _INTENTS:
        unlike = pattern is timer_phrases.LEFT and full.text != asked.text
        if unlike and not timer_phrases.REMAINS.fullmatch(full.text):
            continue
        if pattern.fullmatch(full.text) and (reply := do(full)):
            return reply
    return _follow_up(asked)


def _corrected(asked: TimerRequest, request: dict[str, Any]) -> TimerReply | None:
    """Handle "no, make it 15" and "scratch that": the timers of the turn before are taken back."""
    if not (asked.before and is_correction(request) and (before := id_before(request)[:32])):
        return None
    wrong = [one for one in asked.timers if one.id.partition("-")[0] == before]
    if not any(one.left(asked.now) > 0 for one in wrong):
        return None
    rest = [one for one in asked.timers if one not in wrong]
    reply = _reply(asked._replace(timers=rest))
    if reply is not None and reply.timers is not None and len(reply.timers) == len(rest) + 1:
        return reply
    if words_of_follow_up(request):
        return None
    return TimerReply(f"Cancelled: {' and '.join(one.title() for one in wrong)}.", 0.95, rest)


def _follow_up(asked: TimerRequest) -> TimerReply | None:
    """Handle "add 5 minutes" while a timer runs, and "pause it" after a reply about one."""
    running = [timer for timer in asked.timers if timer.left(asked.now) > 0]
    if not running:
        return None
    if timer_phrases.FIRST.fullmatch(asked.text):
        ends = min(running, key=lambda timer: timer.left(asked.now))
        return TimerReply(state_of(ends, asked), 0.9 if asked.before else 0.65)
    if timer_phrases.RUNS.fullmatch(asked.text):
        lines = [state_of(timer, asked) for timer in running]
        return TimerReply("\n".join(lines), 0.75 if asked.before else 0.6)
    if timer_phrases.STILL.fullmatch(asked.text) and (reply := _left(asked)):
        return reply._replace(confidence=0.75)
    if timer_phrases.MORE.fullmatch(asked.text) and (reply := _extend(asked)):
        return reply._replace(confidence=0.7)
    changes = {"cancel": _cancel, "pause": _pause, "resume": _resume, "restart": _restart}
    for name, pattern in timer_phrases.JUST.items():
        if asked.before and pattern.fullmatch(asked.text):
            reply = changes.get(name, _left)(asked)
            return reply._replace(confidence=0.75) if reply else None
    return None


def _set_if_length(asked: TimerRequest) -> TimerReply | None:
    """Start a timer if the text is no question and names a length or an end."""
    if timer_phrases.QUESTION.match(asked.text):
        return None
    timed = lengths_said(asked) or (
        timer_phrases.ALARM.search(asked.text) and find_moment(asked.text, asked.now)
    )
    return _set(asked) if timed else None


def _set(asked: TimerRequest) -> TimerReply | None:
    """Start one timer or several, or ask for the length."""
    if timer_phrases.ALARM.search(asked.text) or not (lengths := lengths_said(asked)):
        return _set_until(asked)
    text = timer_phrases.LISTED.sub(r"\1 \g<unit>", asked.text)
    if unit := re.search(NUMBER + rf" ?({UNIT})\b", text, re.IGNORECASE):
        text = timer_phrases.UNITLESS.sub(rf"\g<0> {unit[1]}", text)
    asked = asked._replace(text=text)
    lengths = lengths_said(asked)
    parts = _split_lengths(asked.text, lengths)
    if len(parts) == 1:
        return _started(asked, [(new_name(asked), lengths[0].seconds)])
    names = [new_name(asked._replace(text=_one_timer(part))) for part in parts]
    wanted = [(name, one.seconds) for name, one in zip(names, lengths, strict=True)]
    return _started(asked, wanted[:5])


def _split_lengths(text: str, lengths: list[Length]) -> list[str]:
    """Return the parts of a text with a length each; the text where they are of one timer."""
    cuts = [0]
    for one, other in pairwise(lengths):
        joints = [*timer_phrases.JOINT.finditer(text, one.end, other.start)]
        joints = joints or [*timer_phrases.ANOTHER.finditer(text, one.end, other.start)]
        if not joints:
            return [text]
        cuts.append(joints[-1].end())
    return [text[start:end] for start, end in pairwise([*cuts, len(text)])]


def _one_timer(part: str) -> str:
    """Return the request for one timer of several: "one for 5 minutes" as "timer for 5 minutes"."""
    part = _without_joint(timer_phrases.LEAD.sub("", part).rstrip(" ,.;"))
    return part if timer_phrases.NOUN.search(part) else f"timer for {part}"


def _impossible(asked: TimerRequest) -> TimerReply | None:
    """Return why a timer cannot have this length; None if it can."""
    if timer_phrases.QUESTION.match(asked.text):
        return None
    if timer_phrases.BELOW_ZERO.search(asked.text):
        return TimerReply("A timer runs forwards: tell me a length of a second or more.", 0.9)
    if timer_phrases.TOO_LONG.search(asked.text) and timer_phrases.NOUN.search(asked.text):
        return TimerReply("That is too long for me: I run timers of less than a year.", 0.9)
    if lengths_too_long(asked):
        return TimerReply("That is too long for me: I run timers of less than a year.", 0.9)
    return None


def _set_until(asked: TimerRequest) -> TimerReply | None:
    lengths = lengths_said(asked)
    early = re.search(r"\b(?:wake|alarm)\b", asked.text, re.IGNORECASE) is not None
    said = timer_phrases.FOR_HOUR.sub("at ", asked.text) if early else asked.text
    moment = find_moment(said, asked.now, early)
    name = new_name(asked)
    if moment is None and lengths:
        return _started(asked, [(name, lengths[0].seconds)])
    if moment is None:
        if not timer_phrases.NOUN.search(asked.text):
            return None
        if early:
            return _for_when()
        title = f"{name} timer" if name else "timer"
        article = "an" if title[0] in "aeiou" else "a"
        asks = Question(HOW_LONG, f"set a {title} for {{}}", AS_LENGTH)
        return TimerReply(f"I can set {article} {title}. {HOW_LONG}", 0.9, asks=asks)
    seconds = (moment.at - asked.now).total_seconds()
    if seconds <= 0:
        return TimerReply("That moment has gone by.", 0.8)
    timer = Timer(asked.new_id, name, moment.at, seconds, alarm=early)
    if full := _full(asked, 1):
        return full
    at = say_moment(moment.at, asked.now)
    text = f"{capital(timer.title())} set for {at}, in {say_length(seconds)}."
    return TimerReply(text, 0.93, [*asked.timers, timer])


def _without_joint(text: str) -> str:
    """Return a text without the words at its end that lead to another timer."""
    words = text.split()
    while words and words[-1].lower().strip(",") in _JOINTS:
        words.pop()
    return " ".join(words)


def _for_when() -> TimerReply:
    asks = Question(FOR_WHEN, "set an alarm for {}", AS_HOUR)
    return TimerReply(f"I can set an alarm. {FOR_WHEN}", 0.9, asks=asks)


def _started(asked: TimerRequest, wanted: list[tuple[str, float]]) -> TimerReply:
    if full := _full(asked, len(wanted)):
        return full
    started = [
        Timer(
            asked.new_id + (f"-{index}" if index else ""),
            name,
            asked.now + dt.timedelta(seconds=seconds),
            seconds,
        )
        for index, (name, seconds) in enumerate(wanted)
    ]
    said = [
        f"{capital(timer.title())} set for {say_length(timer.duration_s)}, {until(timer, asked)}."
        for timer in started
    ]
    return TimerReply(" ".join(said), 0.96, [*asked.timers, *started])


def _full(asked: TimerRequest, more: int) -> TimerReply | None:
    if len(asked.timers) + more <= MOST_TIMERS:
        return None
    return TimerReply(f"You have {len(asked.timers)} timers already; cancel some first.", 0.9)


def _left(asked: TimerRequest) -> TimerReply | None:
    """Return the time left on the timers in question."""
    timers = timers_meant(asked)
    if not timers and timer_phrases.ONE.fullmatch(asked.text):
        return _set_until(asked)
    if not timers:
        return TimerReply(none_running(asked), 0.9)
    lines = [state_of(timer, asked) for timer in timers]
    return TimerReply("\n".join(lines), 0.93)


def _cancel(asked: TimerRequest) -> TimerReply | None:
    meant = timers_meant(asked)
    if not meant:
        return TimerReply(none_running(asked), 0.9)
    every = are_several(meant, asked)
    running = [timer for timer in meant if timer.left(asked.now) > 0] or meant
    if len(running) > 1 and not every:
        return ask_which(running, asked, "cancel the {}")
    gone = meant if every else running
    rest = [timer for timer in asked.timers if timer not in gone]
    names = " and ".join(title_of(timer, asked) for timer in gone)
    return TimerReply(f"Cancelled: {names}.", 0.93, rest)


def _pause(asked: TimerRequest) -> TimerReply | None:
    def pause(timer: Timer) -> tuple[str, Timer]:
        left = timer.left(asked.now)
        paused = timer._replace(due=None, left_s=left)
        return f"{capital(title_of(timer, asked))} paused with {say_length(left)} left.", paused

    return _change(asked, pause, "pause the {}")


def _resume(asked: TimerRequest) -> TimerReply | None:
    def resume(timer: Timer) -> tuple[str, Timer]:
        due = asked.now + dt.timedelta(seconds=timer.left(asked.now))
        going = timer._replace(due=due, left_s=0.0)
        left = say_length(going.left(asked.now))
        return (
            f"{capital(title_of(timer, asked))} goes on: {left} left, {until(going, asked)}.",
            going,
        )

    return _change(asked, resume, "resume the {}")


def _restart(asked: TimerRequest) -> TimerReply | None:
    def restart(timer: Timer) -> tuple[str, Timer]:
        due = asked.now + dt.timedelta(seconds=timer.duration_s)
        again = timer._replace(due=due, left_s=0.0)
        length = say_length(timer.duration_s)
        return (
            f"{capital(title_of(timer, asked))} starts again: {length}, {until(again, asked)}.",
            again,
        )

    return _change(asked, restart, "restart the {}", ended=True)


def _reset(asked: TimerRequest) -> TimerReply | None:
    """Give the only timer that runs another length: "put the timer on 8"; None for other texts."""
    found = timer_phrases.RESET.fullmatch(asked.text)
    running = [one for one in timers_meant(asked) or asked.timers if one.left(asked.now) > 0]
    if found is None or len(running) != 1:
        return None
    (timer,) = running
    unit = found["unit"] or _unit_of(timer.duration_s)
    (length,) = lengths_in(f"{found['length']} {unit}") or (None,)
    if length is None:
        return None
    due = asked.now + dt.timedelta(seconds=length.seconds)
    other = timer._replace(due=due, duration_s=length.seconds, left_s=0.0)
    said = f"{capital(timer.title())} set for {say_length(length.seconds)}, {until(other, asked)}."
    return TimerReply(said, 0.95, [other if one is timer else one for one in asked.timers])


def _unit_of(seconds: float) -> str:
    """Return the largest unit of which a length of time has a whole number."""
    return next(name for name, size in _UNITS if seconds % size == 0)


_UNITS = (("hours", 3600), ("minutes", 60), ("seconds", 0.001))


def _extend(asked: TimerRequest) -> TimerReply | None:
    lengths = lengths_said(asked)
    if not lengths:
        return None
    shorter = re.search(r"\b(?:take|remove|subtract|less|shorten)\b", asked.text, re.IGNORECASE)
    seconds = -lengths[0].seconds if shorter else lengths[0].seconds

    def extend(timer: Timer) -> tuple[str, Timer]:
        due = timer.due + dt.timedelta(seconds=seconds) if timer.due else None
        left_s = max(0.0, timer.left_s + seconds) if timer.due is None else 0.0
        duration = max(0.0, timer.duration_s + seconds)
        other = timer._replace(due=due, left_s=left_s, duration_s=duration)
        left = say_length(other.left(asked.now))
        return f"{capital(title_of(timer, asked))}: {left} left now, {until(other, asked)}.", other

    way = "shorten" if shorter else "extend"
    return _change(asked, extend, f"{way} the {{}} by {say_length(lengths[0].seconds)}")


def _change(
    asked: TimerRequest,
    change: Callable[[Timer], tuple[str, Timer]],
    request: str,
    *,
    ended: bool = False,
) -> TimerReply:
    """Change the timers in question, or say why not."""
    meant = [timer for timer in timers_meant(asked) if ended or timer.left(asked.now) > 0]
    if not meant:
        return TimerReply(none_running(asked), 0.9)
    if len(meant) > 1 and not are_several(meant, asked):
        return ask_which(meant, asked, request)
    done = {one.id: change(one) for one in meant}
    text = " ".join(said for said, _ in done.values())
    return TimerReply(text, 0.93, [done.get(one.id, ("", one))[1] for one in asked.timers])


def _new_id(request: dict[str, Any], now: dt.datetime) -> str:
    """Return the id for a timer set in this turn; the same if the turn runs again."""
    return id_of(request)[:32] or f"{now:%Y%m%d%H%M%S%f}"


def _before(request: dict[str, Any]) -> str:
    utterances = request.get("utterances")
    if not isinstance(utterances, list):
        return ""
    spoken = [one for one in utterances if isinstance(one, dict) and one.get("active_skill")]
    text = spoken[-1].get("text") if spoken and spoken[-1]["active_skill"] == SKILL else ""
    return text if isinstance(text, str) else ""


_INTENTS: tuple[tuple[re.Pattern[str], Callable[[TimerRequest], TimerReply | None]], ...] = (
    (timer_phrases.EXTEND, _extend),
    (timer_phrases.CANCEL, _cancel),
    (timer_phrases.PAUSE, _pause),
    (timer_phrases.RESUME, _resume),
    (timer_phrases.RESTART, _restart),
    (timer_phrases.SET, _set_if_length),
    (timer_phrases.LEFT, _left),
    (timer_phrases.START, _set),
)
