"""AnswerTable: the answers of all lessons with their features, as the learned ranker reads them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from prolocutor.contracts.pairing import AgentAnswer, LabelledQuestion
from prolocutor.plugins.pairing.agent_log import AgentLog
from prolocutor.plugins.pairing.answer_features import features, features_among, with_prior
from prolocutor.plugins.pairing.answer_meaning import without_meaning
from prolocutor.plugins.pairing.question_response.meaning_training import LearnedMeaning
from prolocutor.plugins.pairing.question_response.style_training import TermTable
from prolocutor.plugins.pairing.question_response.trees import Floats, Singles

_HIDDEN: Final = 6
_FEW: Final = 5
_LUCK: Final = 0.15
_RIGHT: Final = 0.5


class TrainingView(msgspec.Struct, frozen=True):
    """One view of all questions: the features of the answers that it contains.

    `meant` are those by an encoder, empty without one, `kept` the positions of the answers among
    the question's, `rows` their rows in the table.
    """

    features: list[Singles]
    meant: list[list[tuple[float, ...]]]
    kept: list[list[int]]
    rows: list[list[int]]

    def of(self, questions: Sequence[int]) -> NDArray[np.int64]:
        """Return the numbers of the rows of these questions."""
        return np.concatenate([self.rows[one] for one in questions]).astype(np.int64)


class AnswerTable(msgspec.Struct, frozen=True):
    """All answers of all questions, row by row; `votes` and `right` in [0, 1].

    `plain` has all answers and priors; `hidden` lacks the prior of some agents, as for new agents;
    `few` has only some of the likeliest agents' answers, as under a budget. `hidden` also lacks the
    meaning of every second question, as where an encoder has failed.
    """

    texts: list[str]
    terms: TermTable
    plain: TrainingView
    hidden: TrainingView
    few: TrainingView
    votes: Floats
    right: Floats
    weights: Floats


def answer_table(
    taught: Sequence[tuple[LabelledQuestion, Mapping[str, float]]],
    agent_log: AgentLog,
    seed: int,
    meaning: LearnedMeaning | None,
) -> AnswerTable:
    """Return the table of questions with their priors; `meaning` is of the same."""
    rng = random.Random(seed)
    plain, hidden, few = (TrainingView([], [], [], []) for _ in range(3))
    start = 0
    for number, (one, prior) in enumerate(taught):
        answers = [AgentAnswer(agent=agent, text=text) for agent, text in one.answers.items()]
        everything = list(range(len(answers)))
        unknown = rng.sample(sorted(prior), min(_HIDDEN, len(prior)))
        fewer = {agent: value for agent, value in prior.items() if agent not in unknown}
        chosen = _likely(answers, prior, rng)
        some = [answers[place] for place in chosen]
        whole = features(one.question, answers, prior, agent_log, logged=True)
        fewer_rows = features_among(whole, one.question, answers, chosen)
        for copy, shown, kept, rows in (
            (plain, answers, everything, whole),
            (hidden, answers, everything, with_prior(whole, answers, fewer)),
            (few, some, chosen, fewer_rows),
        ):
            copy.features.append(np.array(rows, dtype=np.float32))
            if meaning is not None:
                lost = copy is hidden and number % 2 == 0
                copy.meant.append(without_meaning(shown) if lost else meaning.rows(one, shown))
            copy.kept.append(kept)
            copy.rows.append([start + place for place in kept])
        start += len(answers)
    pairs = [(one, agent) for one, _ in taught for agent in one.answers]
    texts = [one.answers[agent] for one, agent in pairs]
    return AnswerTable(
        texts=texts,
        terms=TermTable(texts),
        plain=plain,
        hidden=hidden,
        few=few,
        votes=np.array([one.agents.get(agent, 0.0) for one, agent in pairs]),
        right=np.array([float(is_right(one, agent)) for one, agent in pairs]),
        weights=np.array([one.weight for one, _ in pairs]),
    )


def _likely(
    answers: Sequence[AgentAnswer], prior: Mapping[str, float], rng: random.Random
) -> list[int]:
    """Draw one to five of the likeliest agents, with noise on the prior."""
    believed = [prior.get(answer.agent, 0.0) + rng.random() * _LUCK for answer in answers]
    order = sorted(range(len(answers)), key=lambda place: -believed[place])
    return sorted(order[: rng.randint(1, _FEW)])


def is_right(one: LabelledQuestion, agent: str) -> bool:
    """Return whether an agent's answer counts as right."""
    return agent in one.gold if one.gold else one.agents.get(agent, 0.0) > _RIGHT
