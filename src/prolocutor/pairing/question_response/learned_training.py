"""Training the learned ranker: from questions, what was answered, and votes for the answers.

Near misses teach too: half of the trees learn the share of votes, half who counts as right. What a
model is fed as a feature (the wording's score, the router's probability) comes from one that has
not seen that question, and so do the scores that the probabilities are calibrated on.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import lightgbm
import msgspec
import numpy as np
from numpy.typing import NDArray

from prolocutor.contracts.pairing import AgentAnswer, LabelledQuestion, TrainingData
from prolocutor.errors import BadInput
from prolocutor.pairing.agent_log import AgentLog, log_of
from prolocutor.pairing.answer_features import features
from prolocutor.pairing.calibration import Sigmoid, fit_sigmoid
from prolocutor.pairing.near_duplicates import folds_of, near_duplicates
from prolocutor.pairing.question_response.answer_pairings import any_right_logit
from prolocutor.pairing.question_response.answer_style import StyleModel
from prolocutor.pairing.question_response.learned import (
    LearnedBlend,
    LearnedRanker,
    LinearScore,
    blended,
    with_style,
)
from prolocutor.pairing.question_response.style_training import (
    StyleWeights,
    TermTable,
    soft_regression,
)
from prolocutor.pairing.question_response.trees import (
    DEPTH,
    LEAVES,
    Floats,
    TreeEnsemble,
    joined,
    tree_of,
)

_LEAST_RIGHT: Final = 20
_INNER_FOLDS: Final = 5
_CALIBRATION_FOLDS: Final = 3
_HIDDEN: Final = 6
_FEW: Final = 5
_LUCK: Final = 0.15
_TREES: Final = 200
_LINEAR_SHARE: Final = 0.5
_RIGHT: Final = 0.5
_BOOSTING: Final[dict[str, Any]] = {
    "objective": "cross_entropy",
    "learning_rate": 0.06,
    "max_depth": DEPTH,
    "num_leaves": LEAVES,
    "min_data_in_leaf": 20,
    "extra_trees": True,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "verbose": -1,
}


class TrainingView(msgspec.Struct, frozen=True):
    """One way to show all questions: features of the answers that are shown of each.

    `kept` are their places among its answers, `rows` their rows among all.
    """

    features: list[list[list[float]]]
    kept: list[list[int]]
    rows: list[list[int]]

    def of(self, questions: Sequence[int]) -> NDArray[np.int64]:
        """Return the numbers of the rows of these questions."""
        return np.concatenate([self.rows[one] for one in questions]).astype(np.int64)


class AnswerTable(msgspec.Struct, frozen=True):
    """All answers of all questions, row by row; `votes` and `right` in [0, 1].

    `plain` shows all that is known, `hidden` without what the router thinks of some agents, `few`
    only some of the likeliest agents' answers, as where few are asked.
    """

    texts: list[str]
    terms: TermTable
    plain: TrainingView
    hidden: TrainingView
    few: TrainingView
    votes: Floats
    right: Floats
    weights: Floats


def fit(training: TrainingData) -> LearnedRanker:
    """Learn from the questions that have answers; `BadInput` if too few have a right one.

    A question of weight 0 is read for the log alone.
    """
    priors = training.priors or [{}] * len(training.labelled)
    taught = [
        (one, prior)
        for one, prior in zip(training.labelled, priors, strict=True)
        if one.answers and one.weight > 0
    ]
    right = sum(is_answered_right(one) for one, _ in taught)
    if right < _LEAST_RIGHT:
        what = f"{right} questions have a right answer; {_LEAST_RIGHT} are needed to learn from"
        raise BadInput(f"{what}, use the ranker unsupervised until then", field="data")
    agent_log = log_of(training.labelled)
    lessons = _lessons(taught, agent_log, training.seed)
    groups = near_duplicates([one.question.text for one, _ in taught])
    everybody = list(range(len(taught)))
    blend = _learn(lessons, everybody, groups, agent_log, training.seed)
    calibrated = _calibrated(lessons, blend, groups, training.seed)
    return LearnedRanker(calibrated, sorted({agent for one, _ in taught for agent in one.answers}))


def is_answered_right(one: LabelledQuestion) -> bool:
    """Return whether a question teaches what a right answer is."""
    return one.weight > 0 and any(_is_right(one, agent) for agent in one.answers)


def _is_right(one: LabelledQuestion, agent: str) -> bool:
    return agent in one.gold if one.gold else one.agents.get(agent, 0.0) > _RIGHT


def _lessons(
    taught: Sequence[tuple[LabelledQuestion, Mapping[str, float]]], agent_log: AgentLog, seed: int
) -> AnswerTable:
    dice = random.Random(seed)
    plain, hidden, few = (TrainingView([], [], []) for _ in range(3))
    start = 0
    for one, prior in taught:
        answers = [AgentAnswer(agent=agent, text=text) for agent, text in one.answers.items()]
        everybody = list(range(len(answers)))
        unknown = dice.sample(sorted(prior), min(_HIDDEN, len(prior)))
        fewer = {agent: value for agent, value in prior.items() if agent not in unknown}
        chosen = _likely(answers, prior, dice)
        for copy, known, kept in (
            (plain, prior, everybody),
            (hidden, fewer, everybody),
            (few, prior, chosen),
        ):
            shown = [answers[place] for place in kept]
            copy.features.append(features(one.question, shown, known, agent_log, logged=True))
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
        right=np.array([float(_is_right(one, agent)) for one, agent in pairs]),
        weights=np.array([one.weight for one, _ in pairs]),
    )


def _likely(
    answers: Sequence[AgentAnswer], prior: Mapping[str, float], dice: random.Random
) -> list[int]:
    """Draw one to a few of the agents that a router would ask first, more or less."""
    believed = [prior.get(answer.agent, 0.0) + dice.random() * _LUCK for answer in answers]
    order = sorted(range(len(answers)), key=lambda place: -believed[place])
    return sorted(order[: dice.randint(1, _FEW)])


def _learn(
    lessons: AnswerTable,
    questions: Sequence[int],
    groups: Sequence[int],
    agent_log: AgentLog,
    seed: int,
    copies: int = 2,
) -> LearnedBlend:
    """Learn from some of the questions; the blend's probabilities are not calibrated yet."""
    told = _unseen_wording(lessons, questions, groups, seed)
    copies_of = (lessons.plain, lessons.hidden, lessons.few)
    rows = np.concatenate([_table(copy, questions, told) for copy in copies_of])
    chosen = np.concatenate([copy.of(questions) for copy in copies_of])
    votes, right, weights = lessons.votes[chosen], lessons.right[chosen], lessons.weights[chosen]
    forests = [
        _forest(rows, target, weights, 10 * seed + copy)
        for copy in range(copies)
        for target in (votes, right)
    ]
    return LearnedBlend(
        agent_log=agent_log,
        wording=lessons.terms.wording(_learned_wording(lessons, questions)),
        forest=joined(forests, 1 / len(forests)),
        linear=_linear(rows, (votes + right) / 2, weights),
        linear_share=_LINEAR_SHARE,
        sigmoid=Sigmoid(),
        any_right=Sigmoid(),
    )


