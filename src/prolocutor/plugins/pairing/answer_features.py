"""Features of an answer; no feature names its agent, so new agents are ranked too.

Each answer is a row: its likeness to the question, how often its agent gives it to any question,
whether it sounds like a refusal, the router's probability of its agent, and its rank and lead among
the other answers. Patterns are English; in other languages length, numbers, form and shared words
remain."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import log, log1p
from typing import Final

import msgspec

from prolocutor.contracts.pairing import AgentAnswer, UserQuestion
from prolocutor.plugins.pairing.agent_log import AgentLog
from prolocutor.plugins.pairing.text import STOP_WORDS, stem
from prolocutor.reading.words import LONGEST_TEXT, words

_CACHED: Final = 4096
_HEAD: Final = 240

_NUMERALS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety "
    "hundred thousand million billion trillion half"
)
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
    "yes": r"^\s*(yes|no|yeah|nope|yep|it is|it's|it will|it won't|it isn't|they (are|do|don't)|"
    r"there (is|are)|you (do|don't|have|need|should|can))\b",
    "clock": r"\b\d{1,2}(:\d\d)? ?([ap]\.?m\b)|\b\d{1,2}:\d\d\b",
    "address": r"https?:|www\.|\.(com|org|gov|net|edu)\b",
    "gap": r"  +|\(\s*\)|[\[\]{}<>]|\b(null|nan|undefined)\b",
}
_COMPILED: Final = [(name, re.compile(text, re.IGNORECASE)) for name, text in _PATTERNS.items()]
_CLOSED_QUESTION: Final = re.compile(
    r"^\s*(is|are|was|were|do|does|did|will|would|can|could|should|has|have|am|any)\b",
    re.IGNORECASE,
)

FORM_NAMES: Final = (*_PATTERNS, "asks", "capital", "stop", "numeral")
_NUMERAL: Final = frozenset(_NUMERALS.split())

_OWN: Final = (
    "bm25", "covered", "back", "new", "grams", "grams_covered", "same_numbers", "told",
    "verbatim", "shape", "opening", "others", "variety",
    "prior", "prior_logit", "known", "refusal", "length", "upper",
)  # fmt: skip
_COMPARED: Final = ("bm25", "covered", "grams_covered", "verbatim", "prior", "length")
_ABOUT_ALL: Final = ("speaking", "prior_best", "question_length", "asked_closed")

NAMES: Final = (
    *_OWN,
    *(f"form_{name}" for name in FORM_NAMES),
    *_ABOUT_ALL,
    *(f"lead_{name}" for name in _COMPARED),
    *(f"rank_{name}" for name in _COMPARED),
    "agreement",
)
"""The names of the features, in the order of a row."""

PLACE: Final = {name: place for place, name in enumerate(NAMES)}

_COMPARED_PLACES: Final = tuple(PLACE[name] for name in _COMPARED)
_LEADS: Final = f"lead_{_COMPARED[0]}"
_K1: Final = 1.2
_B: Final = 0.75
_MEAN_LENGTH: Final = 10.0
_REFUSES: Final = 0.5
_LEAST: Final = 0.003
_UNKNOWN: Final = 0.1
_MOST_COMPARED: Final = 50


class QuestionTraits(msgspec.Struct, frozen=True):
    """A question's words; `closed`: it can be answered with yes or no."""

    stems: frozenset[str]
    grams: frozenset[str]
    numbers: frozenset[str]
    closed: float
    length: int


class AnswerTraits(msgspec.Struct, frozen=True):
    """An answer's words and forms.

    `forms` in the order of `FORM_NAMES`, 0 or 1; `refusal` in [0, 1]: the likeness to a refusal.
    """

    words: tuple[str, ...]
    stems: tuple[str, ...]
    grams: frozenset[str]
    numbers: frozenset[str]
    forms: tuple[float, ...]
    refusal: float
    log_length: float
    upper: float


@lru_cache(maxsize=_CACHED)
def question_traits(text: str) -> QuestionTraits:
    """Return the traits of a question."""
    found = words(text)
    return QuestionTraits(
        stems=frozenset(_content(found)),
        grams=_grams(found),
        numbers=frozenset(word for word in found if word[0].isdigit()),
        closed=float(_CLOSED_QUESTION.search(text[:LONGEST_TEXT]) is not None),
        length=len(found),
    )


@lru_cache(maxsize=_CACHED)
def answer_traits(text: str) -> AnswerTraits:
    """Return the traits of an answer; cached, because agents repeat answers."""
    found = words(text)
    head = text[:_HEAD].replace("’", "'")
    seen = {name: float(pattern.search(head) is not None) for name, pattern in _COMPILED}
    numbers = frozenset(word for word in found if word[0].isdigit())
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


def _content(found: list[str]) -> list[str]:
    return [stem(word) for word in found if word not in STOP_WORDS]


def _grams(found: list[str]) -> frozenset[str]:
    line = " ".join(found[:60])
    return frozenset(
        gram for start in range(len(line) - 3) if " " not in (gram := line[start : start + 4])
    )


