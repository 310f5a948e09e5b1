"""Training of the learned ranker: from questions, answers, and votes for the answers.

Half of the trees learn the share of votes, half the gold label, so that near misses count. Scores
that are features of another model (style, router) come from a model that has not seen the
question, and so do the scores that the probabilities are calibrated on (stacking, Wolpert 1992).
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from typing import Any, Final

import lightgbm
import msgspec
import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from prolocutor.contracts.pairing import AgentAnswer, LabelledQuestion, TrainingData
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.agent_log import AgentLog, build_agent_log
from prolocutor.plugins.pairing.answer_features import (
    NAMES,
    features,
    features_among,
    replace_prior,
)
from prolocutor.plugins.pairing.answer_meaning import (
    MeaningMemory,
    blank_meaning_rows,
    lesson_texts,
)
from prolocutor.plugins.pairing.calibration import fit_sigmoid
from prolocutor.plugins.pairing.encoders.meanings import (
    NO_VECTORS,
    Meanings,
    Vectors,
    embed_texts,
    trained_meanings,
)
from prolocutor.plugins.pairing.measuring.fitting import deal_folds
from prolocutor.plugins.pairing.question_agent.loaded_router import MeantRanker
from prolocutor.plugins.pairing.question_response.learned import (
    DEPTH,
    LEAVES,
    Floats,
    LearnedBlend,
    LearnedRanker,
    LinearScore,
    Rows,
    Singles,
    StyleModel,
    TreeEnsemble,
    joined,
    term_counts,
    unpack_tree,
)
from prolocutor.reading.words import near_duplicates

_LEAST_SEEN: Final = 2
"""Answers in which a term has to occur to count."""

_TREES: Final = 100
_BOOSTING: Final[dict[str, Any]] = {
    "objective": "cross_entropy",
    "learning_rate": 0.12,
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
    "force_col_wise": True,
    "verbose": -1,
}

_BLOCK: Final = 2048

_HIDDEN: Final = 6
_FEW: Final = 5
_LUCK: Final = 0.15
"""The largest number added to prior probabilities by chance, so that views differ."""

_RIGHT: Final = 0.5

_LEAST_RIGHT: Final = 20
"""Questions with a right answer, below which nothing is learned."""

_INNER_FOLDS: Final = 5
_PARTS: Final = 3
_LINEAR_SHARE: Final = 0.5
"""The weight of the linear model beside the forest."""

_HIDDEN_VIEW: Final = 1


class StyleWeights(msgspec.Struct, frozen=True):
    """What is learned of terms: the columns that count, their scaling, and a linear model."""

    columns: NDArray[np.int64]
    scaling: TfidfTransformer
    model: LogisticRegression


class TermTable:
    """The terms of texts, counted once for all models of their parts."""

    def __init__(self, texts: Sequence[str]) -> None:
        counting = CountVectorizer(analyzer=lambda text: term_counts(text).elements())
        self._table = counting.fit_transform(texts)
        self._terms = counting.get_feature_names_out()

    def learn(self, rows: NDArray[np.int64], votes: Floats, weights: Floats) -> StyleWeights:
        """Learn which words right answers have: logistic regression on shares of votes."""
        part = self._table[rows]
        columns = np.flatnonzero(part.getnnz(axis=0) >= _LEAST_SEEN)
        scaling = TfidfTransformer(sublinear_tf=True)
        table = scaling.fit_transform(part[:, columns])
        model = LogisticRegression(C=3.0, solver="liblinear", max_iter=200, random_state=0)
        return StyleWeights(columns, scaling, _fit_shares(model, table, votes, weights))

    def scores(self, rows: NDArray[np.int64], learned: StyleWeights) -> Floats:
        """Return the values of `StyleModel.score` for the texts of these rows."""
        part = self._table[rows][:, learned.columns]
        found: Floats = learned.model.decision_function(learned.scaling.transform(part))
        return found

    def wording(self, learned: StyleWeights) -> StyleModel:
        """Return the learned style model, for texts of any words."""
        model = learned.model
        weights = zip(learned.scaling.idf_.tolist(), model.coef_[0].tolist(), strict=True)
        terms = self._terms[learned.columns].tolist()
        return StyleModel(dict(zip(terms, weights, strict=True)), float(model.intercept_[0]))


def _fit_shares(model: Any, table: Any, share: Floats, weights: Floats) -> Any:
    """Fit a classifier to rows of which a share counts as yes, and the rest as no."""
    yes, no = np.flatnonzero(share > 0), np.flatnonzero(share < 1)
    rows, answer = np.concatenate([yes, no]), np.repeat([1, 0], [len(yes), len(no)])
    weight = np.concatenate([(weights * share)[yes], (weights * (1 - share))[no]])
    return model.fit(table[rows], answer, sample_weight=weight)


class BinnedRows:
    """Rows of features with weights, of which parts are learned from; the bins are those of all."""

    def __init__(self, rows: Rows, weights: Floats) -> None:
        self._whole = lightgbm.Dataset(rows, np.zeros(len(rows)), weight=weights, params=_BOOSTING)
        self._whole.construct()

    def forests(
        self, part: NDArray[np.int64], targets: Sequence[Floats], seed: int
    ) -> list[TreeEnsemble]:
        """Return a forest for each target, learned from the rows `part` (numbers, ascending).

        A target has a value in [0, 1] for every row of all.
        """
        rows = self._whole.subset(part.tolist(), params=_BOOSTING).construct()
        made = []
        for number, target in enumerate(targets):
            rows.set_label(target[part])
            made.append(_forest(rows, len(targets) * seed + number))
        return made


def _forest(rows: Any, seed: int) -> TreeEnsemble:
    booster = lightgbm.train({**_BOOSTING, "seed": seed}, rows, _TREES)
    trees = [unpack_tree(one["tree_structure"]) for one in booster.dump_model()["tree_info"]]
    feature, threshold, leaf = zip(*trees, strict=True)
    return TreeEnsemble(np.array(feature, dtype=np.int32), np.array(threshold), np.array(leaf))


class ScaledRows(msgspec.Struct, frozen=True):
    """Rows of features, standardised once for all models of their parts.

    Means and deviations are those of all rows, which say nothing of labels.
    """

    mean: Floats
    deviation: Floats
    table: Singles

    @classmethod
    def standardize(cls, rows: Rows) -> ScaledRows:
        """Return the rows, standardised block by block."""
        mean, deviation = rows.mean(axis=0), rows.std(axis=0) + 1e-6
        table = np.empty(rows.shape, np.float32)
        scale = LinearScore(mean, deviation, np.ones_like(mean), 0.0)
        for start in range(0, len(rows), _BLOCK):
            table[start : start + _BLOCK] = scale.terms(rows[start : start + _BLOCK])
        return cls(mean, deviation, table)

    def learn(self, part: NDArray[np.int64], target: Floats, weights: Floats) -> LinearScore:
        """Fit a logistic regression with a quadratic penalty to shares of votes, 0 to 1.

        It learns from the rows `part`; `target` and `weights` have a value for each row of all.
        """
        model = LogisticRegression(C=0.03, solver="newton-cholesky")
        _fit_shares(model, self.table[part], target[part], weights[part])
        weight = model.coef_[0].astype(float)
        return LinearScore(self.mean, self.deviation, weight, float(model.intercept_[0]))


class LearnedMeaning:
    """What training reads of meaning: the memory, and the vectors of all lessons."""

    def __init__(self, training: TrainingData, vectors: Vectors) -> None:
        labelled = training.labelled
        self.memory = MeaningMemory.from_lessons(labelled, vectors, training.cards)
        self._vectors = vectors
        known = [one for one in labelled if one.agents]
        groups = near_duplicates([one.question.text for one in known])
        members: dict[int, list[int]] = {}
        for place, group in enumerate(groups):
            members.setdefault(group, []).append(place)
        self._unseen = {
            one.question.text: members[group] for one, group in zip(known, groups, strict=True)
        }

    def rows(
        self, one: LabelledQuestion, answers: Sequence[AgentAnswer]
    ) -> list[tuple[float, ...]]:
        """Return the rows of a lesson's answers, as if the lesson were not known."""
        text = one.question.text
        unseen = self._unseen.get(text, ())
        return self.memory.rows(text, answers, self._vectors, unseen=unseen, logged=True)


