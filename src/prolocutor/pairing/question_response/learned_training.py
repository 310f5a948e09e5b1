"""Training of the learned ranker: from questions, answers, and votes for the answers.

Half of the trees learn the share of votes, half the gold label, so that near misses count. Scores
that are features of another model (style, router) come from a model that has not seen the
question, and so do the scores that the probabilities are calibrated on (stacking, Wolpert 1992).
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Iterator, Mapping, Sequence
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
from prolocutor.pairing.answer_meaning import without_meaning
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
from prolocutor.pairing.question_response.meaning_training import LearnedMeaning, meant_fit
from prolocutor.pairing.question_response.meant_ranker import MeantRanker
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
    """One view of all questions: the features of the answers that it contains.

    `meant` are those by an encoder, empty without one, `kept` the positions of the answers among
    the question's, `rows` their rows in the table.
    """

    features: list[list[list[float]]]
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


def fit(training: TrainingData) -> LearnedRanker | Awaitable[MeantRanker]:
    """Learn from the questions that have answers; `BadInput` if too few have a right one.

    A question of weight 0 only enters the log. With an encoder the ranker reads vectors too.
    """
    return learned(training) if training.encoder is None else meant_fit(training, learned)


def learned(training: TrainingData, meaning: LearnedMeaning | None = None) -> LearnedRanker:
    """Return the ranker; `meaning` is of the same training."""
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
    table = _answer_table(taught, agent_log, training.seed, meaning)
    groups = near_duplicates([one.question.text for one, _ in taught])
    everything = list(range(len(taught)))
    blend = _learn(table, everything, groups, agent_log, training.seed)
    if meaning is not None:
        blend = msgspec.structs.replace(blend, memory=meaning.memory)
    calibrated = _calibrated(table, blend, groups, training.seed)
    return LearnedRanker(calibrated, sorted({agent for one, _ in taught for agent in one.answers}))


def is_answered_right(one: LabelledQuestion) -> bool:
    """Return whether a question has a right answer among its answers."""
    return one.weight > 0 and any(_is_right(one, agent) for agent in one.answers)


def _is_right(one: LabelledQuestion, agent: str) -> bool:
    return agent in one.gold if one.gold else one.agents.get(agent, 0.0) > _RIGHT


def _answer_table(
    taught: Sequence[tuple[LabelledQuestion, Mapping[str, float]]],
    agent_log: AgentLog,
    seed: int,
    meaning: LearnedMeaning | None,
) -> AnswerTable:
    rng = random.Random(seed)
    plain, hidden, few = (TrainingView([], [], [], []) for _ in range(3))
    start = 0
    for number, (one, prior) in enumerate(taught):
        answers = [AgentAnswer(agent=agent, text=text) for agent, text in one.answers.items()]
        everything = list(range(len(answers)))
        unknown = rng.sample(sorted(prior), min(_HIDDEN, len(prior)))
        fewer = {agent: value for agent, value in prior.items() if agent not in unknown}
        chosen = _likely(answers, prior, rng)
        for copy, known, kept in (
            (plain, prior, everything),
            (hidden, fewer, everything),
            (few, prior, chosen),
        ):
            shown = [answers[place] for place in kept]
            copy.features.append(features(one.question, shown, known, agent_log, logged=True))
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
        right=np.array([float(_is_right(one, agent)) for one, agent in pairs]),
        weights=np.array([one.weight for one, _ in pairs]),
    )


def _likely(
    answers: Sequence[AgentAnswer], prior: Mapping[str, float], rng: random.Random
) -> list[int]:
    """Draw one to five of the likeliest agents, with noise on the prior."""
    believed = [prior.get(answer.agent, 0.0) + rng.random() * _LUCK for answer in answers]
    order = sorted(range(len(answers)), key=lambda place: -believed[place])
    return sorted(order[: rng.randint(1, _FEW)])


def _learn(
    table: AnswerTable,
    questions: Sequence[int],
    groups: Sequence[int],
    agent_log: AgentLog,
    seed: int,
    copies: int = 2,
) -> LearnedBlend:
    """Learn from some of the questions; the blend's probabilities are not calibrated yet."""
    styles = _unseen_styles(table, questions, groups, seed)
    views = (table.plain, table.hidden, table.few)
    rows = np.concatenate([_features_of(view, questions, styles) for view in views])
    chosen = np.concatenate([view.of(questions) for view in views])
    votes, right, weights = table.votes[chosen], table.right[chosen], table.weights[chosen]
    forests = [
        _forest(rows, target, weights, 10 * seed + copy)
        for copy in range(copies)
        for target in (votes, right)
    ]
    return LearnedBlend(
        agent_log=agent_log,
        wording=table.terms.wording(_learned_style(table, questions)),
        forest=joined(forests, 1 / len(forests)),
        linear=_linear(rows, (votes + right) / 2, weights),
        linear_share=_LINEAR_SHARE,
        sigmoid=Sigmoid(),
        any_right=Sigmoid(),
    )


