"""The rule for words that compare: "is that more than China?"."""

from __future__ import annotations

import re
from typing import Final

from prolocutor_demo.follow_ups import slots
from prolocutor_demo.follow_ups.certainty import SURE, Found
from prolocutor_demo.follow_ups.last_turn import LastTurn
from prolocutor_demo.follow_ups.remarks import Remark

_COMPARES: Final = re.compile(
    r"(?:is|are|was) (?:that|this|it|they) (?P<than>(?:much |a lot |any )?(?:more|less|fewer"
    r"|bigger|larger|smaller|higher|lower|longer|shorter|older|younger) than)"
    r" (?:in |that of )?(?P<other>.+)",
    re.IGNORECASE,
)
_MORE: Final = re.compile(r"more|bigger|larger|higher", re.IGNORECASE)


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