async def learned_meaning(training: TrainingData) -> tuple[LearnedMeaning, Meanings]:
    """Return the learned meaning, and the meanings that a turn asks for; the encoder's errors
    propagate."""
    assert training.encoder is not None
    fixed = MeaningMemory.from_lessons((), NO_VECTORS, training.cards).fixed_texts
    texts = [*fixed, *lesson_texts(training.labelled)]
    meaning = LearnedMeaning(training, await embed_texts(training.encoder, texts))
    return meaning, await trained_meanings(training.encoder, fixed)


class AnswerTable(msgspec.Struct, frozen=True):
    """The answers of all questions, in three views below each other; `votes`, `right` in [0, 1].

    The first view has all answers and priors; the second lacks the prior of some agents, as for new
    agents, and the meaning of every second question, as where an encoder has failed; the third has
    only some of the likeliest agents' answers, as under a budget. `rows` is answers x features, in
    which `set_styles` writes the scores of styles. `answers`, `questions` and `views` have the
    numbers of each row.
    """

    terms: TermTable
    rows: Singles
    answers: NDArray[np.int64]
    questions: NDArray[np.int64]
    views: NDArray[np.int64]
    votes: Floats
    right: Floats
    weights: Floats

    def answers_to(self, questions: Sequence[int]) -> NDArray[np.int64]:
        """Return the numbers of these questions' answers, which are rows of the first view."""
        return np.flatnonzero((self.views == 0) & np.isin(self.questions, questions))

    def set_styles(self, styles: Floats) -> None:
        """Write the score of each answer's style, and its lead among the answers of its view."""
        own = styles[self.answers]
        changes = np.diff(self.questions, prepend=-1) | np.diff(self.views, prepend=-1)
        starts = np.flatnonzero(changes)
        best = np.maximum.reduceat(own, starts)
        self.rows[:, len(NAMES)] = own
        self.rows[:, len(NAMES) + 1] = own - np.repeat(best, np.diff(starts, append=len(own)))


