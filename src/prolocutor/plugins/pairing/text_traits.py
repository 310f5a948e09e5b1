"""Traits of one question and of one answer: kinds of value, refusals, length, form.

Patterns are English; in other languages length, numbers, form and shared words remain as traits.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import log1p
from typing import Final

import msgspec

from prolocutor.plugins.pairing.text import STOP_WORDS, stem
from prolocutor.reading.words import LONGEST_TEXT, words

_CACHED: Final = 4096
_HEAD: Final = 240

_NUMERALS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety "
    "hundred thousand million billion trillion half"
)
_KINDS: Final = {
    "number": _NUMERALS + " percent % degrees square",
    "money": "$ € £ ¥ ₹ dollar dollars cent cents euro euros pound pounds yen usd bucks price",
    "time": "am pm a.m p.m o'clock noon midnight",
    "duration": "hour hours minute minutes second seconds day days week weeks month months year "
    "years",
    "date": "january february march april june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday today tomorrow yesterday",
    "measure": "mile miles kilometer kilometers kilometre kilometres km feet foot meter meters "
    "metre metres inch inches yard yards grams gram calories ounce ounces cup cups liters gallons "
    "teaspoons tablespoons kilograms kg celsius fahrenheit mph degrees percent %",
    "weather": "rain rainy sunny cloudy clouds snow forecast temperature humidity wind windy "
    "showers weather degrees",
    "place": "street st avenue ave road rd drive city state country located north south east west "
    "near nearby airport capital continent",
    "person": "he she him her his born",
    "list": "list options results top first second third include including",
    "meaning": "definition means meaning defined synonyms antonyms spelled refers",
    "chance": "heads tails rolled flip coin dice random picked",
    "joke": "joke jokes funny laugh",
    "you": "you your yours",
    "self": "i i'm my me i'll i've",
    "past": "was were had did",
    "picture": "picture pictures image images video videos photo photos link links",
}
_ASKED: Final = {
    "number": "number percent percentage calculate compute sum divided times plus minus convert "
    "average temperature tip population calories equals much many tall big high deep fast large "
    "heavy old far",
    "money": "price cost costs worth dollar dollars rate tip balance pay bill stock euro euros "
    "currency usd fee fare $ € £",
    "time": "time clock",
    "duration": "long soon old age until till since",
    "date": "date day when deadline due month",
    "measure": "far tall high deep distance miles convert calories temperature weigh",
    "weather": "weather rain snow sunny cloudy temperature forecast humid humidity umbrella jacket "
    "hot cold windy storm",
    "place": "where near nearby nearest closest directions route address location",
    "person": "who whom whose",
    "list": "list which some suggest recommend recommendations suggestions ideas options best top",
    "meaning": "define definition mean meaning synonym synonyms antonym antonyms spell spelled "
    "word",
    "chance": "random roll flip coin dice",
    "joke": "joke jokes funny laugh humor",
    "plan": "remind reminder reminders todo calendar appointment appointments meeting event events "
    "alarm alarms timer timers",
    "music": "song songs music album artist playlist band",
    "own": "my mine me i",
    "reason": "why",
}
MATCHING: Final = tuple(kind for kind in _KINDS if kind in _ASKED)

_PATTERNS: Final = {
    "sorry": r"\b(sorry|apologi[sz]e|unfortunately|oops|whoops)\b",
    "again": r"\b(say|repeat|try|rephrase|come)\b.{0,30}\bagain\b|\bwhat was that\b|\bpardon\b|"
    r"\bmissed (that|what)\b|\brephrase\b|\brepeat that\b",
    "unable": r"(\b(did|do|could|does|was|is|are|would)(n't|nt| not)|\bcan(not|'t|t)\b|\bnot\b|"
    r"\bunable to\b|\bnever\b).{0,25}\b(get|got|understand|understood|catch|hear|know|recogni[sz]e|"
    r"find|found|help|answer|sure|figure|support|supported|have (any|an|that|information|anything)|"
    r"available|able|do that|come up)\b",
    "nothing": r"\bno (results?|matches|match|information|data|answer|idea|such)\b|"
    r"\bnothing (found|matched)\b|\bout of (my )?(scope|range|domain)\b|\bunavailable\b|"
    r"\bunsupported\b|\bnot (yet )?(supported|available|possible|able)\b|\berror\b|"
    r"\bsomething went wrong\b",
    "only": r"\b(i|we) can only\b|\b(only|just) (works?|available|support)",
    "offer": r"\byou can (ask|say|try|check|visit|start)\b|\bi can (help|also|tell|answer|show)\b|"
    r"\bhow (can|may) i help\b|\bask me\b|\bi'?m (happy|here) to\b|\btry (asking|saying)\b",
    "web": r"\b(on the web|from the web|web ?site|search results|i found|according to|check out|"
    r"here(?:'s| is| are)( what| some| something| a summary)?)\b",
    "back": r"^\s*(what|which|when|where|who|how|for (what|which|when)|from which|at what|to what|"
    r"do you|did you|would you|are you|is (that|this|it)|can you|could you|does that|"
    r"please (provide|specify|tell|say|choose))\b",
    "done": r"^\s*(ok|okay|sure|alright|all right|done|got it|great|no problem|scheduled|added|"
    r"removed|deleted|cancell?ed|set|created|turned|turning|playing|starting|stopping|calling|"
    r"here you go|your)\b",
    "yes": r"^\s*(yes|no|yeah|nope|yep|it is|it's|it will|it won't|it isn't|they (are|do|don't)|"
    r"there (is|are)|you (do|don't|have|need|should|can))\b",
    "greeting": r"\b(hello|hi there|hi|hey|greetings|good (day|morning|evening)|welcome|glad)\b",
    "clock": r"\b\d{1,2}(:\d\d)? ?([ap]\.?m\b)|\b\d{1,2}:\d\d\b",
    "address": r"https?:|www\.|\.(com|org|gov|net|edu)\b",
    "gap": r"  +|\(\s*\)|[\[\]{}<>]|\b(null|nan|undefined)\b",
}
_COMPILED: Final = [(name, re.compile(text, re.IGNORECASE)) for name, text in _PATTERNS.items()]
_QUESTION_FORMS: Final = {
    name: re.compile(text, re.IGNORECASE)
    for name, text in {
        "much": r"\bhow (much|many|big|long|far|tall|old|high|deep|fast|large|heavy|hot|cold)\b",
        "way": r"\bhow (do|to|can|does|should|would|did|is|are)\b|\b(recipe|instructions|steps)\b",
        "closed": r"^\s*(is|are|was|were|do|does|did|will|would|can|could|should|has|have|am|any)"
        r"\b",
        "what": r"^\s*(what|whats|what's)\b",
        "order": r"^\s*(please )?(set|add|play|turn|create|make|remove|delete|cancel|remind|"
        r"schedule|put|start|stop|pause|order|book|change|switch|pay|transfer|send|call|open|"
        r"activate|disable|enable|reset|snooze|skip|roll|flip|pick|generate|translate|update|"
        r"clear|check|read|text|wake|resume)\b",
        "show": r"^\s*(show|tell|give|find|get|look|search|list|bring|display|name|let me|"
        r"i (need|want|would|'d)|i'm looking)\b",
    }.items()
}

KIND_NAMES: Final = tuple(_KINDS)
FORM_NAMES: Final = (*_PATTERNS, "asks", "capital", "stop", "numeral")
ASKED_NAMES: Final = (*_ASKED, *_QUESTION_FORMS)


def _by_word(classes: dict[str, str]) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for place, text in enumerate(classes.values()):
        for word in text.split():
            found[word] = (*found.get(word, ()), place)
    return found


_KIND_OF: Final = _by_word(_KINDS)
_ASKED_OF: Final = _by_word(_ASKED)
_NUMERAL: Final = frozenset(_NUMERALS.split())


class QuestionTraits(msgspec.Struct, frozen=True):
    """A question's words and, in the order of `ASKED_NAMES`, the kinds that it asks for: 0 or 1."""

    stems: frozenset[str]
    grams: frozenset[str]
    numbers: frozenset[str]
    asked: tuple[float, ...]
    length: int