def features(
    question: UserQuestion,
    answers: Sequence[AgentAnswer],
    prior: Mapping[str, float],
    agent_log: AgentLog,
    *,
    logged: bool = False,
) -> list[list[float]]:
    """Return a row of `len(NAMES)` numbers for each answer.

    `logged`: the answers themselves are in the log, and their own occurrence is not a repetition.
    """
    if not answers:
        return []
    asked = question_traits(question.text)
    seen = [answer_traits(answer.text) for answer in answers]
    weights = {one: agent_log.idf(one) for one in sorted(asked.stems)}
    speaking = float(sum(traits.refusal < _REFUSES for traits in seen))
    about_all = (speaking, max(prior.values(), default=0.0), float(asked.length), asked.closed)
    rows = []
    compared: dict[str, tuple[float, ...]] = {}
    for answer, traits in zip(answers, seen, strict=True):
        if (likeness := compared.get(answer.text)) is None:
            likeness = compared[answer.text] = _likeness(asked, traits, weights, agent_log)
        repeats = agent_log.repeats(answer.agent, answer.text, own=int(logged))
        known = answer.agent in prior
        believed = prior[answer.agent] if known else _UNKNOWN
        rows.append(
            [
                *likeness,
                repeats.verbatim,
                repeats.shape,
                repeats.opening,
                repeats.others,
                agent_log.variety(answer.agent),
                believed,
                _prior_logit(believed),
                float(known),
                traits.refusal,
                traits.log_length,
                traits.upper,
                *traits.forms,
                *about_all,
            ]
        )
    _compare(rows)
    for row, agreement in zip(rows, _agreement(asked, seen), strict=True):
        row.append(agreement)
    return rows


def replace_prior(
    rows: Sequence[Sequence[float]], answers: Sequence[AgentAnswer], prior: Mapping[str, float]
) -> list[list[float]]:
    """Return the result of `features` for the same answers and another prior."""
    believed, best = [], max(prior.values(), default=0.0)
    made = []
    for answer, row in zip(answers, rows, strict=True):
        known = answer.agent in prior
        value = prior[answer.agent] if known else _UNKNOWN
        believed.append(value)
        changed = list(row)
        changed[PLACE["prior"]] = value
        changed[PLACE["prior_logit"]] = _prior_logit(value)
        changed[PLACE["known"]] = float(known)
        changed[PLACE["prior_best"]] = best
        made.append(changed)
    leads, ranks = _compare_column(believed)
    for row, lead, rank in zip(made, leads, ranks, strict=True):
        row[PLACE["lead_prior"]], row[PLACE["rank_prior"]] = lead, rank
    return made


def features_among(
    rows: Sequence[Sequence[float]],
    question: UserQuestion,
    answers: Sequence[AgentAnswer],
    chosen: Sequence[int],
) -> list[list[float]]:
    """Return the result of `features` for the answers at some places, with the same prior."""
    asked = question_traits(question.text)
    seen = [answer_traits(answers[place].text) for place in chosen]
    speaking = float(sum(traits.refusal < _REFUSES for traits in seen))
    made = [[*rows[place][: PLACE[_LEADS]]] for place in chosen]
    for row in made:
        row[PLACE["speaking"]] = speaking
    _compare(made)
    for row, agreement in zip(made, _agreement(asked, seen), strict=True):
        row.append(agreement)
    return made


def _prior_logit(believed: float) -> float:
    return log((believed + _LEAST) / (1 + _LEAST - believed))


def _likeness(
    asked: QuestionTraits, traits: AnswerTraits, weights: dict[str, float], agent_log: AgentLog
) -> tuple[float, ...]:
    """Compare words and letters of question and answer, both ways."""
    stems = traits.stems
    length = _K1 * (1 - _B + _B * len(stems) / _MEAN_LENGTH)
    counts: dict[str, int] = {}
    for one in stems:
        counts[one] = counts.get(one, 0) + 1
    score = covered = 0.0
    for one, weight in weights.items():
        count = counts.get(one, 0)
        if count:
            covered += weight
            score += weight * count * (_K1 + 1) / (count + length)
    total = sum(weights.values()) or 1.0
    rest = sum(agent_log.idf(one) for one in counts if one not in weights)
    both = len(asked.grams & traits.grams)
    union = len(asked.grams) + len(traits.grams) - both
    return (
        score / total,
        covered / total,
        covered / (covered + rest) if stems else 0.0,
        float(len(counts.keys() - weights.keys())),
        both / union if union else 0.0,
        both / len(asked.grams) if asked.grams else 0.0,
        float(len(asked.numbers & traits.numbers)),
        rest / max(1, len(counts)),
    )


def _compare(rows: list[list[float]]) -> None:
    """Add the lead of each answer over the best of the others, and the number of better answers."""
    columns = [[row[place] for row in rows] for place in _COMPARED_PLACES]
    leads, ranks = [], []
    for column in columns:
        its_leads, its_ranks = _compare_column(column)
        leads.append(its_leads)
        ranks.append(its_ranks)
    for number, row in enumerate(rows):
        row += [lead[number] for lead in leads]
        row += [rank[number] for rank in ranks]


def _compare_column(column: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return each value's lead over the best of the others, and the number of better values."""
    ordered = sorted(column, reverse=True)
    best, second = ordered[0], ordered[1] if len(ordered) > 1 else 0.0
    first_place: dict[float, int] = {}
    for place, value in enumerate(ordered):
        first_place.setdefault(value, place)
    leads = [value - (second if value == best else best) for value in column]
    return leads, [float(first_place[value]) for value in column]


def _agreement(asked: QuestionTraits, seen: list[AnswerTraits]) -> list[float]:
    """Return for each answer the largest share of new words in common with another's.

    Of very many answers, only the first answers are compared, without refusals.
    """
    new_stems: list[frozenset[str]] = []
    compared = 0
    for traits in seen:
        is_compared = traits.refusal < _REFUSES and compared < _MOST_COMPARED
        compared += is_compared
        new_stems.append(frozenset(traits.stems) - asked.stems if is_compared else frozenset())
    found = [0.0] * len(new_stems)
    for first, mine in enumerate(new_stems):
        if not mine:
            continue
        for second in range(first + 1, len(new_stems)):
            both = len(mine & new_stems[second])
            if both:
                share = both / (len(mine) + len(new_stems[second]) - both)
                found[first] = max(found[first], share)
                found[second] = max(found[second], share)
    return found
