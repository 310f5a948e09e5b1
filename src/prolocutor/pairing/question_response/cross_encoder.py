"""Cross-encoder: a ranker that reads question and answer at once, by a model that you bring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from prolocutor.contracts.pairing import (
    AgentAnswer,
    LabelledQuestion,
    Pairing,
    PairScorer,
    TrainingData,
    UserQuestion,
)
from prolocutor.errors import BadInput
from prolocutor.pairing.calibration import Sigmoid, fit_sigmoid
from prolocutor.pairing.question_response.answer_pairings import in_order

_MOST_CALIBRATED: Final = 200
_FEWEST: Final = 20


async def fit(training: TrainingData) -> CrossEncoderRanker:
    """Make the ranker, calibrated by labels if there are some; `BadInput` without a model."""
    if training.pair_scorer is None:
        raise BadInput("the ranker cross-encoder needs a model that scores pairs", field="ranker")
    right = [one for one in training.labelled if one.gold and one.answers]
    curve = Sigmoid()
    if len(right) >= _FEWEST:
        step = max(1, len(right) // _MOST_CALIBRATED)
        curve = await _curve(training.pair_scorer, right[::step])
    return CrossEncoderRanker(training.pair_scorer, curve)


class CrossEncoderRanker:
    """Ranks by a model's logits; `curve` makes probabilities of them."""

    def __init__(self, scorer: PairScorer, curve: Sigmoid | None = None) -> None:
        self._scorer, self._curve = scorer, curve or Sigmoid()

    async def rank(
        self, question: UserQuestion, answers: Sequence[AgentAnswer], prior: Mapping[str, float]
    ) -> list[Pairing]:
        """Return a pairing for every answer, the best first; `prior` is not used."""
        if not answers:
            return []
        logits = await self._scorer.score([(question.text, one.text) for one in answers])
        reasons = [f"a model that reads both gives it {logit:.2f}" for logit in logits]
        return in_order(answers, [self._curve(one) for one in logits], reasons, logits)


async def _curve(scorer: PairScorer, labelled: Sequence[LabelledQuestion]) -> Sigmoid:
    pairs = [(one, agent) for one in labelled for agent in one.answers]
    logits = await scorer.score([(one.question.text, one.answers[agent]) for one, agent in pairs])
    right = [float(agent in one.gold) for one, agent in pairs]
    return fit_sigmoid(logits, right, [one.weight for one, _ in pairs])
