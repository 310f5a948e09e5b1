"""Features of an answer by an encoder's vectors; no feature names its agent.

Each answer is compared with the question, the card of its agent, the other answers, and its agent's
usual refusals; the question is compared with questions answered well by the agent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

import msgspec
import numpy as np

from prolocutor.contracts.pairing import AgentAnswer, Card, LabelledQuestion
from prolocutor.errors import ConfigError
from prolocutor.plugins.pairing.answer_features import answer_traits
from prolocutor.plugins.pairing.encoders.meanings import EncoderMark, Vectors
from prolocutor.plugins.pairing.model_files import Model
from prolocutor.plugins.pairing.question_agent.cards import documents

NAMES: Final = (
    "meant", "lead_meant", "rank_meant",
    "meant_card", "lead_meant_card", "meant_by_card",
    "meant_well", "lead_meant_well",
    "meant_usual",
    "meant_agreement", "meant_agreements", "meant_alike", "meant_centre",
    "has_meaning",
)  # fmt: skip
"""The names of the features, in the order of a row."""

ABSENT: Final = (0.3, -0.2, 5.0, 0.2, -0.2, 0.2, 0.1, -0.1, 0.3, 0.4, 0.3, 0.2, 0.4, 0.0)
"""The row of an answer without a vector: about the mean of each feature."""

_NEIGHBOURS: Final = 25
_POWER: Final = 4
_DOUBT: Final = 0.1
_USUAL: Final = 12
_LEAST_USUAL: Final = 3
_REFUSES: Final = 0.5
_FEW: Final = 3
_PARTS: Final = ("meaning_questions", "meaning_shares", "meaning_usual")


class UsualAnswer(msgspec.Struct, frozen=True):
    """A repeated answer of an agent, such as a refusal."""

    agent: str
    text: str
    times: int


class MeaningMemory:
    """The material to compare answers with: labelled questions, agents' usual answers, and cards.

    `questions` has a row for each labelled question, `shares` how right each of `agents` is for it,
    `usual_vectors` a row for each of `usual`. All are NumPy arrays. It is read-only.
    """

    def __init__(
        self,
        agents: Sequence[str],
        questions: Any,
        shares: Any,
        usual: Sequence[UsualAnswer],
        usual_vectors: Any,
        cards: Sequence[Card] = (),
    ) -> None:
        self._agents = list(agents)
        self._questions, self._shares = questions, shares
        self._usual, self._usual_vectors = usual, usual_vectors
        self._by_agent: dict[str, list[int]] = {}
        for place, one in enumerate(usual):
            self._by_agent.setdefault(one.agent, []).append(place)
        self._cards = {card.name: documents(card) for card in cards}
        self.fixed_texts = [text for texts in self._cards.values() for text in texts]

    @classmethod
    def from_lessons(
        cls, labelled: Sequence[LabelledQuestion], vectors: Vectors, cards: Sequence[Card]
    ) -> MeaningMemory:
        """Return the memory of labelled questions and answers; `lesson_texts` have vectors."""
        known = [one for one in labelled if one.agents]
        agents = list(dict.fromkeys(agent for one in known for agent in one.agents))
        shares = [[one.agents.get(agent, 0.0) * one.weight for agent in agents] for one in known]
        usual = usual_answers(labelled)
        return cls(
            agents,
            _rows(vectors[one.question.text] for one in known),
            np.array(shares, np.float32).reshape(len(known), len(agents)),
            usual,
            _rows(vectors[one.text] for one in usual),
            cards,
        )

    def rows(
        self,
        question: str,
        answers: Sequence[AgentAnswer],
        vectors: Vectors,
        *,
        unseen: Collection[int] = (),
        logged: bool = False,
    ) -> list[tuple[float, ...]]:
        """Return a row of `len(NAMES)` numbers for each answer; `ABSENT` without vectors.

        In training, `unseen` are the places of labelled questions to leave out, the question itself
        and its near duplicates; `logged`: the answers are among the usual ones themselves.
        """
        if question not in vectors or any(one.text not in vectors for one in answers):
            return [ABSENT for _ in answers]
        asked = vectors[question]
        given = np.array([vectors[one.text] for one in answers])
        meant = given @ asked
        well = self._well(asked, answers, unseen)
        by_card, of_card = self._card_likeness(asked, given, answers, vectors)
        columns = [
            meant,
            _leads(meant),
            np.argsort(np.argsort(-meant, kind="stable"), kind="stable"),
            of_card,
            _leads(of_card),
            by_card,
            well,
            _leads(well),
            self._usually(given, answers, logged),
            *_agreement(given, answers),
            np.ones(len(answers)),
        ]
        return [tuple(row) for row in np.stack(columns, 1).astype(float).tolist()]

    def arrays(self) -> dict[str, Any]:
        """Return the arrays of a model with this memory."""
        found = (self._questions, self._shares, self._usual_vectors)
        return {
            name: np.ascontiguousarray(one, "<f4") for name, one in zip(_PARTS, found, strict=True)
        }

    def part(self) -> dict[str, Any]:
        """Return the rest of it as JSON values."""
        return {"agents": self._agents, "usual": msgspec.to_builtins(self._usual)}

    @classmethod
    def of_model(cls, model: Model, cards: Sequence[Card]) -> MeaningMemory | None:
        """Return a model's memory, or None; raise `ConfigError` if its parts do not fit."""
        mark = EncoderMark.of_model(model)
        if mark is None or "meaning" not in model.parts:
            return None
        try:
            agents = msgspec.convert(model.parts["meaning"]["agents"], list[str])
            usual = msgspec.convert(model.parts["meaning"]["usual"], list[UsualAnswer])
            questions, shares, vectors = (model.arrays[name] for name in _PARTS)
            fits = (
                shares.shape == (len(questions), len(agents))
                and len(vectors) == len(usual)
                and {mark.width, 0} >= {questions.shape[-1], vectors.shape[-1]}
            )
            if not fits:
                raise ValueError(f"{questions.shape}, {shares.shape}, {vectors.shape}")
        except (KeyError, ValueError, TypeError) as error:
            raise ConfigError(
                f"the model {model.id} has vectors that do not fit: {error}"
            ) from None
        return cls(agents, questions, shares, usual, vectors, cards)

    def _well(self, asked: Any, answers: Sequence[AgentAnswer], unseen: Collection[int]) -> Any:
        """Return the agents' shares of the votes of the nearest labelled questions."""
        if not len(self._questions):
            return np.zeros(len(answers))
        alike = self._questions @ asked
        if unseen:
            alike[list(unseen)] = -1.0
        count = min(_NEIGHBOURS, len(alike))
        near = np.argpartition(-alike, count - 1)[:count]
        votes = np.maximum(alike[near], 0.0) ** _POWER
        shares = votes @ self._shares[near] / (votes.sum() + _DOUBT)
        found = dict(zip(self._agents, shares.tolist(), strict=True))
        return np.array([found.get(one.agent, 0.0) for one in answers])

    def _card_likeness(
        self, asked: Any, given: Any, answers: Sequence[AgentAnswer], vectors: Vectors
    ) -> tuple[Any, Any]:
        """Return the likeness of each answer to its agent's card, and that of the question."""
        by_card, of_card = np.zeros(len(answers)), np.zeros(len(answers))
        for place, one in enumerate(answers):
            texts = [vectors[text] for text in self._cards.get(one.agent, ()) if text in vectors]
            if texts:
                card = np.array(texts)
                by_card[place] = (card @ given[place]).max()
                of_card[place] = (card @ asked).max()
        return by_card, of_card

    def _usually(self, given: Any, answers: Sequence[AgentAnswer], logged: bool) -> Any:
        """Return the likeness of each answer to the usual answers of its agent."""
        found = np.zeros(len(answers))
        for place, one in enumerate(answers):
            kept = [
                number
                for number in self._by_agent.get(one.agent, ())
                if self._usual[number].times - (logged and self._usual[number].text == one.text)
                >= _LEAST_USUAL
            ]
            if kept:
                found[place] = (self._usual_vectors[kept] @ given[place]).max()
        return found


