"""Features of an answer, none of which names its agent, so that new agents are ranked too.

Each answer is a row: its similarity to the question, how often its agent gives it to any question,
whether it sounds like a refusal, whether its values are of the kind asked for, the router's
probability of its agent, and its rank and lead among the other answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import Final

from prolocutor.contracts.pairing import AgentAnswer, UserQuestion
from prolocutor.plugins.pairing.agent_log import AgentLog
from prolocutor.plugins.pairing.text_traits import (
    ASKED_NAMES,
    FORM_NAMES,
    KIND_NAMES,
    MATCHING,
    AnswerTraits,
    QuestionTraits,
    answer_traits,
    question_traits,
)

_OWN: Final = (
    "bm25", "covered", "back", "new", "grams", "grams_covered", "same_numbers", "told",
    "verbatim", "shape", "opening", "others", "variety",
    "prior", "prior_logit", "known", "matches", "missing", "strange", "refusal", "length", "upper",
)  # fmt: skip
_COMPARED: Final = ("bm25", "covered", "grams_covered", "verbatim", "prior", "length", "matches")
_ABOUT_ALL: Final = ("speaking", "prior_best", "question_length")

NAMES: Final = (
    *_OWN,
    *(f"kind_{name}" for name in KIND_NAMES),
    *(f"form_{name}" for name in FORM_NAMES),
    *(f"asked_{name}" for name in ASKED_NAMES),
    *_ABOUT_ALL,
    *(f"lead_{name}" for name in _COMPARED),
    *(f"rank_{name}" for name in _COMPARED),
    "agreement",
)
"""The names of the features, in the order of a row."""

PLACE: Final = {name: place for place, name in enumerate(NAMES)}

_COMPARED_PLACES: Final = tuple(PLACE[name] for name in _COMPARED)
_PAIRS: Final = tuple((ASKED_NAMES.index(name), KIND_NAMES.index(name)) for name in MATCHING)
_TELLING: Final = tuple(
    (ASKED_NAMES.index(name), KIND_NAMES.index(name)) for name in ("weather", "joke", "chance")
)
_LEADS: Final = f"lead_{_COMPARED[0]}"
_K1: Final = 1.2
_B: Final = 0.75
_MEAN_LENGTH: Final = 10.0
_REFUSES: Final = 0.5
_LEAST: Final = 0.003
_UNKNOWN: Final = 0.1
_MOST_COMPARED: Final = 50


def features(
    question: UserQuestion,
    answers: Sequence[AgentAnswer],
    prior: Mapping[str, float],
    agent_log: AgentLog,
    *,
    logged: bool = False,
) -> list[list[float]]:
    """Return a row of `len(NAMES)` numbers for each answer.

    `logged`: the answers are in the log themselves, and that one time is not counted as repetition.
    """
    if not answers:
        return []
    asked = question_traits(question.text)
    seen = [answer_traits(answer.text) for answer in answers]
    weights = {stem: agent_log.idf(stem) for stem in sorted(asked.stems)}
    speaking = float(sum(traits.refusal < _REFUSES for traits in seen))
    about_all = (speaking, max(prior.values(), default=0.0), float(asked.length))
    rows = []
    compared: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {}
    for answer, traits in zip(answers, seen, strict=True):
        if (both := compared.get(answer.text)) is None:
            both = _likeness(asked, traits, weights, agent_log), _matches(asked, traits)
            compared[answer.text] = both
        likeness, matches = both
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
                *matches,
                traits.refusal,
                traits.log_length,
                traits.upper,
                *traits.kinds,
                *traits.forms,
                *asked.asked,
                *about_all,
            ]
        )
    _compare(rows)
    for row, agreement in zip(rows, _agreement(asked, seen), strict=True):
        row.append(agreement)
    return rows


def with_prior(
    rows: Sequence[Sequence[float]], answers: Sequence[AgentAnswer], prior: Mapping[str, float]
) -> list[list[float]]:
    """Return what `features` returns for the same answers and another prior."""
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
    leads, ranks = _compared(believed)
    for row, lead, rank in zip(made, leads, ranks, strict=True):
        row[PLACE["lead_prior"]], row[PLACE["rank_prior"]] = lead, rank
    return made


def features_among(
    rows: Sequence[Sequence[float]],
    question: UserQuestion,
    answers: Sequence[AgentAnswer],
    chosen: Sequence[int],
) -> list[list[float]]:
    """Return what `features` returns for some of the answers with the same prior, by their
    places."""
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
    for stem in stems:
        counts[stem] = counts.get(stem, 0) + 1
    score = covered = 0.0
    for stem, weight in weights.items():
        count = counts.get(stem, 0)
        if count:
            covered += weight
            score += weight * count * (_K1 + 1) / (count + length)
    total = sum(weights.values()) or 1.0
    rest = sum(agent_log.idf(stem) for stem in counts if stem not in weights)
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


def _matches(asked: QuestionTraits, traits: AnswerTraits) -> tuple[float, float, float]:
    """Count kinds of value that were asked for and given; not given; and given unasked."""
    given = missing = strange = 0.0
    for wanted, kind in _PAIRS:
        if asked.asked[wanted]:
            given += traits.kinds[kind]
            missing += 1 - traits.kinds[kind]
    for wanted, kind in _TELLING:
        strange += traits.kinds[kind] * (1 - asked.asked[wanted])
    return given, missing, strange


def _compare(rows: list[list[float]]) -> None:
    """Add how far each answer leads the best of the others, and how many are better."""
    columns = [[row[place] for row in rows] for place in _COMPARED_PLACES]
    leads, ranks = [], []
    for column in columns:
        its_leads, its_ranks = _compared(column)
        leads.append(its_leads)
        ranks.append(its_ranks)
    for number, row in enumerate(rows):
        row += [lead[number] for lead in leads]
        row += [rank[number] for rank in ranks]


def _compared(column: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return the lead of each value over the best of the others, and how many are better."""
    ordered = sorted(column, reverse=True)
    best, second = ordered[0], ordered[1] if len(ordered) > 1 else 0.0
    first_place: dict[float, int] = {}
    for place, value in enumerate(ordered):
        first_place.setdefault(value, place)
    leads = [value - (second if value == best else best) for value in column]
    return leads, [float(first_place[value]) for value in column]


def _agreement(asked: QuestionTraits, seen: list[AnswerTraits]) -> list[float]:
    """Return for each answer the largest share of new words in common with another's.

    Of very many answers only the first ones that are no refusals are compared.
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