def answer_table(
    taught: Sequence[tuple[LabelledQuestion, Mapping[str, float]]],
    agent_log: AgentLog,
    seed: int,
    meaning: LearnedMeaning | None,
) -> AnswerTable:
    """Return the table of questions with their priors; `meaning` is of the same."""
    rng = random.Random(seed)
    rows: list[list[Singles]] = [[], [], []]
    numbers: list[list[list[int]]] = [[], [], []]
    start = 0
    for number, (one, prior) in enumerate(taught):
        answers = [AgentAnswer(agent=agent, text=text) for agent, text in one.answers.items()]
        everything = list(range(len(answers)))
        unknown = rng.sample(sorted(prior), min(_HIDDEN, len(prior)))
        fewer = {agent: value for agent, value in prior.items() if agent not in unknown}
        chosen = _likely(answers, prior, rng)
        whole = features(one.question, answers, prior, agent_log, logged=True)
        views = (
            (everything, whole),
            (everything, replace_prior(whole, answers, fewer)),
            (chosen, features_among(whole, one.question, answers, chosen)),
        )
        for view, (kept, found) in enumerate(views):
            shown = [answers[place] for place in kept]
            parts: list[Any] = [found, np.zeros((len(found), 2))]
            if meaning is not None:
                lost = view == _HIDDEN_VIEW and number % 2 == 0
                parts.append(blank_meaning_rows(shown) if lost else meaning.rows(one, shown))
            rows[view].append(np.column_stack(parts).astype(np.float32))
            numbers[view].append([start + place for place in kept])
        start += len(answers)
    pairs = [(one, agent) for one, _ in taught for agent in one.answers]
    votes = np.array([one.agents.get(agent, 0.0) for one, agent in pairs])
    right = np.array([float(is_right(one, agent)) for one, agent in pairs])
    weights = np.array([one.weight for one, _ in pairs])
    chained = [kept for view in numbers for kept in view]
    given = np.concatenate(chained)
    counts = [len(kept) for kept in chained]
    return AnswerTable(
        terms=TermTable([one.answers[agent] for one, agent in pairs]),
        rows=np.concatenate([part for view in rows for part in view]),
        answers=given,
        questions=np.repeat(np.tile(np.arange(len(taught)), len(rows)), counts),
        views=np.repeat(np.repeat(np.arange(len(rows)), len(taught)), counts),
        votes=votes[given],
        right=right[given],
        weights=weights[given],
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


def fit(training: TrainingData) -> LearnedRanker | Awaitable[MeantRanker]:
    """Learn from the questions with answers; `BadInput` if too few have a right one.

    A question of weight 0 only enters the log. With an encoder the ranker reads vectors too.
    """
    return train_ranker(training) if training.encoder is None else _meant_fit(training)


async def _meant_fit(training: TrainingData) -> MeantRanker:
    """Return a ranker trained with vectors; errors of the encoder propagate."""
    meaning, meanings = await learned_meaning(training)
    return MeantRanker(train_ranker(training, meaning), meanings)


def train_ranker(training: TrainingData, meaning: LearnedMeaning | None = None) -> LearnedRanker:
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
    agent_log = build_agent_log(training.labelled)
    groups = near_duplicates([one.question.text for one, _ in taught])
    with threadpool_limits(1):
        table = answer_table(taught, agent_log, training.seed, meaning)
        blend = _learn(table, groups, agent_log, training.seed)
    if meaning is not None:
        blend = msgspec.structs.replace(blend, memory=meaning.memory)
    return LearnedRanker(blend, sorted({agent for one, _ in taught for agent in one.answers}))


def is_answered_right(one: LabelledQuestion) -> bool:
    """Return whether a question has a right answer among its answers."""
    return one.weight > 0 and any(is_right(one, agent) for agent in one.answers)


def _learn(
    table: AnswerTable, groups: Sequence[int], agent_log: AgentLog, seed: int
) -> LearnedBlend:
    """Learn from all questions; each part of the forest has not seen one fold of them.

    The probabilities are calibrated on the scores of the parts for the questions that they have
    not seen, so that no forest is learned for the calibration alone.
    """
    styles = np.zeros(table.answers.max() + 1)
    for known, unseen in _splits(groups, _INNER_FOLDS, seed):
        answers = table.answers_to(unseen)
        styles[answers] = table.terms.scores(answers, _learned_style(table, known))
    table.set_styles(styles)
    forests: list[TreeEnsemble] = []
    unseen_scores = np.zeros(len(table.rows))
    binned, scaled = BinnedRows(table.rows, table.weights), ScaledRows.standardize(table.rows)
    both, middle = (table.votes, table.right), (table.votes + table.right) / 2
    everything = np.arange(len(table.rows))
    linear = scaled.learn(everything, middle, table.weights)
    for number, (known, unseen) in enumerate(_splits(groups, _PARTS, seed)):
        part = np.flatnonzero(np.isin(table.questions, known))
        rest = np.flatnonzero(np.isin(table.questions, unseen))
        made = binned.forests(part, both, _PARTS * seed + number)
        line = scaled.learn(part, middle, table.weights)
        forests += made
        unseen_scores[rest] = _scores(joined(made, 1 / len(made)), line, table.rows[rest])
    if not forests:
        forests = binned.forests(everything, both, seed)
    forest = joined(forests, 1 / len(forests))
    if len(forests) == len(both):
        unseen_scores = _scores(forest, linear, table.rows)
    shown = np.flatnonzero(table.views != _HIDDEN_VIEW)  # what lacks priors is not calibrated on
    return LearnedBlend(
        agent_log=agent_log,
        wording=table.terms.wording(_learned_style(table, np.unique(table.questions).tolist())),
        forest=forest,
        linear=linear,
        linear_share=_LINEAR_SHARE,
        sigmoid=fit_sigmoid(unseen_scores[shown], table.right[shown], table.weights[shown]),
    )


def _scores(forest: TreeEnsemble, linear: LinearScore, rows: Rows) -> Floats:
    line = linear.terms(rows).sum(axis=1) + linear.offset
    found: Floats = (1 - _LINEAR_SHARE) * forest.predict(rows) + _LINEAR_SHARE * line
    return found


def _splits(groups: Sequence[int], folds: int, seed: int) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the numbers of the questions outside and inside each fold."""
    fold = deal_folds(groups, folds, seed)
    for number in range(folds):
        known = [one for one, its in enumerate(fold) if its != number]
        unseen = [one for one, its in enumerate(fold) if its == number]
        if known and unseen:
            yield known, unseen


def _learned_style(table: AnswerTable, questions: Sequence[int]) -> StyleWeights:
    answers = table.answers_to(questions)
    return table.terms.learn(answers, table.votes[answers], table.weights[answers])
