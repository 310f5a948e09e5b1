"""Rules by which the words of a follow-up take the place of a slot of the last question."""

from __future__ import annotations

import re
from typing import Final

from prolocutor_demo.follow_ups import slots
from prolocutor_demo.follow_ups.certainty import GUESS, LIKELY, SURE, Found
from prolocutor_demo.follow_ups.last_turn import LastTurn
from prolocutor_demo.follow_ups.remarks import Remark

_PRONOUN_ALONE: Final = re.compile(
    r"(?:you|me|us|him|her|it|that|this|them|those|these|we|i|they|he|she|everything|nothing"
    r"|the (?:one|year|day|week|month|next|same)\b.*|anything|what|why|how|who|when|where"
    r"|mine|my .*"
    r"|(?:some|any)(?:thing|one|body)?\b.*|more .*|another .*|your(?:self)?"
    r"|yours|your .*|.* you|.* me)",
    re.IGNORECASE,
)
_EXPRESSION: Final = re.compile(
    r"[-(]?[\d.,]++(?:\s*+(?:[-+*/^x×÷%()]|plus|minus|times|divided by|over|squared"
    r"|to the power of)\s*+[\d.,]*+)++",
    re.IGNORECASE,
)
_CHOICE: Final = re.compile(
    r"\b(?:between|choose|pick|which|is it)\b.* (?P<by>or|and) ", re.IGNORECASE
)
_PAIR: Final = re.compile(
    r"(?P<first>[\w.'-]+(?: [\w.'-]+)?) (?P<by>or|and|vs\.?"
    r"|versus) (?P<second>[\w.'-]+(?: [\w.'-]+)?)",
    re.IGNORECASE,
)
TIME_UNIT: Final = re.compile(r"(?:day|week|month|year|hour|minute|second)s", re.IGNORECASE)
_MEASURES: Final = re.compile(rf"(?:{slots.MEASURE.pattern})(?: \d+)?", re.IGNORECASE)
_VERB_OF_AMOUNT: Final = re.compile(
    r"(?P<verb>(?P<usual>tip|pay|add|use|have|had|take|get|got|want|give|need|is|was|were)|[a-z]+)"
    r" (?:only )?(?=[$€£]?\d)",
    re.IGNORECASE,
)
_BOUNDS: Final = re.compile(r"\b(?:from |between )?\d+ ?(?:to|and|-) ?\d+", re.IGNORECASE)
_SIGNED: Final = re.compile(r"[$€£¥]")
_THERE_WHEN: Final = re.compile(
    r"there (?P<when>(?:tomorrow|today|now|at (?:\d|noon|midnight)|on|next)\b.*)", re.IGNORECASE
)
_ASKS_ANEW: Final = re.compile(
    r",|\b(?:what|what's|how|which|who|is|are|was|does|do|did|can|will|where|when)\b", re.IGNORECASE
)
_STANDS: Final = re.compile(
    r"[\d/:$€£%]|\b(?:or|me|my|us|any|some|got|know|no|yes|not|the|more|another|please|help"
    r"|jokes?|random|news|list|menu|options?|settings)\b",
    re.IGNORECASE,
)
_ARTICLE: Final = re.compile(r"(?:an?|one|two|three|four|five|six|\d+) ", re.IGNORECASE)
_WITH_ARTICLE: Final = re.compile(
    r"\b(?:an?) (?P<noun>[\w-]+(?: (?:sided )?(?:die|dice))?)", re.IGNORECASE
)


def phrased(remark: Remark, turn: LastTurn) -> Found:
    """ "In Paris", "for 10 minutes", "of Chile": a phrase in place of its like, or at the end."""
    if here := _THERE_WHEN.fullmatch(remark.rest):
        return slots.attach(turn.question, here["when"]), LIKELY
    rest = re.sub(
        r"^(?:(?:is|was) (?:it|that) |(?:over|back|there|down|up|out) (?=in\b|at\b))",
        "",
        remark.rest,
        flags=re.IGNORECASE,
    )
    if not slots.PREPOSITION.match(rest) or len(rest.split()) > 7 or _ASKS_ANEW.search(rest):
        return None
    sure = SURE if remark.goes_on or remark.asks or len(rest.split()) > 1 else GUESS
    whole = with_phrase(rest, turn.question)
    if whole:
        return whole, sure
    if remark.goes_on or remark.asks:
        return slots.attach(turn.question, rest), LIKELY
    return (slots.attach(turn.question, rest), GUESS) if rest.lower().startswith("about ") else None


