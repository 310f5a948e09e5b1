"""The rules by which words after a turn become a whole question, the surest first.

A rule takes the words and the turn, and returns the question and how sure it is, or None.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from prolocutor_demo.follow_ups import slots
from prolocutor_demo.follow_ups.certainty import GUESS, LIKELY, SURE, Found
from prolocutor_demo.follow_ups.dates import dated
from prolocutor_demo.follow_ups.last_turn import LastTurn
from prolocutor_demo.follow_ups.pronouns import resolved
from prolocutor_demo.follow_ups.remarks import Remark
from prolocutor_demo.follow_ups.replacing import (
    added,
    counted,
    expressed,
    paired,
    phrased,
    renamed,
    with_phrase,
)
from prolocutor_demo.follow_ups.results import continued_sum, value_of

Rule = Callable[[Remark, LastTurn], Found]

_REPEAT: Final = re.compile(
    r"(?:(?:do you |have you |you )?(?:have|got|know) (?:any )?)?(?:(?:do|say|try|roll|flip"
    r"|toss|throw|tell|give|spin|pick|choose|draw|run"
    r"|play) (?:me )?)?(?:that |it |this |them )?"
    r"(?:again|once (?:more|again)|one more(?: time)?|another(?: one| time)?|a second time"
    r"|(?:the )?same again|more|one more of (?:those|these|them)|a new one|a different one"
    r"|something else)"
    r"|repeat(?: (?:that|it|this|how \w+|the \w+))?|(?:how \w+|what) was (?:that|it) again"
    r"|more of (?:those|these|that)|re-?(?:roll|flip)|(?:do"
    r"|try) (?:that|it|this) over",
    re.IGNORECASE,
)
_ANOTHER: Final = re.compile(
    r"(?:(?:tell|give|show) me )?(?:another|one more|a new|a different|more) (?P<noun>[\w-]+)",
    re.IGNORECASE,
)
_ONE_MORE: Final = re.compile(
    r"(?:something(?= about (?!you|me|my))"
    r"|(?:(?:tell|give|set|make|start|add|show|create|get|do) (?:me )?)?(?:another(?: one)?"
    r"|one(?: more)?|a new one|some more|more|a second one))\s+(?P<what>(?:about|for"
    r"|with|of"
    r"|on|at|in|to|from|between)\b(?! (?:those|these|your|the|my)\b).+)",
    re.IGNORECASE,
)
_TIMER: Final = re.compile(r"\btimer\b", re.IGNORECASE)
_HOW_MANY_THAT: Final = re.compile(
    r"how (?:many|much) (?P<unit>[\w]+(?: [\w]+)?) (?:is|are|would) (?:that|it|this|those)(?: be)?",
    re.IGNORECASE,
)
_SWAP: Final = re.compile(
    r"(?:and |what about )?(?:the )?(?:other way(?: a?round)?|vice versa|the reverse"
    r"|reverse(?: (?:that|it))?|backwards?|the opposite direction|in reverse|swap(?: (?:them"
    r"|it|that))?"
    r"|(?:and )?(?:the )?other direction|(?:switch|turn) (?:it|that|them) around"
    r"|round the other way|back again)",
    re.IGNORECASE,
)
_CONVERT: Final = re.compile(
    r"(?:(?:can you |could you |please )*(?:convert|change|turn|put|translate|express|show"
    r"|give|tell|say)(?: me)? (?:that|it|this|them|these|those)"
    r"|(?:what|how much|how many|how far|how long|how heavy|how big|how tall)(?:'s| is| are"
    r"| would)? (?:that|it|this)(?: be)?|that|it) (?P<to>(?:in|to|into|as) .+)",
    re.IGNORECASE,
)
_PAIR: Final = re.compile(
    r"(?P<first>[\w.'-]+(?: [\w.'-]+)?) (?P<by>or|and|vs\.?"
    r"|versus) (?P<second>[\w.'-]+(?: [\w.'-]+)?)",
    re.IGNORECASE,
)
_IN_PLACES: Final = re.compile(r"time|date|weather", re.IGNORECASE)
_LOOSE: Final = re.compile(r"(?:time|date|weather|people|name|.*holiday)s?", re.IGNORECASE)
"""Properties of much that is asked for without naming an owner."""
_OF_NUMBERS: Final = re.compile(
    r"root|square|cube|half|third|quarter|double|factorial", re.IGNORECASE
)


def repeats(remark: Remark, turn: LastTurn) -> Found:
    """ "Again", "another one": the same once more; "another about cats": the same about cats."""
    rest = f"{remark.rest} again".strip() if remark.again else remark.rest
    if _REPEAT.fullmatch(rest):
        return turn.question, SURE
    same = _ANOTHER.fullmatch(remark.rest)
    if same and re.search(
        rf"\b{re.escape(same['noun'].rstrip('s'))}", turn.question, re.IGNORECASE
    ):
        return turn.question, SURE
    if more := _ONE_MORE.fullmatch(remark.rest):
        if _TIMER.search(turn.question):
            return f"set a timer {more['what']}", SURE
        lasts = re.search(rf" (?:for|of|in) (?:{slots.MEASURE.pattern})", turn.question)
        if lasts and slots.MEASURE.search(more["what"]) and " " in more["what"].strip():
            return f"{turn.question[: lasts.start()]} {more['what']}", SURE
        return with_phrase(more["what"], turn.question) or slots.attach(
            turn.question, more["what"]
        ), SURE
    return None


def swaps(remark: Remark, turn: LastTurn) -> Found:
    """ "The other way round": the two slots of a question in each other's place."""
    if not _SWAP.fullmatch(remark.rest):
        return None
    question = turn.question
    found = [
        one for one in slots.phrases(question) if one[0] in ("to", "in", "into", "than", "from")
    ]
    measure = next(slots.MEASURE.finditer(question), None)
    if measure and found:
        number = slots.NUMBER.match(measure[0])
        _, _, (start, end) = found[-1]
        lead = found[-1][1][0]
        if number and measure.end() <= start:
            unit_start = measure.start() + number.end()
            unit = question[unit_start:lead].strip(" -")
            target = f"{question[start:end]} {question[lead:start]}{unit}"
            return f"{question[:unit_start]} {target}{question[end:]}", SURE
    if len(found) > 1:
        (_, _, one), (_, _, two) = found[-2:]
        return _crossed(question, one, two), SURE
    if pair := _PAIR.search(question):
        return _crossed(question, pair.span("first"), pair.span("second")), LIKELY
    if found and (count := slots.how_many_slot(question)):
        return _crossed(question, count, found[-1][2]), LIKELY
    return None


