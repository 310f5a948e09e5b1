"""Answers in order, and the unsupervised ranker: likeness to the question, minus refusals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import copysign, exp
from typing import Final

import msgspec

from prolocutor.contracts.pairing import AgentAnswer, Card, Pairing, TrainingData, UserQuestion
from prolocutor.errors import ConfigError
from prolocutor.plugins.pairing.agent_log import AgentLog, LogCounts, build_agent_log
from prolocutor.plugins.pairing.answer_features import PLACE, features
from prolocutor.plugins.pairing.method_catalog import PairingMethod
from prolocutor.plugins.pairing.model_files import Model, TrainingCard
from prolocutor.reading.words import words

AnswerKey = tuple[str, int]
"""An agent, and the position of the answer among its own: `Pairing.position`."""

_NAME: Final = "unsupervised"

_WEIGHTS: Final = {
    "covered": 1.0,
    "grams_covered": 1.0,
    "bm25": 0.5,
    "agreement": 1.0,
    "form_numeral": 0.15,
    "variety": 0.75,
    "prior": 1.25,
    "refusal": -2.5,
    "verbatim": -0.2,
    "shape": -0.2,
    "opening": -0.1,
    "others": -0.2,
    "form_asks": -0.7,
    "form_offer": -0.5,
    "form_gap": -0.5,
    "form_address": -0.3,
}
_YES_TO_CLOSED: Final = 0.5
_BEND: Final = 1.5
"""The score at which the slope of the probability changes."""

_BELOW: Final = 0.9
_ABOVE: Final = 0.55
_OFFSET: Final = -0.3
_ECHO: Final = 3.0
"""The cost of an answer that repeats the question."""

_LEAST_RUN: Final = 3
_LONGEST_ASKED: Final = 60
"""Words of a question that are compared with an answer."""

_MOST_OF_IT: Final = 0.75
_SURENESS: Final = 6.0
_CLOSE: Final = 0.1
"""A distance from the mean confidence up to which confidences count as equal."""

_TERMS: Final = tuple((PLACE[name], weight) for name, weight in _WEIGHTS.items())
_YES: Final = PLACE["form_yes"]
_CLOSED: Final = PLACE["asked_closed"]
_WORDS: Final = (
    (PLACE["refusal"], 0.5, "sounds like a refusal"),
    (PLACE["verbatim"], 3.0, "is what it says to many questions"),
    (PLACE["covered"], 0.5, "speaks of what was asked"),
)


def rank_pairings(
    answers: Sequence[AgentAnswer],
    probabilities: Sequence[float],
    reasons: Sequence[str],
    scores: Sequence[float] | None = None,
) -> list[Pairing]:
    """Return a pairing for every answer, by score, else by probability; ties as they came."""
    pairings = [
        Pairing(agent, probability, reason, position)
        for (agent, position), probability, reason in zip(
            answer_keys(answers), probabilities, reasons, strict=True
        )
    ]
    keys = probabilities if scores is None else scores
    return [pairings[number] for number in sorted(range(len(keys)), key=lambda one: -keys[one])]


def answer_keys(answers: Sequence[AgentAnswer]) -> list[AnswerKey]:
    """Return the key of each answer."""
    counts: Counter[str] = Counter()
    keys = []
    for answer in answers:
        keys.append((answer.agent, counts[answer.agent]))
        counts[answer.agent] += 1
    return keys


class UnsupervisedRanker:
    """Ranks by a linear score of features with weights set by hand; usable without labels.

    Repetition lowers an answer's score and never removes it. Probabilities are a fixed curve over
    the score, so they are rough until a learned ranker takes over.
    """

    def __init__(self, agent_log: AgentLog | None = None) -> None:
        self._log = AgentLog() if agent_log is None else agent_log

    def rank(
        self, question: UserQuestion, answers: Sequence[AgentAnswer], prior: Mapping[str, float]
    ) -> list[Pairing]:
        """Return a pairing for every answer, the best first."""
        rows = features(question, answers, prior, self._log)
        return self.of_rows(answers, rows, _corrections(question, answers))

    def of_rows(
        self,
        answers: Sequence[AgentAnswer],
        rows: Sequence[Sequence[float]],
        corrections: Sequence[float] | None = None,
    ) -> list[Pairing]:
        """Return a pairing for every answer by its features, the best first."""
        added = [0.0] * len(rows) if corrections is None else corrections
        scores = [_score(row) + more for row, more in zip(rows, added, strict=True)]
        reasons = [_reason(row) for row in rows]
        return rank_pairings(answers, [_probability(score) for score in scores], reasons, scores)

    def to_model(self, card: TrainingCard) -> Model:
        """Return the log, which is all that this ranker learns, to be saved."""
        counts = self._log.counts()
        return Model(
            role="ranker",
            method=_NAME,
            agents=sorted(counts.answers),
            parts={"log": msgspec.to_builtins(counts)},
            card=card,
        )

    @classmethod
    def of_model(cls, model: Model, cards: Sequence[Card] = ()) -> UnsupervisedRanker:
        """Make the ranker of a model, of which cards change nothing; `ConfigError` if not its."""
        try:
            return cls(AgentLog.from_counts(msgspec.convert(model.parts["log"], LogCounts)))
        except (KeyError, ValueError) as error:
            raise ConfigError(f"the model {model.id} holds no log: {error!r}") from None


def fit(training: TrainingData) -> UnsupervisedRanker:
    """Return the ranker; it reads questions and answers of `training`, no labels."""
    return UnsupervisedRanker(build_agent_log(training.labelled))


def _score(row: Sequence[float]) -> float:
    return sum(weight * row[place] for place, weight in _TERMS) + (
        _YES_TO_CLOSED * row[_YES] * row[_CLOSED]
    )


def _corrections(question: UserQuestion, answers: Sequence[AgentAnswer]) -> list[float]:
    """Return the corrections of the answers' scores: less for an answer that repeats the question,
    more or less if its agent is much surer, or much less sure, than the others."""
    asked = words(question.text)[:_LONGEST_ASKED]
    sure = [one.confidence for one in answers if one.confidence is not None]
    mean = sum(sure) / len(sure) if sure else 0.0
    found = []
    for one in answers:
        lead = 0.0 if one.confidence is None else max(-1.0, min(1.0, one.confidence - mean))
        counted = copysign(max(0.0, abs(lead) - _CLOSE), lead)
        found.append(_SURENESS * counted - _ECHO * _repeated_share(asked, words(one.text)))
    return found


def _repeated_share(asked: Sequence[str], said: Sequence[str]) -> float:
    """Return the share of a question repeated word for word in an answer, if it is most of it."""
    signs: dict[str, str] = {}
    sought, searched = (
        "".join(signs.setdefault(word, chr(len(signs))) for word in one) for one in (asked, said)
    )
    longest = 0
    for place in range(len(sought)):
        while place + longest < len(sought) and sought[place : place + longest + 1] in searched:
            longest += 1
    share = longest / len(asked) if asked else 0.0
    return share if longest >= _LEAST_RUN and share >= _MOST_OF_IT else 0.0


def _probability(score: float) -> float:
    """Return the probability of a score, by a sigmoid, flatter above its bend."""
    slope = _ABOVE if score > _BEND else _BELOW
    return 1 / (1 + exp(-_OFFSET - slope * (score - _BEND)))


def _reason(row: Sequence[float]) -> str:
    said: Iterable[str] = (words for place, least, words in _WORDS if row[place] >= least)
    return "; ".join(said) or "says little of what was asked"


METHOD: Final = PairingMethod(fit=fit, reader=UnsupervisedRanker)
