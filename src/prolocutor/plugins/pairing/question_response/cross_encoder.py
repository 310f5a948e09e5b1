"""Cross-encoder: a ranker that reads question and answer at once, by a model that you bring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from prolocutor.contracts.pairing import (
    AgentAnswer,
    Card,
    LabelledQuestion,
    Pairing,
    PairScorer,
    TrainingData,
    UserQuestion,
)
from prolocutor.errors import BadInput, ConfigError, ProlocutorError, ServiceLate
from prolocutor.plugins.pairing.calibration import Sigmoid
from prolocutor.plugins.pairing.curve_fitting import fit_rising
from prolocutor.plugins.pairing.encoders.meanings import with_fault
from prolocutor.plugins.pairing.encoders.onnx import OnnxPairScorer
from prolocutor.plugins.pairing.encoders.patience import Patience
from prolocutor.plugins.pairing.model_files import Model
from prolocutor.plugins.pairing.question_response.answer_pairings import in_order
from prolocutor.plugins.pairing.question_response.unsupervised import UnsupervisedRanker

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
    """Ranks by a model's logits; `curve` makes probabilities of them.

    Where the model fails, or takes longer than `seconds`, the unsupervised ranker ranks; it also
    ranks `at_once`, without waiting.
    """

    def __init__(
        self, scorer: PairScorer, curve: Sigmoid | None = None, seconds: float | None = None
    ) -> None:
        self.scorer, self.curve = scorer, curve or Sigmoid()
        self.at_once = UnsupervisedRanker()
        self._patience = Patience(seconds)

    @classmethod
    def of_model(cls, model: Model, cards: Sequence[Card] = ()) -> CrossEncoderRanker:
        """Make the ranker of a model, of which cards change nothing; `ConfigError` if not its."""
        try:
            scorer = OnnxPairScorer.of_parts(
                model.networks["model"],
                msgspec.json.encode(model.parts["tokenizer"]).decode(),
                longest=int(model.settings["longest"]),
            )
            return cls(scorer, msgspec.convert(model.settings["curve"], Sigmoid))
        except (KeyError, ValueError, TypeError) as error:
            raise ConfigError(f"the model {model.id} is no cross-encoder: {error!r}") from None

    def within(self, seconds: float | None) -> CrossEncoderRanker:
        """Return the same ranker, whose model is waited for so many seconds."""
        return CrossEncoderRanker(self.scorer, self.curve, seconds)

    async def rank(
        self, question: UserQuestion, answers: Sequence[AgentAnswer], prior: Mapping[str, float]
    ) -> list[Pairing]:
        """Return a pairing for every answer, the best first; `prior` is not used."""
        if not answers:
            return []
        try:
            self._patience.check()
            pairs = [(question.text, one.text) for one in answers]
            logits = await self._patience.of(self.scorer.score(pairs))
        except ProlocutorError as error:
            what = str(error) if isinstance(error, ServiceLate) else f"failed: {error}"
            ranked = self.at_once.rank(question, answers, prior)
            return with_fault(ranked, f"the cross-encoder {what}")
        reasons = [f"a model that reads both gives it {logit:.2f}" for logit in logits]
        return in_order(answers, [self.curve(one) for one in logits], reasons, logits)


class CalibratedPairs:
    """The cross-encoder of a model as other rankers read it: logits of probabilities."""

    def __init__(self, scorer: PairScorer, curve: Sigmoid, id_: str) -> None:
        self.id = id_
        self._scorer, self._curve = scorer, curve

    @classmethod
    def of_model(cls, model: Model) -> CalibratedPairs:
        """Make it of a model; `ConfigError` if the model is no cross-encoder."""
        ranker = CrossEncoderRanker.of_model(model)
        return cls(ranker.scorer, ranker.curve, model.id)

    async def numbers(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float | None]:
        """Return the logit of each pair."""
        return [self._curve.logit(one) for one in await self._scorer.score(pairs)]

    async def aclose(self) -> None:
        """End the model's thread."""
        if (close := getattr(self._scorer, "aclose", None)) is not None:
            await close()


async def _curve(scorer: PairScorer, labelled: Sequence[LabelledQuestion]) -> Sigmoid:
    pairs = [(one, agent) for one in labelled for agent in one.answers]
    logits = await scorer.score([(one.question.text, one.answers[agent]) for one, agent in pairs])
    right = [float(agent in one.gold) for one, agent in pairs]
    return fit_rising(logits, right, [one.weight for one, _ in pairs])