def with_phrase(words: str, question: str) -> str:
    """Return the question with a phrase in place of its like; "" if it has nothing like it."""
    lead, _, inner = words.partition(" ")
    unit = inner.lower()
    count = slots.how_many_slot(question)
    amount = slots.MEASURE.search(question)
    if count and (TIME_UNIT.fullmatch(unit) or (amount and re.fullmatch(r"[a-z ]+", inner))):
        return slots.put(question, count, inner)
    for kind in (slots.DATE, slots.HOUR, slots.YEAR):
        new, old = kind.search(inner), slots.last(kind, question)
        if new and new.span() == (0, len(inner)) and old:
            before = re.search(r"\b(?:at|on|in|for|by)\s+$", question[: old[0]], re.IGNORECASE)
            bare = inner if kind is slots.YEAR and not before else words
            return slots.put(question, (before.start() if before else old[0], old[1]), bare)
    if lead.lower() == "between" and (bounds := _BOUNDS.search(question)):
        return slots.put(question, bounds.span(), words)
    like = [one for one in slots.phrases(question) if slots.same_lead(one[0], lead)]
    if slots.DATE.fullmatch(inner) or slots.HOUR.fullmatch(inner):
        like = []
    if not like:
        return ""
    said, whole, (start, end) = like[-1]
    old_number, new_number = slots.NUMBER.match(question[start:end]), slots.NUMBER.fullmatch(inner)
    if old_number and new_number:
        return slots.put(question, (start, start + old_number.end()), inner)
    if "between" in (said, lead.lower()):
        pair = re.search(r"\bbetween .+? and [^\s?!,]+", question, re.IGNORECASE)
        whole = pair.span() if pair else whole
    return slots.put(question, whole, words)


def expressed(remark: Remark, turn: LastTurn) -> Found:
    """ "And 12 * 12?", "8 times 9": a sum in place of the sum."""
    if not (remark.goes_on and _EXPRESSION.fullmatch(remark.rest)):
        return None
    old = _EXPRESSION.search(turn.question)
    return (slots.put(turn.question, old.span(), remark.rest), SURE) if old else None


def counted(remark: Remark, turn: LastTurn) -> Found:
    """ "And 20 kg?", "20%", "1985": a number or measure in place of its like."""
    rest, question = remark.rest, turn.question
    rest = re.sub(r"^(?:for|with) | of (?:them|those|these)$", "", rest)
    verb = _VERB_OF_AMOUNT.match(rest)
    known = verb and (verb["usual"] is not None and remark.joined)
    if verb and (known or verb["verb"].lower() in question.lower().split()):
        rest = rest[verb.end() :]
    sure = SURE if remark.goes_on else LIKELY if remark.asks else GUESS
    if slots.PERCENT.fullmatch(rest):
        old = slots.last(slots.PERCENT, question)
    elif slots.NUMBER.fullmatch(rest):
        if remark.goes_on and not slots.NUMBER.search(question):
            one = re.search(r"\ban?(?= [\w-]+[?!.]*$)", question, re.IGNORECASE)
            return (slots.put(question, one.span(), rest), LIKELY) if one else None
        old = (slots.YEAR.fullmatch(rest) and slots.last(slots.YEAR, question)) or _number(question)
        percent = slots.last(slots.PERCENT, question)
        if percent and old and old[0] == percent[0] and (other := _number(question[: old[0]])):
            old = other
    elif _MEASURES.fullmatch(rest) and len(rest.split()) < 5:
        measure = _MEASURES.search(question)
        if measure is None:
            return None
        old = measure.span()
        said, new = question[slice(*old)], rest
        kept = slots.NUMBER.match(said)
        if kept and re.sub(r"s$", "", said.split()[-1].lower()) != re.sub(
            r"s$", "", new.split()[-1].lower()
        ):
            sure = min(sure, LIKELY)
    else:
        return None
    if old is None or not (remark.goes_on or remark.asks or sure > GUESS):
        return None
    sign = _SIGNED.match(question[slice(*old)])
    if sign and slots.NUMBER.fullmatch(rest) and not _SIGNED.match(rest):
        rest = f"{sign[0]}{rest}"
    return slots.put(question, old, rest), sure


def _number(question: str) -> slots.Span | None:
    """Return the number of a question that another one replaces: the last that is no date."""
    dates = [one.span() for one in slots.DATE.finditer(question)]
    hours = [one.span() for one in slots.HOUR.finditer(question)]
    found = [
        one.span()
        for one in slots.NUMBER.finditer(question)
        if not any(start <= one.start() < end for start, end in (*dates, *hours))
    ]
    return found[-1] if found else None


