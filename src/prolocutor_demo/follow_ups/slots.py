"""Slots: the parts of a question that another word can take the place of, as spans of its text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from prolocutor_demo.reading.number_words import ONES, TENS

Span = tuple[int, int]
"""Where a slot begins and ends in its text."""

_NUMBER_WORDS: Final = "|".join([*ONES[1:], *TENS, "hundred", "thousand", "million", "half"])
NUMBER: Final = re.compile(
    rf"(?<![\w.])(?:[$€£¥]?-?\d[\d.,]*\d|[$€£¥]?-?\d)(?:k|m)?(?![\w])"
    rf"|\b(?:{_NUMBER_WORDS})(?:[ -](?:{_NUMBER_WORDS}))*\b",
    re.IGNORECASE,
)
_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAY: Final = (
    r"(?:mon(?:day)?|tues?(?:day)?|wed(?:nesday)?|thu(?:rs?(?:day)?)?|fri(?:day)?|sat(?:urday)?"
    r"|sun(?:day)?)"
)
_WHEN: Final = (
    r"(?:the )?day (?:after tomorrow|before yesterday)"
    r"|today|tomorrow|tonight|yesterday|(?:this|next|last|the next|the following) (?:week"
    r"|month|year|weekend|spring|summer|autumn|fall|winter"
    rf"|{_DAY}|{_MONTH})|{_DAY}|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? \d{{4}})?"
    rf"|{_MONTH}(?: the)? \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?|{_MONTH} \d{{4}}"
    rf"|\d{{4}}-\d\d-\d\d"
    r"|\d{1,2}[./]\d{1,2}[./]\d{2,4}|the \d{1,2}(?:st|nd|rd|th)"
    r"|this (?:morning|afternoon|evening)|tomorrow (?:morning|afternoon|evening|night)"
)
DATE: Final = re.compile(rf"\b(?:{_WHEN})(?![\w-])", re.IGNORECASE)
HOUR: Final = re.compile(
    r"\b(?:\d{1,2}(?::\d\d| ?h\b)?(?:\s?[ap]\.?m\b\.?)|\d{1,2}:\d\d|noon|midnight|(?:half"
    r"|quarter) (?:past|to) \w+|\d{1,2} o'?clock)",
    re.IGNORECASE,
)
YEAR: Final = re.compile(r"\b(?:1[5-9]|20|21)\d\d\b")
_UNIT_WORD: Final = r"[a-z°µ]+(?: (?:an?|per) [a-z]+)?"
MEASURE: Final = re.compile(
    rf"(?:{NUMBER.pattern})\s*-?(?!(?:in|to|into|and|or|of|is|as|from|by|plus|minus|times"
    rf"|divided|percent)\b){_UNIT_WORD}",
    re.IGNORECASE,
)
PERCENT: Final = re.compile(rf"(?:{NUMBER.pattern})\s?(?:%|percent|per cent)", re.IGNORECASE)
_PREPOSITIONS: Final = (
    "in at for on from of to into until till since with about between by than before after onto as"
).split()
PREPOSITION: Final = re.compile(rf"(?:{'|'.join(_PREPOSITIONS)})\b", re.IGNORECASE)
_PHRASE: Final = re.compile(
    rf"\b(?P<lead>{'|'.join(_PREPOSITIONS)})\s+"
    rf"(?P<object>(?:(?!(?:{'|'.join(_PREPOSITIONS)}|is|are|was|were|do|does|did|mean|means"
    rf"|please|what|right now|now|go|if|i|you|we|they)\b)"
    r"[^\s?!,;]+[ ]?)+?)(?=\s*(?:[?!,;.]|$)|\s+(?:"
    rf"{'|'.join(_PREPOSITIONS)}|is|are|was|were|do|does|did|mean|means|please|what|right now"
    rf"|now|go|if|i|you|we|they)\b)",
    re.IGNORECASE,
)
SAME_LEAD: Final = {"to": "into", "in": "into", "till": "until", "onto": "on"}
RELATIONS: Final = (
    r"(?:(?:total |official |national )?(?:population|capital(?: city)?|currenc(?:y|ies)"
    r"|money|area|surface|size|languages?|neighbou?rs|neighbou?ring countries"
    r"|continent|region|flag|domain|calling code|phone code|borders?|inhabitants|people"
    r"|president|weather|time ?zones?|time|dates?|names?"
    r"|synonyms?|antonyms?|opposites?|meanings?|definitions?|spelling|pronunciation|plural"
    r"|origin|etymology|examples?"
    r"|price|cost|height|length|weight|width|depth|age|colou?r|author|founder|director|owner"
    r"|address|distance|speed"
    r"|square root|cube root|square|cube|root|half|third|quarter|double|factorial"
    r"|(?:next )?(?:public |bank )?holidays?))"
)
RELATION: Final = re.compile(RELATIONS, re.IGNORECASE)
_WORD_SLOT: Final = re.compile(
    r"\b(?:what (?:does|do) (?:the word )?|define (?:the word )?|definition of (?:the word )?"
    r"|meaning of (?:the word )?"
    r"|(?:syno|anto)nyms? (?:of|for|to) (?:the word )?|opposite of (?:the word )?|how (?:do"
    r"|would) (?:you|i) spell (?:the word )?"
    r"|spell (?:the word )?|look up (?:the word )?|word for |in a sentence:? "
    r"|use (?:the word )?(?=[\w-]+ in a sentence))"
    r"(?P<slot>[\"“'‘]?[\w-]+(?: [\w-]+){0,2}?[\"”'’]?)(?=\s*(?:[?!.,;]|$)|\s+(?:mean|in\b"
    r"|for\b|as\b))",
    re.IGNORECASE,
)
_MEANS: Final = re.compile(
    r"what(?:'?s)? (?!does\b|do\b)(?P<slot>[\w-]+(?: [\w-]+)?) means?\b", re.IGNORECASE
)
_OBJECT: Final = re.compile(
    r"\b(?:add|put|write|note|jot|append|include|place|stick"
    r"|throw) (?:down )?(?P<slot>(?!to\b|on\b).{1,60}?) (?P<to>(?:to|on|onto|in|into"
    r"|at) .*)"
    r"|\b(?:remind me(?: \w+(?: \d\w*)?)? to|remember to"
    r"|don't forget to) (?P<task>.{1,60}?)(?P<when> (?:at|on|in|tomorrow|today|tonight"
    r"|next|every|by|this)\b.*)?$",
    re.IGNORECASE,
)
_SUBJECT: Final = re.compile(
    r"(?:when|where|who|what)(?:'s|s| is| are| was| were| will be)? (?:is "
    r"|was )?(?:the )?(?P<slot>[\w'.-]+(?: [\w'.-]+){0,3}?)(?: (?:this|next|last) (?:year"
    r"|month|week)| in \d{4}| \d{4})?[?!. ]*"
    r"|(?:is|was|are|were|does|do|did|has|have|can)(?: there)? (?:the )?(?P<slot2>[\w'.-]+"
    r"(?: [\w'.-]+){0,2}?) (?:a|an|the|in|on|at|have|has|bigger|larger|smaller|part|more"
    r"|older|open|use|speak|near|big|far|hot|cold|rich|still)\b.*"
    r"|how (?:big|large|small|old|tall|high|long|far|rich|populous|populated|hot|cold)"
    r" (?:is|are|was) (?:the )?(?P<slot3>[\w'.-]+(?: [\w'.-]+){0,2}?)[?!. ]*",
    re.IGNORECASE,
)
_HOW_MANY: Final = re.compile(
    r"\bhow (?:many|much) (?P<slot>[\w°]+(?: [\w°]+)?) (?:is|are|in|do|does|can|until|till|to"
    r"|make|equals?|there|have|has|were|was|between|since|for|from)\b",
    re.IGNORECASE,
)
_RELATION_OF: Final = re.compile(
    rf"(?:the )?(?P<relation>{RELATIONS}) (?:of|for|in|to) (?:the (?:word )?)?"
    rf"(?P<owner>[^?!,;]{{1,60}}?)(?=[\s?!.,;]*+$|\s+(?:and|in \d|is|are|right now|now"
    rf"|today|please|squared)\b)",
    re.IGNORECASE,
)
_OWNED: Final = re.compile(
    rf"\b(?P<owner>[\w.-]+(?: [A-Z][\w.-]+)*)'s (?P<relation>{RELATIONS})\b", re.IGNORECASE
)
_CAPITALS: Final = re.compile(r"(?<=\s)[A-Z][\w.'-]*(?: (?:of |the |and )?[A-Z][\w.'-]*)*")
_LEADING: Final = re.compile(
    rf"(?P<slot>[\w.'-]+(?: [\w.'-]+){{0,2}}?) {RELATIONS}[?!. ]*", re.IGNORECASE
)
_NO_PLACE: Final = re.compile(
    r"(?:a|an|my|your|the list|the to-?do list|the shopping list|me|it|that|this|there|them"
    r"|which|total|general|english|now|words?)\b",
    re.IGNORECASE,
)


def last(pattern: re.Pattern[str], text: str) -> Span | None:
    """Return the last place where a pattern is found."""
    return max((one.span() for one in pattern.finditer(text)), default=None)


def phrases(text: str) -> Iterator[tuple[str, Span, Span]]:
    """Yield the prepositional phrases: the preposition, the whole span, that of its object."""
    for found in _PHRASE.finditer(text):
        start, end = found.span("object")
        end = start + len(text[start:end].rstrip(" .?!"))
        yield found["lead"].lower(), (found.start(), end), (start, end)


def same_lead(one: str, other: str) -> bool:
    """Whether two prepositions lead to the same slot."""
    one, other = one.lower(), other.lower()
    return SAME_LEAD.get(one, one) == SAME_LEAD.get(other, other)


def named(found: re.Match[str] | None, *names: str) -> Span | None:
    """Return the span of the first of these groups that is there."""
    if found is None:
        return None
    return next((found.span(name) for name in names if found[name]), None)


def word_slot(text: str) -> Span | None:
    """Return the word that a question is about as a word ("define X", "what does X mean")."""
    return named(_MEANS.match(text), "slot") or named(_WORD_SLOT.search(text), "slot")


def object_slot(text: str) -> Span | None:
    """Return the thing to add, note or remember."""
    return named(_OBJECT.search(text.rstrip(" .!?")), "slot", "task")


def container_of(text: str) -> str:
    """Return where something is added to ("from my list"), "" if it is not said."""
    found = _OBJECT.search(text.rstrip(" .!?"))
    return re.sub(r"^\w+ ", "", found["to"]) if found and found["to"] else ""


def topics(text: str) -> Iterator[Span]:
    """Yield what a question is about, the likeliest first."""
    for pattern in (_OWNED, _RELATION_OF):
        if span := named(pattern.search(text), "owner"):
            yield span
    if span := word_slot(text):
        yield span
    found = [(whole, inner) for _, whole, inner in phrases(text)]
    for _, (start, end) in reversed(found):
        inner_text = text[start:end]
        if not (
            _NO_PLACE.match(inner_text) or DATE.fullmatch(inner_text) or NUMBER.match(inner_text)
        ):
            yield start, end
    if span := object_slot(text):
        yield span
    if span := named(_SUBJECT.fullmatch(text), "slot", "slot2", "slot3"):
        yield span
    if span := named(_LEADING.fullmatch(text), "slot"):
        yield span
    if span := last(_CAPITALS, text):
        yield span


def how_many_slot(text: str) -> Span | None:
    """Return the unit after "how many"."""
    return named(_HOW_MANY.search(text), "slot")


def relation_slot(text: str) -> tuple[Span, Span] | None:
    """Return the spans of "population" and "Italy" in "the population of Italy"."""
    found = _RELATION_OF.search(text) or _OWNED.search(text)
    return (found.span("relation"), found.span("owner")) if found else None


def put(text: str, span: Span, new: str) -> str:
    """Return the text with another slot."""
    return f"{text[: span[0]]}{new}{text[span[1] :]}"


def attach(text: str, words: str) -> str:
    """Return the text with words put at its end, before its question mark."""
    bare = text.rstrip(" ?!.")
    return f"{bare} {words}{'?' if text.rstrip().endswith('?') else ''}"