def _calibrated(
    table: AnswerTable, blend: LearnedBlend, groups: Sequence[int], seed: int
) -> LearnedBlend:
    """Fit the curves of one answer and of all together, on scores of unseen questions."""
    questions = list(range(len(table.plain.rows)))
    scores: dict[tuple[int, int], list[float]] = {}
    shown = (table.plain, table.few)
    for known, unseen in _splits(questions, groups, _CALIBRATION_FOLDS, seed):
        part = _learn(table, known, groups, blend.agent_log, seed, copies=1)
        for one in unseen:
            styles = {one: _style_scores(part.wording, table, one)}
            for place, copy in enumerate(shown):
                rows = _features_of(copy, [one], styles)
                scores[place, one] = blended(part, rows, part.linear.terms(rows)).tolist()
    keys = sorted(scores)
    found = [shown[place].rows[one] for place, one in keys]
    every = [row for rows in found for row in rows]
    sigmoid = fit_sigmoid(
        [score for key in keys for score in scores[key]],
        table.right[every].tolist(),
        table.weights[every].tolist(),
    )
    any_right = fit_sigmoid(
        [any_right_logit(map(sigmoid, scores[key])) for key in keys],
        [float(table.right[rows].max()) for rows in found],
        [float(table.weights[rows].max()) for rows in found],
    )
    return msgspec.structs.replace(blend, sigmoid=sigmoid, any_right=any_right)


def _unseen_styles(
    table: AnswerTable, questions: Sequence[int], groups: Sequence[int], seed: int
) -> dict[int, list[float]]:
    """Return style scores of each question's answers, by a model of the other folds."""
    styles: dict[int, list[float]] = {}
    for known, unseen in _splits(questions, groups, _INNER_FOLDS, seed):
        learned = _learned_style(table, known)
        scores = iter(table.terms.scores(table.plain.of(unseen), learned).tolist())
        styles |= {one: list(islice(scores, len(table.plain.rows[one]))) for one in unseen}
    return styles


def _style_scores(wording: StyleModel, table: AnswerTable, question: int) -> list[float]:
    return [wording.score(table.texts[row]) for row in table.plain.rows[question]]


def _features_of(
    view: TrainingView, questions: Sequence[int], styles: Mapping[int, list[float]]
) -> Floats:
    """Return the features of a view's rows; `styles` has the scores of a question's answers."""
    tables = (
        with_style(view.features[one], [styles[one][place] for place in view.kept[one]])
        for one in questions
    )
    found = np.concatenate(list(tables))
    if not view.meant:
        return found
    return np.column_stack([found, np.array([row for one in questions for row in view.meant[one]])])


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


def _learned_style(table: AnswerTable, questions: Sequence[int]) -> StyleWeights:
    rows = table.plain.of(questions)
    return table.terms.learn(rows, table.votes[rows], table.weights[rows])


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
