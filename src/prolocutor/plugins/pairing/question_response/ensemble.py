"""Ensemble: the learned and the unsupervised ranker, weighted by the number of labels."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Final

import msgspec

from prolocutor.contracts.pairing import (
    AgentAnswer,
    Card,
    Pairing,
    Ranker,
    TrainingData,
    UserQuestion,
)
from prolocutor.errors import ConfigError
from prolocutor.plugins.pairing.calibration import Sigmoid, logit
from prolocutor.plugins.pairing.encoders.text_vectors import NO_VECTORS, Vectors
from prolocutor.plugins.pairing.model_files import Model, TrainingCard
from prolocutor.plugins.pairing.question_response import learned_training
from prolocutor.plugins.pairing.question_response.answer_pairings import answer_keys, in_order
from prolocutor.plugins.pairing.question_response.cross_blend import NO_NUMBERS, Numbers
from prolocutor.plugins.pairing.question_response.learned import LearnedRanker
from prolocutor.plugins.pairing.question_response.meaning_training import (
    LearnedCrossing,
    LearnedMeaning,
    meant_fit,
    reads_models,
)
from prolocutor.plugins.pairing.question_response.meant_ranker import MeantRanker
from prolocutor.plugins.pairing.question_response.unsupervised import UnsupervisedRanker

METHOD: Final = "ensemble"
_HALF_AT: Final = 40


def fit(training: TrainingData) -> EnsembleRanker | Awaitable[MeantRanker]:
    """Return both, made of the same questions; `BadInput` if there are too few labels.

    With an encoder the learned one reads vectors too, with a cross-encoder its numbers.
    """
    return meant_fit(training, learned) if reads_models(training) else learned(training)


def learned(
    training: TrainingData,
    meaning: LearnedMeaning | None = None,
    crossed: LearnedCrossing | None = None,
) -> EnsembleRanker:
    """Return the ranker; `meaning` and `crossed` are of the same training."""
    known = learned_training.learned(training, meaning, crossed)
    return EnsembleRanker(
        known,
        UnsupervisedRanker(known.agent_log),
        learned_share(sum(map(learned_training.is_answered_right, training.labelled))),
    )


def learned_share(right: int) -> float:
    """Return the share of the learned ranker after so many questions with a right answer."""
    return right / (right + _HALF_AT)


class EnsembleRanker:
    """The weighted mean of two rankers' logits; `share` is the weight of the learned one.

    Both have the same log, and so read the same features.
    """

    def __init__(self, learned: LearnedRanker, unlearned: UnsupervisedRanker, share: float) -> None:
        self.agents, self.any_right = learned.agents, learned.any_right
        self.fixed_texts = learned.fixed_texts
        self._learned, self._unlearned, self._share = learned, unlearned, share

    @property
    def parts(self) -> dict[str, Ranker]:
        """The rankers that it weighs, by method."""
        return {"learned": self._learned, "unsupervised": self._unlearned}

    def rank(
        self,
        question: UserQuestion,
        answers: Sequence[AgentAnswer],
        prior: Mapping[str, float],
        vectors: Vectors = NO_VECTORS,
        numbers: Numbers = NO_NUMBERS,
    ) -> list[Pairing]:
        """Return a pairing for every answer, the best first.

        `vectors` and a cross-encoder's `numbers` are read if it can.
        """
        rows = self._learned.features(question, answers, prior)
        known = self._learned.of_rows(question, answers, rows, vectors, numbers)
        guessed = {
            (one.agent, one.position): one.probability
            for one in self._unlearned.of_rows(answers, rows)
        }
        found = {
            (one.agent, one.position): (
                self._share * logit(one.probability)
                + (1 - self._share) * logit(guessed[one.agent, one.position]),
                one.reason,
            )
            for one in known
        }
        scores, reasons = [], []
        for key in answer_keys(answers):
            score, reason = found[key]
            scores.append(score)
            reasons.append(reason)
        return in_order(answers, list(map(Sigmoid(), scores)), reasons, scores)

    def to_model(self, card: TrainingCard) -> Model:
        """Return what both learned, to be saved; they share a log."""
        learned = self._learned.to_model(card)
        settings = learned.settings | {"learned_share": self._share}
        return msgspec.structs.replace(learned, method=METHOD, settings=settings)

    @classmethod
    def of_model(cls, model: Model, cards: Sequence[Card] = ()) -> EnsembleRanker:
        """Make the ranker of a model; `ConfigError` if the model is another's."""
        share = model.settings.get("learned_share")
        if not isinstance(share, (int, float)):
            raise ConfigError(f"the model {model.id} is no ensemble of rankers")
        learned = LearnedRanker.of_model(model, cards)
        return cls(learned, UnsupervisedRanker(learned.agent_log), float(share))