class AnswerTraits(msgspec.Struct, frozen=True):
    """An answer's words, kinds and forms.

    `kinds` in the order of `KIND_NAMES` and `forms` in that of `FORM_NAMES`, 0 or 1; `refusal` in
    [0, 1]: how much it sounds like a refusal.
    """

    words: tuple[str, ...]
    stems: tuple[str, ...]
    grams: frozenset[str]
    numbers: frozenset[str]
    kinds: tuple[float, ...]
    forms: tuple[float, ...]
    refusal: float
    log_length: float
    upper: float


@lru_cache(maxsize=_CACHED)
def question_traits(text: str) -> QuestionTraits:
    """Return the traits of a question."""
    found = words(text)
    asked = [0.0] * len(_ASKED)
    for word in found:
        for place in _ASKED_OF.get(word, ()):
            asked[place] = 1.0
    head = text[:LONGEST_TEXT]
    forms = [float(form.search(head) is not None) for form in _QUESTION_FORMS.values()]
    return QuestionTraits(
        stems=frozenset(_content(found)),
        grams=_grams(found),
        numbers=frozenset(word for word in found if word[0].isdigit()),
        asked=(*asked, *forms),
        length=len(found),
    )


@lru_cache(maxsize=_CACHED)
def answer_traits(text: str) -> AnswerTraits:
    """Return the traits of an answer; cached, because agents repeat answers."""
    found = words(text)
    head = text[:_HEAD].replace("’", "'")
    seen = {name: float(pattern.search(head) is not None) for name, pattern in _COMPILED}
    numbers = frozenset(word for word in found if word[0].isdigit())
    kinds = [0.0] * len(_KINDS)
    for word in found:
        for place in _KIND_OF.get(word, ()):
            kinds[place] = 1.0
    kinds[_NUMBER] = max(kinds[_NUMBER], float(bool(numbers)))
    kinds[_TIME] = max(kinds[_TIME], seen["clock"])
    ending = text.rstrip()[-1:]
    refusal = (
        0.5 * seen["sorry"] + seen["again"] + seen["unable"] + 0.8 * seen["nothing"]
        + 0.5 * seen["only"]
    )  # fmt: skip
    pieces = text.split()
    return AnswerTraits(
        words=tuple(found),
        stems=tuple(_content(found)),
        grams=_grams(found),
        numbers=numbers,
        kinds=tuple(kinds),
        forms=(
            *seen.values(),
            float(ending in ("?", "？")),
            float(text[:1].isupper()),
            float(ending in (".", "!", "。")),
            log1p(len(numbers) + sum(word in _NUMERAL for word in found)),
        ),
        refusal=min(1.0, refusal) if found else 1.0,
        log_length=log1p(len(found)),
        upper=sum(piece[:1].isupper() for piece in pieces[1:]) / max(1, len(pieces)),
    )


_NUMBER: Final = KIND_NAMES.index("number")
_TIME: Final = KIND_NAMES.index("time")


def _content(found: list[str]) -> list[str]:
    return [stem(word) for word in found if word not in STOP_WORDS]


def _grams(found: list[str]) -> frozenset[str]:
    line = " ".join(found[:60])
    return frozenset(
        gram for start in range(len(line) - 3) if " " not in (gram := line[start : start + 4])
    )
