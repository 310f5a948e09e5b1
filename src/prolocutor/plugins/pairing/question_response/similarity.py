"""Similarity: a ranker without labels: cosine of vectors, added to the unsupervised score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from typing import Final

from prolocutor.contracts.pairing import AgentAnswer, Encoder, Pairing, TrainingData, UserQuestion
from prolocutor.errors import BadInput, ProlocutorError, ServiceLate
from prolocutor.plugins.pairing.calibration import logit
from prolocutor.plugins.pairing.encoders.encoder_mark import name_of
from prolocutor.plugins.pairing.encoders.meanings import Patience, with_fault
from prolocutor.plugins.pairing.method_catalog import ENCODER, PairingMethod
from prolocutor.plugins.pairing.question_response import unsupervised
from prolocutor.plugins.pairing.question_response.answer_pairings import answer_keys, in_order
from prolocutor.plugins.pairing.question_response.unsupervised import UnsupervisedRanker

_STEEPNESS: Final = 5.0
_MIDDLE: Final = 0.4
_SAYS: Final = 0.5


def fit(training: TrainingData) -> SimilarityRanker:
    """Make the ranker of an encoder and a log of answers; `BadInput` without an encoder."""
    if training.encoder is None:
        raise BadInput("the ranker similarity needs an encoder", field="ranker")
    return SimilarityRanker(training.encoder, unsupervised.fit(training), training.seconds)


class SimilarityRanker:
    """Adds the cosine of question and answer to the unsupervised ranker's logit.

    Repetitions and refusals are similar to a question too; the unsupervised ranker lowers them. The
    weights are set by hand. Where the encoder fails, or takes longer than `seconds`, the
    unsupervised ranker ranks alone.
    """

    def __init__(
        self,
        encoder: Encoder,
        unlearned: UnsupervisedRanker | None = None,
        seconds: float | None = None,
    ) -> None:
        self._encoder, self._unlearned = encoder, unlearned or UnsupervisedRanker()
        self._patience = Patience(seconds)

    async def rank(
        self, question: UserQuestion, answers: Sequence[AgentAnswer], prior: Mapping[str, float]
    ) -> list[Pairing]:
        """Return a pairing for every answer, the best first."""
        if not answers:
            return []
        guessed = self._unlearned.rank(question, answers, prior)
        try:
            self._patience.check()
            texts = [question.text, *(one.text for one in answers)]
            asked, *given = await self._patience.of(self._encoder.encode(texts))
        except ProlocutorError as error:
            what = str(error) if isinstance(error, ServiceLate) else f"failed: {error}"
            return with_fault(guessed, f"the encoder {name_of(self._encoder)!r} {what}")
        seen = {(one.agent, one.position): one for one in guessed}
        probabilities, reasons = [], []
        for key, vector in zip(answer_keys(answers), given, strict=True):
            one = seen[key]
            cosine = sum(a * b for a, b in zip(asked, vector, strict=True))
            score = logit(one.probability) + _STEEPNESS * (cosine - _MIDDLE)
            probabilities.append(1 / (1 + exp(-score)))
            near = f"near to the question ({cosine:.2f}); " if cosine >= _SAYS else ""
            reasons.append(f"{near}{one.reason}")
        return in_order(answers, probabilities, reasons)


METHOD: Final = PairingMethod(fit=fit, needs=ENCODER)