def _crossed(text: str, one: slots.Span, two: slots.Span) -> str:
    first, second = sorted((one, two))
    between = text[first[1] : second[0]]
    swapped = f"{text[slice(*second)]}{between}{text[slice(*first)]}"
    return f"{text[: first[0]]}{swapped}{text[second[1] :]}"


def sums(remark: Remark, turn: LastTurn) -> Found:
    """ "Divided by 7": the last result goes on."""
    found = continued_sum(remark, turn)
    return (found, SURE) if found else None


def converts(remark: Remark, turn: LastTurn) -> Found:
    """ "Convert that to miles": the amount of the last question, or of its answer."""
    if many := _HOW_MANY_THAT.fullmatch(remark.rest):
        if count := slots.how_many_slot(turn.question):
            return slots.put(turn.question, count, many["unit"]), SURE
        if span := slots.last(slots.MEASURE, turn.question):
            return f"convert {turn.question[slice(*span)]} to {many['unit']}", SURE
    if both := re.fullmatch(r".* (?:that|it) (?P<to>(?:in)?to .+) from (?P<of>.+)", remark.rest):
        value = value_of(turn.reply)
        return (f"convert {value} {both['of']} {both['to']}", SURE) if value else None
    back = re.fullmatch(r"back (?P<to>(?:in|to|into) .+)", remark.rest, re.IGNORECASE)
    if back and (amount := value_of(turn.reply, units=True)):
        return f"convert {amount} {back['to']}", SURE
    said = _CONVERT.fullmatch(remark.rest)
    if said is None:
        return None
    measure = slots.last(slots.MEASURE, turn.question)
    if measure is None:
        amount = value_of(turn.reply, units=True)
        return (f"convert {amount} {said['to']}", SURE) if amount else None
    return f"convert {turn.question[slice(*measure)]} {said['to']}", SURE


def related(remark: Remark, turn: LastTurn) -> Found:
    """ "And its population?", "what's the capital?": another property of the same thing."""
    rest = re.sub(
        r"^(?:(?:what|who|how)(?:'s|s| is| are| about)? |(?:tell|give|show) me "
        r"|(?:do you )?(?:know|have) )",
        "",
        remark.rest,
        flags=re.IGNORECASE,
    )
    said = re.fullmatch(
        rf"(?P<own>its|their|the|his|her|a|an|any|some)?\s*(?P<relation>{slots.RELATIONS})",
        rest,
        re.IGNORECASE,
    )
    if said is None:
        return None
    loose = _LOOSE.fullmatch(said["relation"]) and not remark.joined
    if loose or _OF_NUMBERS.search(said["relation"]):
        return None
    old = slots.relation_slot(turn.question)
    known = old is not None or slots.word_slot(turn.question) is not None
    led = rest != remark.rest
    if said["own"] is None and not (remark.goes_on or remark.asks or known):
        return None
    sure = SURE if remark.goes_on or said["own"] or (led and known) else GUESS
    if _IN_PLACES.match(said["relation"]):
        old = None
    topic = turn.question[slice(*old[1])] if old else topic_of(turn)
    return (_property(said["relation"], topic), sure) if topic else None


def _property(relation: str, owner: str) -> str:
    of = "in" if _IN_PLACES.match(relation) else "of"
    return f"what {'are' if relation.lower().endswith('s') else 'is'} the {relation} {of} {owner}"


def topic_of(turn: LastTurn) -> str:
    """Return the topic of the last turn; "" if it is not clear."""
    if turn.entities:
        return turn.entities[0]
    span = next(slots.topics(turn.question), None)
    return turn.question[slice(*span)].strip(" '\"") if span else ""


def referred(remark: Remark, turn: LastTurn) -> Found:
    """ "How many people live there", "spell it": what the pronoun stands for is said."""
    whole = resolved(remark, turn, topic_of(turn))
    return (whole, SURE) if whole else None


RULES: Final[tuple[Rule, ...]] = (
    repeats,
    swaps,
    sums,
    converts,
    added,
    dated,
    counted,
    expressed,
    related,
    phrased,
    paired,
    referred,
    renamed,
)
