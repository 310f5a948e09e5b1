"""UnseenScores: what models that had not seen a question gave its answers, when a cross-encoder was
trained by folds. A ranker that learned from the numbers of the whole model would trust them too
much, as that has learned these very answers (stacking, Wolpert 1992)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from prolocutor.contracts.pairing import CrossEncoder, LabelledQuestion
from prolocutor.errors import BadInput, ConfigError
from prolocutor.plugins.pairing.agent_log import hashed
from prolocutor.plugins.pairing.model_files import Model
from prolocutor.plugins.pairing.near_duplicates import near_duplicates

PART: Final = "unseen"


class UnseenScores(msgspec.Struct, frozen=True):
    """Calibrated logits by the hash of question and answer, and the hashes of the questions."""

    questions: list[int]
    pairs: list[int]
    numbers: list[float]

    @classmethod
    def of(
        cls, learned: Sequence[LabelledQuestion], numbers: Sequence[Sequence[float]]
    ) -> UnseenScores:
        """Return the scores of questions, of each those of its answers in order."""
        by_pair: dict[int, float] = {}
        for one, its in zip(learned, numbers, strict=True):
            for text, number in zip(one.answers.values(), its, strict=True):
                by_pair[hashed(one.question.text, text)] = number
        asked = dict.fromkeys(hashed(one.question.text) for one in learned)
        return cls([*asked], [*by_pair], [*by_pair.values()])


class UnseenCrossEncoder:
    """A cross-encoder as a ranker learns with it: for what it learned itself, the unseen scores.

    `questions` are those that are learned from, or measured on. What it has not learned, it scores.
    Answers that are new to a question that it learned, and near duplicates of such questions, have
    no number. `BadInput` if it has learned none of the questions.
    """

    def __init__(
        self, encoder: CrossEncoder, scores: UnseenScores, questions: Iterable[str]
    ) -> None:
        self.id = encoder.id
        self._encoder = encoder
        self._questions = frozenset(scores.questions)
        self._numbers = dict(zip(scores.pairs, scores.numbers, strict=True))
        self._scored: dict[tuple[str, str], float | None] = {}
        texts = [*dict.fromkeys(questions)]
        groups = near_duplicates(texts)
        known = [hashed(text) in self._questions for text in texts]
        if not any(known):
            what = f"{self.id} has learned none of these questions: train it on the same data"
            raise BadInput(what, field="cross_encoder")
        taken = {group for group, its in zip(groups, known, strict=True) if its}
        self._near = {
            text
            for text, group, its in zip(texts, groups, known, strict=True)
            if group in taken and not its
        }

    @classmethod
    def of_model(
        cls, model: Model, encoder: CrossEncoder, questions: Iterable[str]
    ) -> UnseenCrossEncoder:
        """Return the cross-encoder of a model; `ConfigError` if it has no unseen scores."""
        try:
            scores = msgspec.convert(model.parts[PART], UnseenScores)
        except (KeyError, ValueError):
            what = f"the model {model.id} has no scores of unseen questions; train it again"
            raise ConfigError(what, key="cross_encoder") from None
        return cls(encoder, scores, questions)

    async def numbers(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float | None]:
        """Return the number of each pair by a model that has not seen the question, if any."""
        found = self._scored
        rest = []
        for pair in dict.fromkeys(pairs):
            if pair in found:
                continue
            if hashed(pair[0]) in self._questions:
                found[pair] = self._numbers.get(hashed(*pair))
            elif pair[0] in self._near:
                found[pair] = None
            else:
                rest.append(pair)
        if rest:
            found.update(zip(rest, await self._encoder.numbers(rest), strict=True))
        return [found[pair] for pair in pairs]


def part_of(scores: UnseenScores) -> dict[str, Any]:
    """Return the part of a cross-encoder's model that holds them."""
    return {PART: msgspec.to_builtins(scores)}