def lesson_texts(labelled: Iterable[LabelledQuestion]) -> list[str]:
    """Return the texts of these lessons: the memory is made of them, and its rows need them."""
    texts: dict[str, None] = {}
    for one in labelled:
        texts[one.question.text] = None
        texts.update(dict.fromkeys(one.answers.values()))
    return list(texts)


def usual_answers(labelled: Iterable[LabelledQuestion]) -> list[UsualAnswer]:
    """Return the most frequent answers of each agent, each given at least three times."""
    counts: dict[str, Counter[str]] = {}
    for one in labelled:
        for agent, text in one.answers.items():
            counts.setdefault(agent, Counter())[text] += 1
    return [
        UsualAnswer(agent, text, times)
        for agent, said in sorted(counts.items())
        for text, times in said.most_common(_USUAL)
        if times >= _LEAST_USUAL
    ]


def blank_meaning_rows(answers: Sequence[AgentAnswer]) -> list[tuple[float, ...]]:
    """Return the rows of answers without vectors."""
    return [ABSENT for _ in answers]


def _leads(values: Any) -> Any:
    """Return the lead of each value over the best of the others."""
    ordered = np.sort(values)[::-1]
    best, second = ordered[0], ordered[1] if len(ordered) > 1 else 0.0
    return values - np.where(values == best, second, best)


def _agreement(given: Any, answers: Sequence[AgentAnswer]) -> tuple[Any, Any, Any, Any]:
    """Return each answer's likeness to the nearest other answer, to three, to all, to their mean.

    Refusals agree with each other, so they do not count for the first two.
    """
    alike = given @ given.T
    np.fill_diagonal(alike, 0.0)
    refuses = np.array([answer_traits(one.text).refusal >= _REFUSES for one in answers])
    nearest = -np.sort(-np.where(refuses[None, :], 0.0, alike), axis=1)
    few = nearest[:, :_FEW].mean(axis=1)
    return nearest[:, 0], few, alike.mean(axis=1), given @ given.mean(axis=0)


def _rows(vectors: Iterable[Any]) -> Any:
    every = list(vectors)
    return np.array(every, np.float32) if every else np.zeros((0, 0), np.float32)