def _calibrated(
    lessons: AnswerTable, blend: LearnedBlend, groups: Sequence[int], seed: int
) -> LearnedBlend:
    """Find what scores of unseen questions are worth, of one answer and of all together."""
    questions = list(range(len(lessons.plain.rows)))
    scores: dict[tuple[int, int], list[float]] = {}
    shown = (lessons.plain, lessons.few)
    for known, unseen in _splits(questions, groups, _CALIBRATION_FOLDS, seed):
        part = _learn(lessons, known, groups, blend.agent_log, seed, copies=1)
        for one in unseen:
            told = {one: _told(part.wording, lessons, one)}
            for place, copy in enumerate(shown):
                rows = _table(copy, [one], told)
                scores[place, one] = blended(part, rows, part.linear.terms(rows)).tolist()
    keys = sorted(scores)
    found = [shown[place].rows[one] for place, one in keys]
    every = [row for rows in found for row in rows]
    sigmoid = fit_sigmoid(
        [score for key in keys for score in scores[key]],
        lessons.right[every].tolist(),
        lessons.weights[every].tolist(),
    )
    any_right = fit_sigmoid(
        [any_right_logit(map(sigmoid, scores[key])) for key in keys],
        [float(lessons.right[rows].max()) for rows in found],
        [float(lessons.weights[rows].max()) for rows in found],
    )
    return msgspec.structs.replace(blend, sigmoid=sigmoid, any_right=any_right)


def _unseen_wording(
    lessons: AnswerTable, questions: Sequence[int], groups: Sequence[int], seed: int
) -> dict[int, list[float]]:
    """Score the wording of each question's answers by a model of the other questions."""
    told: dict[int, list[float]] = {}
    for known, unseen in _splits(questions, groups, _INNER_FOLDS, seed):
        learned = _learned_wording(lessons, known)
        scores = iter(lessons.terms.scores(lessons.plain.of(unseen), learned).tolist())
        told |= {one: list(islice(scores, len(lessons.plain.rows[one]))) for one in unseen}
    return told


def _told(wording: StyleModel, lessons: AnswerTable, question: int) -> list[float]:
    return [wording.score(lessons.texts[row]) for row in lessons.plain.rows[question]]


def _table(copy: TrainingView, questions: Sequence[int], told: Mapping[int, list[float]]) -> Floats:
    """Return the features of a copy's rows; `told` has the wording of all answers of a question."""
    tables = (
        with_style(copy.features[one], [told[one][place] for place in copy.kept[one]])
        for one in questions
    )
    return np.concatenate(list(tables))


def _splits(
    questions: Sequence[int], groups: Sequence[int], folds: int, seed: int
) -> Iterator[tuple[list[int], list[int]]]:
    fold = dict(
        zip(questions, folds_of([groups[one] for one in questions], folds, seed), strict=True)
    )
    for number in range(folds):
        known = [one for one in questions if fold[one] != number]
        unseen = [one for one in questions if fold[one] == number]
        if known and unseen:
            yield known, unseen


def _learned_wording(lessons: AnswerTable, questions: Sequence[int]) -> StyleWeights:
    rows = lessons.plain.of(questions)
    return lessons.terms.learn(rows, lessons.votes[rows], lessons.weights[rows])


def _linear(rows: Floats, target: Floats, weights: Floats) -> LinearScore:
    mean, deviation = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    scaled = LinearScore(mean, deviation, np.ones_like(mean), 0.0).terms(rows)
    model = soft_regression(scaled, target, weights, strength=0.03)
    return LinearScore(mean, deviation, model.coef_[0], float(model.intercept_[0]))


def _forest(rows: Floats, target: Floats, weights: Floats, seed: int) -> TreeEnsemble:
    data = lightgbm.Dataset(rows, target, weight=weights)
    booster = lightgbm.train({**_BOOSTING, "seed": seed}, data, _TREES)
    trees = [tree_of(one["tree_structure"]) for one in booster.dump_model()["tree_info"]]
    feature, threshold, leaf = zip(*trees, strict=True)
    return TreeEnsemble(np.array(feature, dtype=np.int32), np.array(threshold), np.array(leaf))
