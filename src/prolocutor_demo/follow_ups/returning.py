"""Rules for words that go back: "back to Tokyo, what day is it?", "is that more than China?"."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from prolocutor_demo.follow_ups import slots
from prolocutor_demo.follow_ups.certainty import LIKELY, SURE, Found
from prolocutor_demo.follow_ups.last_turn import LastTurn
from prolocutor_demo.follow_ups.pronouns import resolved
from prolocutor_demo.follow_ups.remarks import Remark, remark_of
from prolocutor_demo.follow_ups.rules import related

_QUESTION: Final = (
    r"(?:what|whats|what's|how|hows|how's|who|whos|who's|where|wheres|where's|when|whens|when's"
    r"|which|is|are|does|do|did|can|tell|give|show|its|their)\b"
)
_TOPIC: Final = r"[^\s,:;]++(?: [^\s,:;]++){0,3}?"
_RETURNS: Final = re.compile(
    r"(?>(?:ok(?:ay)?|so|and|now|but|well|anyway|alright|let'?s|can we|could we|please|i want to"
    r"|to)[\s,]++)*+"
    rf"(?:(?:(?:(?:go(?:ing)?|get(?:ting)?|com(?:e|ing)|switch(?:ing)?) )?back (?:again )?to"
    rf"|return(?:ing)? to) (?P<topic>{_TOPIC})"
    rf"|(?:as for|regarding|concerning|about) (?P<named>{_TOPIC})(?: again)?(?=\s*[,:;]))"
    rf"(?:\s*[,:;]\s*|\s+(?={_QUESTION}))(?P<rest>\S.*)",
    re.IGNORECASE,
)
_COMPARES: Final = re.compile(
    r"(?:is|are|was) (?:that|this|it|they) (?P<than>(?:much |a lot |any )?(?:more|less|fewer"
    r"|bigger|larger|smaller|higher|lower|longer|shorter|older|younger) than)"
    r" (?:in |that of )?(?P<other>.+)",
    re.IGNORECASE,
)
_MORE: Final = re.compile(r"more|bigger|larger|higher", re.IGNORECASE)
_OWN_PLACE: Final = re.compile(r"\b(?:in|at|of|for|to|my|your)\b", re.IGNORECASE)


def returned(remark: Remark, turn: LastTurn) -> Found:
    """ "Back to Tokyo, what day is it there": the rest is about what is named."""
    back = _RETURNS.fullmatch(remark.text)
    if back is None:
        return None
    topic = back["topic"] or back["named"]
    rest = remark_of(back["rest"])
    if rest is None:
        return None
    about = msgspec.structs.replace(turn, question=topic, reply="", entities=(topic,))
    if whole := resolved(rest, about, topic):
        return whole, SURE
    if found := related(rest, about):
        return found
    if _OWN_PLACE.search(rest.rest):
        return rest.rest, LIKELY
    return slots.attach(rest.rest, f"in {topic}"), LIKELY


def compared(remark: Remark, turn: LastTurn) -> Found:
    """ "Is that more than China?", of a property that the question asked for."""
    said = _COMPARES.fullmatch(remark.rest)
    if said is None:
        return None
    if known := slots.relation_slot(turn.question):
        relation, owner = (turn.question[slice(*span)] for span in known)
        return f"is the {relation} of {owner} {said['than']} {said['other']}", SURE
    count, topic = slots.how_many_slot(turn.question), next(slots.topics(turn.question), None)
    if count is None or topic is None:
        return None
    noun = turn.question[slice(*count)].split()[0]
    more = "more" if _MORE.search(said["than"]) else "fewer"
    return f"does {turn.question[slice(*topic)]} have {more} {noun} than {said['other']}", SURE