def added(remark: Remark, turn: LastTurn) -> Found:
    """ "Eggs too", "and butter", "also buy stamps": one more thing where one was put."""
    span = slots.object_slot(turn.question)
    if span is None or not (remark.joined or remark.adds):
        return None
    if remark.about and not remark.adds:
        return None
    own = re.match(r"(?:add|put|write down|include|note)\s+", remark.rest, re.IGNORECASE)
    rest = remark.rest[own.end() :] if own else remark.rest
    if (
        not rest
        or len(rest.split()) > 6
        or slots.PREPOSITION.match(rest)
        or re.search(r"\b(?:to|on|onto) (?:my|the|our)\b", rest)
    ):
        return None
    if (
        not own
        and remark.speaks
        and not (
            remark.adds
            and re.match(
                r"(?:buy|call|get|need|book|order|write|send|pick|make|find|clean|wash|check"
                r"|read|take|work|play|draw|turn|move|look)\b",
                rest,
                re.IGNORECASE,
            )
        )
    ):
        return None
    task = re.match(r"(?P<verb>\w+) (?!to\b)\w+", turn.question[slice(*span)])
    if (
        task
        and not remark.speaks
        and re.match(r"(?:please )?(?:remind|remember|don)", turn.question, re.IGNORECASE)
    ):
        rest = f"{task['verb']} {rest}"
    return slots.put(turn.question.rstrip(" ?!."), span, rest), SURE


def paired(remark: Remark, turn: LastTurn) -> Found:
    """ "And France or Germany?": a pair in place of the pair; "or tea?": one more of them."""
    if remark.option and not remark.speaks and (pair := _CHOICE.search(turn.question)):
        start, end = pair.span("by")
        listed = f"{turn.question[:start].rstrip()}, {turn.question[end:].strip(' ?!.')}"
        return f"{listed} {pair['by']} {remark.rest}", SURE
    new = _PAIR.fullmatch(remark.rest)
    if new is None or not (remark.joined or remark.mends):
        return None
    old = None
    for old in re.finditer(
        r"(?P<first>[\w.'-]+) (?P<by>or|and|vs\.?|versus) (?P<second>[\w.'-]+)",
        turn.question,
        re.IGNORECASE,
    ):
        if old["by"].lower() == new["by"].lower():
            break
    else:
        return None
    return slots.put(turn.question, old.span(), remark.rest), SURE


def renamed(remark: Remark, turn: LastTurn) -> Found:
    """ "And France?", "Berlin?", "a die": a name or noun in place of the likest one."""
    rest, question = remark.rest, turn.question
    if not rest or remark.speaks or len(rest.split()) > 4 or _PRONOUN_ALONE.fullmatch(rest):
        return None
    if _ARTICLE.match(rest):
        old = slots.last(_WITH_ARTICLE, question)
        if old is None or not (remark.goes_on or remark.asks):
            return None
        ends = not question[old[1] :].strip(" ?!.")
        return (slots.put(question, old, rest), LIKELY) if ends or not remark.about else None
    if not (remark.goes_on or _fits_alone(remark, question)):
        return None
    span = _likest(rest, question, turn.entities)
    if span is None:
        return None
    return slots.put(question, span, rest), SURE if remark.goes_on else GUESS


def _fits_alone(remark: Remark, question: str) -> bool:
    """Whether words that do not say so may yet go on: a name, or a word with a question mark."""
    words = remark.rest.split()
    if len(words) > 3 or _STANDS.search(remark.rest) or slots.RELATION.search(remark.rest):
        return False
    said = {word.lower().strip("?!.,") for word in question.split()}
    if any(word.lower() in said for word in words):
        return False
    if "please" in remark.text.lower():
        return False
    names = all(word[:1].isupper() or word in ("of", "the", "and") for word in words)
    shouts = remark.rest.isupper() and len(remark.rest) > 4
    return (names and not shouts) or (remark.asks and len(words) < 3)


def _likest(words: str, question: str, entities: tuple[str, ...]) -> slots.Span | None:
    """Return the slot that these words fit best: an entity, a name for a name, a unit for one."""
    for entity in entities:
        if (start := question.lower().find(entity.lower())) >= 0:
            return start, start + len(entity)
    found = list(slots.topics(question))
    kind = re.escape(words.split()[-1].rstrip("s"))
    if len(words.split()) > 1 and (same := re.search(rf"\b{kind}s?\b", question, re.IGNORECASE)):
        around = (span for span in found if span[0] <= same.start() and same.end() <= span[1])
        return next(around, same.span())
    count = slots.how_many_slot(question)
    if count:
        found.insert(
            0 if slots.NUMBER.search(question) or TIME_UNIT.fullmatch(words) else len(found), count
        )
    name = words[:1].isupper()
    speaks_names = re.search(r"\s[A-Z]", question) is not None
    if name and speaks_names:
        found.sort(key=lambda span: not question[span[0] : span[0] + 1].isupper())
    return found[0] if found else None
