"""Llm: a ranker by a chat endpoint; on any failure the unsupervised ranker ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from prolocutor.contracts.pairing import AgentAnswer, Complete, Pairing, TrainingData, UserQuestion
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.endpoints import (
    UnusableChoice,
    blend_probabilities,
    choices,
    cut,
    prompt,
)
from prolocutor.plugins.pairing.method_catalog import CHAT, PairingMethod
from prolocutor.plugins.pairing.question_response import unsupervised
from prolocutor.plugins.pairing.question_response.unsupervised import (
    UnsupervisedRanker,
    answer_keys,
    rank_pairings,
)

MODEL_TIMEOUT: Final = 0.5
"""Seconds that a model may take: the stages after the skills have one second."""

_TASK: Final = (
    "You judge answers to a question. Tell which of them answer it rightly and helpfully, the best "
    'first, as {"answers": [{"number": 1, "probability": 0.0}]}. A refusal, a question back or an '
    "answer to something else is not right. The probability is how often, of a hundred such cases, "
    "the answer would be right. If none is right, the list is empty."
)
_MOST_ANSWERS: Final = 40
_LONGEST_ANSWER: Final = 600


def fit(training: TrainingData) -> LlmRanker:
    """Make the ranker of a chat endpoint; `BadInput` if there is none."""
    if training.complete is None:
        raise BadInput("the ranker llm needs a chat endpoint to ask", field="ranker")
    unlearned = unsupervised.fit(training)
    return LlmRanker(training.complete, unlearned, seconds=training.seconds or MODEL_TIMEOUT)


class LlmRanker:
    """Ranks by a chat model, which does not see the agents' names; see `LlmRouter`.

    `unlearned` ranks where the model fails, and is blended with its probabilities.
    """

    def __init__(
        self,
        complete: Complete,
        unlearned: UnsupervisedRanker | None = None,
        *,
        seconds: float = MODEL_TIMEOUT,
    ) -> None:
        self._complete, self._seconds = complete, seconds
        self._unlearned = unlearned or UnsupervisedRanker()

    async def rank(
        self, question: UserQuestion, answers: Sequence[AgentAnswer], prior: Mapping[str, float]
    ) -> list[Pairing]:
        """Return a pairing for every answer, the best first."""
        if not answers:
            return []
        guessed = self._unlearned.rank(question, answers, prior)
        numbers = {key: str(number) for number, key in enumerate(answer_keys(answers), 1)}
        offered = sorted(
            [numbers[one.agent, one.position] for one in guessed[:_MOST_ANSWERS]], key=int
        )
        texts = {number: cut(answers[int(number) - 1].text, _LONGEST_ANSWER) for number in offered}
        shown = [{"number": int(number), "text": text} for number, text in texts.items()]
        material: dict[str, Any] = {"question": cut(question.text), "answers": shown}
        quoted = [question.text, *(one.text for one in answers)]
        try:
            named = await choices(
                self._complete, prompt(_TASK, material), offered, quoted, self._seconds
            )
        except UnusableChoice as why:
            first, *rest = guessed
            return [msgspec.structs.replace(first, reason=f"{why}; {first.reason}"), *rest]
        found = blend_probabilities(
            named, {numbers[one.agent, one.position]: one.probability for one in guessed}
        )
        reason = "the model prefers it" if named else "the model says that none is right"
        probabilities = [found[number] for number in numbers.values()]
        return rank_pairings(answers, probabilities, [reason] * len(answers))


METHOD: Final = PairingMethod(fit=fit, needs=CHAT)
