"""Pronouns: words that stand for something of the turn before, replaced by it."""

from __future__ import annotations

import re
from typing import Final

from prolocutor_demo.follow_ups import slots
from prolocutor_demo.follow_ups.last_turn import LastTurn
from prolocutor_demo.follow_ups.remarks import Remark

_ITS: Final = re.compile(
    r"\b(?:its|their|his|her)\s+(?P<noun>(?!own\b)[a-z]+(?: (?!(?:and|or)\b)[a-z]+)?)\b",
    re.IGNORECASE,
)
_THERE: Final = re.compile(
    r"\b(?P<before>(?!(?:hi|hello|in|over|out|up|down|from|right|is|are|was|go|be|get)\b)[\w'’]+) "
    r"(?:over )?there\b(?=\s*(?:[?!.]|$)|\s+(?:now|today|tomorrow|too|then|right now)\b)"
    r"|\b(?P<is>(?:is|are) (?:it|that|they)) there\b",
    re.IGNORECASE,
)
_EXISTS: Final = re.compile(r"(?:is|are|was|were) there\b(?! *\??$)", re.IGNORECASE)
_THEY: Final = re.compile(
    r"\bdo they (?P<verb>use|speak|have|pay|eat|need|call|celebrate)\b", re.IGNORECASE
)
_THEN: Final = re.compile(
    r"\b(?P<before>until|till|to|before|after|since|on|by|from) (?:then|that (?:day|date)|it"
    r"|that)\b",
    re.IGNORECASE,
)
_ENDS: Final = (
    r"(?=\s*(?:[?!.]|$)|\s+(?:in|to|on|from|for|with|at|as|off|out|up|please|now|again|by|into"
    r"|too|and)\b|\s+mean[?!. ]*$)"
)
_OBJECT: Final = re.compile(
    r"\b(?P<verb>remove|delete|cancel|stop|pause|resume|restart|start|end|kill|clear|drop|cross"
    r"|check|mark|tick|spell|define|use|explain|translate|extend|snooze|show|open|play|call"
    r"|pronounce|finish|complete|rename|move|change|of|for|about|on|with|in|like|than|does|did) "
    rf"(?:it|that|this|them|those|that one|this one|that word|this word)\b{_ENDS}",
    re.IGNORECASE,
)
_ASKED: Final = re.compile(
    r"(?P<lead>\b(?:how (?!(?:long|late|far|is)\b)\w+|where|who|when) (?:is|was|are|were)|^is) "
    r"(?:it|that|this|they)(?P<rest>[?!. ]*$| (?:called|located|made|used|bigger|smaller|larger"
    r"|older|part|near|on|close|famous)\b.*)",
    re.IGNORECASE,
)
_DOES: Final = re.compile(
    r"(?P<does>\b(?:which|what|how many|how much) [\w ]*?\b(?:does|did)) (?:it|that) "
    r"(?=(?:border|have|own|use|belong|share|contain|include|consist|need|cover|produce|get)\b)",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(
    r"\S+ \S+ .*[,.;:] .*\b(?:it|that|this|there|they|them|those|its|their)\b"
    r"|(?:if|my|the|an?) (?:\w+ ){3,}.*\b(?:it|that|they)\b|.*\ban? \w+ with an? \w+ .*\bit\b",
    re.IGNORECASE,
)
_NAME_INSIDE: Final = re.compile(r"\s[A-Z][a-z]+")
_OWN_PLACE: Final = re.compile(r"\bwhere\b|\b(?:in|at|to) \w", re.IGNORECASE)
_DROPS: Final = re.compile(
    r"(?P<verb>remove|delete|take|drop|cross|scratch|strike|clear|check|tick"
    r"|mark)\b(?: off)? (?:it|that|them|this)\b(?: one)?(?: off| out| as done| done)?",
    re.IGNORECASE,
)
_REMOVES: Final = re.compile(r"take|cross|scratch|strike|drop|clear", re.IGNORECASE)
_FINISHES: Final = re.compile(r"check|tick|mark", re.IGNORECASE)
_WEEKDAY: Final = re.compile(
    r"(?:what|which) (?:day|weekday)(?: of the week)? (?:(?:is|was|will|would) that(?: be)?"
    r"|(?:will|would) it be|(?:does|will|would) (?:it|that) (?:fall|land)(?: on)?)",
    re.IGNORECASE,
)
_HOW_SOON: Final = re.compile(
    r"how (?:far|long|soon|many (?:days|nights|sleeps))"
    r"(?: (?:is|are|would|will) (?:that|it|this|those)(?: be)?)?"
    r" (?:away|off|from now|to go|until then|till then|until that|left)"
    r"(?: (?:is|are) (?:that|it))?",
    re.IGNORECASE,
)
_CANCELS: Final = re.compile(
    r"(?:cancel|stop|pause|resume|restart|end|extend|snooze|kill|clear|delete|remove) (?:it"
    r"|that|them|this)\b",
    re.IGNORECASE,
)
_MADE: Final = re.compile(
    r"\b(?:an?|the|my) (?P<thing>(?:[\w-]+ )?(?:timer|alarm|reminder|countdown|list|event"
    r"|meeting|order|booking|note|task))\b",
    re.IGNORECASE,
)


def resolved(remark: Remark, turn: LastTurn, topic: str) -> str:
    """Return the words with what their pronouns stand for; "" where there are none, or no clue."""
    text = remark.rest if remark.joined else remark.text
    if _DROPS.fullmatch(remark.rest) and (span := slots.object_slot(turn.question)):
        what, where = turn.question[slice(*span)], slots.container_of(turn.question)
        verb = _REMOVES.sub("remove", remark.rest.split()[0])
        verb = _FINISHES.sub("tick off", verb)
        return f"{verb} {what}" + (f" from {where}" if where else "")
    if _CANCELS.fullmatch(remark.rest) and (made := _MADE.search(turn.question)):
        return f"{remark.rest.split()[0]} the {made['thing']}"
    if made := _MADE.search(turn.question):
        topic = f"the {made['thing']}"
    definite = re.search(r"\bthe (?P<noun>list|timers?|alarms?|reminders?|tasks?)\b", text)
    if definite and (mine := re.search(rf"\bmy (?:[\w-]+ )?{definite['noun']}\b", turn.question)):
        return slots.put(text, definite.span(), mine[0])
    if _WEEKDAY.fullmatch(remark.rest) and (day := _day_told(turn, topic)):
        return f"what day of the week is {day}"
    if _HOW_SOON.fullmatch(remark.rest) and (told := _FULL_DATE.search(turn.reply)):
        return f"how many days until {told[0]}"
    if (dated := _dated(text, turn, topic)) != text:
        return dated
    if not topic or _NO_TOPIC.fullmatch(topic) or _CLAUSE.match(text):
        return ""
    whole = text
    names_its_own = _NAME_INSIDE.search(text) is not None  # "capital of Peru and how big is it"
    if not names_its_own:
        whole = _ITS.sub(lambda found: f"the {found['noun']} of {topic}", whole)
    if not _EXISTS.search(whole):
        whole = _THERE.sub(lambda found: f"{found['before'] or found['is']} in {topic}", whole)
    if whole == text and not _OWN_PLACE.search(text):
        whole = _THEY.sub(lambda found: f"do people in {topic} {found['verb']}", whole)
    whole = _OBJECT.sub(lambda found: f"{found['verb']} {topic}", whole)
    whole = _DOES.sub(lambda found: f"{found['does']} {topic} ", whole)
    if not names_its_own:
        whole = _ASKED.sub(lambda found: f"{found['lead']} {topic}{found['rest']}", whole)
    return whole if whole != text else ""


def _dated(text: str, turn: LastTurn, topic: str) -> str:
    """Return the text with the day that "then" stands for."""
    if not _THEN.search(text):
        return text
    day = slots.DATE.search(turn.question)
    feast = re.match(r"(?:when|what (?:day|date))(?:'s| is| was)", turn.question, re.IGNORECASE)
    when = topic if feast and topic else day[0] if day else ""
    if not when and (told := _FULL_DATE.search(turn.reply)):
        when = told[0]
    if not when and re.search(r"\b(?:then|that (?:day|date))\b", text):
        when = topic
    return _THEN.sub(lambda found: f"{found['before']} {when}", text) if when else text


def _day_told(turn: LastTurn, topic: str) -> str:
    """Return the day that the last turn was about, as the reply or the question names it."""
    if told := _FULL_DATE.search(turn.reply):
        return told[0]
    asked = slots.DATE.search(turn.question)
    about = re.match(r"when\b|.*\buntil\b|what (?:day|date)\b", turn.question, re.IGNORECASE)
    return asked[0] if asked else topic if about else ""


_FULL_DATE: Final = re.compile(r"\d{1,2} [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2},? \d{4}")
_NO_TOPIC: Final = re.compile(
    r"(?:a |an |some |the )?(?:left|joke|coin|die|dice|number|it|that|this|me|you|time|day|date"
    r"|today)s?"
    r"|remember|remind|note|do|say|tell|ask|know",
    re.IGNORECASE,
)
